"""Tools for requests: find them, answer them, refuse them."""

from lawtrace.environments import spec as s

from . import entities as e

ARCHIVE_DAYS = 20
"""Days that it takes to get a record from the archive."""

request, record, amount = s.argument("request_id"), s.argument("record_id"), s.argument("amount")


def request_parameter(description: str = "The request.") -> s.Parameter:
    return s.key(e.REQUESTS, description)


def record_parameter(description: str = "The record.") -> s.Parameter:
    return s.key(e.RECORDS, description)


def unknown(entity: s.Entity) -> s.Raises:
    """The refusal of a key that no row of the entity has."""
    return s.unknown(entity, s.INVALID_REQUEST)


def is_not_about(*categories: str) -> s.Term:
    """The request is of none of the categories."""
    return ~s.exists(
        e.REQUESTS,
        lambda q: (
            (q.request_id == request)
            & (
                (q.category == categories[0])
                if len(categories) == 1
                else (q.category == categories[0]) | (q.category == categories[1])
            )
        ),
    )


def patient_of(entity: s.Entity, key: str) -> s.Term:
    """The patient of the row that the argument ``key`` names."""
    return s.value_of(entity, lambda row: getattr(row, key) == s.argument(key), "patient_id", otherwise="")


OF_ANOTHER_PATIENT = s.Fails(
    "The record is of another patient than the request.",
    ~(patient_of(e.RECORDS, "record_id") == patient_of(e.REQUESTS, "request_id")),
)
patient_asked_about = s.field_of(e.REQUESTS, "patient_id", "")
RESTRICTION = s.ValueResult(
    "restriction",
    "What the clinic has agreed with the patient to keep back.",
    e.PATIENTS.fields["restriction"].type,
    s.value_of(e.PATIENTS, lambda p: p.patient_id == patient_asked_about, "restriction", otherwise="none"),
)
LIMITED_TO = s.show(e.REQUESTS, "scope", "What it was limited to.", "everything")
AS_AGREED = s.ValueResult(
    "as_agreed",
    "Whether it went to the address for confidential mail that is in force; true also if the patient has none.",
    s.BOOLEAN,
    ~s.exists(e.CONTACTS, lambda c: (c.patient_id == patient_asked_about) & (c.status == "in force"))
    | s.exists(e.ADDRESSES_SET, lambda a: a.request_id == request),
)
KIND_OF_RECORD = s.show(e.RECORDS, "kind", "The kind of the record.", "visit summary")
IN_THE_ARCHIVE = s.Fails("The record is still in the archive.", s.has(e.RECORDS, location="in the archive"))

FIND_REQUEST = s.Tool(
    name="FindRequest",
    summary="Finds the open request of a requester about a patient. A patient may be the requester, too.",
    phrases=s.Phrases(
        step="Find the request about {patient_name} from {requester_name}.",
        noun_phrase="the request about {patient_name} from {requester_name}",
    ),
    parameters=(
        s.stated(e.REQUESTS, "patient_name", "The full name of the patient."),
        s.stated(
            e.REQUESTS,
            "requester_name",
            "The full name of the person or the organisation that asks.",
            lambda q: q.patient_name == s.argument("patient_name"),
        ),
    ),
    results=(
        s.RowsResult(
            "requests",
            "The open requests.",
            e.REQUESTS,
            lambda q: (
                (q.patient_name == s.argument("patient_name")) & (q.requester_name == s.argument("requester_name"))
            ),
            ("request_id", "category", "patient_name", "requester_name"),
        ),
    ),
)

LIST_REQUESTS = s.queue(
    "ListRequests",
    e.REQUESTS,
    "category",
    "patient_name",
    "requester_name",
    "received_on",
    summary="Lists the requests to the office, answered or not, in the order in which they came in.",
)

