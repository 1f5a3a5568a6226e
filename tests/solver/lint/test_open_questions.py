"""Open questions: readings that make a difference, and rules that no interpretation holds together."""

import pytest

from lawtrace.schemas.questions import Question, Reading
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.rules import Rule

BANKING = load_domain("banking").environment
STRICT, LENIENT = Reading(id="strict", means="first"), Reading(id="lenient", means="whenever")
QUESTION = Question(id="order", provisions=("1",), asks="Before or after?", readings=(STRICT, LENIENT))
FIRST = "!((!CheckAuthorization) U PayBill)"


def rule(name: str, formula: str, *readings: str) -> Rule:
    return Rule(id=name, formula=formula, under={"order": readings} if readings else {}, questions=(QUESTION,))


@pytest.mark.parametrize(("readings", "kinds"), [(("strict",), []), (("strict", "lenient"), ["unseparated"])])
def test_readings_make_a_difference(readings: tuple[str, ...], kinds: list[str]) -> None:
    found = analyse_rules(BANKING, [rule("first", FIRST, *readings)])
    assert [finding.kind for finding in found.findings] == kinds


def test_what_a_budget_left_open_is_not_called_equal(monkeypatch: pytest.MonkeyPatch) -> None:
    timed = [
        rule("soon", "G(PayBill -> F[<= 1h] RecordAuditEvent)", "strict"),
        rule("later", "G(PayBill -> F[<= 2h] RecordAuditEvent)", "lenient"),
    ]
    assert analyse_rules(BANKING, timed).findings == ()
    monkeypatch.setattr("lawtrace.solver.lint.rule_sets.MAX_STEPS", 1)
    assert {finding.kind for finding in analyse_rules(BANKING, timed).findings} == {"undecided"}


def test_a_reading_that_a_rule_without_questions_settles_makes_none() -> None:
    found = analyse_rules(BANKING, [rule("always", FIRST), rule("first", FIRST, "strict")])
    assert {finding.kind for finding in found.findings} == {"equivalent", "unseparated"}


def test_rules_of_two_readings_are_in_no_conflict() -> None:
    def analyse(*readings: str) -> tuple[list[str], tuple[str, ...]]:
        one = rule("never", "G !PayBill", "strict")
        other = rule("ever", "F PayBill", *readings)
        found = analyse_rules(BANKING, [one, other])
        return [finding.kind for finding in found.findings if finding.kind == "conflict"], found.assumptions

    assert analyse("strict", "lenient")[0] == ["conflict"]
    conflicts, assumptions = analyse("lenient")
    assert conflicts == []
    assert any(line.startswith("No course is lawful under all readings of order: never") for line in assumptions)
