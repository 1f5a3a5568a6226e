"""Requests in the three environments with contrast pairs, made by hand from drawn initial states."""

from collections.abc import Mapping
from random import Random

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import State
from lawtrace.schemas.events import FromResult, Json, Origin, SaidByUser
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.masking.requests import AskedRequest, Secret
from lawtrace.solver.traces import PlannedCall

Arguments = Mapping[str, Json | FromResult]


def found(step: int, table: str, key: str) -> FromResult:
    """The key of the row that an earlier look-up shows."""
    return FromResult(step, (table, 0, key))


def ask(domain: str, *calls: tuple[str, Arguments], fact: str, other: object, seed: int = 1) -> AskedRequest:
    """A request with these calls, and the fact of its pair: a field of a row (``payees.PY-1.trusted``).

    ``seed``: of an initial state in which the calls are possible.
    """
    environment = load_domain(domain).environment
    initial = environment.populate(Random(seed))
    session, planned = Session(environment, initial), list[PlannedCall]()
    for tool, given in calls:
        origins: dict[str, Origin] = {
            name: value if isinstance(value, FromResult) else SaidByUser() for name, value in given.items()
        }
        arguments: dict[str, Json] = {}
        for name, value in given.items():
            if isinstance(value, FromResult):
                arguments[name] = planned[value.step].event.result
                for part in value.path:
                    arguments[name] = arguments[name][part]  # type: ignore[index, call-overload]
            else:
                arguments[name] = value
        event = session.call(tool, arguments).event
        assert event.completed, event
        planned.append(PlannedCall(event, origins))
    table, key, field = fact.split(".")
    changed, before = _with_value(initial, environment.entities[table].key, (table, key, field), other)
    declared = next(f for f in environment.facts if f.entity.table == table and f.field == field)
    value_type = environment.entities[table].fields[field].type
    secret = Secret(declared.name, value_type, (value_type.encode(before), value_type.encode(other)))
    return AskedRequest(environment, (initial, changed), tuple(planned), secret)


def _with_value(initial: State, named: str, place: tuple[str, str, str], value: object) -> tuple[State, object]:
    table, key, field = place
    rows = initial.tables[table]
    number = next(number for number, row in enumerate(rows) if row.values[named] == key)
    row = rows[number]
    other = type(row)({**row.values, field: value}, row.present)
    return initial.with_table(table, (*rows[:number], other, *rows[number + 1 :])), row.values[field]


PAYMENT = ask(
    "payments",
    ("FindAccount", {"nickname": "rainy-day pot"}),
    ("FindPayee", {"name": "Osier Street Garage"}),
    (
        "SendPayment",
        {"account_id": found(0, "accounts", "account_id"), "payee_id": found(1, "payees", "payee_id"), "amount": 85.4},
    ),
    fact="payees.PY-6517.restriction",
    other="frozen, may be told",
    seed=3,
)
CANCELLATION = ask(
    "payments",
    ("FindOrder", {"description": "rent for Alder Court"}),
    ("CancelOrder", {"order_id": found(0, "orders", "order_id")}),
    fact="orders.OR-7793.due",
    other=739681,
    seed=2,
)
COPY = ask(
    "clinic",
    ("FindRequest", {"patient_name": "Marcus Ferrante", "requester_name": "Kestrel Heart Center"}),
    ("FindRecord", {"request_id": found(0, "requests", "request_id"), "kind": "imaging report"}),
    (
        "ReleaseRecord",
        {"request_id": found(0, "requests", "request_id"), "record_id": found(1, "records", "record_id")},
    ),
    fact="requests.RQ-2674.purpose",
    other="emergency treatment",
)
NEWS = ask(
    "clinic",
    ("FindRequest", {"patient_name": "Marcus Ferrante", "requester_name": "Silas Ferrante"}),
    ("TellFamily", {"request_id": found(0, "requests", "request_id")}),
    fact="requests.RQ-4584.patient_answer",
    other="agrees",
)
CORRECTION = ask(
    "privacy_desk",
    ("FindCase", {"name": "Orla Brandt", "data": "training plan", "matter": "rectification"}),
    ("CorrectData", {"case_id": found(0, "cases", "case_id"), "correction": "three sessions a week"}),
    fact="messages.K-7139.proof",
    other="sufficient",
)
PASSING_ON = ask(
    "privacy_desk",
    ("FindCase", {"name": "Jonas Holm", "data": "complaint file", "matter": "passing on"}),
    ("FindPartner", {"name": "Brook Hosting"}),
    ("ShareData", {"case_id": found(0, "cases", "case_id"), "partner_id": found(1, "partners", "partner_id")}),
    fact="uses.K-5394.status",
    other="restricted",
    seed=640,
)
PRINTED_COPY = ask(
    "privacy_desk",
    ("FindCase", {"name": "Clara Dubois", "data": "course photos", "matter": "access"}),
    ("IssueCopy", {"case_id": found(0, "cases", "case_id"), "form": "readable"}),
    fact="messages.K-8868.sender",
    other="signed in",
)
