"""Analysis of rule sets with rules about time, several variables and aggregates."""

from dataclasses import replace
from random import Random

import pytest

from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.types import INTEGER
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.questions import Question, Reading
from lawtrace.solver.guard.tools import read_tools
from lawtrace.solver.lint import rule_sets
from lawtrace.solver.lint.findings import RuleSetAnalysis
from lawtrace.solver.lint.rule_sets import analyse_rules, find_rule_examples
from lawtrace.solver.logic.syntax import Not
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Budget, Impossible
from lawtrace.solver.search.rule_search import MOST_CALLS, find_trace
from tests.solver.search.smt.test_rule_encoding import environment_with
from tests.support.bare_environment import bare_environment
from tests.support.equations import Step, holds
from tests.support.random_formulas import RandomFormulas


def analysed(*formulas: str, **named: str) -> RuleSetAnalysis:
    rules = [Rule(id=name, formula=formula) for name, formula in named.items()]
    rules += [Rule(id=f"r{number}", formula=formula) for number, formula in enumerate(formulas)]
    return analyse_rules(bare_environment(rule.formula for rule in rules), rules)


def findings(*formulas: str, **named: str) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    found = analysed(*formulas, **named).findings
    return [(finding.kind, finding.rules, finding.reasons) for finding in found]


def test_a_rule_that_no_trace_keeps() -> None:
    (finding,) = analysed("F[<= 1h] a(amount < 0 and amount > 0)", "G(b -> F c)").findings
    assert (finding.kind, finding.rules) == ("conflict", ("r0",))
    assert finding.message == f"in traces of up to {finding.calls} calls, r0 cannot be kept"
    assert "longer traces were not searched" in finding.proof


@pytest.mark.slow
def test_rules_that_exclude_each_other_through_a_count() -> None:
    found = findings("F(count(Pay) >= 4)", "G(Pay -> Pay(amount <= 10))", "G(count(Pay) <= 3)", "G(Tell -> O Pay)")
    assert found == [("conflict", ("r0", "r2"), ())]


def test_nothing_is_claimed_where_representative_values_may_not_be_all_that_matter() -> None:
    found = findings("F(sum(amount of Pay) >= 100)", "G(Pay -> Pay(amount <= 10))", "G(count(Pay) <= 5)")
    assert {kind for kind, _, _ in found} == {"undecided"}


def test_a_longer_deadline_beside_a_shorter_one_is_redundant_in_traces_of_any_length() -> None:
    (finding,) = analysed(long="G(a -> F[<= 72h] b)", short="G(a -> F[<= 24h] b)").findings
    assert (finding.kind, finding.rules, finding.reasons, finding.calls) == ("redundant", ("long",), ("short",), None)


COUNTS = [f"G(t{n} -> count(t{(n + 1) % 7} since t{(n + 2) % 7}) >= {3 + n % 4})" for n in range(7)]
DEADLINES = [f"G(t{n % 8} -> F[<= {n + 1}h] t{(n + 3) % 8})" for n in range(20)]
KEYED = [f"forall x: G(t{n % 3}(p == x) -> F[<= {n + 1}d] t{(n + 1) % 3}(p == x))" for n in range(20)]


