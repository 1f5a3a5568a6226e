"""The published lock."""

import re
from collections.abc import Mapping

from lawtrace.environments.events import Json
from lawtrace.runs.published.domains.domain import PublishedDomain, Raw, read_fields

_BARE_RESULTS = {"AddGuest": "guest_id", "GenerateTemporaryAccessCode": "access_code"}
"""Tools whose published results are bare values, and the field that their document promises instead."""


def _state(raw: Raw, day: str, _: Mapping[str, Json]) -> dict[str, Json]:
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


def _repair(program: str) -> str:
    """The program under the name of the recorded ones: identifiers quoted, bare results read from documented fields."""
    named = re.sub(r"\bgid_(guest_\d+)\b", r"'\1'", program.replace("AugustSmartLock.", "SmartLock."))
    return read_fields(named, _BARE_RESULTS)


def _with_hours(variables: dict[str, Json]) -> dict[str, Json]:
    """Days as their first minute: the document wants ``YYYY-MM-DD HH:mm`` where the published values are days."""

    def moment(name: str, value: Json) -> Json:
        is_day = isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) and name.endswith("_time")
        return f"{value} 00:00" if is_day else value

    return {name: moment(name, value) for name, value in variables.items()}


LOCK = PublishedDomain(
    environment="smart_home",
    object_name="SmartLock",
    rules_file="esti_rules.json",
    state=_state,
    kept=("locks", "guests", "access_codes"),
    repair=_repair,
    variables=_with_hours,
    notes=(
        "our state also keeps the period of each access, so the times of a grant count, as the reference has them; "
        "the published state keeps whether a guest has access",
        "the period of the history is given in days where the tool's document wants minutes; a day is read as its "
        "first minute",
    ),
)
