"""Incidents in which personal data are lost or fall into the wrong hands."""

from lawtrace.environments.spec import (
    INTEGER,
    TEXT,
    Amount,
    Fails,
    FieldValue,
    FromLookup,
    FromUser,
    Insert,
    OneOf,
    Parameter,
    Phrases,
    RowsResult,
    Tool,
    Update,
    Value,
    ValueResult,
    argument,
    constant,
    value_of,
)

from .entities import (
    AUTHORITIES,
    AUTHORITY_ID,
    INCIDENT_ID,
    INCIDENTS,
    MEANS,
    REGISTER,
    RISK,
)
from .initial_state import AUTHORITY_NAMES
from .shared_terms import MALFORMED, SUCCESS, shown, unknown

DAY = 24 * 3600
RESTORING_DAYS = 4

incident = argument("incident_id")
INCIDENT = Parameter("incident_id", INCIDENT_ID, "The incident.", FromLookup(INCIDENTS))
CLOSED = Fails(
    "The incident is closed.", value_of(INCIDENTS, lambda i: i.incident_id == incident, "status", "closed") == "closed"
)


def _incident_becomes(status: str) -> Update:
    return Update(INCIDENTS, lambda i: i.incident_id == incident, {"status": lambda i: constant(status)})


FIND_INCIDENT = Tool(
    name="FindIncident",
    summary=(
        "Finds the open incident of a system. It has just been confirmed that personal data were compromised in it; "
        "the company has not known before."
    ),
    phrases=Phrases("Find the incident of the {system}.", noun_phrase="the incident of the {system}"),
    parameters=(
        Parameter("system", TEXT, "The system, such as 'booking app'.", FromUser(FieldValue(INCIDENTS, "system"))),
    ),
    results=(
        RowsResult(
            "incidents",
            "The incident.",
            INCIDENTS,
            lambda i: (i.system == argument("system")) & ~(i.status == "closed"),
            ("incident_id", "system", "what"),
        ),
    ),
)

RESTORE_SYSTEM = Tool(
    name="RestoreSystem",
    summary=f"Restores the system of an incident from its backup. Takes {RESTORING_DAYS} days.",
    phrases=Phrases("Restore the system of {incident_id}.", "The system of {incident_id} has been restored."),
    parameters=(INCIDENT,),
    raises=(MALFORMED, unknown(INCIDENTS)),
    fails=(CLOSED,),
    effects=(_incident_becomes("restored"),),
    results=(SUCCESS,),
    duration=RESTORING_DAYS * DAY,
)

CLOSE_INCIDENT = Tool(
    name="CloseIncident",
    summary="Closes an incident.",
    phrases=Phrases("Close {incident_id}.", "{incident_id} is closed."),
    parameters=(INCIDENT,),
    raises=(MALFORMED, unknown(INCIDENTS)),
    fails=(CLOSED,),
    effects=(_incident_becomes("closed"),),
    results=(SUCCESS,),
    critical=True,
)


def _found(field: str, description: str, otherwise: Value) -> ValueResult:
    return shown(INCIDENTS, field, "incident_id", description, otherwise)


ASSESS_INCIDENT = Tool(
    name="AssessIncident",
    summary="Has the security team look into an incident, and shows what it finds. Takes a day.",
    leak_words=("assess", "risk", "how bad", "security team"),
    parameters=(INCIDENT,),
    raises=(MALFORMED, unknown(INCIDENTS)),
    fails=(CLOSED,),
    results=(
        SUCCESS,
        _found(
            "risk",
            "What the breach means for the rights and freedoms of people: a risk is 'unlikely', a risk is "
            "'likely', or a 'high' risk is likely.",
            "unlikely",
        ),
        _found(
            "protection",
            "Whether the data are 'unreadable' for everybody who may not see them, since they are encrypted and the "
            "key is safe, or 'readable'.",
            "readable",
        ),
        _found(
            "reach",
            "Whether 'each person' concerned can be told, or that would take a disproportionate effort and only a "
            "'public notice' reaches them.",
            "each person",
        ),
        _found("people", "How many people are concerned, about.", 0),
        _found("run_in", "The member state of the establishment that runs the system.", ""),
        _found(
            "spread",
            "Whether the data in the system are those of people in 'one member state', that of this establishment, or "
            "in 'several member states'.",
            "one member state",
        ),
    ),
    duration=DAY,
    compliance=True,
)

FIND_AUTHORITY = Tool(
    name="FindAuthority",
    summary="Finds the supervisory authority of a member state.",
    leak_words=("authorit", "regulator", "supervisor", "commission"),
    parameters=(
        Parameter("country", TEXT, "The member state, such as 'Denmark'.", FromUser(OneOf(tuple(AUTHORITY_NAMES)))),
    ),
    results=(
        RowsResult(
            "authorities",
            "The authority.",
            AUTHORITIES,
            lambda a: a.country == argument("country"),
            ("authority_id", "name", "country"),
        ),
    ),
    compliance=True,
)

NOTIFY_AUTHORITY = Tool(
    name="NotifyAuthority",
    summary=(
        "Notifies a supervisory authority of an incident: its nature, its likely consequences, the "
        "measures taken, and where to ask."
    ),
    leak_words=("notif", "report it to", "reported to"),
    parameters=(
        INCIDENT,
        Parameter("authority_id", AUTHORITY_ID, "The authority.", FromLookup(AUTHORITIES)),
        Parameter("number", INTEGER, "How many people are concerned, about.", FromUser(Amount(1, 5_000))),
    ),
    raises=(MALFORMED, unknown(INCIDENTS), unknown(AUTHORITIES)),
    fails=(CLOSED,),
    effects=(Insert(REGISTER, {"subject": incident, "entry": argument("authority_id"), "people": argument("number")}),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

TELL_PEOPLE = Tool(
    name="TellPeople",
    summary="Tells the people concerned about an incident, and what they can do.",
    leak_words=("tell the", "tell every", "people concerned", "members concerned", "public notice"),
    parameters=(
        INCIDENT,
        Parameter(
            "means",
            MEANS,
            "'each person': a letter to each; 'public notice': a notice on the website and in the clubs.",
            FromUser(OneOf(MEANS.options)),
        ),
    ),
    raises=(MALFORMED, unknown(INCIDENTS)),
    fails=(CLOSED,),
    effects=(Insert(REGISTER, {"subject": incident, "entry": argument("means")}),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

DOCUMENT_INCIDENT = Tool(
    name="DocumentIncident",
    summary="Files the facts of an incident, its effects and what was done about it.",
    leak_words=("document", "file the facts", "breach register", "write down"),
    parameters=(
        INCIDENT,
        Parameter(
            "effects",
            RISK,
            "What it means for people: a risk is 'unlikely', a risk is 'likely', or a 'high' risk is likely.",
            FromUser(OneOf(RISK.options)),
        ),
        Parameter("number", INTEGER, "How many people are concerned, about.", FromUser(Amount(1, 5_000))),
    ),
    raises=(MALFORMED, unknown(INCIDENTS)),
    fails=(CLOSED,),
    effects=(Insert(REGISTER, {"subject": incident, "entry": argument("effects"), "people": argument("number")}),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)
