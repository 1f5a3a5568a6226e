"""A small data-protection desk in a known state, and traces that real calls make in it.

The session starts on Monday, 2 March 2026, at 9:00. Orla's newsletter profile is as simple as can be: her message came
from an address on file, nothing else needs the data, Tidewater Mailing has them, and she consented. The health
questionnaire of Jonas, who is 14, is restricted. Tests change one field at a time.
"""

from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from lawtrace.environments.domains import privacy_desk
from lawtrace.environments.domains.privacy_desk import ENVIRONMENT
from lawtrace.environments.events import Event, Json
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State, decode_state
from lawtrace.solver.ltlf import Monitor
from lawtrace.solver.rules import Rule, load_rules

PROFILE, HEALTH, INVOICES = "R-1001", "R-1002", "R-1003"
EMAIL, POST, JONAS_EMAIL = "C-2001", "C-2002", "C-2003"
MAILER, PRINTER, CLOSED = "P-3001", "P-3002", "P-3003"
LAPTOP, BOOKING = "S-4001", "S-4002"
DANISH, IRISH = "A-5001", "A-5002"

Call = tuple[str, dict[str, Json]]


def _record(key: str, person: str, name: str, data: str, **fields: Json) -> dict[str, Json]:
    return {
        "record_id": key,
        "person_id": person,
        "person_name": name,
        "data": data,
        "entry": "as it was",
        "status": "in use",
        "category": "ordinary",
        "legal_basis": "consent",
        "purpose": "running the clubs",
        "kept_for": "nothing else",
        "effort": "little",
        "others": "not named",
        "accuracy": "incorrect",
        "grounds": "not compelling",
        "copy_cost": 12.0,
        "consent": "given",
        "consent_by": "the person",
        "abroad": "not asked",
        "objection": "none",
        "document": f"F-{key}",
        **fields,
    }


def _message(key: str, record: str) -> dict[str, Json]:
    return {
        "message_id": key,
        "record_id": record,
        "sender": "on file",
        "proof": "sufficient",
        "reply_by": "email",
        "earlier": "none",
    }


def _partner(key: str, name: str, **fields: Json) -> dict[str, Json]:
    return {
        "partner_id": key,
        "name": name,
        "country": "Austria",
        "standing": "member state",
        "role": "processor",
        "contract": "signed",
        "reach": "active",
        **fields,
    }


def _system(key: str, name: str, country: str) -> dict[str, Json]:
    return {
        "system_id": key,
        "name": name,
        "country": country,
        "risk": "likely",
        "protection": "readable",
        "reach": "each person",
        "people": 240,
        "status": "running",
    }


TABLES: dict[str, list[dict[str, Json]]] = {
    "people": [
        {"person_id": "M-1", "name": "Orla Brandt", "age": 34},
        {"person_id": "M-2", "name": "Jonas Holm", "age": 14},
    ],
    "contacts": [
        {"contact_id": EMAIL, "person_id": "M-1", "kind": "email", "address": "orla@mail.example"},
        {"contact_id": POST, "person_id": "M-1", "kind": "post", "address": "Larchfield Lane 6"},
        {"contact_id": JONAS_EMAIL, "person_id": "M-2", "kind": "email", "address": "jonas@mail.example"},
    ],
    "records": [
        _record(PROFILE, "M-1", "Orla Brandt", "newsletter profile", purpose="direct marketing"),
        _record(
            HEALTH,
            "M-2",
            "Jonas Holm",
            "health questionnaire",
            category="health",
            consent="expressly given",
            consent_by="a parent",
            status="restricted",
        ),
        _record(
            INVOICES,
            "M-1",
            "Orla Brandt",
            "invoices",
            legal_basis="legal obligation",
            kept_for="tax law",
            consent="none",
        ),
    ],
    "messages": [_message("G-1", PROFILE), _message("G-2", HEALTH), _message("G-3", INVOICES)],
    "partners": [
        _partner(MAILER, "Tidewater Mailing"),
        _partner(PRINTER, "Larch Print Shop"),
        _partner(CLOSED, "Sundial Travel", reach="closed down", standing="nothing", role="controller"),
    ],
    "disclosures": [
        {"disclosure_id": "D-00001", "record_id": PROFILE, "partner_id": MAILER},
        {"disclosure_id": "D-00002", "record_id": INVOICES, "partner_id": CLOSED},
    ],
    "systems": [_system(LAPTOP, "laptop", "Denmark"), _system(BOOKING, "booking app", "Ireland")],
    "authorities": [
        {"authority_id": DANISH, "name": "Danish authority", "country": "Denmark"},
        {"authority_id": IRISH, "name": "Irish authority", "country": "Ireland"},
    ],
    "desk": [{"desk_id": "current", "now": "2026-03-02 09:00"}],
}


def desk(changes: Mapping[str, Json] | None = None) -> State:
    """The small desk with other values: ``{"R-1001.kept_for": "legal claim"}``. Messages go by their record."""
    tables: dict[str, Any] = {
        table: {str(row[ENVIRONMENT.entities[table].key]): dict(row) for row in rows} for table, rows in TABLES.items()
    }
    for place, value in (changes or {}).items():
        key, _, field = place.partition(".")
        rows = [row for of in tables.values() for row in of.values() if key in {*row.values()} and field in row]
        assert rows, place
        rows[0][field] = value
    return decode_state(tables, ENVIRONMENT.entities)


def play(calls: Iterable[Call], changes: Mapping[str, Json] | None = None) -> Session:
    """A session with these calls. Each must complete."""
    session = Session(ENVIRONMENT, desk(changes))
    for tool, arguments in calls:
        event = session.call(tool, arguments).event
        assert event.completed, (tool, arguments, event.error, event.result)
    return session


@lru_cache
def rules() -> tuple[Rule, ...]:
    return load_rules(Path(privacy_desk.__path__[0]) / "rules.toml")


def not_kept(session: Session) -> set[str]:
    """The ids of the rules that the session does not keep."""
    return not_kept_in(session.events, session.end)


def not_kept_in(events: Iterable[Event], end: int) -> set[str]:
    monitor = Monitor({rule.id: rule.compiled for rule in rules()})
    monitor.run(events)
    return {rule for rule, status in monitor.statuses(end).items() if status.ending != "kept"}
