"""Tools for requests: find them, answer them, refuse them."""

from lawtrace.environments.spec import (
    INVALID_REQUEST,
    MONEY,
    TEXT,
    Amount,
    Entity,
    Fails,
    FieldValue,
    FromLookup,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    Term,
    Tool,
    Update,
    ValueResult,
    argument,
    constant,
    exists,
    is_unknown,
    success_result,
    value_of,
)

from .entities import (
    ACCESSES,
    ACCOUNTINGS,
    FEES,
    FLYERS,
    GROUND,
    NEWS,
    RECORD_KIND,
    RECORDS,
    REFUSALS,
    RELEASES,
    REQUESTS,
    ROOMS_TOLD,
)

ARCHIVE_DAYS = 20
"""Days that it takes to get a record from the archive."""

request, record, amount = argument("request_id"), argument("record_id"), argument("amount")


def request_parameter(description: str = "The request.") -> Parameter:
    return Parameter("request_id", TEXT, description, FromLookup(REQUESTS))


def record_parameter(description: str = "The record.") -> Parameter:
    return Parameter("record_id", TEXT, description, FromLookup(RECORDS))


def unknown(entity: Entity) -> Raises:
    """The refusal of a key that no row of the entity has."""
    return Raises(
        INVALID_REQUEST, f"There is no {entity.singular} with that '{entity.key}'.", is_unknown(entity, entity.key)
    )


def is_not_about(*categories: str) -> Term:
    """The request is of none of the categories."""
    return ~exists(
        REQUESTS,
        lambda q: (
            (q.request_id == request)
            & (
                (q.category == categories[0])
                if len(categories) == 1
                else (q.category == categories[0]) | (q.category == categories[1])
            )
        ),
    )


def patient_of(entity: Entity, key: str) -> Term:
    """The patient of the row that the argument ``key`` names."""
    return value_of(entity, lambda row: getattr(row, key) == argument(key), "patient_id", otherwise="")


OF_ANOTHER_PATIENT = Fails(
    "The record is of another patient than the request.",
    ~(patient_of(RECORDS, "record_id") == patient_of(REQUESTS, "request_id")),
)
KIND_OF_RECORD = ValueResult(
    "kind",
    "The kind of the record.",
    RECORD_KIND,
    value_of(RECORDS, lambda d: d.record_id == record, "kind", otherwise="visit summary"),
)
IN_THE_ARCHIVE = Fails(
    "The record is still in the archive.",
    exists(RECORDS, lambda d: (d.record_id == record) & (d.location == "in the archive")),
)

FIND_REQUEST = Tool(
    name="FindRequest",
    summary="Finds the open request of a requester about a patient. A patient may be the requester, too.",
    phrases=Phrases(
        step="Find the request about {patient_name} from {requester_name}.",
        noun_phrase="the request about {patient_name} from {requester_name}",
    ),
    parameters=(
        Parameter(
            "patient_name",
            TEXT,
            "The full name of the patient.",
            FromUser(FieldValue(REQUESTS, "patient_name")),
        ),
        Parameter(
            "requester_name",
            TEXT,
            "The full name of the person or the organisation that asks.",
            FromUser(
                FieldValue(REQUESTS, "requester_name", lambda q: q.patient_name == argument("patient_name")),
            ),
        ),
    ),
    results=(
        RowsResult(
            "requests",
            "The open requests.",
            REQUESTS,
            lambda q: (q.patient_name == argument("patient_name")) & (q.requester_name == argument("requester_name")),
            ("request_id", "category", "patient_name", "requester_name"),
        ),
    ),
)

FIND_RECORD = Tool(
    name="FindRecord",
    summary=(
        "Finds a record of the patient that a request for records is about: where it is kept (one in the archive comes "
        "within 20 days), who agreed to the care, and whether a licensed clinician has found that access to it is "
        "likely to endanger a person's life or safety."
    ),
    phrases=Phrases(
        step="Find the {kind} for {request_id}.",
        noun_phrase="the {kind} for {request_id}",
    ),
    parameters=(
        request_parameter("The request."),
        Parameter(
            "kind",
            RECORD_KIND,
            "The kind of record.",
            FromUser(FieldValue(RECORDS, "kind", lambda d: d.patient_id == patient_of(REQUESTS, "request_id"))),
        ),
    ),
    raises=(
        unknown(REQUESTS),
        Raises(INVALID_REQUEST, "The 'kind' is not one of the kinds of record."),
        Raises(INVALID_REQUEST, "The request is not for records.", is_not_about("release", "own records")),
    ),
    results=(
        RowsResult(
            "records",
            "The records of that kind.",
            RECORDS,
            lambda d: (d.patient_id == patient_of(REQUESTS, "request_id")) & (d.kind == argument("kind")),
            ("record_id", "kind", "location", "care_agreed_by", "finding"),
        ),
    ),
)

FETCH_FROM_ARCHIVE = Tool(
    name="FetchFromArchive",
    summary=f"Orders a record from the archive, and waits until it has arrived, which takes {ARCHIVE_DAYS} days.",
    phrases=Phrases(
        step="Get {record_id} from the archive.",
        outcome="{record_id} has been fetched from the archive.",
    ),
    parameters=(record_parameter(),),
    raises=(unknown(RECORDS),),
    fails=(
        Fails(
            "The record is not in the archive.",
            exists(RECORDS, lambda d: (d.record_id == record) & (d.location == "on site")),
        ),
    ),
    effects=(Update(RECORDS, lambda d: d.record_id == record, {"location": lambda d: constant("on site")}),),
    results=(success_result("Whether the record has arrived."),),
    duration=ARCHIVE_DAYS * 24 * 60 * 60,
)

