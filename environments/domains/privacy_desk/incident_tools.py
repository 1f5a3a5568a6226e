"""Incidents in which personal data are lost or fall into the wrong hands."""

from lawtrace.environments import spec as s

from . import entities as e
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

LIST_INCIDENTS = s.queue(
    "ListIncidents",
    e.INCIDENTS,
    "system",
    "what",
    where=lambda i: ~(i.status == "closed"),
    summary="Lists the open incidents in the order in which they were reported to the desk.",
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
            "What the breach means for the rights and freedoms of people, encryption and the like taken into account: "
            "a risk is 'unlikely', a risk is 'likely', or a 'high' risk is likely.",
            "unlikely",
        ),
        _found(
            "measures",
            "Whether steps taken after the breach ensure that a high risk is not likely to become real any more: "
            "'high risk averted', or 'none'.",
            "none",
        ),
        _found(
            "reach",
            "How the people concerned can be reached: 'each person' by letter; or only by a 'public notice', since "
            "letters would take a disproportionate effort.",
            "each person",
        ),
        _found("people", "How many people are concerned, about.", 0),
        _found("run_in", "The member state of the establishment that runs the system.", "Denmark"),
        _found(
            "spread",
            "Whose activities the system serves, and where the people live whose data are in it: this establishment "
            "alone and 'one member state', or establishments and people in 'several member states'.",
            "one member state",
        ),
    ),
    duration=DAY,
    compliance=True,
)

NOTIFY_AUTHORITY = s.Tool(
    name="NotifyAuthority",
    summary=(
        "Notifies the supervisory authority of a member state of an incident: its nature with the numbers that the "
        "security team has found, its likely consequences, the measures taken, and where to ask."
    ),
    leak_words=("notif", "report it to", "reported to", "authorit", "regulator", "supervisor"),
    parameters=(INCIDENT, s.option("country", e.ESTABLISHMENTS, "The member state.")),
    raises=(MALFORMED, unknown(e.INCIDENTS)),
    fails=(CLOSED,),
    effects=(s.register(e.REGISTER, subject=incident, entry=s.argument("country")),),
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
    ),
    raises=(MALFORMED, unknown(e.INCIDENTS)),
    fails=(CLOSED,),
    effects=(s.register(e.REGISTER, subject=incident, entry=s.argument("effects")),),
    results=(SUCCESS,),
    compliance=True,
    critical=True,
)
