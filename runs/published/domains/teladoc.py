"""The published clinic. No published row of it was at hand: its states are read as its description says they are."""

import re
from collections.abc import Iterable, Mapping
from typing import cast

from lawtrace.environments.events import Json
from lawtrace.runs.published.domains.domain import PublishedDomain, Raw, quote_identifiers, read_fields

_SNAPSHOT = "user_variable_initial_environment"
"""The variable that shows the initial state; no time in it is one that somebody asks for."""

_KEYS = {"ScheduleAppointment": "appointment_id", "ConsultDoctor": "consultation_id"}
"""Tools whose whole result a published program passes on where the identifier in it is meant."""

_STATUSES = {"cancelled": "cancelled", "completed": "completed"}
_PRESCRIPTION_STATUSES = {"approved": "approved", "declined": "declined"}


def _state(raw: Raw, day: str, variables: Mapping[str, Json]) -> dict[str, Json]:
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


def _five_digits(rows: Mapping[str, Raw]) -> Iterable[tuple[str, Raw]]:
    """``A-0001`` is ``A-00001`` here."""
    return ((re.sub(r"\d+$", lambda number: f"{int(number[0]):05d}", key), row) for key, row in rows.items())


def _slots(doctors: Iterable[str], variables: Mapping[str, Json]) -> dict[str, Json]:
    """Every doctor is free at each time, on each day, that a variable names: the published states hold no slots."""
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


def _patient(info: Raw) -> dict[str, Json]:
    """The document speaks of the ``data of birth``; either spelling is read."""
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


def _repair(program: str) -> str:
    return read_fields(quote_identifiers(program, r"D-\d{4}"), _KEYS)


TELADOC = PublishedDomain(
    environment="telehealth",
    object_name="Teladoc",
    rules_file="hipaa_rules.json",
    state=_state,
    kept=("doctors", "appointments", "consultations", "prescriptions", "patient"),
    repair=_repair,
    variables=lambda variables: variables,
    notes=(
        "the published states hold no slots; every doctor is free at each time, on each day, that the task's variables "
        "name",
        "our state also keeps messages and reviews row by row, so what they say counts, as the reference has it",
    ),
)
