"""The encoding of rules agrees with the equations, on random formulas over concrete and over open traces.

The seed of a case makes its formula and its traces, and is part of every failure.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, product
from random import Random
from typing import Any, cast

import pytest
import z3

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromUser, Parameter, Phrases, Raises, Tool
from lawtrace.environments.spec.types import BOOLEAN, INTEGER, TEXT, ListOf, ValueType
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Formula, is_untimed
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.search.smt.rule_encoding import Rule, RuleEncoding
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.search.smt.symbolic_trace import SymbolicStep
from lawtrace.solver.search.smt.symbolic_values import SymbolicValues
from lawtrace.solver.search.smt.symbolic_windows import SymbolicWindows, TimeBounds
from lawtrace.solver.search.smt.term_encoding import Future
from tests.support.equations import Step, holds
from tests.support.random_formulas import DAY, RandomFormulas

DOMAINS: Mapping[ValueType, tuple[Any, ...]] = {INTEGER: (0, 1, 2), TEXT: ("a", "Ab"), BOOLEAN: (False, True)}


def environment_with(kind: ValueType) -> Environment:
    """Three tools as in random traces: `p` of some kind, a number `q` and a list of numbers `l`."""
    types = {"p": kind, "q": INTEGER, "l": ListOf(INTEGER)}
    parameters = tuple(
        Parameter(name, value_type, "-", FromUser(OneOf((None,))), required=False) for name, value_type in types.items()
    )
    raises = (Raises("InvalidRequestException", "-"),)
    tools = {name: Tool(name, "-", parameters=parameters, raises=raises, phrases=Phrases("-")) for name in "ABC"}
    return Environment("random", "Random", "Random", "-", {}, tools, lambda _: State({}))


def compiled(formula: Formula) -> list[Rule]:
    """What the formula compiles to; both where it is untimed and safe. Nothing for other formulas that are not safe."""
    found: list[Rule] = [compile_formula(formula)] if is_untimed(formula) else []
    try:
        return [*found, FirstOrderRule(formula)]
    except FormulaError:
        return []


ANY_TIME = TimeBounds(0, 10**11)


# Concrete traces


def closed_step(event: Event) -> SymbolicStep:
    """A step of which nothing is open."""
    arguments: dict[str, Any] = {
        name: tuple(value) if isinstance(value, list) else value for name, value in event.arguments.items()
    }
    return SymbolicStep({event.tool: True}, {event.tool: arguments}, {}, time=event.time)


def completed(step: Step) -> Step:
    """The step with calls that complete."""
    return replace(step, events=tuple(replace(event, outcome="completed") for event in step.events))


def concrete_differences(seed: int) -> Iterator[str]:
    source = RandomFormulas(seed)
    formula = source.formula()
    rules = compiled(formula)
    for _ in range(4 if rules else 0):
        trace = [completed(step) for step in source.trace()]
        expected = holds(formula, trace, source.values(formula))
        if any(len(step.events) != 1 for step in trace):
            continue
        for rule in rules:
            encoding = RuleEncoding(environment_with(TEXT), SymbolicLogic(), ANY_TIME)
            for step in trace:
                encoding.push(closed_step(step.events[0]))
            kept, maybe = encoding.kept_at_end(rule), encoding.may_still_be_kept(rule)
            if kept is not expected or maybe not in (True, False) or (expected and not maybe) or encoding.unsupported:
                yield f"seed {seed}: {formula} is {expected}, encoded {kept}, possibly {maybe}, on {trace}"


def test_concrete_traces_fold_to_the_verdict_of_the_equations() -> None:
    assert [found for seed in range(25) for found in concrete_differences(seed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(2))
def test_many_concrete_traces_fold_to_the_verdict_of_the_equations(part: int) -> None:
    seeds = range(1000 + part * 400, 1000 + (part + 1) * 400)
    assert [found for seed in seeds for found in concrete_differences(seed)] == []


# Open traces: some values are variables. Each combination of their values is compared with the equations.


@dataclass
class OpenTrace:
    """A trace with some open values: `domains` has the values of each variable, `make` a trace for some of them."""

    random: Random
    kind: ValueType
    logic: SymbolicLogic
    domains: dict[str, tuple[Any, ...]] = field(default_factory=dict[str, tuple[Any, ...]])
    variables: dict[str, Any] = field(default_factory=dict[str, Any])
    steps: list[SymbolicStep] = field(default_factory=list[SymbolicStep])
    shapes: list[Mapping[str, Any]] = field(default_factory=list[Mapping[str, Any]])

    def opened(self, name: str, domain: tuple[Any, ...], concrete: Any) -> Any:
        """A variable, or the concrete value if there are enough."""
        if len(self.domains) >= 4 or self.random.random() < 0.6:
            return concrete
        self.domains[name] = domain
        if isinstance(domain[0], bool):
            self.variables[name] = z3.Bool(name)
        elif isinstance(domain[0], str):
            self.variables[name] = self.logic.open_text(name, z3.SimpleSolver(), domain)
        else:
            self.variables[name] = z3.Int(name)
        return self.variables[name]

    def add(self, number: int, step: Step) -> None:
        event = step.events[0]
        if "p" in event.arguments:
            value = self.random.choice(DOMAINS[self.kind])
            event = replace(event, arguments={**event.arguments, "p": value})
        items = [
            self.opened(f"l{place}@{number}", DOMAINS[INTEGER], item)
            for place, item in enumerate(cast("list[int]", event.arguments.get("l", [])))
        ]
        fields: dict[str, Any] = {
            name: self.opened(f"{name}@{number}", DOMAINS[self.kind if name == "p" else INTEGER], event.arguments[name])
            for name in ("p", "q")
            if name in event.arguments
        }
        if "l" in event.arguments:
            fields["l"] = tuple(items)
        other = "B" if event.tool == "A" else "A"
        here = self.opened(f"tool@{number}", (False, True), True)
        calls = {event.tool: here, other: z3.Not(here) if z3.is_expr(here) else not here}
        later = step.time + self.random.choice((1, 2, 5)) * (DAY if step.time >= DAY else 1)
        time = self.opened(f"time@{number}", (step.time, later), step.time)
        arguments = {event.tool: fields, other: fields}
        self.steps.append(SymbolicStep(calls, arguments, {}, time=time))
        self.shapes.append({"tools": (event.tool, other), "here": here, "time": time, "fields": fields})

    def make(self, values: Mapping[str, Any]) -> list[Step]:
        """The trace with these values of the variables."""

        def closed(value: Any) -> Any:
            if isinstance(value, tuple):
                return [closed(item) for item in cast("tuple[Any, ...]", value)]
            return values[str(value)] if z3.is_expr(value) else value

        trace: list[Step] = []
        for shape in self.shapes:
            arguments: dict[str, Json] = {name: closed(value) for name, value in shape["fields"].items()}
            tool = shape["tools"][0 if closed(shape["here"]) else 1]
            time = closed(shape["time"])
            trace.append(Step(time, (Event(tool, arguments, time=time),)))
        return trace

    def combinations(self) -> Iterator[tuple[list[Step], Mapping[str, Any]]]:
        """Each trace with ascending times, and the values of the variables in it."""
        for chosen in product(*self.domains.values()):
            values = dict(zip(self.domains, chosen, strict=True))
            trace = self.make(values)
            if all(here.time <= then.time for here, then in pairwise(trace)):
                yield trace, values

    def truth(self, encoded: Any, values: Mapping[str, Any]) -> bool:
        if not z3.is_expr(encoded):
            return encoded
        pairs = [(self.variables[name], self._constant(value)) for name, value in values.items()]
        return z3.is_true(z3.simplify(z3.substitute(encoded, *pairs)))  # pyright: ignore

    def _constant(self, value: Any) -> Any:
        if isinstance(value, bool):
            return z3.BoolVal(value)
        return z3.IntVal(self.logic.index(value) if isinstance(value, str) else value)


@dataclass
class Outcome:
    """What became of a case: what differs, whether it was encoded whole, and how many traces it stands for."""

    differences: list[str]
    supported: bool
    traces: int


def open_case(seed: int, text: str | None = None) -> Outcome | None:
    """Compare one formula on all traces that an open trace stands for; None for a formula that is not safe.

    `text`: the formula; None for a random one.
    """
    source, random = RandomFormulas(seed), Random(seed)
    formula = source.formula() if text is None else parse(text)
    rules = compiled(formula)
    if not rules:
        return None
    opened = OpenTrace(random, random.choice([*DOMAINS]), SymbolicLogic())
    shapes = [completed(step) for step in source.trace() if len(step.events) == 1][:4]
    for number, step in enumerate(shapes):
        opened.add(number, step)
    latest = shapes[-1].time if shapes else 0
    end = latest + random.choice((2, 5, 9)) * (DAY if latest >= DAY else 1) + 5 * DAY * (latest >= DAY)
    bounds = TimeBounds(shapes[0].time if shapes else 0, end)
    found: list[str] = []
    supported, traces = True, 0
    for rule in rules:
        encoding = RuleEncoding(environment_with(opened.kind), opened.logic, bounds)
        for step in opened.steps:
            encoding.push(step)
            encoding.may_still_be_kept(rule)
        kept, maybe = encoding.kept_at_end(rule), encoding.may_still_be_kept(rule)
        if encoding.unsupported:
            supported = False
            continue
        for trace, values in opened.combinations():
            traces += 1
            expected = holds(formula, trace, [*source.values(formula), False])
            if opened.truth(kept, values) is not expected:
                found.append(f"seed {seed}: {formula} is {expected} on {trace}, encoded {not expected}")
            if not opened.truth(maybe, values) and (better := _continued(source, formula, trace, end)):
                found.append(f"seed {seed}: {formula} can be kept by {better} and is given up after {trace}")
    return Outcome(found, supported, traces)


def _continued(source: RandomFormulas, formula: Formula, trace: Sequence[Step], end: int) -> list[Step] | None:
    """A continuation that keeps the formula, if one is found."""
    for length in (0, 1, 1, 1, 2, 2, 3):
        longer = [*trace]
        for _ in range(length):
            time = source.later(longer[-1].time if longer else 0)
            if time > end:
                break
            longer.append(Step(time, (source.event(time),)))
        if holds(formula, longer, [*source.values(formula), False]):
            return longer
    return None


def open_differences(seeds: Sequence[int]) -> list[str]:
    outcomes = [outcome for seed in seeds if (outcome := open_case(seed)) is not None]
    supported = sum(outcome.supported for outcome in outcomes)
    assert supported > 0.9 * len(outcomes), (supported, len(outcomes))
    return [difference for outcome in outcomes for difference in outcome.differences]


def test_open_traces_agree_with_the_equations_for_all_values() -> None:
    assert open_differences(range(5)) == []


@pytest.mark.slow
@pytest.mark.parametrize("part", range(4))
def test_many_open_traces_agree_with_the_equations_for_all_values(part: int) -> None:
    assert open_differences(range(1000 + part * 100, 1000 + (part + 1) * 100)) == []


# Planted bugs. Each changes one thing of the encoding; the generator has to find it.


def _ignore_windows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SymbolicWindows, "contains", lambda *_: True)  # pyright: ignore


def _never_close_windows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SymbolicWindows, "closed", lambda *_: False)  # pyright: ignore


def _always_close_windows(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(RuleEncoding, "_may_open", lambda *_: False)  # pyright: ignore


def _sum_what_is_not_there(patch: pytest.MonkeyPatch) -> None:
    real = SymbolicValues.summary
    patch.setattr(SymbolicValues, "summary", lambda s, f, entries: real(s, f, [(True, value) for _, value in entries]))  # pyright: ignore


def _count_values_twice(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(SymbolicValues, "distinct", lambda _, entries: entries)  # pyright: ignore


def _read_the_future_as_favourable(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(Future, "opposite", lambda here: here)  # pyright: ignore


def _only_the_first_value(patch: pytest.MonkeyPatch) -> None:
    real = RuleEncoding._assignments  # pyright: ignore[reportPrivateUsage]
    patch.setattr(RuleEncoding, "_assignments", lambda *given: real(*given)[:1])  # pyright: ignore


@pytest.mark.parametrize(
    ("plant", "formula", "seed"),
    [
        (_ignore_windows, "G(A -> F[<= 2s] B)", 16),
        (_never_close_windows, "G(A -> F[<= 2s] B)", 16),
        (_always_close_windows, "G(A -> F[<= 2s] B)", 0),
        (_sum_what_is_not_there, "G(sum(q of A) < 3)", 0),
        (_count_values_twice, "G(count(distinct q of A) <= 1)", 0),
        (_read_the_future_as_favourable, "G(A -> F B)", 1),
        (_only_the_first_value, "exists x: F (O A(q == x) & O B(q == x))", 64),
    ],
)
def test_planted_bugs_are_found(
    plant: Callable[[pytest.MonkeyPatch], None], formula: str, seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`seed`: one that is known to find the bug, so that the search is short."""
    assert not _finds(seed, formula)
    plant(monkeypatch)
    assert any(_finds(tried, formula) for tried in (seed, *range(200)))