@pytest.mark.parametrize("formulas", [COUNTS, DEADLINES, KEYED], ids=["counts", "deadlines", "keyed deadlines"])
def test_questions_about_a_rule_set_end_within_its_steps(formulas: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = Budget(5_000, why="the steps are spent")

    def make(_: int, why: str) -> Budget:
        return whole

    monkeypatch.setattr(rule_sets, "Budget", make)
    found = [finding for finding in analysed(*formulas).findings if finding.kind == "undecided"]
    assert -1_000 < whole.left < 0
    assert any(finding.message.endswith(": the steps are spent") for finding in found)


def random_trace(source: RandomFormulas, random: Random) -> list[Step]:
    """A trace of a few calls, one a step."""
    time, steps = DEFAULT_START, list[Step]()
    for event in (event for step in source.trace() for event in step.events[:1]):
        time += random.choice((0, 0, 1, 2, 5))
        arguments = {**event.arguments, "p": random.randrange(3)}
        outcome = "completed" if event.completed else "failed"
        steps.append(Step(time, (replace(event, arguments=arguments, outcome=outcome, time=time),)))
    return steps[:MOST_CALLS]


def wrong_exclusions(seed: int) -> list[str] | None:
    """Two random formulas: the random traces that keep one and break the other although the search excludes them.

    None if the search excludes nothing.
    """
    first, second = RandomFormulas(3 * seed), RandomFormulas(3 * seed + 1)
    try:
        rules = [Rule(id=str(n), formula=str(f)) for n, f in enumerate((first.formula(), Not(second.formula())))]
        if not isinstance(find_trace(read_tools(environment_with(INTEGER)), rules), Impossible):
            return None
    except FormulaError:
        return None
    random = Random(seed)
    tried = [random_trace(first, random) for _ in range(60)]
    values = range(-3, 12)
    return [f"{seed}: {trace}" for trace in tried if all(holds(rule.parsed, trace, values) for rule in rules)]


@pytest.mark.slow
def test_exclusions_agree_with_the_equations() -> None:
    found = [wrong for seed in range(150) if (wrong := wrong_exclusions(seed)) is not None]
    assert len(found) > 5
    assert [text for wrong in found for text in wrong] == []


@pytest.mark.slow
def test_a_rule_that_others_never_let_be_triggered() -> None:
    found = findings(large="G(a(amount > 100) -> F[<= 1h] b)", none="G(count(a(amount > 50)) <= 0)")
    assert found == [("vacuous", ("large",), ("none",))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("G(a -> F[<= 1h] b)", "G(a -> F[<= 60min] b)"),
        (
            "forall x, y: G(a(p == x, q == y) -> O b(p == x, q == y))",
            "forall u, v: G(a(p == u, q == v) -> O b(p == u, q == v))",
        ),
        ("G(count(a) <= 1)", "G(a -> !Y O a)"),
    ],
)
def test_equivalent_rules(one: str, other: str) -> None:
    assert findings(one=one, other=other) == [("equivalent", ("one", "other"), ())]


def test_defects_among_rules_without_time_are_proved_and_reported_once() -> None:
    found = findings(one="G(a -> F b)", two="G(a & true -> F b)", three="G(c -> F[<= 1h] d)")
    assert found == [("equivalent", ("one", "two"), ())]
    assert all(finding.calls is None for finding in analysed(one="G(a -> F b)", two="G(a & true -> F b)").findings)


@pytest.mark.slow
def test_what_short_traces_exclude_is_searched_in_longer_ones() -> None:
    analysis = analysed(limit="G(count(Pay) <= 7)", login="G(Pay -> O[<= 1d] Login)")
    assert analysis.findings == ()
    assert len(analysis.breaking["limit"].steps) == 9


def test_rules_about_messages_take_part() -> None:
    analysis = analysed('G(Pay -> O[<= 5min] user("yes"))', 'G(user("yes") -> F[<= 1h] Pay)')
    assert analysis.findings == ()
    assert analysis.breaking["r1"].steps == ('2026-03-02 09:00 user(text="yes", words=["yes"])',)


def test_examples_of_a_rule_with_time() -> None:
    rule = Rule(id="r", formula="forall x: G(a(p == x) -> F[> 1h, <= 2h] b(p == x))")
    examples = find_rule_examples(bare_environment([rule.formula]), rule)
    assert examples.keeping is not None
    assert examples.breaking is not None
    assert examples.breaking.steps == ('2026-03-02 09:00 a(p="new-1")',)
    assert [step.split("(")[0][-1] for step in examples.keeping.steps] == ["a", "b"]


def test_rules_of_some_readings_are_asked_about_together() -> None:
    """A question about a rule set is no question of readings: all its rules hold."""
    readings = (Reading(id="strict", means="It is."), Reading(id="free", means="It is not."))
    question = Question(id="open", provisions=("Article 1",), asks="Is it?", readings=readings)
    rules = [
        Rule(id="some", formula="F a", under={"open": ("strict",)}, questions=(question,)),
        Rule(id="none", formula="G !a"),
    ]
    tools = read_tools(bare_environment(rule.formula for rule in rules))
    assert isinstance(find_trace(tools, rules), Impossible)
    assert not isinstance(find_trace(tools, rules[:1]), Impossible)
