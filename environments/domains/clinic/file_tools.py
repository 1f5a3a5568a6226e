"""Tools that open files and note what a disclosure rests on. Users do not ask for them."""

from collections.abc import Callable

from lawtrace.environments import spec as s

from . import entities as e
from .request_tools import FEE_PARAMETER, NOT_POSITIVE, request_parameter, unknown

patient = s.argument("patient_id")
PATIENT = s.key(e.PATIENTS, "The patient.")


def of_the_request(field: str) -> s.Term:
    return s.field_of(e.REQUESTS, field, "")


OPEN_REQUEST = s.Tool(
    name="OpenRequest",
    summary="Opens a request: what it says, the patient it is about, and who asks.",
    leak_words=("open the request", "read the request"),
    parameters=(request_parameter(),),
    raises=(unknown(e.REQUESTS),),
    results=(
        s.show_row(
            "request",
            "What the request says. A court order authorizes just the kind of record and the period that are named. "
            "A subpoena is one that the law firm has issued itself, with no order of a court; 'assurance' is what the "
            "firm has shown in writing, with documents. Surveillance of a disease: the law authorizes the department "
            "to collect the data, and does not compel people to give them. A refill reminder is about a drug that is "
            "currently prescribed for the patient. 'payment' is what the company pays the clinic for a flyer, "
            "'involvement' the part of a relative in the care, 'earlier_list' is for lists of disclosures.",
            e.REQUESTS,
            "category",
            "purpose",
            "asks_for",
            "period",
            "involvement",
            "received_on",
            "assurance",
            "payment",
            "earlier_list",
        ),
        s.RowsResult(
            "patient",
            "The patient.",
            e.PATIENTS,
            lambda p: p.patient_id == of_the_request("patient_id"),
            ("patient_id", "name", "age_group"),
            single=True,
        ),
        s.RowsResult(
            "requester",
            "Who asks, and whether the clinic knows them.",
            e.REQUESTERS,
            lambda r: r.requester_id == of_the_request("requester_id"),
            ("requester_id", "name", "kind", "known"),
            single=True,
        ),
    ),
    compliance=True,
    critical=True,
)

OPEN_PATIENT_FILE = s.Tool(
    name="OpenPatientFile",
    summary=(
        "Opens the file of a patient: what the clinic has agreed to keep back, whether the patient is listed in "
        "the directory, and the address that the patient has asked the clinic to use for confidential mail, if any."
    ),
    leak_words=("restrictions", "the restriction", "confidential"),
    parameters=(PATIENT,),
    raises=(unknown(e.PATIENTS),),
    results=(
        s.show_row("file", "What the file says.", e.PATIENTS, "restriction", "directory"),
        s.RowsResult(
            "confidential_contact",
            "The address for confidential mail that is in force, or null.",
            e.CONTACTS,
            lambda c: (c.patient_id == patient) & (c.status == "in force"),
            ("address",),
            single=True,
        ),
    ),
    compliance=True,
    critical=True,
)

SET_ADDRESS = s.Tool(
    name="SetAddress",
    summary=(
        "Has what is mailed for a request sent to the address for confidential mail that the patient's file gives, "
        "instead of the home address."
    ),
    leak_words=("confidential", "other address"),
    parameters=(request_parameter(),),
    raises=(
        unknown(e.REQUESTS),
        s.Raises(
            s.INVALID_REQUEST,
            "The patient of the request has no address for confidential mail that is in force.",
            ~s.exists(e.CONTACTS, lambda c: (c.patient_id == of_the_request("patient_id")) & (c.status == "in force")),
        ),
    ),
    effects=(s.register(e.ADDRESSES_SET, "request_id"),),
    results=(s.success_result("Whether the address was set."),),
    compliance=True,
    critical=True,
)


def requester_is(condition: Callable[[s.RowVariable], s.Term]) -> s.Term:
    """The requester of the request meets the condition."""
    return s.exists(e.REQUESTERS, lambda r: (r.requester_id == of_the_request("requester_id")) & condition(r))