def _finds(seed: int, formula: str) -> bool:
    outcome = open_case(seed, formula)
    return outcome is not None and outcome.differences != []


# Steps pushed and popped


def popped_differences(seed: int) -> list[str]:
    """Truths after a random sequence of pushes and pops differ from those of a new encoding."""
    source, random = RandomFormulas(seed), Random(seed)
    rules = compiled(source.formula())
    opened = OpenTrace(random, INTEGER, SymbolicLogic())
    shapes = [completed(step) for step in source.trace() if len(step.events) == 1][:5]
    for number, step in enumerate(shapes):
        opened.add(number, step)
    encoding, steps = RuleEncoding(environment_with(INTEGER), opened.logic, ANY_TIME), list[SymbolicStep]()
    found: list[str] = []
    for _ in range(12 if shapes else 0):
        if steps and random.random() < 0.4:
            encoding.pop()
            steps.pop()
        else:
            steps.append(random.choice(opened.steps))
            encoding.push(steps[-1])
        fresh = RuleEncoding(environment_with(INTEGER), opened.logic, ANY_TIME)
        for step in steps:
            fresh.push(step)
        for rule in rules:
            pairs = [
                (encoding.kept_at_end(rule), fresh.kept_at_end(rule)),
                (encoding.may_still_be_kept(rule), fresh.may_still_be_kept(rule)),
            ]
            found += [f"seed {seed}: {one} and {other}" for one, other in pairs if str(one) != str(other)]
    return found if not encoding.unsupported else []


