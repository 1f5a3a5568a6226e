"""A synthetic clinic with thirteen tools and six rules, as large as the published environments."""

from random import Random

from lawtrace.environments import spec as s
from lawtrace.solver.rules import Rule

NAMES = ("Ash", "Birch", "Cedar", "Dill", "Elm", "Fern")


def _table(table: str, singular: str) -> s.Entity:
    return s.table(table, singular, id=s.TEXT, name=s.TEXT, note=s.TEXT)


DOCTORS, PATIENTS, VISITS = _table("doctors", "doctor"), _table("patients", "patient"), _table("visits", "visit")
SESSION = s.table("session", "session", session_id=s.TEXT, authorized=s.BOOLEAN)
BOOKINGS = s.table("bookings", "booking", prefix="B-", id=s.TEXT, doctor=s.TEXT, note=s.TEXT)
PARAMETERS = {"doctors": "doctor_id", "patients": "patient_id", "visits": "visit_id"}


def _find(entity: s.Entity) -> s.Tool:
    return s.Tool(
        f"Find{entity.singular.title()}",
        f"Finds a {entity.singular} by name.",
        (s.Parameter("name", s.TEXT, "The name.", s.FromUser(s.FieldValue(entity, "name"))),),
        results=(
            s.RowsResult(
                "found", "Those of that name.", entity, lambda row: row.name == s.argument("name"), ("id", "name")
            ),
        ),
        phrases=s.Phrases(f"Find the {entity.singular} {{name}}.", noun_phrase=f"the {entity.singular} {{name}}"),
    )


def _reference(entity: s.Entity) -> s.Parameter:
    return s.Parameter(PARAMETERS[entity.table], s.TEXT, f"The {entity.singular}.", s.FromLookup(entity))


def _unknown(entity: s.Entity) -> s.Raises:
    name = PARAMETERS[entity.table]
    return s.Raises(
        s.INVALID_REQUEST, f"The '{name}' is unknown.", ~s.exists(entity, lambda row: row.id == s.argument(name))
    )


def _change(name: str, entity: s.Entity, emits: str | None) -> s.Tool:
    identifier = PARAMETERS[entity.table]
    note = s.Parameter("note", s.TEXT, "What to write.", s.FromUser(s.OneOf(("soon", "later"))))
    return s.Tool(
        name,
        f"{name} for a {entity.singular}.",
        (_reference(entity), note),
        (_unknown(entity),),
        effects=(
            s.Update(entity, lambda row: row.id == s.argument(identifier), {"note": lambda row: s.argument("note")}),
        ),
        results=(s.ValueResult("done", "Whether it is done.", s.BOOLEAN, s.constant(True)),),
        emits=emits,
        critical=emits is not None,
        phrases=s.Phrases(f"{name}: {{{identifier}}}, {{note}}.", outcome=f"{name} of {{{identifier}}} is {{note}}."),
    )


BOOK = s.Tool(
    "BookVisit",
    "Books a visit of a patient to a doctor.",
    (_reference(DOCTORS), _reference(PATIENTS)),
    (_unknown(DOCTORS), _unknown(PATIENTS)),
    effects=(s.register(BOOKINGS, doctor=s.argument("doctor_id"), note="new"),),
    results=(s.ValueResult("done", "Whether it is done.", s.BOOLEAN, s.constant(True)),),
    emits="VISIT_BOOKED",
    critical=True,
    phrases=s.Phrases("Book {doctor_id} for {patient_id}.", outcome="{patient_id} has a visit to {doctor_id}."),
)
TOOLS = (
    s.check_authorization(SESSION),
    s.RECORD_AUDIT_EVENT,
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


def _populate(random: Random) -> s.State:
    def rows(entity: s.Entity) -> tuple[s.Row, ...]:
        return tuple(
            s.Row({"id": f"{entity.table[0].upper()}-{number}", "name": name, "note": ""})
            for number, name in enumerate(random.sample(NAMES, 3), 1)
        )

    return s.State(
        {
            **{entity.table: rows(entity) for entity in (DOCTORS, PATIENTS, VISITS)},
            "bookings": (),
            "audit_log": (),
            "session": (s.Row({"session_id": "current", "authorized": True}),),
        }
    )


LARGE_CLINIC = s.Environment(
    "clinic",
    "Clinic",
    "Clinic",
    "A made-up clinic.",
    {entity.table: entity for entity in (DOCTORS, PATIENTS, VISITS, BOOKINGS, s.AUDIT_LOG, SESSION)},
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
