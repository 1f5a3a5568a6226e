"""A small data-protection desk in a known state, and traces that real calls make in it.

The session starts on Monday, 2 March 2026, at 9:00. Orla has one case of each matter. They are as simple as can be: her
messages came from an address on file, nothing else needs the data, she consented, and only Tidewater Mailing has them.
Tests change one field at a time.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any

from lawtrace.environments.domains import privacy_desk
from lawtrace.environments.domains.privacy_desk import ENVIRONMENT
from lawtrace.environments.domains.privacy_desk.entities import MATTER
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State, decode_state
from lawtrace.schemas.events import Json
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import Rule, load_rules

FOLDER = Path(privacy_desk.__path__[0])
ACCESS, RECTIFICATION, ERASURE, RESTRICTION, OBJECTION, PORTABILITY, PASSING_ON, USE_AGAIN, BILLING = (
    f"K-000{number}" for number in range(1, 10)
)
EMAIL, POST, OTHER_EMAIL = "C-0001", "C-0002", "C-0003"
MAILER, PRINTER, TRAVEL = "P-0001", "P-0002", "P-0003"
LAPTOP = "I-0001"
DANISH, IRISH = "A-0001", "A-0002"
START = "2026-03-02 09:00"

Call = tuple[str, dict[str, Json]]
Changes = Mapping[str, Json]


def _case(key: str, matter: str) -> dict[str, Json]:
    return {
        "case_id": key,
        "person_id": "M-1",
        "person_name": "Orla Brandt",
        "data": "newsletter profile",
        "matter": matter,
        "status": "open",
        "sender": "on file",
        "proof": "sufficient",
        "comparable": "date of birth",
        "write_by": "email",
        "earlier": "has a copy" if matter == "billing" else "none",
    }


def _record(key: str) -> dict[str, Json]:
    return {
        "record_id": key.replace("K", "R"),
        "case_id": key,
        "entry": "likes swimming",
        "claimed": "likes rowing",
        "status": "restricted" if key == USE_AGAIN else "in use",
        "category": "ordinary",
        "purpose": "direct marketing",
        "kept_for": "nothing else",
        "grounds": "not compelling",
        "accuracy": "correct" if key == USE_AGAIN else "incorrect",
        "others": "not named",
        "effort": "little",
        "cost": 12.0,
        "legal_basis": "consent",
        "document": f"CONSENT-{key[2:]}",
        "consent": "given",
        "consent_by": "the person",
        "abroad": "not asked",
        "objection": "none",
    }


def _partner(key: str, name: str, standing: str) -> dict[str, Json]:
    return {
        "partner_id": key,
        "name": name,
        "country": "Austria" if standing == "member state" else "Brazil",
        "standing": standing,
        "role": "processor",
        "contract": "signed",
        "reach": "active",
    }


TABLES: dict[str, list[dict[str, Json]]] = {
    "people": [
        {"person_id": "M-1", "name": "Orla Brandt", "age": 34},
        {"person_id": "M-2", "name": "Jonas Holm", "age": 51},
    ],
    "contacts": [
        {"contact_id": EMAIL, "person_id": "M-1", "kind": "email", "address": "orla.brandt@mail.example"},
        {"contact_id": POST, "person_id": "M-1", "kind": "post", "address": "Larchfield Lane 6, Harbourtown"},
        {"contact_id": OTHER_EMAIL, "person_id": "M-2", "kind": "email", "address": "jonas.holm@mail.example"},
    ],
    "cases": [_case(f"K-000{number}", matter) for number, matter in enumerate(MATTER.options, 1)],
    "records": [_record(f"K-000{number}") for number in range(1, 10)],
    "partners": [
        _partner(MAILER, "Tidewater Mailing", "member state"),
        _partner(PRINTER, "Larch Print Shop", "adequacy decision"),
        _partner(TRAVEL, "Sundial Travel", "standard clauses"),
    ],
    "disclosures": [
        {"disclosure_id": f"D-0000{number}", "case_id": key, "partner_id": MAILER}
        for number, key in enumerate((RECTIFICATION, ERASURE, RESTRICTION), 1)
    ],
    "incidents": [
        {
            "incident_id": LAPTOP,
            "system": "reception laptop",
            "what": "stolen from the Harbourside club",
            "status": "open",
            "run_in": "Denmark",
            "spread": "one member state",
            "risk": "high",
            "protection": "readable",
            "reach": "each person",
            "people": 240,
        }
    ],
    "authorities": [
        {"authority_id": DANISH, "name": "Danish Data Protection Agency", "country": "Denmark"},
        {"authority_id": IRISH, "name": "Irish Data Protection Commission", "country": "Ireland"},
    ],
    "desk": [{"desk_id": "current", "now": START}],
}


def desk(changes: Changes | None = None) -> State:
    """The small desk with other values: ``{"K-0003.kept_for": "legal claim"}``.

    The first row changes that has this key and a field of this name; a record also goes by its case.
    """
    tables: dict[str, Any] = {
        table: {str(row[ENVIRONMENT.entities[table].key]): dict(row) for row in rows} for table, rows in TABLES.items()
    }
    for place, value in (changes or {}).items():
        key, _, field = place.partition(".")
        rows = [row for of in tables.values() for row in of.values() if key in {*row.values()} and field in row]
        assert rows, place
        rows[0][field] = value
    return decode_state(tables, ENVIRONMENT.entities)


def play(calls: Sequence[Call | int], changes: Changes | None = None) -> Session:
    """A session with these calls, each of which must complete; a number lets that many hours pass."""
    session = Session(ENVIRONMENT, desk(changes))
    for call in calls:
        if isinstance(call, int):
            session.pass_time(call * 3600)
            continue
        event = session.call(*call).event
        assert event.completed, (call, event.error, event.result)
    return session


@lru_cache
def rules() -> tuple[Rule, ...]:
    return load_rules(FOLDER / "rules.toml")


def not_kept(calls: Sequence[Call | int], changes: Changes | None = None) -> set[str]:
    """The ids of the rules that a session with these calls does not keep."""
    return broken(play(calls, changes))


def broken(session: Session) -> set[str]:
    """The ids of the rules that a session does not keep."""
    monitor = Monitor({rule.id: rule.compiled for rule in rules()})
    monitor.run(session.events)
    return {rule for rule, status in monitor.statuses(session.end).items() if status.ending != "kept"}


def find(case: str) -> Call:
    matter = MATTER.options[int(case[-1]) - 1]
    return "FindCase", {"name": "Orla Brandt", "data": "newsletter profile", "matter": matter}


def ask_for_proof(case: str, detail: str = "date of birth") -> Call:
    return "AskForProof", {"case_id": case, "detail": detail}


def of(case: str, *tools: str) -> list[Call]:
    """Calls that take nothing but the case."""
    return [(tool, {"case_id": case}) for tool in tools]


def contact(case: str, kind: str = "email") -> Call:
    return "FindContact", {"case_id": case, "kind": kind}


def reply(case: str, address: str = EMAIL, content: str = "what was done") -> Call:
    return "SendReply", {"case_id": case, "contact_id": address, "content": content}


def without(calls: Iterable[Call | int], *tools: str) -> list[Call | int]:
    """The calls but for those of some tools."""
    return [call for call in calls if isinstance(call, int) or call[0] not in tools]


def changed(calls: Iterable[Call | int], tool: str, **arguments: Json) -> list[Call | int]:
    """The calls with other arguments for one tool."""
    return [call if isinstance(call, int) or call[0] != tool else (tool, {**call[1], **arguments}) for call in calls]


def before(calls: Sequence[Call | int], tool: str, *added: Call | int) -> list[Call | int]:
    """The calls with others before the first one of a tool."""
    place = next(number for number, call in enumerate(calls) if not isinstance(call, int) and call[0] == tool)
    return [*calls[:place], *added, *calls[place:]]


COPY: list[Call | int] = [
    find(ACCESS),
    *of(ACCESS, "ReadMessage", "ReadDataSheet"),
    ("IssueCopy", {"case_id": ACCESS, "form": "readable"}),
    contact(ACCESS),
    reply(ACCESS),
]
"""Access in the simple case."""
ERASE: list[Call | int] = [
    find(ERASURE),
    *of(ERASURE, "ReadMessage", "ReadDataSheet", "FindRecipients", "EraseData"),
    ("ReadPartnerFile", {"partner_id": MAILER}),
    ("InformRecipient", {"case_id": ERASURE, "partner_id": MAILER, "form": "instruction"}),
    contact(ERASURE),
    reply(ERASURE),
]
CORRECT: list[Call | int] = [
    find(RECTIFICATION),
    *of(RECTIFICATION, "ReadMessage", "ReadDataSheet", "FindRecipients"),
    ("CorrectData", {"case_id": RECTIFICATION, "correction": "likes rowing"}),
    ("ReadPartnerFile", {"partner_id": MAILER}),
    ("InformRecipient", {"case_id": RECTIFICATION, "partner_id": MAILER, "form": "instruction"}),
    contact(RECTIFICATION),
    reply(RECTIFICATION),
]
STOP: list[Call | int] = [
    find(OBJECTION),
    *of(OBJECTION, "ReadMessage", "StopUse"),
    contact(OBJECTION),
    reply(OBJECTION),
]
BILL: list[Call | int] = [
    find(BILLING),
    *of(BILLING, "ReadMessage", "ReadDataSheet"),
    ("FileCosts", {"case_id": BILLING, "reason": "further copy", "expense": 12.0}),
    ("BillFee", {"case_id": BILLING, "amount": 12.0}),
]
SHARE: list[Call | int] = [
    find(PASSING_ON),
    ("FindPartner", {"name": "Tidewater Mailing"}),
    *of(PASSING_ON, "ReadConsent"),
    ("ReadPartnerFile", {"partner_id": MAILER}),
    ("ShareData", {"case_id": PASSING_ON, "partner_id": MAILER}),
    (
        "LogDisclosure",
        {
            "case_id": PASSING_ON,
            "partner_id": MAILER,
            "basis": "consent",
            "reference": f"CONSENT-{PASSING_ON[2:]}",
            "cover": "member state",
        },
    ),
]
CLOSE: list[Call | int] = [
    ("FindIncident", {"system": "reception laptop"}),
    ("AssessIncident", {"incident_id": LAPTOP}),
    ("FindAuthority", {"country": "Denmark"}),
    ("NotifyAuthority", {"incident_id": LAPTOP, "authority_id": DANISH, "number": 240}),
    ("TellPeople", {"incident_id": LAPTOP, "means": "each person"}),
    ("DocumentIncident", {"incident_id": LAPTOP, "effects": "high", "number": 240}),
    ("CloseIncident", {"incident_id": LAPTOP}),
]


def refuse(case: str, ground: str, *look_ups: str) -> list[Call | int]:
    """A request that is declined after some look-ups."""
    decline: Call = ("Decline", {"case_id": case, "ground": ground})
    return [
        find(case),
        *of(case, "ReadMessage", *look_ups),
        decline,
        contact(case),
        reply(case, EMAIL, "reasons and remedies"),
    ]
