"""The door: its status, locking and unlocking."""

from lawtrace.environments.domains.smart_home.entities import ACCESS_CODE, ACCESS_CODES, LOCK_STATUS, LOCKS
from lawtrace.environments.domains.smart_home.tools.shared import END, NOT_FOUND, START, moment, now
from lawtrace.environments.spec import (
    BOOLEAN,
    INVALID_REQUEST,
    SUCCEEDED,
    FromLookup,
    Insert,
    KeyResult,
    Parameter,
    Phrases,
    Raises,
    RowVariable,
    Term,
    Tool,
    Update,
    ValueResult,
    argument,
    constant,
    exists,
    value_of,
)

IS_LOCKED = exists(LOCKS, lambda lock: lock.status == "locked")

CHECK_LOCK_STATUS = Tool(
    name="CheckLockStatus",
    summary="Tells whether the door is locked.",
    phrases=Phrases(step="Check whether the door is locked."),
    results=(
        ValueResult(
            "lock_status",
            "The status of the lock: 'locked' or 'unlocked'.",
            LOCK_STATUS,
            value_of(LOCKS, lambda lock: lock.lock_id == "front door", "status", otherwise="unlocked"),
        ),
    ),
)

LOCK_DOOR = Tool(
    name="LockDoor",
    summary="Locks the door.",
    phrases=Phrases(step="Lock the door.", outcome="The door is locked."),
    raises=(Raises(INVALID_REQUEST, "The door is already locked.", IS_LOCKED),),
    effects=(Update(LOCKS, lambda lock: lock.status == "unlocked", {"status": lambda lock: constant("locked")}),),
    results=(ValueResult("success", "Whether the door was locked.", BOOLEAN, SUCCEEDED),),
    emits="LOCK_OPERATION",
    critical=True,
)

UNLOCK_DOOR = Tool(
    name="UnlockDoor",
    summary="Unlocks the door.",
    phrases=Phrases(step="Unlock the door.", outcome="The door is unlocked."),
    raises=(Raises(INVALID_REQUEST, "The door is already unlocked.", ~IS_LOCKED),),
    effects=(Update(LOCKS, lambda lock: lock.status == "locked", {"status": lambda lock: constant("unlocked")}),),
    results=(ValueResult("success", "Whether the door was unlocked.", BOOLEAN, SUCCEEDED),),
    emits="LOCK_OPERATION",
    critical=True,
)


start, end = argument("start_time"), argument("end_time")


def opens_the_door(code: RowVariable) -> Term:
    """The code equals the argument and is neither revoked nor expired."""
    return (code.access_code == argument("access_code")) & (code.status == "active") & (code.end_time > now)


GENERATE_TEMPORARY_ACCESS_CODE = Tool(
    name="GenerateTemporaryAccessCode",
    summary="Makes a code that opens the door during a period.",
    phrases=Phrases(
        step="Generate a temporary access code for {start_time} to {end_time}.",
        outcome="A temporary access code for {start_time} to {end_time} has been generated.",
        noun_phrase="the temporary access code for {start_time} to {end_time}",
    ),
    parameters=(
        moment("start_time", "When the code begins to open the door.", START),
        moment("end_time", "When it no longer does.", END),
    ),
    raises=(
        Raises(
            INVALID_REQUEST,
            "A time is not in the format 'YYYY-MM-DD HH:mm', the start is after the end, or the end has passed.",
            (start > end) | (end <= now),
        ),
    ),
    effects=(Insert(ACCESS_CODES, {"start_time": start, "end_time": end, "status": constant("active")}),),
    results=(KeyResult("access_code", "The new code.", ACCESS_CODES),),
    emits="CODE_MANAGEMENT",
    critical=True,
)

REVOKE_TEMPORARY_ACCESS_CODE = Tool(
    name="RevokeTemporaryAccessCode",
    summary="Revokes a temporary access code, which then no longer opens the door.",
    phrases=Phrases(step="Revoke {access_code}.", outcome="Revoked: {access_code}."),
    parameters=(Parameter("access_code", ACCESS_CODE, "The code.", FromLookup(ACCESS_CODES), malformed=NOT_FOUND),),
    raises=(
        # A revoked or expired code is treated as an unknown code.
        Raises(NOT_FOUND, "There is no such code, or no longer.", ~exists(ACCESS_CODES, opens_the_door)),
    ),
    effects=(Update(ACCESS_CODES, opens_the_door, {"status": lambda code: constant("revoked")}),),
    results=(ValueResult("success", "Whether the code was revoked.", BOOLEAN, SUCCEEDED),),
    emits="CODE_MANAGEMENT",
    critical=True,
)
