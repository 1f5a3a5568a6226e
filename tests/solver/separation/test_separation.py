"""Separating traces: executed again, judged by the judge of attempts, and never of rules that are equal."""

from collections.abc import Sequence
from random import Random

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.schemas.questions import Question, Reading
from lawtrace.solver.coverage.rule_mutants import rule_mutants
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.search.problem import Budget, Found, Proof, Unknown
from lawtrace.solver.separation.answers import SeparatingTrace, Separation
from lawtrace.solver.separation.separation import Separator
from tests.support.random_environments import random_multi_tool_environment, random_sessions

BANKING = load_domain("banking").environment
RULES = load_rules(load_domain("banking").rules_file)


def rule(formula: str, name: str = "r") -> Rule:
    return Rule(id=name, formula=formula)


def separate(
    first: Sequence[Rule], second: Sequence[Rule], context: Sequence[Rule] = (), budget: Budget | None = None
) -> Separation:
    return Separator(BANKING, context).separate(first, second, budget)


def compared(first: str, second: str, *context: str) -> Separation:
    others = [rule(formula, f"context-{number}") for number, formula in enumerate(context)]
    return separate([rule(first, "one")], [rule(second, "two")], others)


def outcomes(rules: Sequence[Rule], found: SeparatingTrace) -> list[str]:
    """What the judge of attempts says of each rule."""
    verdicts = judge_rules(rules, found.events, (), end=found.end)
    return ["broken" if verdict.broken else "kept" for verdict in verdicts]


def check_executed(environment: Environment, found: SeparatingTrace) -> None:
    session = Session(environment, found.initial)
    for event in found.events:
        assert event.time is not None
        session.advance_time(event.time - session.now)
        session.call(event.tool, event.arguments)
    assert (session.events, session.end) == ([*found.events], found.end)


def check_separated(
    environment: Environment, first: Sequence[Rule], second: Sequence[Rule], context: Sequence[Rule], answer: Separation
) -> None:
    """A trace is executed again, judged differently, and minimal: no call can be left out."""
    assert isinstance(answer, Found)
    check_executed(environment, answer.trace)
    assert outcomes(context, answer.trace) == ["kept"] * len(context)
    sides = ["broken" if "broken" in outcomes(rules, answer.trace) else "kept" for rules in (first, second)]
    assert sorted(sides) == ["broken", "kept"]
    assert sides == [answer.trace.first, answer.trace.second]


@pytest.mark.parametrize("seed", range(12))
def test_random_rules_of_random_environments(seed: int) -> None:
    """Equality is checked on random sessions, in which no pair that is said to be equal may differ."""
    environment, formulas = random_multi_tool_environment(seed)
    rules = [rule(formula, f"r{number}") for number, formula in enumerate(formulas)]
    separator = Separator(environment, ())
    answers = {(one.id, other.id): separator.separate([one], [other], Budget(600)) for one in rules for other in rules}
    for (one, other), answer in answers.items():
        pair = [next(rule for rule in rules if rule.id == name) for name in (one, other)]
        if isinstance(answer, Found):
            assert one != other
            check_separated(environment, pair[:1], pair[1:], (), answer)
        elif isinstance(answer, Proof):
            reverse = answers[other, one]
            assert not isinstance(reverse, Found)
    proved = [names for names, answer in answers.items() if isinstance(answer, Proof)]
    assert {(rule.id, rule.id) for rule in rules} <= {*proved}
    for session in random_sessions(environment, Random(seed), 100):
        kept = {one.rule: not one.broken for one in judge_rules(rules, session.events, (), end=session.end)}
        assert all(kept[one] == kept[other] for one, other in proved)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("G(PayBill -> O CheckAuthorization)", "G !(PayBill & !O CheckAuthorization)"),
        ("G(PayBill -> F RecordAuditEvent)", "!F(PayBill & !F RecordAuditEvent)"),
        (
            "G(PayBill -> O CheckAuthorization(result.authorized))",
            "!(!CheckAuthorization(result.authorized != false) U PayBill)",
        ),
        ("G(PayBill -> F[<= 24h] RecordAuditEvent)", "G !(PayBill & !F[<= 1440min] RecordAuditEvent)"),
        (
            "forall p: G(PayBill(payee_id == p) -> O SearchPayee(p in result.payees.payee_id))",
            "forall q: !F(PayBill(payee_id == q) & !O SearchPayee(q in result.payees.payee_id))",
        ),
    ],
)
def test_equal_rules_are_proved_equal(first: str, second: str) -> None:
    answer = compared(first, second)
    assert isinstance(answer, Proof), answer
    assert answer.core == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ("G(PayBill -> O CheckAuthorization)", "G(PayBill -> F CheckAuthorization)"),
        ("G(PayBill -> F RecordAuditEvent)", "G(PayBill -> F[<= 10min] RecordAuditEvent)"),
        ("G(PayBill -> F[<= 10min] RecordAuditEvent)", "G(PayBill -> F[< 10min] RecordAuditEvent)"),
        ("G(PayBill(amount > 100) -> O SearchPayee)", "G(PayBill(amount >= 100) -> O SearchPayee)"),
        ("forall p: G(PayBill(payee_id == p) -> O SearchPayee(p in result.payees.payee_id))", "G true"),
    ],
)  # fmt: skip
def test_rules_that_differ_in_one_point_are_separated(first: str, second: str) -> None:
    check_separated(BANKING, [rule(first, "one")], [rule(second, "two")], (), compared(first, second))


