"""A small environment with a clock: incidents are reported, notified and archived, and a tool lets time pass."""

from lawtrace.environments import spec as s
from lawtrace.environments.spec.clock import seconds_at

START = seconds_at(s.MOMENT.decode("2026-05-04 08:00"))
ARCHIVE_AFTER = 30
"""Minutes after which an incident may be archived."""

INCIDENTS = s.table("incidents", "incident", prefix="I-", incident_id=s.TEXT, title=s.TEXT, opened=s.MOMENT)
NOTICES = s.table("notices", "notice", prefix="N-", notice_id=s.TEXT, incident_id=s.TEXT)
INCIDENT = s.key(INCIDENTS, "The incident.")
UNKNOWN = s.Raises(s.INVALID_REQUEST, "There is no such incident.", s.is_unknown(INCIDENTS, "incident_id"))
TOOLS = (
    s.Tool(
        "Open",
        "Opens an incident.",
        parameters=(
            s.Parameter("title", s.TEXT, "Its title.", s.FromUser(s.OneOf(("leak", "outage"))), malformed=None),
        ),
        effects=(s.register(INCIDENTS, "title", opened=s.CURRENT_MOMENT),),
        results=(
            s.KeyResult("incident_id", "The new incident.", INCIDENTS),
            s.ValueResult("opened", "When it was opened.", s.MOMENT, s.CURRENT_MOMENT),
        ),
        duration=20,
        phrases=s.Phrases("Open an incident called {title}", outcome="there is an incident {title}"),
    ),
    s.Tool(
        "Notify",
        "Notifies the authority of an incident.",
        parameters=(INCIDENT,),
        raises=(UNKNOWN,),
        effects=(s.register(NOTICES, "incident_id"),),
        results=(
            s.KeyResult("notice_id", "The notice.", NOTICES),
            s.ValueResult("day", "The day of the notice.", s.DATE, s.TODAY),
            s.ValueResult("time", "The time of the notice, in seconds since 1970.", s.INTEGER, s.NOW),
        ),
        phrases=s.Phrases("Notify the authority of {incident_id}", outcome="the authority knows {incident_id}"),
    ),
    s.Tool(
        "Archive",
        "Archives an incident.",
        parameters=(INCIDENT,),
        raises=(
            UNKNOWN,
            s.Raises(
                s.INVALID_REQUEST,
                "The incident is less than half an hour old.",
                s.exists(
                    INCIDENTS,
                    lambda i: (
                        (i.incident_id == s.argument("incident_id")) & (i.opened + ARCHIVE_AFTER > s.CURRENT_MOMENT)
                    ),
                ),
            ),
        ),
        results=(s.ValueResult("archived", "Always true.", s.BOOLEAN, s.CURRENT_MOMENT > 0),),
        duration=5,
        phrases=s.Phrases("Archive {incident_id}"),
    ),
    s.Tool(
        "Wait",
        "Lets time pass.",
        parameters=(
            s.Parameter(
                "minutes", s.INTEGER, "How long to wait.", s.FromUser(s.Amount(1, 120)), malformed=s.INVALID_REQUEST
            ),
        ),
        raises=(s.Raises(s.INVALID_REQUEST, "The number of minutes is not positive.", s.argument("minutes") <= 0),),
        results=(s.ValueResult("waited", "Always true.", s.BOOLEAN, s.argument("minutes") > 0),),
        duration=s.argument("minutes") * 60,
        phrases=s.Phrases("Wait {minutes} minutes"),
    ),
    s.Tool(
        "List",
        "Lists the incidents.",
        results=(
            s.RowsResult(
                "incidents",
                "All incidents.",
                INCIDENTS,
                lambda i: i.opened <= s.CURRENT_MOMENT,
                ("incident_id", "title"),
            ),
        ),
        phrases=s.Phrases("List the incidents", noun_phrase="the incident"),
    ),
)
EMPTY = s.State({"incidents": (), "notices": ()})
INCIDENT_ROOM = s.Environment(
    "incident_room",
    "Incident room",
    "IncidentRoom",
    "Incidents and their notices.",
    {entity.table: entity for entity in (INCIDENTS, NOTICES)},
    {tool.name: tool for tool in TOOLS},
    populate=lambda _: EMPTY,
    clock=s.Clock(lambda _: START, 60 * 60),
)
