"""Letters to the person in a case, and notes to partners that have the data."""

from lawtrace.environments.spec import (
    Choice,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    RowsResult,
    Term,
    Tool,
    argument,
    constant,
)

from .entities import (
    CASES,
    CONTACT_KIND,
    CONTACTS,
    LETTERS,
    PARTNER_NOTES,
    PARTNERS,
)
from .shared_terms import (
    CASE,
    CONTACT,
    IS_CLOSED_DOWN,
    MALFORMED,
    PARTNER,
    SUCCESS,
    case,
    contact,
    of_case,
    partner,
    unknown,
)

KINDS = "'email', 'post', 'portal' (the member page), or 'club' (by hand at the club)."

FIND_CONTACT = Tool(
    name="FindContact",
    summary="Finds an address of the person in a case.",
    leak_words=("contact", "postal address", "e-mail address", "mailing address"),
    parameters=(
        CASE,
        Parameter(
            "kind",
            CONTACT_KIND,
            KINDS,
            FromUser(OneOf(CONTACT_KIND.options)),
        ),
    ),
    raises=(MALFORMED, unknown(CASES)),
    results=(
        RowsResult(
            "contacts",
            "The person's address of that kind.",
            CONTACTS,
            lambda c: (c.person_id == of_case("person_id", "")) & (c.kind == argument("kind")),
            ("contact_id", "kind", "address"),
        ),
    ),
    compliance=True,
)


def _letter(content: Term) -> Insert:
    return Insert(LETTERS, {"case_id": case, "contact_id": contact, "content": content})


CONTENT = Choice(("what was done", "reasons and remedies"))

SEND_REPLY = Tool(
    name="SendReply",
    summary="Sends the person the answer to the request in a case, with the copy if one was made.",
    leak_words=("reply", "replied", "answer", "write to", "write back", "let her know", "let him know"),
    parameters=(
        CASE,
        CONTACT,
        Parameter(
            "content",
            CONTENT,
            "'what was done': what the company has done on the request; 'reasons and remedies': why it has not done "
            "it, and that the person can complain to a supervisory authority and go to court.",
            FromUser(OneOf(CONTENT.options)),
        ),
    ),
    raises=(MALFORMED, unknown(CASES), unknown(CONTACTS)),
    effects=(_letter(argument("content")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

REASON = Choice(("complexity of the request", "number of requests"))

EXTEND_TIME = Tool(
    name="ExtendTime",
    summary="Tells the person in a case that the answer takes up to two months longer, and why.",
    leak_words=("extend", "extension", "two months", "longer", "deadline"),
    parameters=(CASE, CONTACT, Parameter("reason", REASON, "Why it takes longer.", FromUser(OneOf(REASON.options)))),
    raises=(MALFORMED, unknown(CASES), unknown(CONTACTS)),
    effects=(_letter(argument("reason")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

ANNOUNCE_LIFTING = Tool(
    name="AnnounceLifting",
    summary="Writes to the person in a case that restricted data are about to be used again.",
    leak_words=("announce", "warn", "in advance"),
    parameters=(CASE, CONTACT),
    raises=(MALFORMED, unknown(CASES), unknown(CONTACTS)),
    effects=(_letter(constant("about to be used again")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

NOTE = Choice(("instruction", "notice"))

INFORM_RECIPIENT = Tool(
    name="InformRecipient",
    summary="Tells a partner that the data of a case have been corrected, erased or restricted.",
    leak_words=("tell the partner", "inform", "pass the news"),
    parameters=(
        CASE,
        PARTNER,
        Parameter(
            "form",
            NOTE,
            "'instruction': to do the same with the data that it holds for the company; 'notice': that it was done.",
            FromUser(OneOf(NOTE.options)),
        ),
    ),
    raises=(MALFORMED, unknown(CASES), unknown(PARTNERS)),
    fails=(IS_CLOSED_DOWN,),
    effects=(Insert(PARTNER_NOTES, {"case_id": case, "partner_id": partner, "form": argument("form")}),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)
