"""A small environment with a clock: incidents are reported, notified and archived, and a tool lets time pass."""

from lawtrace.environments.spec import (
    BOOLEAN,
    CURRENT_MOMENT,
    INTEGER,
    INVALID_REQUEST,
    MOMENT,
    NOW,
    TEXT,
    TODAY,
    Amount,
    Clock,
    Entity,
    Environment,
    Field,
    FromLookup,
    FromUser,
    Insert,
    KeyResult,
    OneOf,
    Parameter,
    Phrases,
    Raises,
    RowsResult,
    State,
    Tool,
    ValueResult,
    argument,
    exists,
    is_unknown,
)
from lawtrace.environments.spec.clock import seconds_at
from lawtrace.environments.spec.types import DATE

START = seconds_at(MOMENT.decode("2026-05-04 08:00"))
ARCHIVE_AFTER = 30
"""Minutes after which an incident may be archived."""

INCIDENTS = Entity(
    "incidents",
    "incident",
    "incident_id",
    {"incident_id": Field(TEXT), "title": Field(TEXT), "opened": Field(MOMENT)},
    key_prefix="I-",
)
NOTICES = Entity(
    "notices", "notice", "notice_id", {"notice_id": Field(TEXT), "incident_id": Field(TEXT)}, key_prefix="N-"
)
INCIDENT = Parameter("incident_id", TEXT, "The incident.", FromLookup(INCIDENTS))
UNKNOWN = Raises(INVALID_REQUEST, "There is no such incident.", is_unknown(INCIDENTS, "incident_id"))
TOOLS = (
    Tool(
        "Open",
        "Opens an incident.",
        parameters=(Parameter("title", TEXT, "Its title.", FromUser(OneOf(("leak", "outage"))), malformed=None),),
        effects=(Insert(INCIDENTS, {"title": argument("title"), "opened": CURRENT_MOMENT}),),
        results=(
            KeyResult("incident_id", "The new incident.", INCIDENTS),
            ValueResult("opened", "When it was opened.", MOMENT, CURRENT_MOMENT),
        ),
        duration=20,
        phrases=Phrases("Open an incident called {title}", outcome="there is an incident {title}"),
    ),
    Tool(
        "Notify",
        "Notifies the authority of an incident.",
        parameters=(INCIDENT,),
        raises=(UNKNOWN,),
        effects=(Insert(NOTICES, {"incident_id": argument("incident_id")}),),
        results=(
            KeyResult("notice_id", "The notice.", NOTICES),
            ValueResult("day", "The day of the notice.", DATE, TODAY),
            ValueResult("time", "The time of the notice, in seconds since 1970.", INTEGER, NOW),
        ),
        phrases=Phrases("Notify the authority of {incident_id}", outcome="the authority knows {incident_id}"),
    ),
    Tool(
        "Archive",
        "Archives an incident.",
        parameters=(INCIDENT,),
        raises=(
            UNKNOWN,
            Raises(
                INVALID_REQUEST,
                "The incident is less than half an hour old.",
                exists(
                    INCIDENTS,
                    lambda i: (i.incident_id == argument("incident_id")) & (i.opened + ARCHIVE_AFTER > CURRENT_MOMENT),
                ),
            ),
        ),
        results=(ValueResult("archived", "Always true.", BOOLEAN, CURRENT_MOMENT > 0),),
        duration=5,
        phrases=Phrases("Archive {incident_id}"),
    ),
    Tool(
        "Wait",
        "Lets time pass.",
        parameters=(
            Parameter("minutes", INTEGER, "How long to wait.", FromUser(Amount(1, 120)), malformed=INVALID_REQUEST),
        ),
        raises=(Raises(INVALID_REQUEST, "The number of minutes is not positive.", argument("minutes") <= 0),),
        results=(ValueResult("waited", "Always true.", BOOLEAN, argument("minutes") > 0),),
        duration=argument("minutes") * 60,
        phrases=Phrases("Wait {minutes} minutes"),
    ),
    Tool(
        "List",
        "Lists the incidents.",
        results=(
            RowsResult(
                "incidents", "All incidents.", INCIDENTS, lambda i: i.opened <= CURRENT_MOMENT, ("incident_id", "title")
            ),
        ),
        phrases=Phrases("List the incidents", noun_phrase="the incident"),
    ),
)
EMPTY = State({"incidents": (), "notices": ()})
INCIDENT_ROOM = Environment(
    "incident_room",
    "Incident room",
    "IncidentRoom",
    "Incidents and their notices.",
    {entity.table: entity for entity in (INCIDENTS, NOTICES)},
    {tool.name: tool for tool in TOOLS},
    populate=lambda _: EMPTY,
    clock=Clock(lambda _: START, 60 * 60),
)