FIND_RECORD = s.Tool(
    name="FindRecord",
    summary=(
        "Finds a record of the patient that a request for records is about: where it is kept (one in the archive comes "
        "after 20 days, not sooner), who agreed to the care ('the minor alone': no other consent is needed by law, and "
        "the minor has not asked that a parent be treated as the representative), what the law of the state says of "
        "access by a parent to records of such care, and whether a licensed clinician has found that access to the "
        "record is likely to endanger a person's life or physical safety."
    ),
    phrases=s.Phrases(step="Find the {kind} for {request_id}.", noun_phrase="the {kind} for {request_id}"),
    parameters=(
        request_parameter("The request."),
        s.stated(
            e.RECORDS,
            "kind",
            "The kind of record.",
            lambda d: (
                (d.patient_id == patient_of(e.REQUESTS, "request_id"))
                & (d.kind == s.field_of(e.REQUESTS, "asks_for", ""))
            ),
        ),
    ),
    raises=(
        unknown(e.REQUESTS),
        s.Raises(s.INVALID_REQUEST, "The 'kind' is not one of the kinds of record."),
        s.Raises(s.INVALID_REQUEST, "The request is not for records.", is_not_about("release", "own records")),
    ),
    results=(
        s.RowsResult(
            "records",
            "The records of that kind.",
            e.RECORDS,
            lambda d: (d.patient_id == patient_of(e.REQUESTS, "request_id")) & (d.kind == s.argument("kind")),
            ("record_id", "kind", "location", "care_agreed_by", "state_law", "finding"),
        ),
    ),
)

FETCH_FROM_ARCHIVE = s.Tool(
    name="FetchFromArchive",
    summary=f"Orders a record from the archive, and waits until it has arrived, which takes {ARCHIVE_DAYS} days.",
    phrases=s.Phrases(
        step="Get {record_id} from the archive.", outcome="{record_id} has been fetched from the archive."
    ),
    parameters=(record_parameter(),),
    raises=(unknown(e.RECORDS),),
    fails=(s.Fails("The record is not in the archive.", s.has(e.RECORDS, location="on site")),),
    effects=(s.change(e.RECORDS, location="on site"),),
    results=(s.success_result("Whether the record has arrived."),),
    duration=ARCHIVE_DAYS * 24 * 60 * 60,
)

RELEASE_RECORD = s.Tool(
    name="ReleaseRecord",
    summary=(
        "Sends a copy of a record to the person or organisation that requested it: the part from the period that was "
        "set for the request, or the whole record if none was set."
    ),
    phrases=s.Phrases(
        step="Send {record_id} out on {request_id}.", outcome="{record_id} has been sent out on {request_id}."
    ),
    parameters=(request_parameter("The request that the copy answers."), record_parameter()),
    raises=(unknown(e.REQUESTS), unknown(e.RECORDS)),
    fails=(
        s.Fails("The request is not for a copy to be released.", is_not_about("release")),
        OF_ANOTHER_PATIENT,
        IN_THE_ARCHIVE,
    ),
    effects=(s.register(e.RELEASES, "request_id", "record_id"),),
    results=(s.success_result("Whether the copy was sent."), KIND_OF_RECORD, LIMITED_TO, RESTRICTION),
    critical=True,
)

GIVE_ACCESS = s.Tool(
    name="GiveAccess",
    summary=(
        "Mails a copy of a record to the patient, or to the person who acts for the patient: to the address that was "
        "set for the request, else to the home address. It covers the period that was set for the request, or "
        "everything if none was set."
    ),
    phrases=s.Phrases(
        step="Mail a copy of {record_id} as asked for in {request_id}.",
        outcome="A copy of {record_id} has been mailed as asked for in {request_id}.",
    ),
    parameters=(request_parameter("The request for access."), record_parameter()),
    raises=(unknown(e.REQUESTS), unknown(e.RECORDS)),
    fails=(
        s.Fails("The request is not for access to one's own records.", is_not_about("own records")),
        OF_ANOTHER_PATIENT,
        IN_THE_ARCHIVE,
    ),
    effects=(s.register(e.ACCESSES, "request_id", "record_id"),),
    results=(s.success_result("Whether the copy was mailed."), KIND_OF_RECORD, LIMITED_TO, AS_AGREED),
    critical=True,
)


