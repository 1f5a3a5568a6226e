"""Temporary access codes: generating and revoking them."""

from lawtrace.environments.compliance import INVALID_REQUEST
from lawtrace.environments.effects import Insert, Update
from lawtrace.environments.kinds import BOOLEAN
from lawtrace.environments.phrases import Phrases
from lawtrace.environments.results import KeyResult, ValueResult
from lawtrace.environments.smart_home.entities import ACCESS_CODE, ACCESS_CODES
from lawtrace.environments.smart_home.tools.words import END, NOT_FOUND, START, moment, now
from lawtrace.environments.terms import SUCCEEDED, RowVariable, Term, argument, constant, exists
from lawtrace.environments.tool import FromLookup, Parameter, Raises, Tool

start, end = argument("start_time"), argument("end_time")


def opens_the_door(code: RowVariable) -> Term:
    """The code is the one that the call names, was not revoked, and its time is not over."""
    return (code.access_code == argument("access_code")) & (code.status == "active") & (code.end_time > now)


GENERATE_TEMPORARY_ACCESS_CODE = Tool(
    name="GenerateTemporaryAccessCode",
    summary="Makes a code that opens the door during a period.",
    phrases=Phrases(
        step="Generate a temporary access code for {start_time} to {end_time}.",
        outcome="A temporary access code for {start_time} to {end_time} has been generated.",
        thing="the temporary access code for {start_time} to {end_time}",
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
        # A code that was revoked or whose time is over opens no door: there is no such code any more.
        Raises(NOT_FOUND, "There is no such code, or no longer.", ~exists(ACCESS_CODES, opens_the_door)),
    ),
    effects=(Update(ACCESS_CODES, opens_the_door, {"status": lambda code: constant("revoked")}),),
    results=(ValueResult("success", "Whether the code was revoked.", BOOLEAN, SUCCEEDED),),
    emits="CODE_MANAGEMENT",
    critical=True,
)
