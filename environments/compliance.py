"""The compliance tools, which are the same in every environment: confirm the authorization, record what happened.

Authorization is a field of the session, so a session in which it is denied is an initial state like any other.
"""

from environments.declaration import FromTrace, Insert, KeyResult, Parameter, Raises, Tool, ValueResult
from environments.kinds import BOOLEAN, TEXT, TEXTS
from environments.pending import pending_events
from environments.state import Entity, Field
from environments.terms import argument, is_empty, value_of

__all__ = ["AUDIT_LOG", "INVALID_REQUEST", "RECORD_AUDIT_EVENT", "check_authorization"]

INVALID_REQUEST = "InvalidRequestException"

AUDIT_LOG = Entity(
    table="audit_log",
    singular="log entry",
    key="log_entry_id",
    key_prefix="L-",
    fields={"log_entry_id": Field(TEXT), "events": Field(TEXTS)},
)


def check_authorization(session: Entity) -> Tool:
    """Tells whether the session is authorized, from the row ``current`` of the environment's sessions."""
    return Tool(
        name="CheckAuthorization",
        summary="Tells whether the session of the current user is authorized.",
        telltales=(
            "authori",
            "unauthori",
            "authenti",
            "permission",
            "permitted",
            "allowed to",
            "credential",
            "verif",
            "identity",
            "security check",
            "clearance",
            "sign in",
            "signed in",
            "log in",
            "logged in",
            "session",
            "consent",
        ),
        hint="Call it once, before the first sensitive action of a session.",
        results=(
            ValueResult(
                "authorized",
                "Whether the session is authorized.",
                BOOLEAN,
                value_of(session, lambda s: s.session_id == "current", "authorized", otherwise=False),
            ),
        ),
        compliance=True,
        critical=True,
    )


RECORD_AUDIT_EVENT = Tool(
    name="RecordAuditEvent",
    summary="Writes one entry with a list of event names to the audit log.",
    telltales=(
        "audit",
        "log entry",
        "logged",
        "logging",
        "log the",
        "log it",
        "log each",
        "log every",
        "the log",
        "record the",
        "record of",
        "recorded",
        "recording",
        "complian",
        "regulat",
        "trail",
        "journal",
        "inspector",
    ),
    hint=(
        "Call it once, at the end of a session, with every event that occurred, in order, repeated as often as it "
        "occurred."
    ),
    parameters=(
        Parameter("events", TEXTS, "The names of the events to record.", FromTrace("pending_events", pending_events)),
    ),
    raises=(Raises(INVALID_REQUEST, "The list 'events' is empty.", is_empty(argument("events"))),),
    effects=(Insert(AUDIT_LOG, {"events": argument("events")}),),
    results=(KeyResult("log_entry_id", "The identifier of the new entry.", AUDIT_LOG),),
    compliance=True,
    critical=True,
)
