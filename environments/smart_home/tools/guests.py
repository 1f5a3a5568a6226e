"""The guests: finding, adding and deleting them."""

from lawtrace.environments.domains import NewValue, WordOf
from lawtrace.environments.effects import Delete, Insert
from lawtrace.environments.kinds import BOOLEAN, TEXT
from lawtrace.environments.phrases import Phrases
from lawtrace.environments.results import KeyResult, RowsResult, ValueResult
from lawtrace.environments.smart_home.entities import GUESTS
from lawtrace.environments.smart_home.population import GUEST_EMAILS, GUEST_NAMES
from lawtrace.environments.smart_home.tools.words import (
    CONFLICT,
    NAMES_NOBODY,
    NOT_FOUND,
    SOMEBODY_UNKNOWN,
    guest_ids,
    is_named,
)
from lawtrace.environments.terms import SUCCEEDED, argument, contains_text, exists
from lawtrace.environments.tool import Fails, FromUser, Parameter, Raises, Tool

SEARCH_GUESTS = Tool(
    name="SearchGuests",
    summary="Finds guests by their name.",
    phrases=Phrases(
        step='Search the guests for "{name_keyword}".', thing='the guest found by searching for "{name_keyword}"'
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
        thing='the new guest "{guest_name}"',
    ),
    parameters=(
        Parameter("guest_name", TEXT, "The name.", FromUser(NewValue(GUEST_NAMES, GUESTS, "guest_name"))),
        Parameter("guest_email", TEXT, "The e-mail address.", FromUser(NewValue(GUEST_EMAILS, GUESTS, "guest_email"))),
    ),
    # The document does not say what makes two guests the same: the address does, since two people may share a name.
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
    raises=(Raises(NOT_FOUND, "At least one of the guests does not exist.", SOMEBODY_UNKNOWN),),
    fails=(Fails("The list names no guest.", NAMES_NOBODY),),
    effects=(Delete(GUESTS, lambda g: is_named(g.guest_id)),),
    results=(ValueResult("success", "Whether the guests were deleted.", BOOLEAN, SUCCEEDED),),
    emits="GUEST_MANAGEMENT",
    critical=True,
)
