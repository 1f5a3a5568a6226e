"""The published domains: where each stands in our house, how its states read here, and what its programs lack.

A published state keeps less than ours, and a published program prints less than it means. What is added and repaired is
here, one place for each domain, and every import says it in its notes.
"""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from environments.events import Json

__all__ = ["DOMAINS", "Domain", "PublishedDomain"]

Domain = Literal["bank_manager", "teladoc", "smart_lock"]
Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PublishedDomain:
    """One published domain.

    Attributes:
        environment: the environment it is here.
        object_name: the name under which recorded programs find the tools.
        rules_file: where its rules are published.
        state: a published state in our outside form, on that day (``YYYY-MM-DD``).
        kept: the tables that say what a published state says.
        repair: makes a published reference program run.
        variables: its init block's variables, as our tools want them.
        notes: what an import changes or adds, in sentences.
    """

    environment: str
    object_name: str
    rules_file: str
    state: Callable[[Raw, str], dict[str, Json]]
    kept: tuple[str, ...]
    repair: Callable[[str], str]
    variables: Callable[[dict[str, Json]], dict[str, Json]]
    notes: tuple[str, ...]


def quote_identifiers(program: str, identifiers: str) -> str:
    """The program with bare identifiers in argument position quoted."""
    return re.sub(rf"(=\s*|\[\s*|,\s*)({identifiers})(?=\s*[,)\]])", r"\1'\2'", program)


# --- the bank -------------------------------------------------------------------------------------------------------


def _bank_state(raw: Raw, day: str) -> dict[str, Json]:
    return {
        "accounts": _in_cents(raw.get("accounts", {})),
        "payees": raw.get("payees", {}),
        "session": {"current": {"session_id": "current", "authorized": True, "today": day}},
    }


def _in_cents(value: Json) -> Json:
    """Published balances carry fractions of a cent, which no account holds; they are rounded."""
    match value:
        case float():
            return round(value, 2)
        case dict():
            return {name: _in_cents(part) for name, part in value.items()}
        case _:
            return value


# --- the lock -------------------------------------------------------------------------------------------------------

_BARE_RESULTS = {"AddGuest": "guest_id", "GenerateTemporaryAccessCode": "access_code"}
"""Tools whose published results are bare values, and the field that their document promises instead."""


def _lock_state(raw: Raw, day: str) -> dict[str, Json]:
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


def _repair_lock(program: str) -> str:
    """The program under the name of the recorded ones: identifiers quoted, bare results read from documented fields."""
    named = re.sub(r"\bgid_(guest_\d+)\b", r"'\1'", program.replace("AugustSmartLock.", "SmartLock."))
    tree = ast.parse(named)
    fields: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=tool))):
                if tool in _BARE_RESULTS:
                    fields[name] = _BARE_RESULTS[tool]
            case _:
                pass
    return ast.unparse(_ReadFields(fields).visit(tree)) + "\n"


class _ReadFields(ast.NodeTransformer):
    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def visit_Name(self, node: ast.Name) -> ast.expr:
        field = self._fields.get(node.id)
        if field is None or isinstance(node.ctx, ast.Store):
            return node
        return ast.Subscript(node, ast.Constant(field), ast.Load())


def _with_hours(variables: dict[str, Json]) -> dict[str, Json]:
    """Days as their first minute: the document wants ``YYYY-MM-DD HH:mm`` where the published values are days."""

    def moment(name: str, value: Json) -> Json:
        is_day = isinstance(value, str) and re.fullmatch(r"\d{4}-\d{2}-\d{2}", value) and name.endswith("_time")
        return f"{value} 00:00" if is_day else value

    return {name: moment(name, value) for name, value in variables.items()}


DOMAINS: Mapping[Domain, PublishedDomain] = {
    "bank_manager": PublishedDomain(
        environment="banking",
        object_name="BankManager",
        rules_file="psd2_rules.json",
        state=_bank_state,
        kept=("accounts", "payees"),
        repair=lambda program: quote_identifiers(program, r"\d{3}-\d{4}-\d{4}|P-\d{6}"),
        variables=lambda variables: variables,
        notes=(
            "our state also keeps transactions, so payee, date and service account number of each payment count, as "
            "the reference has them; the published state keeps balances alone",
        ),
    ),
    "smart_lock": PublishedDomain(
        environment="smart_home",
        object_name="SmartLock",
        rules_file="esti_rules.json",
        state=_lock_state,
        kept=("locks", "guests", "access_codes"),
        repair=_repair_lock,
        variables=_with_hours,
        notes=(
            "our state also keeps the period of each access, so the times of a grant count, as the reference has them; "
            "the published state keeps whether a guest has access",
            "the period of the history is given in days where the tool's document wants minutes; a day is read as its "
            "first minute",
        ),
    ),
}
"""The domains whose environment exists here."""
