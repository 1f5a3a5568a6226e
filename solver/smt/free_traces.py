"""Questions about all traces of a few calls: any tools, with any arguments and results of their types, at any times.

    traces = FreeTraces(environment, rules)
    traces.find(kept=[...], broken=[...], most_calls=5)

No precondition and no state restricts a call, so an exclusion holds in any environment with these tools. It covers
traces up to the given length, lists of up to two elements, texts that rules name and as many others as there are places
for them, steps within a span of time that is several times that of the rules, and no negative number for an argument
whose declared amounts are not negative.

A trace that is found counts only if monitors agree; where Z3's budget ends, or they do not, nothing is claimed.
"""

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Final, cast

import z3

from lawtrace.environments.spec.clock import DEFAULT_START, SECONDS_PER_DAY
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.open_types import leaves_open
from lawtrace.environments.spec.samplers import Amount
from lawtrace.environments.spec.tools import FromUser, Tool
from lawtrace.environments.spec.types import (
    ObjectOf,
    ValueType,
    is_text_type,
)
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.schemas.events import SPEAKERS, Event, Json
from lawtrace.solver.logic.conditions import WORDS
from lawtrace.solver.logic.syntax import EventAggregate, Formula, aggregates_of, atoms_of, subformulas
from lawtrace.solver.logic.terms import RESULT
from lawtrace.solver.logic.windows import SECONDS, Window
from lawtrace.solver.monitoring.metric import MetricRule
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.smt.environment_encoding import observed_fields
from lawtrace.solver.smt.free_values import (
    ModelValues,
    OpenValues,
    new_texts,
    places_of,
    texts_of,
    texts_of_arguments,
    types_in,
    usual_result,
    usual_value,
    variants,
)
from lawtrace.solver.smt.open_values import Open, OpenList, OpenObject
from lawtrace.solver.smt.rule_encoding import Rule, RuleEncoding
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.smt.symbolic_steps import Optional, SymbolicStep
from lawtrace.solver.smt.symbolic_windows import MOST_DAYS, TimeBounds

QUERY_RLIMIT = 10_000_000
"""Z3's resource units for one question about traces of one length."""
SIMPLE_RLIMIT: Final = 5_000_000
"""Z3's resource units for making one trace simple."""
EFFORT_RESOURCES: Final = 5_000
"""So many of Z3's resource units are as much effort as one rule in one call."""
WHOLE: Final = ""
"""Stands for a result that rules read as a whole, among the fields of results."""
_DAYS_OF: Final = {"calendar day": 1, "calendar month": 31, "calendar year": 366, "business day": 2}


LEAST_TELLING: Final = 3
"""That shorter traces do not do something says little: there is no room in them for what rules ask."""


@dataclass(frozen=True, slots=True)
class Excluded:
    """No trace of up to so many calls does it. `calls` is less than was asked if longer ones were not decided."""

    calls: int


@dataclass(frozen=True, slots=True)
class FreeTrace:
    """A trace that does it. `shortest`: whether shorter ones are excluded."""

    events: tuple[Event, ...]
    shortest: bool


@dataclass(slots=True)
class _Horizon:
    """Traces of one length."""

    solver: z3.Solver
    encoding: RuleEncoding
    steps: list[SymbolicStep]
    plain: z3.BoolRef
    others: z3.BoolRef
    new: Sequence[str]
    selectors: dict[tuple[int, bool], z3.BoolRef] = field(default_factory=dict[tuple[int, bool], z3.BoolRef])
    decided: dict[frozenset[tuple[int, bool]], "tuple[Event, ...] | bool | None"] = field(
        default_factory=dict[frozenset[tuple[int, bool]], "tuple[Event, ...] | bool | None"]
    )


