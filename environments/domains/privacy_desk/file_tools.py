"""What the desk can look up about a case, and what has to be prepared before a copy is made."""

from lawtrace.environments import spec as s

from . import entities as e
from .shared_terms import CASE, MALFORMED, PARTNER, SUCCESS, case, of_case, partner, unknown

DAY = 24 * 3600
PROOF_DAYS = {"date of birth": 2, "membership number": 4, "home club": 7}
"""How long the answer takes, by what is asked for: the club looks into its books last."""
COLLECTION_DAYS = 40


def _message(field: str, description: str, otherwise: s.Value) -> s.ValueResult:
    return s.show(e.MESSAGES, field, description, otherwise)


def _record(field: str, description: str, otherwise: s.Value) -> s.ValueResult:
    return s.show(e.RECORDS, field, description, otherwise, by="case_id")


def _person(field: str, description: str) -> s.ValueResult:
    found = s.value_of(e.PEOPLE, lambda p: p.person_id == of_case("person_id", ""), field, 0)
    return s.ValueResult(field, description, s.INTEGER, found)


READ_MESSAGE = s.Tool(
    name="ReadMessage",
    summary="Shows the message of the person or the colleague in a case, and how it compares with what is on file.",
    leak_words=("sender", "read the message", "read her", "read his", "on file"),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    results=(
        _message(
            "sender",
            "'on file': it came from an address that is on file for the person; 'signed in': the person wrote it on "
            "the member page after signing in; 'not on file': it came from an address that is not on file, which "
            "leaves a reasonable doubt about who wrote it; 'confirmed': it did, but the person has shown since then "
            "that it is theirs.",
            "not on file",
        ),
        s.show(e.CASES, "received", "The day on which the case came in.", 1),
        _message("write_by", "How the person wants to be written to: 'email', 'post', 'portal' or 'club'.", "email"),
        _message(
            "character",
            "'further copy': the person has been given a copy of the same data and wants a further one; 'repetitive': "
            "the same has been asked and answered again and again, and nothing has changed; 'unfounded': the person "
            "says that it is only meant to cause trouble; 'ordinary': none of these.",
            "ordinary",
        ),
        _message(
            "comparable",
            "The one detail on file that an answer of the person could be compared with: 'date of birth', 'membership "
            "number' or 'home club'.",
            "home club",
        ),
        _message("correction", "In a case of rectification, what the data are to say; else empty.", ""),
        _message("partner", "In a case of passing on, the name of the partner; else empty.", ""),
        _message("fee", "In a case of billing, what is to be billed; else 0.", 0),
    ),
    compliance=True,
)

ASK_FOR_PROOF = s.Tool(
    name="AskForProof",
    summary=(
        "Asks the person in a case for a detail that shows who they are, and waits for the answer. For the "
        + ", for the ".join(f"{detail} it takes {days} days" for detail, days in PROOF_DAYS.items())
        + "."
    ),
    leak_words=("proof", "prove", "identity", "identif", "who she is", "who he is", "passport"),
    parameters=(CASE, s.option("detail", e.DETAIL, "What is asked for.")),
    raises=(MALFORMED, unknown(e.CASES)),
    results=(
        s.ValueResult(
            "identified",
            "Whether the answer shows that the person made the request; never if the detail is not on file.",
            s.BOOLEAN,
            (of_case("proof", "insufficient", e.MESSAGES) == "sufficient")
            & (of_case("comparable", "", e.MESSAGES) == s.argument("detail")),
        ),
    ),
    duration=s.choose(
        s.argument("detail") == "date of birth",
        PROOF_DAYS["date of birth"] * DAY,
        s.choose(
            s.argument("detail") == "membership number",
            PROOF_DAYS["membership number"] * DAY,
            PROOF_DAYS["home club"] * DAY,
        ),
    ),
    compliance=True,
    critical=True,
)

