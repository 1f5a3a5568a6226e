"""What guests may do and did: granting and revoking access, and the access history."""

from lawtrace.environments.compliance import INVALID_REQUEST
from lawtrace.environments.domains import HoursFromNow, Options
from lawtrace.environments.effects import Delete, InsertEach
from lawtrace.environments.kinds import BOOLEAN, MOMENT
from lawtrace.environments.phrases import Phrases
from lawtrace.environments.results import RowsResult, ValueResult
from lawtrace.environments.smart_home.entities import ACCESS_HISTORY, ACCESSES, SESSION, WITHOUT_END
from lawtrace.environments.smart_home.tools.words import (
    CONFLICT,
    END,
    NAMES_NOBODY,
    NOT_FOUND,
    SOMEBODY_UNKNOWN,
    START,
    guest_ids,
    has_access,
    is_named,
    moment,
    now,
)
from lawtrace.environments.terms import SUCCEEDED, any_item, argument, choose, constant, if_given, is_given
from lawtrace.environments.tool import Fails, FromUser, Parameter, Raises, Tool

named, start, end = argument("guest_ids"), argument("start_time"), argument("end_time")
is_permanent = argument("permanent") == constant(True)
is_for_a_time = ~is_permanent


def period(name: str, description: str, domain: HoursFromNow) -> Parameter:
    # The document has no exception for a time in another format: such a call is none.
    return Parameter(name, MOMENT, description, FromUser(domain), malformed=None)


GRANT_GUEST_ACCESS = Tool(
    name="GrantGuestAccess",
    summary="Grants guests access, permanent or for a time, and sends each an access code by e-mail.",
    phrases=Phrases(
        step=(
            "Grant {guest_ids}[permanent: permanent access][start_time: access from {start_time}]"
            "[end_time: to {end_time}]."
        ),
        outcome=(
            "[permanent: Permanent access][start_time: Access from {start_time}][end_time: to {end_time}] "
            "has been granted to {guest_ids}."
        ),
    ),
    parameters=(
        guest_ids("The identifiers of the guests."),
        Parameter(
            "permanent",
            BOOLEAN,
            "Whether the access is permanent; if not, it needs both times.",
            FromUser(Options((False, False, True))),
        ),
        moment("start_time", "When the access begins; for access that is not permanent.", START, when=is_for_a_time),
        moment("end_time", "When the access ends; for access that is not permanent.", END, when=is_for_a_time),
    ),
    raises=(
        Raises(NOT_FOUND, "At least one of the guests does not exist.", SOMEBODY_UNKNOWN),
        Raises(CONFLICT, "At least one of the guests has access already.", any_item(named, has_access)),
        # The document speaks of invalid times: an end that has passed is one. Times of a permanent access are ignored.
        Raises(
            INVALID_REQUEST,
            "A time is not in the format 'YYYY-MM-DD HH:mm', or access that is not permanent lacks a time, begins "
            "after its end, or has an end that has passed.",
            is_for_a_time
            & (
                ~is_given(start)
                | if_given(end, end <= now)
                | if_given(start, if_given(end, start > end), default=False)
            ),
        ),
    ),
    fails=(Fails("The list names no guest.", NAMES_NOBODY),),
    effects=(
        InsertEach(
            ACCESSES,
            named,
            lambda guest: {
                "guest_id": guest,
                "start_time": choose(is_permanent, now, if_given(start, start, default=now)),
                "end_time": choose(is_permanent, WITHOUT_END, if_given(end, end, default=now)),
            },
        ),
    ),
    results=(ValueResult("success", "Whether the access was granted.", BOOLEAN, SUCCEEDED),),
    emits="GUEST_ACCESS_CHANGE",
    critical=True,
)

REVOKE_GUEST_ACCESS = Tool(
    name="RevokeGuestAccess",
    summary="Revokes the access of guests.",
    phrases=Phrases(step="Revoke the access of {guest_ids}.", outcome="Access has been revoked for {guest_ids}."),
    parameters=(guest_ids("The identifiers of the guests."),),
    raises=(
        Raises(NOT_FOUND, "At least one of the guests does not exist.", SOMEBODY_UNKNOWN),
        Raises(
            INVALID_REQUEST,
            "At least one of the guests has no access, or one that is over.",
            any_item(named, lambda guest: ~has_access(guest)),
        ),
    ),
    fails=(Fails("The list names no guest.", NAMES_NOBODY),),
    effects=(Delete(ACCESSES, lambda a: is_named(a.guest_id) & (a.end_time > now)),),
    results=(ValueResult("success", "Whether the access was revoked.", BOOLEAN, SUCCEEDED),),
    emits="GUEST_ACCESS_CHANGE",
    critical=True,
)

VIEW_ACCESS_HISTORY = Tool(
    name="ViewAccessHistory",
    summary="Tells which guests came in during a period.",
    phrases=Phrases(step="View the access history from {start_time} to {end_time}."),
    parameters=(
        period("start_time", "The beginning of the period.", HoursFromNow(SESSION, "now", -600, -240)),
        period("end_time", "The end of the period.", HoursFromNow(SESSION, "now", -72, 0)),
    ),
    results=(
        RowsResult(
            "access_history",
            "Who came in, and when; oldest first.",
            ACCESS_HISTORY,
            lambda entry: (entry.access_time >= start) & (entry.access_time <= end),
            ("guest_id", "guest_name", "guest_email", "access_time"),
        ),
    ),
    emits="ACCESS_HISTORY_VIEW",
)
