"""Answers about all traces of a few free calls agree with the equations on random traces."""

from dataclasses import replace
from random import Random

import pytest

from lawtrace.environments.spec.clock import DEFAULT_START
from lawtrace.environments.spec.types import INTEGER
from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.monitoring.metric import MetricRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.smt.free_traces import Excluded, FreeTrace, FreeTraces
from tests.solver.smt.test_rule_encoding import environment_with
from tests.support.bare_environment import bare_environment
from tests.support.equations import Step, holds
from tests.support.random_formulas import RandomFormulas

CALLS = 3
VALUES = [*range(-3, 12)]


def steps_of(found: FreeTrace) -> list[Step]:
    return [Step(event.time or 0, (event,)) for event in found.events]


def random_trace(source: RandomFormulas, random: Random) -> list[Step]:
    steps: list[Step] = []
    time = DEFAULT_START
    for step in source.trace():
        for event in step.events[:1]:
            time += random.choice((0, 0, 1, 2, 5))
            arguments = {**event.arguments, "p": random.randrange(3)}
            outcome = "completed" if event.completed else "failed"
            steps.append(Step(time, (replace(event, arguments=arguments, outcome=outcome, time=time),)))
    return steps[:CALLS]


def wrong_answers(seed: int) -> list[str]:
    """Two random rules: a trace that keeps one and breaks the other."""
    first, second = RandomFormulas(3 * seed), RandomFormulas(3 * seed + 1)
    try:
        keep, spoil = MetricRule(first.formula()), MetricRule(second.formula())
    except FormulaError:
        return []
    traces = FreeTraces(environment_with(INTEGER), [keep, spoil])
    answer = traces.find(kept=[keep], broken=[spoil], most_calls=CALLS)

    def does(trace: list[Step], values: list[int]) -> bool:
        return holds(keep.formula, trace, values) and not holds(spoil.formula, trace, values)

    if isinstance(answer, FreeTrace):
        trace = steps_of(answer)
        found = [argument for step in trace for event in step.events for argument in event.arguments.values()]
        numbers = [item for value in found for item in (value if isinstance(value, list) else [value])]
        values = list(dict.fromkeys([*VALUES, *(number for number in numbers if isinstance(number, int))]))
        return [] if does(trace, values) else [f"seed {seed}: {trace}"]
    if not isinstance(answer, Excluded):
        return []
    random = Random(seed)
    tried = [random_trace(first, random)[: answer.calls] for _ in range(60)]
    return [f"seed {seed}: {trace}" for trace in tried if does(trace, VALUES)]


def test_answers_agree_with_the_equations() -> None:
    assert [wrong for seed in range(2) for wrong in wrong_answers(seed)] == []


@pytest.mark.slow
def test_many_answers_agree_with_the_equations() -> None:
    assert [wrong for seed in range(100, 200) for wrong in wrong_answers(seed)] == []


def test_found_traces_are_shortest() -> None:
    rule = MetricRule(parse("G(count(A [<= 1h]) <= 2)"))
    traces = FreeTraces(environment_with(INTEGER), [rule])
    found = traces.find(kept=[], broken=[rule], most_calls=5)
    assert isinstance(found, FreeTrace)
    assert found.shortest
    assert [event.tool for event in found.events] == ["A", "A", "A"]
    assert traces.find(kept=[], broken=[rule], most_calls=2) == Excluded(2)


@pytest.mark.parametrize(
    ("condition", "found"),
    [
        ('p < "2024-05-15"', True),
        ('p > "a" and p < "ab"', True),
        ('not p startswith "certificate"', True),
        ('lower(p) == "abc" and p != "abc"', True),
        ("len(p) > 3", True),
        ("len(p) > 100", None),
        ("number(p) > 5", True),
        ("number(p) == 12.5", None),
        ("date(p) < now", True),
        ("years(p, now) < 18", True),
        ("years(p, now) == 35", None),
        ('p startswith "a" and p endswith "b" and len(p) == 7', None),
        ('p == "a" and p == "b"', False),
    ],
)
def test_no_trace_is_ruled_out_for_a_text_that_nothing_names(condition: str, found: bool | None) -> None:
    """Not all texts are tried: where others could do what is asked, nothing is known."""
    body = f"forall x, y: G(B(q == x, r == y) & O A(q == x, {condition}) -> O A(q == x, r == y))"
    rule = MetricRule(parse(body))
    answer = FreeTraces(bare_environment([body]), [rule]).find(kept=[], broken=[rule], most_calls=3)
    if found:
        assert isinstance(answer, FreeTrace)
        assert not holds_at_end(rule, answer)
    else:
        assert answer == (Excluded(3) if found is False else None)


def holds_at_end(rule: MetricRule, found: FreeTrace) -> bool:
    monitor = Monitor({"rule": rule})
    monitor.run(found.events)
    return monitor.final_statuses()["rule"] == "kept"