RELEASE_RECORD = Tool(
    name="ReleaseRecord",
    summary="Sends a copy of a record to the person or organisation that requested it.",
    phrases=Phrases(
        step="Send {record_id} out on {request_id}.",
        outcome="{record_id} has been sent out on {request_id}.",
    ),
    parameters=(request_parameter("The request that the copy answers."), record_parameter()),
    raises=(unknown(REQUESTS), unknown(RECORDS)),
    fails=(
        Fails("The request is not for a copy to be released.", is_not_about("release")),
        OF_ANOTHER_PATIENT,
        IN_THE_ARCHIVE,
    ),
    effects=(Insert(RELEASES, {"request_id": request, "record_id": record}),),
    results=(success_result("Whether the copy was sent."), KIND_OF_RECORD),
    critical=True,
)

GIVE_ACCESS = Tool(
    name="GiveAccess",
    summary=(
        "Mails a copy of a record to the patient, or to the person who acts for the patient: to the address that was "
        "set for the request, else to the home address."
    ),
    phrases=Phrases(
        step="Mail a copy of {record_id} as asked for in {request_id}.",
        outcome="A copy of {record_id} has been mailed as asked for in {request_id}.",
    ),
    parameters=(request_parameter("The request for access."), record_parameter()),
    raises=(unknown(REQUESTS), unknown(RECORDS)),
    fails=(
        Fails("The request is not for access to one's own records.", is_not_about("own records")),
        OF_ANOTHER_PATIENT,
        IN_THE_ARCHIVE,
    ),
    effects=(Insert(ACCESSES, {"request_id": request, "record_id": record}),),
    results=(success_result("Whether the copy was mailed."), KIND_OF_RECORD),
    critical=True,
)


def _answer(name: str, summary: str, phrases: Phrases, category: str, purpose: str, kept_in: Entity) -> Tool:
    """A tool that answers a request of one category."""
    return Tool(
        name=name,
        summary=summary,
        phrases=phrases,
        parameters=(request_parameter(),),
        raises=(unknown(REQUESTS),),
        fails=(Fails(f"The request is not {purpose}.", is_not_about(category)),),
        effects=(Insert(kept_in, {"request_id": request}),),
        results=(success_result("Whether it was done."),),
        critical=True,
    )


SEND_ACCOUNTING = _answer(
    "SendAccounting",
    (
        "Mails a patient the list of the disclosures made in the last six years: to the address that was set for the "
        "request, else to the home address."
    ),
    Phrases(
        step="Mail the list of disclosures asked for in {request_id}.",
        outcome="The list of disclosures asked for in {request_id} has been mailed.",
    ),
    "accounting",
    "for a list of disclosures",
    ACCOUNTINGS,
)
TELL_FAMILY = _answer(
    "TellFamily",
    "Tells a relative how the patient is, as far as it concerns the relative's part in the care.",
    Phrases(
        step="Give the news about the patient in answer to {request_id}.",
        outcome="The news about the patient has been given in answer to {request_id}.",
    ),
    "family",
    "for news of a patient",
    NEWS,
)
TELL_ROOM = _answer(
    "TellRoom",
    "Tells a caller who asks for a patient by name the room of the patient and, in general terms, how the patient is.",
    Phrases(
        step="Tell the room of the patient in answer to {request_id}.",
        outcome="The room of the patient has been told in answer to {request_id}.",
    ),
    "room",
    "for the room of a patient",
    ROOMS_TOLD,
)
MAIL_FLYER = _answer(
    "MailFlyer",
    (
        "Mails a patient the flyer of a company, chosen by the patient's records of the period that was set: to the "
        "address that was set for the request, else to the home address."
    ),
    Phrases(
        step="Mail the flyer in answer to {request_id}.",
        outcome="The flyer has been mailed in answer to {request_id}.",
    ),
    "flyer",
    "for a flyer to be mailed",
    FLYERS,
)

FEE_PARAMETER = Parameter("amount", MONEY, "The amount in dollars, more than zero.", FromUser(Amount(8_00, 40_00)))
NOT_POSITIVE = Raises(INVALID_REQUEST, "The 'amount' is not more than zero.", amount <= 0)

CHARGE_FEE = Tool(
    name="ChargeFee",
    summary="Bills the patient a fee for a list of disclosures.",
    phrases=Phrases(
        step="Bill a fee of {amount} for {request_id}.",
        outcome="A fee of {amount} has been billed for {request_id}.",
    ),
    parameters=(request_parameter("The request for the list."), FEE_PARAMETER),
    raises=(unknown(REQUESTS), NOT_POSITIVE),
    fails=(Fails("The request is not for a list of disclosures.", is_not_about("accounting")),),
    effects=(Insert(FEES, {"request_id": request, "amount": amount}),),
    results=(success_result("Whether the fee was billed."),),
    critical=True,
)

DECLINE_REQUEST = Tool(
    name="DeclineRequest",
    summary="Declines a request, or a fee for it, and tells the person who wanted it done, with the reason.",
    phrases=Phrases(
        step='Turn down {request_id}, for the reason "{ground}".',
        outcome='{request_id} has been turned down, for the reason "{ground}".',
    ),
    parameters=(
        request_parameter("The request."),
        Parameter("ground", GROUND, "Why.", FromUser(OneOf(GROUND.options))),
    ),
    raises=(unknown(REQUESTS), Raises(INVALID_REQUEST, "The 'ground' is not one of the grounds.")),
    effects=(Insert(REFUSALS, {"request_id": request, "ground": argument("ground")}),),
    results=(success_result("Whether the request was closed."),),
    critical=True,
)
