"""The published domains: their environments, how to read their states, and repairs of their programs."""

import ast
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from lawtrace.schemas.choices import PublishedDomainName
from lawtrace.schemas.events import Json

RawState = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PublishedDomain:
    """One published domain.

    Attributes:
        environment: the environment it is here.
        object_name: the name under which recorded programs find the tools.
        law: the published name of its law, such as ``psd2``.
        state: a published state in our outside form, on that day (``YYYY-MM-DD``), with those variables.
        kept: the tables that are compared with the published state.
        repair: makes a published reference program run.
        variables: its init block's variables, as our tools want them.
        notes: what an import changes or adds, in sentences.
    """

    environment: str
    object_name: str
    law: str
    state: Callable[[RawState, str, Mapping[str, Json]], dict[str, Json]]
    kept: tuple[str, ...]
    repair: Callable[[str], str]
    variables: Callable[[dict[str, Json]], dict[str, Json]]
    notes: tuple[str, ...]


def quote_identifiers(program: str, identifiers: str) -> str:
    return re.sub(rf"(=\s*|\[\s*|,\s*)({identifiers})(?=\s*[,)\]])", r"\1'\2'", program)


def read_fields(program: str, fields_of_tools: Mapping[str, str]) -> str:
    """Read the documented field (tool -> field) wherever a program uses the whole result of a tool."""
    tree = ast.parse(program)
    fields: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=tool))):
                if tool in fields_of_tools:
                    fields[name] = fields_of_tools[tool]
            case _:
                pass
    return ast.unparse(_ReadFields(fields).visit(tree)) + "\n"


class _ReadFields(ast.NodeTransformer):
    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return node if isinstance(node.value, ast.Name) else self.generic_visit(node)  # a field is read already

    def visit_Name(self, node: ast.Name) -> ast.expr:
        field = self._fields.get(node.id)
        if field is None or isinstance(node.ctx, ast.Store):
            return node
        return ast.Subscript(node, ast.Constant(field), ast.Load())


def _bank_state(raw: RawState, day: str, _: Mapping[str, Json]) -> dict[str, Json]:
    return {
        "accounts": _in_cents(raw.get("accounts", {})),
        "payees": raw.get("payees", {}),
        "session": {"current": {"session_id": "current", "authorized": True, "today": day}},
    }


def _in_cents(value: Json) -> Json:
    """Round published balances, which have fractions of a cent."""
    match value:
        case float():
            return round(value, 2)
        case dict():
            return {name: _in_cents(part) for name, part in value.items()}
        case _:
            return value


BANK = PublishedDomain(
    environment="banking",
    object_name="BankManager",
    law="psd2",
    state=_bank_state,
    kept=("accounts", "payees"),
    repair=lambda program: quote_identifiers(program, r"\d{3}-\d{4}-\d{4}|P-\d{6}"),
    variables=lambda variables: variables,
    notes=(
        "our state also keeps transactions, so payee, date and service account number of each payment count, as "
        "the reference has them; the published state keeps balances alone",
    ),
)


_BARE_RESULTS = {"AddGuest": "guest_id", "GenerateTemporaryAccessCode": "access_code"}
"""Tools with bare published results -> the documented field."""


def _lock_state(raw: RawState, day: str, _: Mapping[str, Json]) -> dict[str, Json]:
    guests = raw.get("guests", {})
    start = f"{day} 00:00"
    accesses: dict[str, Json] = {
        f"A-{number:05d}": {
            "access_id": f"A-{number:05d}",
            "guest_id": guest,
            "start_time": start,
            "end_time": "9999-12-31 23:59",
        }
        for number, (guest, row) in enumerate(guests.items(), 1)
        if row["has_access"]
    }
    codes: dict[str, Json] = {
        code: {
            "access_code": code,
            "start_time": row["start_time"],
            "end_time": row["end_time"],
            "status": "active" if row["is_active"] else "revoked",
        }
        for code, row in raw.get("access_codes", {}).items()
    }
    return {
        "locks": {"front door": {"lock_id": "front door", "status": raw["lock"]["status"]}},
        "guests": {
            guest: {name: row[name] for name in ("guest_id", "guest_name", "guest_email")}
            for guest, row in guests.items()
        },
        "accesses": accesses,
        "access_codes": codes,
        "session": {"current": {"session_id": "current", "authorized": True, "now": f"{day} 06:00"}},
    }


def _repair_lock_program(program: str) -> str:
    """Rename the object, quote identifiers and read documented fields."""
    named = re.sub(r"\bgid_(guest_\d+)\b", r"'\1'", program.replace("AugustSmartLock.", "SmartLock."))
    return read_fields(named, _BARE_RESULTS)


def _days_as_minutes(variables: dict[str, Json]) -> dict[str, Json]:
    """Turn days into their first minute: the document asks for ``YYYY-MM-DD HH:mm``."""

    def moment(name: str, value: Json) -> Json:
        is_day = isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) and name.endswith("_time")
        return f"{value} 00:00" if is_day else value

    return {name: moment(name, value) for name, value in variables.items()}