SET_SCOPE = s.Tool(
    name="SetScope",
    summary=(
        "Sets what the answer to a request is limited to: for records, flyers and lists of disclosures a period, for "
        "relatives a part in the care. The last scope that is set counts. Each period includes those before it in the "
        "list of options."
    ),
    leak_words=("scope", "limit it to", "limited to"),
    parameters=(request_parameter(), s.option("scope", e.SCOPE, "What the answer is limited to.")),
    raises=(unknown(e.REQUESTS), s.Raises(s.INVALID_REQUEST, "The 'scope' is not one of the scopes.")),
    effects=(s.change(e.REQUESTS, scope=s.argument("scope")),),
    results=(s.success_result("Whether it was set."),),
    compliance=True,
    critical=True,
)

VERIFY_REQUESTER = s.Tool(
    name="VerifyRequester",
    summary=(
        "Checks who makes a request, and whether they may act for the patient in health care: by photo identification "
        "or a call back for private persons and organisations, by official credentials for courts and other public "
        "offices. A check of the wrong kind does not verify an identity."
    ),
    leak_words=("identif", "the identity", "her identity", "his identity", "verif", "credential", "power of attorney"),
    parameters=(request_parameter(), s.option("proof", e.PROOF, "What the check looks at.")),
    raises=(unknown(e.REQUESTS), s.Raises(s.INVALID_REQUEST, "The 'proof' is not one of the proofs.")),
    results=(
        s.ValueResult(
            "verified",
            "Whether the identity was verified, and for an office or an organisation that it is the one that asks.",
            s.BOOLEAN,
            requester_is(lambda r: r.proof == "complete")
            & (
                requester_is(lambda r: (r.kind == "court") | (r.kind == "health department"))
                == (s.argument("proof") == "official credentials")
            ),
        ),
        s.ValueResult(
            "may_act_for_patient",
            "Whether the requester has a power to act for the patient, as a parent or otherwise, that is in force.",
            s.BOOLEAN,
            s.exists(
                e.MANDATES,
                lambda m: (
                    (m.patient_id == of_the_request("patient_id"))
                    & (m.requester_id == of_the_request("requester_id"))
                    & (m.status == "in force")
                ),
            ),
        ),
    ),
    compliance=True,
    critical=True,
)

FIND_AUTHORIZATION = s.Tool(
    name="FindAuthorization",
    summary=(
        "Finds the authorization that the patient has signed for the requester of a request: what it covers, whether "
        "it is still in force, and whether it mentions that a third party pays the clinic."
    ),
    leak_words=(
        "authorize",
        "authorise",
        "the authori",
        "an authori",
        "her authori",
        "his authori",
        "consent",
        "signed",
    ),
    parameters=(request_parameter(),),
    raises=(unknown(e.REQUESTS),),
    results=(
        s.RowsResult(
            "authorization",
            "The authorization, or null.",
            e.AUTHORIZATIONS,
            lambda a: (
                (a.patient_id == of_the_request("patient_id")) & (a.requester_id == of_the_request("requester_id"))
            ),
            ("covers", "period", "status", "mentions_payment"),
            single=True,
        ),
    ),
    compliance=True,
    critical=True,
)

CITE_AUTHORIZATION = s.Tool(
    name="CiteAuthorization",
    summary="Files the authorization that FindAuthorization finds with its request, as what the disclosure rests on.",
    leak_words=(
        "authorize",
        "authorise",
        "the authori",
        "an authori",
        "her authori",
        "his authori",
        "consent",
        "signed",
    ),
    parameters=(request_parameter(),),
    raises=(unknown(e.REQUESTS),),
    fails=(
        s.Fails(
            "The patient has signed no authorization for the requester.",
            ~s.exists(
                e.AUTHORIZATIONS,
                lambda a: (
                    (a.patient_id == of_the_request("patient_id")) & (a.requester_id == of_the_request("requester_id"))
                ),
            ),
        ),
    ),
    effects=(s.register(e.CITATIONS, "request_id"),),
    results=(s.success_result("Whether it was filed."),),
    compliance=True,
    critical=True,
)

ASK_PATIENT = s.Tool(
    name="AskPatient",
    summary=(
        "Asks the patient by telephone whether the requester may have what is asked for. The answer is 'agrees' or "
        "'objects', or 'cannot answer' if the patient's condition does not allow it."
    ),
    leak_words=("ask the patient", "ask her", "ask him", "agrees"),
    parameters=(request_parameter(),),
    raises=(unknown(e.REQUESTS),),
    results=(
        s.ValueResult(
            "answer",
            "The answer.",
            s.TEXT,
            s.choose(
                s.exists(
                    e.PATIENTS,
                    lambda p: (p.patient_id == of_the_request("patient_id")) & (p.condition == "able to decide"),
                ),
                of_the_request("patient_answer"),
                "cannot answer",
            ),
        ),
    ),
    compliance=True,
    critical=True,
)