def test_the_context_is_kept() -> None:
    first, second = "G(PayBill -> O CheckAuthorization)", "G(PayBill -> O SearchPayee)"
    context = [rule("G(PayBill -> O GetAccountInformation)", "look"), rule("G(PayBill -> F RecordAuditEvent)", "log")]
    answer = separate([rule(first, "one")], [rule(second, "two")], context)
    check_separated(BANKING, [rule(first, "one")], [rule(second, "two")], context, answer)


def test_rules_may_be_equal_in_their_context_only() -> None:
    answer = compared("G(PayBill -> O CheckAuthorization)", "G true", "G !PayBill")
    assert isinstance(answer, Proof)
    assert answer.rules == ("context-0",)


def test_rule_sets_are_compared_as_conjunctions() -> None:
    both = rule("G(PayBill -> O CheckAuthorization & O SearchPayee)", "both")
    parts = [rule("G(PayBill -> O CheckAuthorization)", "a"), rule("G(PayBill -> O SearchPayee)", "b")]
    assert isinstance(separate([both], parts), Proof)
    check_separated(BANKING, [both], parts[:1], (), separate([both], parts[:1]))


def test_no_rules_are_kept_by_every_trace() -> None:
    answer = separate([rule("G !PayBill")], ())
    assert isinstance(answer, Found)
    assert (answer.trace.first, answer.trace.second) == ("broken", "kept")


def test_rules_under_other_readings_are_no_context() -> None:
    question = Question(
        id="q",
        provisions=("Article 1",),
        asks="Is it?",
        readings=(Reading(id="a", means="yes"), Reading(id="b", means="no")),
    )
    never = rule("G !PayBill", "never").model_copy(update={"under": {"q": ("b",)}, "questions": (question,)})
    some = rule("G(PayBill -> O SearchPayee)", "some").model_copy(update={"under": {"q": ("a",)}})
    assert isinstance(separate([some], [rule("G true", "none")], [never]), Found)


def test_a_spent_budget_decides_nothing() -> None:
    """The rules differ on the fifth payment only."""
    first, second = "G(PayBill -> count(PayBill) <= 5)", "G(PayBill -> count(PayBill) <= 6)"
    answer = separate([rule(first)], [rule(second, "two")], budget=Budget(1))
    assert isinstance(answer, Unknown)


def test_mutants_of_the_curated_rules() -> None:
    """Each has one change and differs from the others. Those of two rules are separated in the context of the rest."""
    for original in RULES:
        mutants = [*rule_mutants(BANKING, original)]
        assert mutants
        assert len({str(s.body_of(one.rule.parsed)) for one in mutants}) == len(mutants)
    answers = [
        Separator(BANKING, RULES).separate([original], [mutant.rule])
        for original in RULES[:2]
        for mutant in rule_mutants(BANKING, original)
    ]
    assert not any(isinstance(answer, Unknown) for answer in answers)


def test_the_same_question_gets_the_same_answer() -> None:
    first, second = "G(PayBill -> F RecordAuditEvent)", "G(PayBill -> F[<= 10min] RecordAuditEvent)"
    assert compared(first, second) == compared(first, second)
