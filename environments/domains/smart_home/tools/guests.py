"""The guests: finding, adding and deleting them."""

from lawtrace.environments.domains.smart_home.entities import ACCESS_HISTORY, ACCESSES, GUESTS, SESSION, WITHOUT_END
from lawtrace.environments.domains.smart_home.initial_state import GUEST_EMAILS, GUEST_NAMES
from lawtrace.environments.domains.smart_home.tools.shared import (
    CONFLICT,
    END,
    NO_GUEST_NAMED,
    NOT_FOUND,
    START,
    UNKNOWN_GUEST,
    guest_ids,
    has_access,
    is_named,
    moment,
    now,
)
from lawtrace.environments.spec import (
    BOOLEAN,
    INVALID_REQUEST,
    MOMENT,
    SUCCEEDED,
    TEXT,
    Delete,
    Fails,
    FromUser,
    HoursFromNow,
    Insert,
    InsertEach,
    KeyResult,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    Tool,
    UnusedValue,
    ValueResult,
    WordOf,
    any_item,
    argument,
    choose,
    constant,
    contains_text,
    exists,
    if_given,
    is_given,
)

SEARCH_GUESTS = Tool(
    name="SearchGuests",
    summary="Finds guests by their name.",
    phrases=Phrases(
        step='Search the guests for "{name_keyword}".', noun_phrase='the guest found by searching for "{name_keyword}"'
    ),
    parameters=(
        Parameter(
            "name_keyword",
            TEXT,
            "What to look for; a guest is found if the name contains it, in upper or lower case.",
            FromUser(WordOf(GUESTS, "guest_name")),
        ),
    ),
    results=(
        RowsResult(
            "guests",
            "The guests that were found.",
            GUESTS,
            lambda g: contains_text(g.guest_name, argument("name_keyword")),
            ("guest_id", "guest_name", "guest_email"),
        ),
    ),
)

ADD_GUEST = Tool(
    name="AddGuest",
    summary="Adds a guest, who has no access yet.",
    phrases=Phrases(
        step='Add a guest called "{guest_name}" with the e-mail address {guest_email}.',
        outcome='A guest called "{guest_name}" with the e-mail address {guest_email} has been added.',
        noun_phrase='the new guest "{guest_name}"',
    ),
    parameters=(
        Parameter("guest_name", TEXT, "The name.", FromUser(UnusedValue(GUEST_NAMES, GUESTS, "guest_name"))),
        Parameter(
            "guest_email", TEXT, "The e-mail address.", FromUser(UnusedValue(GUEST_EMAILS, GUESTS, "guest_email"))
        ),
    ),
    # The document does not define when two guests are the same: the address decides, since people may share a name.
    raises=(
        Raises(
            CONFLICT,
            "There is a guest with that e-mail address already.",
            exists(GUESTS, lambda g: g.guest_email == argument("guest_email")),
        ),
    ),
    effects=(Insert(GUESTS, {"guest_name": argument("guest_name"), "guest_email": argument("guest_email")}),),
    results=(KeyResult("guest_id", "The identifier of the new guest.", GUESTS),),
    emits="GUEST_MANAGEMENT",
    critical=True,
)

DELETE_GUEST = Tool(
    name="DeleteGuest",
    summary="Deletes guests. What access they have is not touched.",
    phrases=Phrases(step="Delete {guest_ids}.", outcome="Deleted from the list of guests: {guest_ids}."),
    parameters=(guest_ids("The identifiers of the guests to delete."),),
    raises=(Raises(NOT_FOUND, "At least one of the guests does not exist.", UNKNOWN_GUEST),),
    fails=(Fails("The list names no guest.", NO_GUEST_NAMED),),
    effects=(Delete(GUESTS, lambda g: is_named(g.guest_id)),),
    results=(ValueResult("success", "Whether the guests were deleted.", BOOLEAN, SUCCEEDED),),
    emits="GUEST_MANAGEMENT",
    critical=True,
)


named, start, end = argument("guest_ids"), argument("start_time"), argument("end_time")
is_permanent = argument("permanent") == constant(True)
is_for_a_time = ~is_permanent


def period(name: str, description: str, domain: HoursFromNow) -> Parameter:
    # The document has no exception for a time in another format: such a call is rejected.
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
            FromUser(OneOf((False, False, True))),
        ),
        moment("start_time", "When the access begins; for access that is not permanent.", START, when=is_for_a_time),
        moment("end_time", "When the access ends; for access that is not permanent.", END, when=is_for_a_time),
    ),
    raises=(
        Raises(NOT_FOUND, "At least one of the guests does not exist.", UNKNOWN_GUEST),
        Raises(CONFLICT, "At least one of the guests has access already.", any_item(named, has_access)),
        # The document mentions invalid times: a past end is invalid. Times of a permanent access are ignored.
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
    fails=(Fails("The list names no guest.", NO_GUEST_NAMED),),
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
        Raises(NOT_FOUND, "At least one of the guests does not exist.", UNKNOWN_GUEST),
        Raises(
            INVALID_REQUEST,
            "At least one of the guests has no access, or one that is over.",
            any_item(named, lambda guest: ~has_access(guest)),
        ),
    ),
    fails=(Fails("The list names no guest.", NO_GUEST_NAMED),),
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
