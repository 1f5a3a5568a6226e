"""Traces under every interpretation: what is computed by groups of questions, and what enumeration says."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from itertools import product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.questions import Legality, Question, Reading, RuleSource, TraceOutcome
from lawtrace.solver.interpretations import (
    enumerate_interpretations,
    explain_readings,
    holds,
    is_active,
    judge_attempt,
    judge_legality,
    question_groups,
    worst,
)

OUTCOMES: tuple[TraceOutcome, ...] = ("kept", "broken", "undetermined")


@dataclass(frozen=True)
class Demand:
    """A rule as far as its questions matter."""

    id: str = "r"
    source: RuleSource = "law"
    under: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    questions: tuple[Question, ...] = ()
    trace_outcome: TraceOutcome = "kept"


def question(name: str, readings: str = "ab", excludes: Mapping[str, Mapping[str, tuple[str, ...]]] = {}) -> Question:
    return Question(
        id=name,
        provisions=("Article 1",),
        asks="Is it so?",
        readings=tuple(Reading(id=one, means="so", excludes=excludes.get(one, {})) for one in readings),
    )


@st.composite
def judged_rules(draw: st.DrawFn) -> list[Demand]:
    """Rules over up to five questions, some readings of which exclude each other, with the outcomes of a trace."""
    names = [f"q{number}" for number in range(draw(st.integers(1, 5)))]
    readings = {name: "abc"[: draw(st.integers(2, 3))] for name in names}
    pair = st.tuples(st.sampled_from(names), st.sampled_from(names), st.sampled_from("ab"), st.sampled_from("ab"))
    excludes: dict[str, dict[str, dict[str, tuple[str, ...]]]] = {name: {} for name in names}
    for one, other, mine, theirs in draw(st.lists(pair, max_size=2)):
        if one != other:
            excludes[one].setdefault(mine, {})[other] = (theirs,)
    questions = {name: question(name, readings[name], excludes[name]) for name in names}
    rules: list[Demand] = []
    for number in range(draw(st.integers(1, 6))):
        asked = draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
        under = {
            name: tuple(draw(st.lists(st.sampled_from(readings[name]), unique=True, min_size=1))) for name in asked
        }
        source: RuleSource = "manual" if draw(st.integers(0, 5)) == 0 else "law"
        own = tuple(questions[name] for name in asked)
        rules.append(Demand(str(number), source, under, own, draw(st.sampled_from(OUTCOMES))))
    return rules


@given(judged_rules(), st.data())
def test_groups_of_questions_say_what_enumeration_says(rules: list[Demand], data: st.DataObject) -> None:
    law = [rule for rule in rules if rule.source == "law"]
    conditions = st.sampled_from([{}, *(rule.under for rule in law)])
    reached = data.draw(st.lists(conditions, max_size=3))
    groups = question_groups(rules, {name for under in reached for name in under})
    verdicts: list[TraceOutcome] = [
        worst(rule.trace_outcome for rule in law if is_active(rule, taken)) for taken in admissible(rules)
    ]
    goals = [any(holds(under, taken) for under in reached) for taken in admissible(rules)]
    successes: list[TraceOutcome] = [
        outcome if goal else "broken" for outcome, goal in zip(verdicts, goals, strict=True)
    ]
    found = judge_attempt(groups, rules, reached)
    assert (found.legality, found.success, found.is_reached) == (over_all(verdicts), over_all(successes), all(goals))
    assert judge_legality(groups, rules)[0] == over_all(verdicts)
    assert len(list(enumerate_interpretations(groups))) == len(admissible(rules))


def over_all(outcomes: Collection[TraceOutcome]) -> Legality:
    """What something is whose outcomes under all interpretations are these."""
    if {*outcomes} == {"kept"}:
        return "lawful"
    if {*outcomes} == {"broken"}:
        return "unlawful"
    return "arguable" if {"kept", "broken"} <= {*outcomes} else "undetermined"


def admissible(rules: list[Demand]) -> list[dict[str, str]]:
    """All choices of readings of the questions of the law's rules, without those that exclude each other."""
    asked = {one.id: one for rule in rules if rule.source == "law" and rule.under for one in rule.questions}
    found: list[dict[str, str]] = []
    for choice in product(*(one.readings for one in asked.values())):
        taken = dict(zip(asked, choice, strict=True))
        if all(taken[name].id not in of for one in choice for name, of in one.excludes.items() if name in taken):
            found.append({name: reading.id for name, reading in taken.items()})
    return found


def test_one_matter_by_one_reading_and_another_by_the_other_can_be_unlawful() -> None:
    period = question("period")
    short = Demand("short", under={"period": ("a",)}, questions=(period,), trace_outcome="broken")
    long = Demand("long", under={"period": ("b",)}, questions=(period,))
    groups = question_groups([short, long])
    one_way, readings = judge_legality(groups, [short, long])
    both_ways, _ = judge_legality(groups, [short, replace(long, trace_outcome="broken")])
    assert (one_way, both_ways) == ("arguable", "unlawful")
    assert readings[0].readings_with("broken") == (("a",),)


def test_a_rule_of_the_manual_makes_nothing_unlawful() -> None:
    rule = Demand(source="manual", trace_outcome="broken")
    assert judge_legality(question_groups([rule]), [rule]) == ("lawful", ())


def test_what_each_reading_says_is_told() -> None:
    both = Question(
        id="both",
        provisions=("Article 10(1)",),
        asks="May one answer show both?",
        readings=(Reading(id="one", means="only one item may be shown"), Reading(id="any", means="any may.")),
    )
    rule = Demand(under={"both": ("one",)}, questions=(both,), trace_outcome="broken")
    _, (readings,) = judge_legality(question_groups([rule]), [rule])
    assert explain_readings(readings, {"both": both}) == (
        "Article 10(1) is open: May one answer show both? "
        "The law is broken if only one item may be shown; kept if any may"
    )


def test_questions_that_cannot_be_decided_together_are_named() -> None:
    none = question("q", excludes={"a": {"p": ("a", "b")}, "b": {"p": ("a", "b")}})
    rule = Demand(under={"q": ("a",), "p": ("a",)}, questions=(none, question("p")))
    with pytest.raises(InputError, match="'q', 'p' exclude each other"):
        question_groups([rule])
    many = tuple(question(f"q{number}", "abcdefgh") for number in range(5))
    with pytest.raises(InputError, match="32,768 combinations"):
        question_groups([Demand(under={one.id: ("a",) for one in many}, questions=many)])
    with pytest.raises(InputError, match="an end depends on the question 'lost'"):
        question_groups([], {"lost"})
    other = Demand("other", under={"p": ("a",)}, questions=(question("p", "abc"),))
    with pytest.raises(InputError, match="rule 'other': its question 'p'"):
        question_groups([rule, other])