class FreeTraces:
    """All traces of some rules' tools, see the module docstring.

    Attributes:
        unsupported: conditions that were left unconstrained, a sentence each.
        questions: how many were put to Z3.
        effort: a measure of their size, the same on all machines.
    """

    def __init__(self, environment: Environment, rules: Iterable[Rule], judged: "FreeTraces | None" = None) -> None:
        """
        Args:
            rules: all that questions will be about.
            judged: of which traces these are some. Fields that only its rules read have one usual value each.
        """
        rules = list(rules)
        self.unsupported: Final[dict[str, None]] = {}
        self.questions = 0
        self.effort = 0
        self._environment = environment
        self._rules: Final = rules
        self._numbers: Final = {id(rule): number for number, rule in enumerate(rules)}
        formulas = [rule.formula for rule in rules if rule.formula is not None]
        named = {atom.tool for atom in atoms_of(formulas)}
        others = [name for name in environment.tools if name not in named]
        self._tools = [*(name for name in environment.tools if name in named), *others[:1]]
        self._speakers = [name for name in SPEAKERS if name in named]
        self._arguments, self._results = _fields_read(rules)
        self._judged: Final = (self._arguments, self._results) if judged is None else judged.fields
        self._named = texts_of_arguments(formulas)
        self._texts = texts_of(formulas)
        if judged is None:
            self._bounds = TimeBounds(DEFAULT_START, DEFAULT_START + SECONDS_PER_DAY * _days_of(formulas))
            self._timed = any(isinstance(rule, MetricRule) and rule.timed for rule in rules) or any(
                atom.reads_clock for atom in atoms_of(formulas)
            )
        else:
            self._bounds, self._timed = judged._bounds, judged._timed
        self._horizons: dict[int, _Horizon] = {}

    def about(self, rules: Iterable[Rule]) -> "FreeTraces":
        """The traces of some rules' tools, with the fields that all rules read."""
        return FreeTraces(self._environment, rules, self)

    @property
    def fields(self) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
        """The arguments and the results that rules read, each with its tool."""
        return self._arguments, self._results

    @property
    def days(self) -> int:
        """Over how many days the traces extend."""
        return ((self._bounds.end or 0) - (self._bounds.start or 0)) // SECONDS_PER_DAY

    def find(
        self,
        *,
        kept: Sequence[Rule],
        broken: Sequence[Rule] = (),
        most_calls: int,
        least_calls: int = 0,
        simple: bool = True,
        most_effort: int = sys.maxsize,
    ) -> FreeTrace | Excluded | None:
        """A shortest trace that keeps some rules and breaks others; None if nothing is known.

        Args:
            simple: whether the values of the trace are made as simple as possible, which takes longer than to find it.
            most_effort: at which value of `effort` to give up.
        """
        decided = least_calls - 1
        for calls in range(least_calls, most_calls + 1):
            if self.effort >= most_effort:
                return None
            answer = self._answer(calls, kept, broken, simple)
            if isinstance(answer, tuple):
                return FreeTrace(answer, shortest=decided == calls - 1)
            if answer is False and decided == calls - 1:
                decided = calls
        return Excluded(decided) if decided >= max(least_calls, min(LEAST_TELLING, most_calls), 1) else None

    def _answer(
        self, calls: int, kept: Sequence[Rule], broken: Sequence[Rule], simple: bool
    ) -> tuple[Event, ...] | bool | None:
        """A trace of that length; False if there is none; None if that is not known."""
        if calls not in self._horizons:
            self._horizons[calls] = self._horizon(calls)
            self.effort += calls * len(self._tools)
        horizon = self._horizons[calls]
        asked = [(rule, True) for rule in kept] + [(rule, False) for rule in broken]
        key = frozenset((self._numbers[id(rule)], wanted) for rule, wanted in asked)
        if key in horizon.decided:
            return horizon.decided[key]
        answer = self._ask(horizon, key, simple)
        if simple or not isinstance(answer, tuple):
            horizon.decided[key] = answer
        return answer

    def _ask(
        self, horizon: _Horizon, asked: frozenset[tuple[int, bool]], simple: bool
    ) -> tuple[Event, ...] | bool | None:
        for known, answer in horizon.decided.items():
            if answer is False and known <= asked:
                return False
        self.questions += 1
        self.effort += len(asked) * len(horizon.steps) ** 2
        selected = [self._selector(horizon, *one) for one in sorted(asked)]
        before = _resources(horizon.solver)
        result = horizon.solver.check(*selected, z3.Not(horizon.others))
        if result == z3.unsat and horizon.solver.check(*selected) != z3.unsat:
            result = z3.unknown  # a text that is not in the pool may give a trace
        self.unsupported.update(horizon.encoding.unsupported)
        if result != z3.sat:
            self.effort += (_resources(horizon.solver) - before) // EFFORT_RESOURCES
            return False if result == z3.unsat else None
        with _Simplest(horizon, [*selected, z3.Not(horizon.others)]) if simple else nullcontext():
            events = tuple(self._events(horizon))
        self.effort += (_resources(horizon.solver) - before) // EFFORT_RESOURCES
        monitor = Monitor({str(number): self._rules[number] for number, _ in asked})
        monitor.run(events)
        endings = monitor.final_statuses()
        return events if all((endings[str(number)] == "kept") is wanted for number, wanted in asked) else None

    def _selector(self, horizon: _Horizon, number: int, wanted: bool) -> z3.BoolRef:
        if (number, wanted) not in horizon.selectors:
            selector = z3.Bool(f"{'keep' if wanted else 'break'} {number}")
            kept = horizon.encoding.kept_at_end(self._rules[number])
            if not z3.is_expr(kept):
                kept = z3.BoolVal(kept)
            horizon.solver.add(z3.Implies(selector, kept if wanted else z3.Not(kept)))
            horizon.selectors[number, wanted] = selector
        return horizon.selectors[number, wanted]

    # The open calls

    def _horizon(self, length: int) -> _Horizon:
        slots = max((self._text_places(tool) for tool in self._tools), default=0) * length
        new = new_texts(slots, self._texts)
        others = z3.Bool("other texts")
        logic = SymbolicLogic([*self._texts, *new, *variants(self._texts)], others)
        solver = z3.SimpleSolver()
        solver.set("rlimit", QUERY_RLIMIT)
        plain = z3.Bool("plain")
        open_values = OpenValues(logic, solver, plain, new)
        steps: list[SymbolicStep] = []
        for number in range(length):
            steps.append(self._step(number, steps, open_values))
        if steps:
            solver.add(z3.Implies(plain, steps[0].time == self._bounds.start))
        return _Horizon(solver, RuleEncoding(self._environment, logic, steps, self._bounds), steps, plain, others, new)

    def _step(self, number: int, before: Sequence[SymbolicStep], opened: OpenValues) -> SymbolicStep:
        calls = {name: z3.Bool(f"{name}@{number}") for name in (*self._tools, *self._speakers)}
        opened.solver.add(z3.PbEq([(call, 1) for call in calls.values()], 1))
        time = z3.Int(f"time@{number}")
        opened.solver.add(time >= (before[-1].time if before else self._bounds.start), time <= self._bounds.end)
        completed = z3.Bool(f"completed@{number}")
        arguments: dict[str, dict[str, Any]] = {
            speaker: self._message(f"{speaker}@{number}", opened) for speaker in self._speakers
        }
        results: dict[str, dict[str, Any]] = {}
        for name in self._tools:
            tool = self._environment.tools[name]
            arguments[name], results[name] = {}, {}
            for parameter in tool.parameters:
                if (name, parameter.name) in self._arguments and not leaves_open(parameter.type):
                    place = f"{name}.{parameter.name}@{number}"
                    value = opened.value(parameter.type, place, self._named.get((name, parameter.name), ()))
                    match parameter.source, value:
                        case FromUser(Amount(lowest)), Open("number", amount) if lowest >= 0:
                            opened.solver.add(amount >= 0)
                        case _:
                            pass
                    given = True if parameter.required else z3.Bool(f"{place} given")
                    arguments[name][parameter.name] = Optional(given, value)
            for result in tool.results:
                if (name, result.name) in self._results:
                    shown = opened.result(result, f"{name}.result.{result.name}@{number}")
                    results[name][result.name] = Optional(completed, shown)
            if (whole := self._followed(tool)) is not None:
                results[name][RESULT] = Optional(completed, opened.value(whole, f"{name}.result@{number}"))
        return SymbolicStep(calls, arguments, results, None, time, completed)

    def _followed(self, tool: Tool) -> ValueType | None:
        """What is followed of the result of a tool without state: of an object the fields that rules read."""
        read = {result for name, result in self._results if name == tool.name}
        if tool.returns is None or not read:
            return None
        if not isinstance(tool.returns, ObjectOf) or WHOLE in read:
            return None if leaves_open(tool.returns) else tool.returns
        fields = {name: part for name, part in tool.returns.fields.items() if name in read and not leaves_open(part)}
        return ObjectOf(fields, tuple(name for name in tool.returns.optional if name in fields)) if fields else None

    def _message(self, place: str, opened: OpenValues) -> dict[str, Any]:
        words = tuple((z3.Bool(f"{place} {word}"), word) for word in self._texts)
        return {WORDS: OpenList(words, counted=False)}

    def _text_places(self, tool: str) -> int:
        """How many different texts a call may have, at most."""
        declared = self._environment.tools[tool]
        types = [
            place
            for each in declared.parameters
            if (tool, each.name) in self._arguments
            for place in places_of(each.type)
        ]
        types += [
            value_type
            for result in declared.results
            if (tool, result.name) in self._results
            for value_type in types_in(result)
        ]
        if (whole := self._followed(declared)) is not None:
            types += places_of(whole)
        return sum(map(is_text_type, types))

    # Concrete traces

    def _events(self, horizon: _Horizon) -> Iterator[Event]:
        model = horizon.solver.model()
        read = ModelValues(model, horizon.encoding.logic)
        for step in horizon.steps:
            tool = next(tool for tool, call in step.calls.items() if read.truth(call))
            time = model.eval(step.time, model_completion=True).as_long() if self._timed else None
            arguments = read.given(step.arguments[tool])
            if tool in self._speakers:
                words = cast("list[str]", arguments[WORDS])
                yield Event(tool, {"text": " ".join(words), WORDS: arguments[WORDS]}, time=time)
                continue
            usual_arguments, usual_results = self._usual_fields(tool)
            arguments = usual_arguments | arguments
            if read.truth(step.completed):
                results = usual_results | read.given(step.results[tool])
                yield Event(tool, arguments, "completed", results.get(RESULT, results), time=time)
            else:
                yield Event(tool, arguments, "raised", time=time)

    def _usual_fields(self, name: str) -> tuple[dict[str, Json], dict[str, Json]]:
        """Usual values of the required arguments and of the results that only judges read."""
        tool, (arguments, results) = self._environment.tools[name], self._judged
        return (
            {
                each.name: usual_value(each.type)
                for each in tool.parameters
                if each.required and (name, each.name) in arguments - self._arguments
            },
            {each.name: usual_result(each) for each in tool.results if (name, each.name) in results - self._results},
        )


