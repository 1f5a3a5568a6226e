"""The published bank."""

from collections.abc import Mapping

from lawtrace.environments.events import Json
from lawtrace.runs.published.domains.domain import PublishedDomain, Raw, quote_identifiers


def _state(raw: Raw, day: str, _: Mapping[str, Json]) -> dict[str, Json]:
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


BANK = PublishedDomain(
    environment="banking",
    object_name="BankManager",
    rules_file="psd2_rules.json",
    state=_state,
    kept=("accounts", "payees"),
    repair=lambda program: quote_identifiers(program, r"\d{3}-\d{4}-\d{4}|P-\d{6}"),
    variables=lambda variables: variables,
    notes=(
        "our state also keeps transactions, so payee, date and service account number of each payment count, as "
        "the reference has them; the published state keeps balances alone",
    ),
)
