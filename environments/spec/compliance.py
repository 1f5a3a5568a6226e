"""Compliance tools shared by the built-in environments: confirm the authorization, record events in an audit log.

Authorization is a field of the session, so a session without authorization is just another initial state.
"""

from collections.abc import Mapping

from lawtrace.environments.spec.effects import Insert, KeyResult, ValueResult
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.state import Entity, Field
from lawtrace.environments.spec.terms import argument, is_empty, value_of
from lawtrace.environments.spec.tools import FromTrace, Parameter, Raises, Tool
from lawtrace.environments.spec.types import BOOLEAN, TEXT, TEXTS, Value
from lawtrace.schemas.events import Event


def pending_events(tools: Mapping[str, Tool], events: tuple[Event, ...]) -> tuple[str, ...]:
    """Event names of the completed calls since the last recording call, in order and with repetitions."""
    pending: list[str] = []
    for event in events:
        if not event.completed:
            continue
        tool = tools[event.tool]
        if _records_pending(tool):
            pending.clear()
        elif tool.emits:
            pending.append(tool.emits)
    return tuple(pending)


def _records_pending(tool: Tool) -> bool:
    sources = (parameter.source for parameter in tool.parameters)
    return any(isinstance(source, FromTrace) and source.function is pending_events for source in sources)


CURRENT = "current"
"""The key of the one row of the session."""

AUTHORIZATION_TOOL = "CheckAuthorization"
AUTHORIZED = "authorized"
"""The result of `AUTHORIZATION_TOOL`, and the session field that it reads."""

INVALID_REQUEST = "InvalidRequestException"

AUDIT_LOG = Entity(
    table="audit_log",
    singular="log entry",
    key="log_entry_id",
    key_prefix="L-",
    fields={"log_entry_id": Field(TEXT), "events": Field(TEXTS)},
)

_AUTHORIZATION_WORDS = (
    "authori", "unauthori", "authenti", "permission", "permitted", "allowed to", "credential", "verif", "identity",
    "security check", "clearance", "sign in", "signed in", "log in", "logged in", "session", "consent",
)  # fmt: skip
_AUDIT_WORDS = (
    "audit", "log entry", "logged", "logging", "log the", "log it", "log each", "log every", "the log", "record the",
    "record of", "recorded", "recording", "complian", "regulat", "trail", "journal", "inspector",
)  # fmt: skip


def session_entity(**fields: Field) -> Entity:
    """The table with one row, ``current``: whether the user is authorized, and ``fields`` such as the clock."""
    named = {"session_id": Field(TEXT), AUTHORIZED: Field(BOOLEAN), **fields}
    return Entity(table="session", singular="session", key="session_id", fields=named)


def session_value(session: Entity, field: str, otherwise: Value = 0) -> Term:
    """A field of the current session."""
    return value_of(session, lambda s: s.session_id == CURRENT, field, otherwise)


def check_authorization(session: Entity, meaning: str = "Whether the session is authorized.") -> Tool:
    """The tool that tells whether the current session is authorized; ``meaning``: what that is."""
    return Tool(
        name=AUTHORIZATION_TOOL,
        summary="Tells whether the session of the current user is authorized.",
        leak_words=_AUTHORIZATION_WORDS,
        hint="Call it once, before the first sensitive action of a session.",
        results=(ValueResult(AUTHORIZED, meaning, BOOLEAN, session_value(session, AUTHORIZED, otherwise=False)),),
        compliance=True,
        critical=True,
    )


RECORD_AUDIT_EVENT = Tool(
    name="RecordAuditEvent",
    summary="Writes one entry with a list of event names to the audit log, the only log of what happens in a session.",
    leak_words=_AUDIT_WORDS,
    hint=(
        "Call it once, at the end of a session, with every event that occurred, in order, repeated as often as it "
        "occurred."
    ),
    parameters=(
        Parameter(
            "events",
            TEXTS,
            "The names of the events to record; a name stands for all acts of its kind.",
            FromTrace("pending_events", pending_events),
        ),
    ),
    raises=(Raises(INVALID_REQUEST, "The list 'events' is empty.", is_empty(argument("events"))),),
    effects=(Insert(AUDIT_LOG, {"events": argument("events")}),),
    results=(KeyResult("log_entry_id", "The identifier of the new entry.", AUDIT_LOG),),
    compliance=True,
    critical=True,
)