class _Simplest:
    """The simplest solution, which does not depend on what was asked before. It holds inside the `with` block.

    Step by step: the first tool that is possible, completed if possible, as early as possible, with new texts and small
    numbers. After `SIMPLE_RLIMIT` the rest stays as it is.
    """

    def __init__(self, horizon: _Horizon, assumptions: Sequence[z3.BoolRef]) -> None:
        self._horizon = horizon
        self._solver = horizon.solver
        self._assumptions = list(assumptions)
        self._pushed = 0
        self._model = self._solver.model()
        self._last_resources = _resources(self._solver) + SIMPLE_RLIMIT

    def __enter__(self) -> None:
        if self._is_possible(self._horizon.plain):
            self._assumptions.append(self._horizon.plain)
        before: Any = None
        for step in self._horizon.steps:
            tool = next(tool for tool, call in step.calls.items() if self._fix(call))
            self._fix_truth(step.completed)
            if before is None or not self._fix(step.time == before):
                self._least(step.time, 0)
            before = step.time
            for fields in (step.arguments.get(tool, {}), step.results.get(tool, {})):
                for value in fields.values():
                    self._simplify(value)
        self._solver.check(*self._assumptions)

    def __exit__(self, *raised: object) -> None:
        while self._pushed:
            self._solver.pop()
            self._pushed -= 1

    def _fix(self, constraint: Truth) -> bool:
        """Whether a solution with that is left; then it holds from now on."""
        holds = (
            z3.is_true(self._model.eval(constraint, model_completion=True)) if z3.is_expr(constraint) else constraint
        )
        self._solver.push()
        self._solver.add(constraint)
        if holds or self._is_possible():
            self._pushed += 1
            return True
        self._solver.pop()
        return False

    def _is_possible(self, *assumptions: z3.BoolRef) -> bool:
        if _resources(self._solver) > self._last_resources:
            return False
        if self._solver.check(*self._assumptions, *assumptions) != z3.sat:
            return False
        self._model = self._solver.model()
        return True

    def _fix_truth(self, truth: Truth) -> None:
        if not self._fix(truth):
            self._fix(z3.Not(truth))

    def _least(self, number: z3.ArithRef, low: int) -> None:
        """Fix a number to the least value from `low` on that is found."""
        high = self._model.eval(number, model_completion=True).as_long()
        while low < high:
            middle = (low + high) // 2
            if self._is_possible(*self._selected(number <= middle)):
                high = self._model.eval(number, model_completion=True).as_long()
            else:
                low = middle + 1
        self._fix(number == high)

    def _selected(self, constraint: Truth) -> list[z3.BoolRef]:
        """A literal for a constraint, as an assumption of one check."""
        literal = z3.Bool(f"simpler {constraint}")
        self._solver.add(z3.Implies(literal, constraint))
        return [literal]

    def _simplify(self, value: object) -> None:
        match value:
            case Optional(given, inside):
                if z3.is_expr(given) and self._fix(z3.Not(given)):
                    return
                self._simplify(inside)
            case Open("boolean", truth):
                self._fix_truth(truth)
            case Open("string", text, _, None):
                words = self._horizon.encoding.logic.words_of(text)
                usual = [word for word in words if word in self._horizon.new] + [*words]
                any(self._fix(text == self._horizon.encoding.logic.index(word)) for word in usual)
            case Open(_, number):
                if not self._fix(number == 0) and self._fix(number >= 0):
                    self._least(number, 0)
            case OpenList(items):
                kept = [item for there, item in reversed(items) if not self._fix(z3.Not(there))]
                for item in reversed(kept):
                    self._simplify(item)
            case OpenObject(fields):
                for alternatives in fields.values():
                    self._simplify(alternatives[0][1])
            case _:
                pass