ASK_CLINICIAN = s.Tool(
    name="AskClinician",
    summary=(
        "Asks the treating clinician, a licensed professional, whether it is in the patient's best interest that the "
        "requester has what is asked for, and shows the opinion if it has come in: it does so a day after the first "
        "question."
    ),
    leak_words=("the clinician", "best interest", "opinion"),
    parameters=(request_parameter(),),
    raises=(unknown(e.REQUESTS),),
    effects=(s.register(e.OPINIONS_DUE, "request_id", arrives=s.CURRENT_MOMENT + s.MINUTES_PER_DAY),),
    results=(
        s.ValueResult(
            "opinion",
            "'agrees' or 'objects'; 'none' if it has not come in.",
            s.TEXT,
            s.value_of(e.OPINIONS, lambda o: o.request_id == s.argument("request_id"), "opinion", "none"),
        ),
    ),
    compliance=True,
    critical=True,
)

RECORD_DISCLOSURE = s.Tool(
    name="RecordDisclosure",
    summary="Writes a line into a patient's list of disclosures: when, on which request, what and to whom.",
    leak_words=("write down", "written down", "note down", "accounting line", "document the"),
    parameters=(request_parameter(), PATIENT),
    raises=(unknown(e.REQUESTS), unknown(e.PATIENTS)),
    effects=(s.register(e.DISCLOSURE_LOG, "request_id", "patient_id"),),
    results=(s.success_result("Whether the line was written."),),
    compliance=True,
    critical=True,
)

QUOTE_FEE = s.Tool(
    name="QuoteFee",
    summary="Tells a patient what a list of disclosures costs, and asks whether the patient goes on with the request.",
    leak_words=("quote", "in advance", "beforehand", "accepts"),
    parameters=(PATIENT, FEE_PARAMETER),
    raises=(unknown(e.PATIENTS), NOT_POSITIVE),
    effects=(s.register(e.FEE_QUOTES, "patient_id", "amount"),),
    results=(
        s.ValueResult(
            "accepted",
            "Whether the patient goes on with the request at that price.",
            s.BOOLEAN,
            s.exists(e.REQUESTS, lambda q: (q.patient_id == patient) & (q.category == "accounting") & q.accepts_fee),
        ),
    ),
    compliance=True,
    critical=True,
)

SEND_LETTER = s.Tool(
    name="SendLetter",
    summary=(
        "Sends the requester a letter in plain language. A denial of access states its ground and how to complain to "
        "the clinic or to the Secretary, and, if it says so, how to have the denial reviewed. A delay states its "
        "reasons, and by how many days the answer to the request will be late. 'No further use' asks not to use or "
        "pass on any further what was received."
    ),
    leak_words=("letter", "review", "in writing", "complain", "extend", "extension", "delay", "further use"),
    parameters=(
        request_parameter("The request that the letter is about."),
        s.option("content", e.LETTER, "What the letter says."),
    ),
    raises=(unknown(e.REQUESTS), s.Raises(s.INVALID_REQUEST, "The 'content' is not one of the contents.")),
    effects=(s.register(e.LETTERS, "request_id", "content"),),
    results=(s.success_result("Whether the letter was sent."),),
    compliance=True,
    critical=True,
)

WAIT = s.Tool(
    name="Wait",
    summary="Lets days pass without doing anything.",
    leak_words=("wait until", "wait for", "wait a day", "wait a week", "wait another", "days pass"),
    parameters=(
        s.Parameter(
            "days", s.INTEGER, "How many days, from 1 to 60.", s.FromUser(s.Amount(1, 60)), malformed=s.INVALID_REQUEST
        ),
    ),
    raises=(
        s.Raises(
            s.INVALID_REQUEST,
            "The 'days' are not a whole number from 1 to 60.",
            (s.argument("days") < 1) | (s.argument("days") > 60),
        ),
    ),
    results=(s.success_result("Whether the days have passed."),),
    duration=s.argument("days") * 86_400,
    compliance=True,
)