READ_DATA_SHEET = s.Tool(
    name="ReadDataSheet",
    summary="Shows what the desk knows about the data of a case.",
    leak_words=("data sheet", "still need", "retention"),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    results=(
        _record("purpose", "What the data are used for.", "running the clubs"),
        _record("legal_basis", "The legal basis for using them.", "contract"),
        _record(
            "kept_for",
            "What needs them apart from that purpose: a 'legal obligation' of the company, such as one of tax law, to "
            "keep them, so that to erase them is against the law; a 'legal claim' that is being brought or defended "
            "with them; or 'nothing else'.",
            "nothing else",
        ),
        _record(
            "grounds",
            "How the company's legitimate grounds to use them weigh against an objection: 'compelling', so that they "
            "override the person's interests, or 'not compelling'.",
            "not compelling",
        ),
        _record(
            "accuracy",
            "What a check against the papers has shown: they are 'correct', 'incorrect', or 'incomplete', since what "
            "the person says is missing; or they are 'unchecked'.",
            "correct",
        ),
        _record(
            "others",
            "What they say about other people: 'in confidence', if a copy would harm these by what it tells about "
            "them; 'in passing', if it would not.",
            "in passing",
        ),
        _record("held", "How they are held and processed: 'electronic' or 'on paper'.", "electronic"),
        s.show(
            e.HOLDINGS,
            "effort",
            "What it takes to answer a request about them: 'little', since all are at hand; or they have to be brought "
            "together first, since the request is 'complex' or the person has made 'many requests'.",
            "little",
        ),
        _record("cost", "What it costs the company to answer a request about them.", 0),
    ),
    compliance=True,
)