def test_steps_can_be_pushed_and_popped() -> None:
    assert [found for seed in range(4) for found in popped_differences(seed)] == []


@pytest.mark.slow
def test_steps_can_be_pushed_and_popped_in_many_cases() -> None:
    assert [found for seed in range(100, 160) for found in popped_differences(seed)] == []


# Single points


def formula_case(text: str) -> FirstOrderRule:
    return FirstOrderRule(parse(text))


def test_a_deadline_may_be_met_until_it_has_passed() -> None:
    rule = formula_case("forall x: G(A(q == x) -> F[<= 10s] B(q == x))")
    logic = SymbolicLogic()
    encoding = RuleEncoding(environment_with(TEXT), logic, ANY_TIME)
    encoding.push(closed_step(Event("A", {"q": 1}, time=0)))
    assert encoding.may_still_be_kept(rule) is True
    assert encoding.kept_at_end(rule) is False
    time, paid = z3.Int("time"), z3.Int("paid")
    encoding.push(SymbolicStep({"B": True}, {"B": {"q": paid}}, {}, time=time))
    solver = z3.SimpleSolver()
    solver.add(encoding.kept_at_end(rule))
    assert solver.check(time > 10) == solver.check(paid != 1) == z3.unsat
    assert solver.check(time == 10, paid == 1) == z3.sat
    encoding.pop()
    encoding.push(closed_step(Event("C", {}, time=11)))
    assert encoding.may_still_be_kept(rule) is False


