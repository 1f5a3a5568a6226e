"""The airline audit of docs/audits: its environment loads, and the rules that the page is about find what they name."""

from pathlib import Path

import pytest

from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import check_rules, load_rules

FOLDER = Path(__file__).parents[2] / "docs" / "audits" / "airline"


def reservation(**fields: Json) -> Event:
    shown: dict[str, Json] = {"reservation_id": "R", "cabin": "economy", "insurance": "no", "origin": "SFO", **fields}
    return Event("get_reservation_details", {"reservation_id": "R"}, result=shown)


FLOWN: list[Json] = [{"flight_number": "H1", "origin": "SFO", "date": "2024-05-13"}]
AHEAD: list[Json] = [{"flight_number": "H1", "origin": "SFO", "date": "2024-05-20"}]
CANCEL = Event("cancel_reservation", {"reservation_id": "R"}, result={})
CASES: dict[str, tuple[list[Event], list[Event]]] = {
    "nothing-flown-is-cancelled": ([reservation(flights=AHEAD), CANCEL], [reservation(flights=FLOWN), CANCEL]),
    "ground-for-cancellation": ([reservation(cabin="business"), CANCEL], [reservation(), CANCEL]),
    "change-before-delay-certificate": (
        [CANCEL, Event("send_certificate", {"amount": 50})],
        [Event("send_certificate", {"amount": 150}), CANCEL],
    ),
    "trip-keeps-its-ends": (
        [reservation(), Event("update_reservation_flights", {"reservation_id": "R"}, result={"flights": AHEAD})],
        [
            reservation(origin="LAX"),
            Event("update_reservation_flights", {"reservation_id": "R"}, result={"flights": AHEAD}),
        ],
    ),
}


def test_the_environment_loads_and_its_rules_fit_the_tools() -> None:
    domain = load_domain(str(FOLDER))
    check_rules(load_rules(domain.rules_file), domain.environment, domain.regulation)


@pytest.mark.parametrize("name", CASES)
def test_a_rule_of_the_page_is_kept_and_broken(name: str) -> None:
    (rule,) = (rule for rule in load_rules(FOLDER / "rules.toml") if rule.id == name)
    kept, broken = CASES[name]
    assert judge_rules([rule], kept, ())[0].kept
    assert judge_rules([rule], broken, ())[0].broken