LOCK = PublishedDomain(
    environment="smart_home",
    object_name="SmartLock",
    law="esti",
    state=_lock_state,
    kept=("locks", "guests", "access_codes"),
    repair=_repair_lock_program,
    variables=_days_as_minutes,
    notes=(
        "our state also keeps the period of each access, so the times of a grant count, as the reference has them; "
        "the published state keeps whether a guest has access",
        "the period of the history is given in days where the tool's document wants minutes; a day is read as its "
        "first minute",
    ),
)


_SNAPSHOT = "user_variable_initial_environment"
"""The variable with the initial state; its times are not requested ones."""

_KEYS = {"ScheduleAppointment": "appointment_id", "ConsultDoctor": "consultation_id"}
"""Tools whose whole result is used as an identifier in published programs -> the documented field."""

_STATUSES = {"cancelled": "cancelled", "completed": "completed"}
_PRESCRIPTION_STATUSES = {"approved": "approved", "declined": "declined"}


def _teladoc_state(raw: RawState, day: str, variables: Mapping[str, Json]) -> dict[str, Json]:
    doctors = raw.get("doctors", {})
    return {
        "doctors": {
            doctor: {"doctor_id": doctor, **{name: row[name] for name in ("name", "specialty", "location")}}
            for doctor, row in doctors.items()
        },
        "slots": _slots(doctors, variables),
        "appointments": {
            key: {
                "appointment_id": key,
                **{name: row[name] for name in ("doctor_id", "date", "time", "reason")},
                "status": _STATUSES.get(row["status"], "confirmed"),
            }
            for key, row in _five_digits(raw.get("appointments", {}))
        },
        "consultations": {
            key: {"consultation_id": key, "doctor_id": row["doctor_id"], "reason": row["reason"], "started": _now(day)}
            for key, row in _five_digits(raw.get("consultations", {}))
        },
        "prescriptions": {
            key: {
                "prescription_request_id": key,
                **{name: row[name] for name in ("medication_name", "dosage", "doctor_id")},
                "status": _PRESCRIPTION_STATUSES.get(row["status"], "pending"),
            }
            for key, row in _five_digits(raw.get("prescriptions", {}))
        },
        "patient": {"current": _patient(raw["user_info"])},
        "session": {"current": {"session_id": "current", "authorized": True, "now": _now(day)}},
    }


def _now(day: str) -> str:
    return f"{day} 06:00"


def _five_digits(rows: Mapping[str, RawState]) -> Iterable[tuple[str, RawState]]:
    """Pad ids to five digits: ``A-0001`` becomes ``A-00001``."""
    return ((re.sub(r"\d+$", lambda number: f"{int(number[0]):05d}", key), row) for key, row in rows.items())


def _slots(doctors: Iterable[str], variables: Mapping[str, Json]) -> dict[str, Json]:
    """A free slot for every doctor at each date and time in a variable: published states have no slots."""
    said = [text for name, value in variables.items() if name != _SNAPSHOT for text in _texts_in(value)]
    days = sorted({text for text in said if re.fullmatch(r"\d{4}-\d{2}-\d{2}", text)})
    times = sorted({text for text in said if re.fullmatch(r"\d{2}:\d{2}", text)}) or ["09:00"]
    places = [(doctor, day, time) for doctor in doctors for day in days for time in times]
    return {
        f"S-{number:05d}": {
            "slot_id": f"S-{number:05d}",
            "doctor_id": doctor,
            "start": f"{day} {time}",
            "end": f"{day} {_half_an_hour_later(time)}",
        }
        for number, (doctor, day, time) in enumerate(places, 1)
    }


def _half_an_hour_later(time: str) -> str:
    hour, minute = map(int, time.split(":"))
    later = min(60 * hour + minute + 30, 24 * 60 - 1)
    return f"{later // 60:02d}:{later % 60:02d}"


def _texts_in(value: Json) -> Iterable[str]:
    match value:
        case str():
            yield value
        case dict() | list():
            for part in value.values() if isinstance(value, dict) else value:
                yield from _texts_in(part)
        case _:
            pass


def _patient(info: RawState) -> dict[str, Json]:
    """Patient data; the document misspells ``data of birth``, so both spellings are read."""
    lists = ("familial_genetic_diseases", "allergies", "medications", "immunizations")
    return {
        "patient_id": "current",
        "name": "the user",
        "date_of_birth": info["date_of_birth"] if "date_of_birth" in info else info["data_of_birth"],
        "location": info["location"],
        **{name: _as_list(info[name]) for name in lists},
    }


def _as_list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else [cast("str", value)] if value else []


TELADOC = PublishedDomain(
    environment="telehealth",
    object_name="Teladoc",
    law="hipaa",
    state=_teladoc_state,
    kept=("doctors", "appointments", "consultations", "prescriptions", "patient"),
    repair=lambda program: read_fields(quote_identifiers(program, r"D-\d{4}"), _KEYS),
    variables=lambda variables: variables,
    notes=(
        "the published states hold no slots; every doctor is free at each time, on each day, that the task's variables "
        "name",
        "our state also keeps messages and reviews row by row, so what they say counts, as the reference has it",
    ),
)


PUBLISHED_DOMAINS: Mapping[PublishedDomainName, PublishedDomain] = {
    "bank_manager": BANK,
    "teladoc": TELADOC,
    "smart_lock": LOCK,
}