COLLECT_DATA = s.Tool(
    name="CollectData",
    summary=(
        f"Has the data of a case brought together from all clubs. They are at hand {COLLECTION_DAYS} days later; the "
        "desk goes on with other work."
    ),
    leak_words=("bring together", "brought together", "collect", "from all clubs"),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    effects=(s.register(e.COLLECTIONS, "case_id", complete=s.CURRENT_MOMENT + COLLECTION_DAYS * s.MINUTES_PER_DAY),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

WAIT = s.Tool(
    name="Wait",
    summary="Lets days pass without doing anything.",
    leak_words=("wait until", "wait for", "wait a day", "wait a week", "wait another", "days pass"),
    parameters=(s.Parameter("days", s.INTEGER, "How many days, from 1 to 60.", s.FromUser(s.Amount(1, 60))),),
    raises=(
        MALFORMED,
        s.Raises(
            s.INVALID_REQUEST,
            "The 'days' are not a whole number from 1 to 60.",
            (s.argument("days") < 1) | (s.argument("days") > 60),
        ),
    ),
    results=(SUCCESS,),
    duration=s.argument("days") * DAY,
    compliance=True,
)

REDACT_COPY = s.Tool(
    name="RedactCopy",
    summary="Leaves out of the next copy for a case every passage that mentions other people.",
    leak_words=("redact", "blacken", "black out", "other people", "third part"),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    effects=(s.register(e.REGISTER, subject=case, entry="redacted"),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)


def _has_the_data(partner_id: s.Term) -> s.Term:
    return s.has(e.DISCLOSURES, by="case_id", partner_id=partner_id)


FIND_RECIPIENTS = s.Tool(
    name="FindRecipients",
    summary="Shows to which partners the data of a case have been disclosed.",
    leak_words=("recipient", "handed on", "who received", "who else has"),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    results=(
        s.RowsResult(
            "recipients",
            "The partners that have the data.",
            e.PARTNERS,
            lambda p: _has_the_data(p.partner_id) & (p.reach == "active"),
            ("partner_id", "name"),
        ),
        s.RowsResult(
            "former_recipients",
            "Partners that had the data and do not exist any more.",
            e.PARTNERS,
            lambda p: _has_the_data(p.partner_id) & (p.reach == "closed down"),
            ("name",),
        ),
    ),
    compliance=True,
)

READ_CONSENT = s.Tool(
    name="ReadConsent",
    summary="Shows on what basis the data of a case may be used and passed on, and what the person has said about it.",
    leak_words=("legal ground", "permission", "has objected", "may be used"),
    parameters=(CASE,),
    raises=(MALFORMED, unknown(e.CASES)),
    results=(
        s.show(
            e.USES,
            "status",
            "Whether the data are 'in use'; 'restricted', as the person wants, who consents to no use meanwhile; "
            "'stopped' or 'erased'.",
            "in use",
        ),
        _record("category", "'health' for data about the person's health, else 'ordinary'.", "ordinary"),
        _record("purpose", "What they were collected for and are used for.", "running the clubs"),
        _record("legal_basis", "The legal basis for using them and passing them on.", "contract"),
        _record("document", "The number of the document that the basis rests on.", ""),
        s.show(
            e.CONSENTS,
            "consent",
            "The consent to use them for what they were collected for, and to pass them on to partners for this: "
            "'none'; 'given' by a clear act; 'expressly given' in a statement that names the data; or 'withdrawn'.",
            "none",
        ),
        s.show(
            e.CONSENTS,
            "consent_by",
            "Who gave the consent, in the company's app, which it offers directly to children, too: 'the person', or "
            "'a parent', as was verified.",
            "the person",
        ),
        _person("age", "The age of the person in years."),
        _person("consent_age", "The age from which a child's own consent counts in the person's member state."),
        _record(
            "use",
            "What the partner is to use them for: the 'same purpose' as that for which they were collected; a "
            "'compatible purpose' or an 'incompatible purpose', as the company's assessment has found.",
            "same purpose",
        ),
        _record(
            "necessity",
            "Whether this use is 'necessary' or 'not necessary' for the contract, the legal obligation, or legitimate "
            "interests that those of the person do not outweigh; 'on consent' where it rests on consent.",
            "necessary",
        ),
        _record(
            "abroad",
            "Whether the person has explicitly agreed that they go to a country without safeguards, after being told "
            "of the risks: 'agreed after warning' or 'not asked'.",
            "not asked",
        ),
        _record(
            "objection",
            "The objection that the person has made: 'none', 'to direct marketing' or 'to this use'.",
            "none",
        ),
        _record(
            "grounds",
            "How the company's legitimate grounds to use them weigh against an objection: 'compelling', so that they "
            "override the person's interests, or 'not compelling'.",
            "not compelling",
        ),
    ),
    compliance=True,
)


def _partner(field: str, description: str, otherwise: s.Value) -> s.ValueResult:
    return s.show(e.PARTNERS, field, description, otherwise)


READ_PARTNER_FILE = s.Tool(
    name="ReadPartnerFile",
    summary="Shows what is on file about a partner.",
    leak_words=("partner file", "adequacy", "third country", "clauses"),
    parameters=(PARTNER,),
    raises=(MALFORMED, unknown(e.PARTNERS)),
    results=(
        _partner(
            "standing",
            "What protects data there: the partner is in a 'member state' of the Union; or it is in another country, "
            "with an 'adequacy decision' of the Commission; with 'standard clauses' of the Commission, and rights and "
            "remedies that people can enforce there; or with 'nothing'.",
            "nothing",
        ),
        _partner(
            "role",
            "'processor': it works on data on the company's behalf; 'controller': it uses them for its own purposes.",
            "controller",
        ),
        _partner("contract", "Whether a contract on data processing is 'signed' or 'not signed'.", "not signed"),
    ),
    compliance=True,
)

COVER = s.Choice(("member state", "adequacy decision", "standard clauses", "consent of the person"))

LOG_DISCLOSURE = s.Tool(
    name="LogDisclosure",
    summary="Enters in the record of processing that the data of a case went to a partner, and what that rests on.",
    leak_words=("record of", "log", "register", "entry", "document"),
    parameters=(
        CASE,
        PARTNER,
        s.option("basis", e.BASIS, "The legal basis."),
        s.stated(
            e.RECORDS,
            "document",
            "The number of the document that the basis rests on.",
            lambda r: r.case_id == case,
            name="reference",
        ),
        s.option("cover", COVER, "What protects the data where the partner is."),
    ),
    raises=(MALFORMED, unknown(e.CASES), unknown(e.PARTNERS)),
    effects=(
        s.register(
            e.REGISTER,
            subject=partner,
            entry=s.argument("cover"),
            legal_basis=s.argument("basis"),
            document=s.argument("reference"),
        ),
    ),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

REASON = s.Choice(("further copy", "repetitive", "unfounded"))

FILE_COSTS = s.Tool(
    name="FileCosts",
    summary="Files for a case what shows that a fee may be billed: the reason, and what the answer costs the company.",
    leak_words=("file the cost", "reason for the fee", "justif", "burden"),
    parameters=(
        CASE,
        s.option("reason", REASON, "Why a fee may be billed."),
        s.Parameter("expense", s.MONEY, "What the answer costs the company.", s.FromUser(s.Amount(8_00, 25_00))),
    ),
    raises=(MALFORMED, unknown(e.CASES)),
    effects=(s.register(e.REGISTER, subject=case, entry=s.argument("reason"), expense=s.argument("expense")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)
