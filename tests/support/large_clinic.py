"""A synthetic clinic with thirteen tools and six rules, as large as the published environments."""

from random import Random

from lawtrace.environments.spec.compliance import AUDIT_LOG, INVALID_REQUEST, RECORD_AUDIT_EVENT, check_authorization
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Insert, RowsResult, Update, ValueResult
from lawtrace.environments.spec.samplers import FieldValue, OneOf
from lawtrace.environments.spec.state import Entity, Field, Row, State
from lawtrace.environments.spec.terms import argument, constant, exists
from lawtrace.environments.spec.tools import FromLookup, FromUser, Parameter, Phrases, Raises, Tool
from lawtrace.environments.spec.types import BOOLEAN, TEXT
from lawtrace.solver.rules import Rule

NAMES = ("Ash", "Birch", "Cedar", "Dill", "Elm", "Fern")


def _table(table: str, singular: str) -> Entity:
    return Entity(table, singular, "id", {"id": Field(TEXT), "name": Field(TEXT), "note": Field(TEXT)})


DOCTORS, PATIENTS, VISITS = _table("doctors", "doctor"), _table("patients", "patient"), _table("visits", "visit")
SESSION = Entity("session", "session", "session_id", {"session_id": Field(TEXT), "authorized": Field(BOOLEAN)})
BOOKINGS = Entity(
    "bookings", "booking", "id", {"id": Field(TEXT), "doctor": Field(TEXT), "note": Field(TEXT)}, key_prefix="B-"
)
PARAMETERS = {"doctors": "doctor_id", "patients": "patient_id", "visits": "visit_id"}


def _find(entity: Entity) -> Tool:
    return Tool(
        f"Find{entity.singular.title()}",
        f"Finds a {entity.singular} by name.",
        (Parameter("name", TEXT, "The name.", FromUser(FieldValue(entity, "name"))),),
        results=(
            RowsResult(
                "found", "Those of that name.", entity, lambda row: row.name == argument("name"), ("id", "name")
            ),
        ),
        phrases=Phrases(f"Find the {entity.singular} {{name}}.", noun_phrase=f"the {entity.singular} {{name}}"),
    )


def _reference(entity: Entity) -> Parameter:
    return Parameter(PARAMETERS[entity.table], TEXT, f"The {entity.singular}.", FromLookup(entity))


def _unknown(entity: Entity) -> Raises:
    name = PARAMETERS[entity.table]
    return Raises(
        INVALID_REQUEST,
        f"The '{name}' is unknown.",
        ~exists(entity, lambda row: row.id == argument(name)),
    )


def _change(name: str, entity: Entity, emits: str | None) -> Tool:
    identifier = PARAMETERS[entity.table]
    note = Parameter("note", TEXT, "What to write.", FromUser(OneOf(("soon", "later"))))
    return Tool(
        name,
        f"{name} for a {entity.singular}.",
        (_reference(entity), note),
        (_unknown(entity),),
        effects=(Update(entity, lambda row: row.id == argument(identifier), {"note": lambda row: argument("note")}),),
        results=(ValueResult("done", "Whether it is done.", BOOLEAN, constant(True)),),
        emits=emits,
        critical=emits is not None,
        phrases=Phrases(f"{name}: {{{identifier}}}, {{note}}.", outcome=f"{name} of {{{identifier}}} is {{note}}."),
    )


BOOK = Tool(
    "BookVisit",
    "Books a visit of a patient to a doctor.",
    (_reference(DOCTORS), _reference(PATIENTS)),
    (_unknown(DOCTORS), _unknown(PATIENTS)),
    effects=(Insert(BOOKINGS, {"doctor": argument("doctor_id"), "note": constant("new")}),),
    results=(ValueResult("done", "Whether it is done.", BOOLEAN, constant(True)),),
    emits="VISIT_BOOKED",
    critical=True,
    phrases=Phrases("Book {doctor_id} for {patient_id}.", outcome="{patient_id} has a visit to {doctor_id}."),
)
TOOLS = (
    check_authorization(SESSION),
    RECORD_AUDIT_EVENT,
    _find(DOCTORS),
    _find(PATIENTS),
    _find(VISITS),
    BOOK,
    _change("CancelVisit", VISITS, "VISIT_CANCELLED"),
    _change("MoveVisit", VISITS, "VISIT_MOVED"),
    _change("WriteRecord", PATIENTS, "RECORD_WRITTEN"),
    _change("Prescribe", PATIENTS, "PRESCRIBED"),
    _change("ChangeContact", PATIENTS, None),
    _change("RateDoctor", DOCTORS, None),
    _change("RemindVisit", VISITS, None),
)


def _populate(random: Random) -> State:
    def rows(entity: Entity) -> tuple[Row, ...]:
        return tuple(
            Row({"id": f"{entity.table[0].upper()}-{number}", "name": name, "note": ""})
            for number, name in enumerate(random.sample(NAMES, 3), 1)
        )

    return State(
        {
            **{entity.table: rows(entity) for entity in (DOCTORS, PATIENTS, VISITS)},
            "bookings": (),
            "audit_log": (),
            "session": (Row({"session_id": "current", "authorized": True}),),
        }
    )


LARGE_CLINIC = Environment(
    "clinic",
    "Clinic",
    "Clinic",
    "A made-up clinic.",
    {entity.table: entity for entity in (DOCTORS, PATIENTS, VISITS, BOOKINGS, AUDIT_LOG, SESSION)},
    {tool.name: tool for tool in TOOLS},
    _populate,
)
LARGE_CLINIC_RULES = tuple(
    Rule(id=name, formula=formula)
    for name, formula in {
        "authorize-before-record": "!((!CheckAuthorization) U WriteRecord)",
        "authorize-before-prescription": "!((!CheckAuthorization) U Prescribe)",
        "authorize-before-cancelling": "!((!CheckAuthorization) U CancelVisit)",
        "find-patient-before-booking": "!((!FindPatient) U BookVisit)",
        "record-prescription": "G(Prescribe -> F RecordAuditEvent)",
        "record-writing": "G(WriteRecord -> F RecordAuditEvent)",
    }.items()
)