def _answer(
    name: str, summary: str, phrases: s.Phrases, category: str, purpose: str, kept_in: s.Entity, *results: s.ValueResult
) -> s.Tool:
    """A tool that answers a request of one category."""
    return s.Tool(
        name=name,
        summary=summary,
        phrases=phrases,
        parameters=(request_parameter(),),
        raises=(unknown(e.REQUESTS),),
        fails=(s.Fails(f"The request is not {purpose}.", is_not_about(category)),),
        effects=(s.register(kept_in, "request_id"),),
        results=(s.success_result("Whether it was done."), *results),
        critical=True,
    )


SEND_ACCOUNTING = _answer(
    "SendAccounting",
    (
        "Mails a patient the list of the disclosures made in the period that was set for the request, or in the last "
        "six years if none was set: to the address that was set for the request, else to the home address."
    ),
    s.Phrases(
        step="Mail the list of disclosures asked for in {request_id}.",
        outcome="The list of disclosures asked for in {request_id} has been mailed.",
    ),
    "accounting",
    "for a list of disclosures",
    e.ACCOUNTINGS,
    LIMITED_TO,
    AS_AGREED,
)
TELL_FAMILY = _answer(
    "TellFamily",
    (
        "Tells a relative how the patient is, as far as it concerns the part in the care that was set for the request, "
        "or all that there is to tell if none was set."
    ),
    s.Phrases(
        step="Give the news about the patient in answer to {request_id}.",
        outcome="The news about the patient has been given in answer to {request_id}.",
    ),
    "family",
    "for news of a patient",
    e.NEWS,
    LIMITED_TO,
    RESTRICTION,
)
TELL_ROOM = _answer(
    "TellRoom",
    "Tells a caller who asks for a patient by name the room of the patient, and nothing else.",
    s.Phrases(
        step="Tell the room of the patient in answer to {request_id}.",
        outcome="The room of the patient has been told in answer to {request_id}.",
    ),
    "room",
    "for the room of a patient",
    e.ROOMS_TOLD,
)
MAIL_FLYER = _answer(
    "MailFlyer",
    (
        "Mails a patient the flyer of a company, chosen by the patient's records of the period that was set for the "
        "request, or by all of them if none was set: to the address that was set, else to the home address."
    ),
    s.Phrases(
        step="Mail the flyer in answer to {request_id}.", outcome="The flyer has been mailed in answer to {request_id}."
    ),
    "flyer",
    "for a flyer to be mailed",
    e.FLYERS,
    LIMITED_TO,
    AS_AGREED,
)

FEE_PARAMETER = s.Parameter(
    "amount", s.MONEY, "The amount in dollars, more than zero.", s.FromUser(s.Amount(8_00, 40_00))
)
NOT_POSITIVE = s.Raises(s.INVALID_REQUEST, "The 'amount' is not more than zero.", amount <= 0)

CHARGE_FEE = s.Tool(
    name="ChargeFee",
    summary="Bills the patient a fee, which is what the list costs the clinic, for a list of disclosures.",
    phrases=s.Phrases(
        step="Bill a fee of {amount} for {request_id}.", outcome="A fee of {amount} has been billed for {request_id}."
    ),
    parameters=(request_parameter("The request for the list."), FEE_PARAMETER),
    raises=(unknown(e.REQUESTS), NOT_POSITIVE),
    fails=(s.Fails("The request is not for a list of disclosures.", is_not_about("accounting")),),
    effects=(s.register(e.FEES, "request_id", "amount"),),
    results=(s.success_result("Whether the fee was billed."),),
    critical=True,
)

DECLINE_REQUEST = s.Tool(
    name="DeclineRequest",
    summary="Declines a request, or a fee for it, and tells the person who wanted it done, with the reason.",
    phrases=s.Phrases(
        step='Turn down {request} of {request_id}, for the reason "{ground}".',
        outcome='{request} of {request_id} has been turned down, for the reason "{ground}".',
    ),
    parameters=(
        request_parameter("The request."),
        s.option("request", e.DECLINED, "What is declined: the request itself, or only that a fee is billed for it."),
        s.option("ground", e.GROUND, "Why."),
    ),
    raises=(
        unknown(e.REQUESTS),
        s.Raises(s.INVALID_REQUEST, "The 'request' or the 'ground' is not one of those listed."),
    ),
    effects=(s.register(e.REFUSALS, "request_id", "request", "ground"),),
    results=(s.success_result("Whether the request was closed."),),
    critical=True,
)