def test_a_deadline_that_follows_the_calendar_of_an_open_day() -> None:
    rule = formula_case("G(A -> F[<= 1 business day] B)")
    friday = 19_786 * DAY  # 2024-03-04 is a Monday
    encoding = RuleEncoding(environment_with(TEXT), SymbolicLogic(), TimeBounds(friday - 9 * DAY, friday + 9 * DAY))
    begun, done = z3.Int("begun"), z3.Int("done")
    encoding.push(SymbolicStep({"A": True}, {}, {}, time=begun))
    encoding.push(SymbolicStep({"B": True}, {}, {}, time=done))
    solver = z3.SimpleSolver()
    solver.add(encoding.kept_at_end(rule), done >= begun, done >= friday + 3 * DAY, done < friday + 4 * DAY)
    for day in range(-3, 4):
        within = solver.check(begun >= friday + day * DAY, begun < friday + (day + 1) * DAY)
        expected = any(
            holds(rule.formula, [Step(friday + day * DAY, (Event("A", {}),)), Step(time, (Event("B", {}),))], [])
            for time in [friday + 3 * DAY]
        )
        assert (within == z3.sat) is expected, day


def test_conditions_that_cannot_be_encoded_are_named_and_left_open() -> None:
    rule = formula_case("G(A -> sum(q of A) * sum(q of B) <= 3)")
    encoding = RuleEncoding(environment_with(TEXT), SymbolicLogic(), ANY_TIME)
    for number in range(2):
        encoding.push(SymbolicStep({"AB"[number]: True}, {"AB"[number]: {"q": z3.Int(f"q{number}")}}, {}, time=number))
    encoding.push(closed_step(Event("A", {"q": 0}, time=3)))
    solver = z3.SimpleSolver()
    truth = encoding.kept_at_end(rule)
    assert list(encoding.unsupported) == ["`sum(q of A) * sum(q of B) <= 3`: a product of open numbers"]
    assert solver.check(truth) == solver.check(z3.Not(truth)) == z3.sat


def test_objects_are_compared_without_enumeration() -> None:
    rule = formula_case("forall x: G(A(p == x) -> O B(p == x))")
    logic = SymbolicLogic([f"row {number}" for number in range(1000)])
    solver = z3.SimpleSolver()
    texts = [logic.open_text(f"text{number}", solver) for number in range(6)]
    encoding = RuleEncoding(environment_with(TEXT), logic, ANY_TIME)
    for number, text in enumerate(texts):
        tool = "B" if number < 3 else "A"
        encoding.push(SymbolicStep({tool: True}, {tool: {"p": text}}, {}, time=number))
    truth = encoding.kept_at_end(rule)
    assert len(truth.sexpr()) < 1500
    solver.add(truth, texts[3] != texts[0], texts[3] != texts[1])
    assert solver.check(texts[3] != texts[2]) == z3.unsat
    assert solver.check() == z3.sat
