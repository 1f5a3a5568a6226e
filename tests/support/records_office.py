"""A records office in a known state, and short notations for its state and for programs.

Clara is an adult, Theo a minor. Each request has the name of what it is for as its key, and the requester `by-NAME`. In
the base state every request can be answered lawfully. The first day is Monday, 2 March 2026.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import cast

from lawtrace.environments.domains import clinic
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State, decode_state
from lawtrace.environments.spec.types import BOOLEAN, INTEGER, MONEY
from lawtrace.schemas.events import Json
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.monitoring.metric import MetricRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import load_rules

ENVIRONMENT = clinic.ENVIRONMENT
ENTITIES = ENVIRONMENT.entities
RULES_FILE = Path(str(clinic.__file__)).parent / "rules.toml"
REQUESTS = {
    "treat": ("release", "clara", "provider", "treatment", "lab results"),
    "emergency": ("release", "clara", "provider", "emergency treatment", "lab results"),
    "claim": ("release", "clara", "insurer", "payment of a claim", "lab results"),
    "life": ("release", "clara", "insurer", "life insurance", "lab results"),
    "suit": ("release", "clara", "law firm", "lawsuit", "lab results"),
    "subpoena": ("release", "clara", "law firm", "subpoena", "lab results"),
    "order": ("release", "clara", "court", "court order", "lab results"),
    "flu": ("release", "clara", "health department", "disease surveillance", "lab results"),
    "own": ("own records", "clara", "patient", "own use", "lab results"),
    "theo": ("own records", "theo", "parent", "own use", "immunization record"),
    "list": ("accounting", "clara", "patient", "own use", "lab results"),
    "news": ("family", "clara", "relative", "visit or news", "visit summary"),
    "room": ("room", "clara", "visitor", "visit or news", "visit summary"),
    "flyer": ("flyer", "clara", "company", "marketing", "visit summary"),
    "refill": ("flyer", "clara", "company", "refill reminder", "visit summary"),
}
AUTHORIZED = ("life", "suit", "flyer")


def _tables() -> dict[str, dict[str, dict[str, Json]]]:
    tables: dict[str, dict[str, dict[str, Json]]] = {table: {} for table in ENTITIES}

    def add(table: str, key: str, **values: Json) -> None:
        tables[table][key] = {ENTITIES[table].key: key, **values}

    for patient, age_group in (("clara", "adult"), ("theo", "minor")):
        add(
            "patients",
            patient,
            name=f"{patient.title()} Whitlock",
            age_group=age_group,
            restriction="none",
            directory="room only",
            condition="able to decide",
        )
        add("contacts", f"box-{patient}", patient_id=patient, address="PO Box 218", status="withdrawn")
    for name, (category, patient, kind, purpose, asks_for) in REQUESTS.items():
        add("requesters", f"by-{name}", name=f"Requester {name}", kind=kind, known=True, proof="complete")
        add(
            "requests",
            name,
            category=category,
            patient_id=patient,
            patient_name=f"{patient.title()} Whitlock",
            requester_id=f"by-{name}",
            requester_name=f"Requester {name}",
            purpose=purpose,
            asks_for=asks_for,
            period="last 12 months",
            involvement="bills",
            received_on="2026-02-27",
            assurance="protective order sought",
            paid_by_third_party=True,
            earlier_list="one within 12 months",
            accepts_fee=True,
            patient_answer="agrees",
            clinician_answer="agrees",
        )
    for key, patient, kind in (
        ("lab", "clara", "lab results"),
        ("scan", "clara", "imaging report"),
        ("notes", "clara", "psychotherapy notes"),
        ("shots", "theo", "immunization record"),
    ):
        agreed = "a parent" if patient == "theo" else "the patient"
        add("records", key, patient_id=patient, kind=kind, location="on site", care_agreed_by=agreed, finding="none")
    for name in AUTHORIZED:
        add(
            "authorizations",
            f"for-{name}",
            patient_id="clara",
            requester_id=f"by-{name}",
            covers="marketing" if name == "flyer" else "lab results",
            period="last 12 months",
            status="in force",
            mentions_payment=True,
        )
    add("mandates", "parent", patient_id="theo", requester_id="by-theo", status="in force")
    add(
        "incidents",
        "laptop",
        title="stolen laptop",
        discovered_on="2026-02-23",
        people_affected=120,
        information="diagnoses",
        state="Ohio",
        police_statement="none",
        hold_until="2026-04-10",
        status="open",
        forensic_report="none",
    )
    add("assessments", "risk", incident_id="laptop", data="readable", risk="not shown to be low")
    add("mailing_lists", "people", incident_id="laptop", reachable_by="postal address")
    add("session", "current", today="2026-03-02")
    return tables


def office(changes: str = "") -> State:
    """The base state with changes such as ``patients.clara.restriction = nothing to insurers; laptop ...``."""
    tables = _tables()
    for change in filter(None, (part.strip() for part in changes.split(";"))):
        place, _, text = change.partition(" = ")
        table, key, field = place.split(".")
        assert field in tables[table][key], change
        before = tables[table][key][field]
        value: Json = int(text) if type(before) is int else text == "True" if isinstance(before, bool) else text
        tables[table][key][field] = value
    return decode_state(cast("Mapping[str, Json]", tables), ENTITIES)


def run(program: str, changes: str = "") -> Session:
    """The session of a program such as ``OpenRequest(claim) Wait(3)``, with arguments in documented order."""
    session = Session(ENVIRONMENT, office(changes))
    for tool, written in re.findall(r"(\w+)\(([^)]*)\)", program):
        parameters = ENVIRONMENT.tools[tool].parameters
        texts = [text.strip() for text in written.split(",")]
        arguments: dict[str, Json] = {}
        for parameter, text in zip(parameters, texts, strict=True):
            kind = parameter.type
            number = kind is INTEGER or kind is MONEY
            arguments[parameter.name] = int(text) if number else text == "True" if kind is BOOLEAN else text
        session.call(tool, arguments)
    return session


@cache
def compiled_rules() -> Mapping[str, Automaton | MetricRule]:
    """The curated rules, as a monitor runs them."""
    return {rule.id: rule.compiled for rule in load_rules(RULES_FILE)}


def broken(session: Session) -> set[str]:
    """The rules that the session does not keep."""
    assert all(event.completed for event in session.events), [e for e in session.events if not e.completed]
    monitor = Monitor(compiled_rules())
    monitor.run(session.events)
    return {rule for rule, status in monitor.final_statuses().items() if status != "kept"}
