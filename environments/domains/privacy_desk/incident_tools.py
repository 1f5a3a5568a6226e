"""Incidents in which personal data are lost or fall into the wrong hands."""

from lawtrace.environments import spec as s

from . import entities as e
from .initial_state import AUTHORITY_NAMES
from .shared_terms import MALFORMED, SUCCESS, unknown

DAY = 24 * 3600
RESTORING_DAYS = 4

incident = s.argument("incident_id")
INCIDENT = s.key(e.INCIDENTS, "The incident.")
CLOSED = s.Fails("The incident is closed.", s.field_of(e.INCIDENTS, "status", "closed") == "closed")


def _incident_becomes(status: str) -> s.Update:
    return s.change(e.INCIDENTS, status=status)


FIND_INCIDENT = s.Tool(
    name="FindIncident",
    summary=(
        "Finds the open incident of a system. It has just been confirmed that personal data were compromised in it; "
        "the company has not known before."
    ),
    phrases=s.Phrases("Find the incident of the {system}.", noun_phrase="the incident of the {system}"),
    parameters=(s.stated(e.INCIDENTS, "system", "The system, such as 'booking app'."),),
    results=(
        s.RowsResult(
            "incidents",
            "The incident.",
            e.INCIDENTS,
            lambda i: (i.system == s.argument("system")) & ~(i.status == "closed"),
            ("incident_id", "system", "what"),
        ),
    ),
)

RESTORE_SYSTEM = s.Tool(
    name="RestoreSystem",
    summary=f"Restores the system of an incident from its backup. Takes {RESTORING_DAYS} days.",
    phrases=s.Phrases("Restore the system of {incident_id}.", "The system of {incident_id} has been restored."),
    parameters=(INCIDENT,),
    raises=(MALFORMED, unknown(e.INCIDENTS)),
    fails=(CLOSED,),
    effects=(_incident_becomes("restored"),),
    results=(SUCCESS,),
    duration=RESTORING_DAYS * DAY,
)

CLOSE_INCIDENT = s.Tool(
    name="CloseIncident",
    summary="Closes an incident.",
    phrases=s.Phrases("Close {incident_id}.", "{incident_id} is closed."),
    parameters=(INCIDENT,),
    raises=(MALFORMED, unknown(e.INCIDENTS)),
    fails=(CLOSED,),
    effects=(_incident_becomes("closed"),),
    results=(SUCCESS,),
    critical=True,
)


def _found(field: str, description: str, otherwise: s.Value) -> s.ValueResult:
    return s.show(e.INCIDENTS, field, description, otherwise)


ASSESS_INCIDENT = s.Tool(
    name="AssessIncident",
    summary="Has the security team look into an incident, and shows what it finds. Takes a day.",
    leak_words=("assess", "risk", "how bad", "security team"),
    parameters=(INCIDENT,),
    raises=(MALFORMED, unknown(e.INCIDENTS)),
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

FIND_AUTHORITY = s.Tool(
    name="FindAuthority",
    summary="Finds the supervisory authority of a member state.",
    leak_words=("authorit", "regulator", "supervisor", "commission"),
    parameters=(
        s.Parameter(
            "country", s.TEXT, "The member state, such as 'Denmark'.", s.FromUser(s.OneOf(tuple(AUTHORITY_NAMES)))
        ),
    ),
    results=(
        s.RowsResult(
            "authorities",
            "The authority.",
            e.AUTHORITIES,
            lambda a: a.country == s.argument("country"),
            ("authority_id", "name", "country"),
        ),
    ),
    compliance=True,
)

NOTIFY_AUTHORITY = s.Tool(
    name="NotifyAuthority",
    summary=(
        "Notifies a supervisory authority of an incident: its nature, its likely consequences, the "
        "measures taken, and where to ask."
    ),
    leak_words=("notif", "report it to", "reported to"),
    parameters=(
        INCIDENT,
        s.key(e.AUTHORITIES, "The authority."),
        s.Parameter("number", s.INTEGER, "How many people are concerned, about.", s.FromUser(s.Amount(1, 5_000))),
    ),
    raises=(MALFORMED, unknown(e.INCIDENTS), unknown(e.AUTHORITIES)),
    fails=(CLOSED,),
    effects=(s.register(e.REGISTER, subject=incident, entry=s.argument("authority_id"), people=s.argument("number")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

TELL_PEOPLE = s.Tool(
    name="TellPeople",
    summary="Tells the people concerned about an incident, and what they can do.",
    leak_words=("tell the", "tell every", "people concerned", "members concerned", "public notice"),
    parameters=(
        INCIDENT,
        s.option(
            "means",
            e.MEANS,
            "'each person': a letter to each; 'public notice': a notice on the website and in the clubs.",
        ),
    ),
    raises=(MALFORMED, unknown(e.INCIDENTS)),
    fails=(CLOSED,),
    effects=(s.register(e.REGISTER, subject=incident, entry=s.argument("means")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)

DOCUMENT_INCIDENT = s.Tool(
    name="DocumentIncident",
    summary="Files the facts of an incident, its effects and what was done about it.",
    leak_words=("document", "file the facts", "breach register", "write down"),
    parameters=(
        INCIDENT,
        s.option(
            "effects",
            e.RISK,
            "What it means for people: a risk is 'unlikely', a risk is 'likely', or a 'high' risk is likely.",
        ),
        s.Parameter("number", s.INTEGER, "How many people are concerned, about.", s.FromUser(s.Amount(1, 5_000))),
    ),
    raises=(MALFORMED, unknown(e.INCIDENTS)),
    fails=(CLOSED,),
    effects=(s.register(e.REGISTER, subject=incident, entry=s.argument("effects"), people=s.argument("number")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)