def _resources(solver: z3.Solver) -> int:
    """Z3's resource units up to now."""
    statistics = solver.statistics()
    return statistics.get_key_value("rlimit count") if "rlimit count" in statistics.keys() else 0  # noqa: SIM118


def _fields_read(rules: Sequence[Rule]) -> tuple[set[tuple[str, str]], set[tuple[str, str]]]:
    """The arguments and the fields of results that rules read, each with its tool."""
    read = observed_fields(rules)
    return (
        {(tool, str(path.path[0])) for tool, path in read if path.path[0] != RESULT},
        {(tool, str(path.path[1]) if path.path[1:] else WHOLE) for tool, path in read if path.path[0] == RESULT},
    )


def _days_of(formulas: Sequence[Formula]) -> int:
    """The days over which traces extend: several times the longest window of the formulas."""
    windows: list[Window] = []
    for formula in formulas:
        for node in subformulas(formula):
            windows.append(getattr(node, "window", Window()))
            windows += [each.window for each in aggregates_of(node) if isinstance(each, EventAggregate)]
    spans = [bound.span for window in windows for bound in (window.lower, window.upper) if bound is not None]
    days = [
        span.seconds // SECONDS_PER_DAY + 1 if span.unit in SECONDS else span.amount * _DAYS_OF[span.unit] + 3
        for span in spans
    ]
    return min(MOST_DAYS - 2, 30 + 3 * max(days, default=0))
