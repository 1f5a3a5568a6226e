"""The door: its status, locking and unlocking."""

from lawtrace.environments.compliance import INVALID_REQUEST
from lawtrace.environments.effects import Update
from lawtrace.environments.kinds import BOOLEAN
from lawtrace.environments.phrases import Phrases
from lawtrace.environments.results import ValueResult
from lawtrace.environments.smart_home.entities import LOCK_STATUS, LOCKS
from lawtrace.environments.terms import SUCCEEDED, constant, exists, value_of
from lawtrace.environments.tool import Raises, Tool

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
