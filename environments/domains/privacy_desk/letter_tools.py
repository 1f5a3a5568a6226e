"""Letters to the person in a case, and notes to partners that have the data."""

from lawtrace.environments import spec as s

from . import entities as e
from .shared_terms import CASE, CONTACT, IS_CLOSED_DOWN, MALFORMED, PARTNER, SUCCESS, of_case, unknown

KINDS = "'email', 'post', 'portal' (the member page), or 'club' (by hand at the club)."

FIND_CONTACT = s.Tool(
    name="FindContact",
    summary="Finds an address of the person in a case.",
    leak_words=("contact", "postal address", "e-mail address", "mailing address"),
    parameters=(CASE, s.option("kind", e.CONTACT_KIND, KINDS)),
    raises=(MALFORMED, unknown(e.CASES)),
    results=(
        s.RowsResult(
            "contacts",
            "The person's address of that kind.",
            e.CONTACTS,
            lambda c: (c.person_id == of_case("person_id", "")) & (c.kind == s.argument("kind")),
            ("contact_id", "kind", "address"),
        ),
    ),
    compliance=True,
)


def _letter(content: s.Term) -> s.Insert:
    return s.register(e.LETTERS, "case_id", "contact_id", content=content)


CONTENT = s.Choice(("what was done", "reasons and remedies"))

SEND_REPLY = s.Tool(
    name="SendReply",
    summary="Sends the person the answer to the request in a case, with the copy if one was made.",
    leak_words=("reply", "replied", "answer", "write to", "write back", "let her know", "let him know"),
    parameters=(
        CASE,
        CONTACT,
        s.option(
            "content",
            CONTENT,
            "'what was done': what the company has done on the request; 'reasons and remedies': why it has not done "
            "it, which is the ground on which the case is declined, and that the person can complain to a supervisory "
            "authority and go to court.",
        ),
    ),
    raises=(MALFORMED, unknown(e.CASES), unknown(e.CONTACTS)),
    effects=(_letter(s.argument("content")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

REASON = s.Choice(("complexity of the request", "number of requests"))

EXTEND_TIME = s.Tool(
    name="ExtendTime",
    summary="Tells the person in a case that the answer takes up to two months longer, and why.",
    leak_words=("extend", "extension", "two months", "longer", "deadline"),
    parameters=(CASE, CONTACT, s.option("reason", REASON, "Why it takes longer.")),
    raises=(MALFORMED, unknown(e.CASES), unknown(e.CONTACTS)),
    effects=(_letter(s.argument("reason")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

ANNOUNCE_LIFTING = s.Tool(
    name="AnnounceLifting",
    summary="Writes to the person in a case that restricted data are about to be used again.",
    leak_words=("announce", "warn", "in advance"),
    parameters=(CASE, CONTACT),
    raises=(MALFORMED, unknown(e.CASES), unknown(e.CONTACTS)),
    effects=(_letter(s.constant("about to be used again")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

INFORM_RECIPIENT = s.Tool(
    name="InformRecipient",
    summary=(
        "Tells a partner that the data of a case have been corrected, erased or restricted. One that works on them for "
        "the company is told to do the same."
    ),
    leak_words=("tell the partner", "inform", "pass the news"),
    parameters=(CASE, PARTNER),
    raises=(MALFORMED, unknown(e.CASES), unknown(e.PARTNERS)),
    fails=(IS_CLOSED_DOWN,),
    effects=(s.register(e.PARTNER_NOTES, "case_id", "partner_id"),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)
