"""Exclusions: what no trace of a few calls does, of any tools, with any arguments and results, at any times.

No precondition and no state restricts a call, so an exclusion holds in any environment with these tools. It covers
traces up to the given length, lists of up to two elements, texts that rules name and as many others as there are places
for them, and steps within a span of time that is several times that of the rules.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from string import ascii_uppercase
from typing import Any, Final

import z3

from lawtrace.environments.spec.clock import DEFAULT_START, EPOCH_DAY, SECONDS_PER_DAY
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.open_types import leaves_open
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import (
    BOOLEAN,
    DATE,
    MINUTES_PER_DAY,
    MOMENT,
    TIME,
    Choice,
    ListOf,
    ObjectOf,
    ValueType,
    is_text_type,
)
from lawtrace.environments.spec.types import Value as Truth
from lawtrace.schemas.events import SPEAKERS
from lawtrace.solver.logic.conditions import WORDS, condition_leaves
from lawtrace.solver.logic.syntax import Compare, EventAggregate, Formula, aggregates_of, atoms_of, subformulas
from lawtrace.solver.logic.terms import RESULT, LiteralList, LiteralValue, Term, leaves
from lawtrace.solver.logic.windows import SECONDS, Window
from lawtrace.solver.smt.environment_encoding import observed_fields
from lawtrace.solver.smt.open_values import Alternatives, OpenList, OpenObject, SymbolicValue, from_internal, singleton
from lawtrace.solver.smt.rule_encoding import Rule, RuleEncoding
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.smt.symbolic_trace import MaybeGiven, SymbolicStep
from lawtrace.solver.smt.symbolic_windows import MOST_DAYS, TimeBounds

QUERY_RLIMIT = 5_000_000
"""Z3's resource units for one question about traces of one length."""
ELEMENTS: Final = 2
"""How many elements a list has at most."""
WHOLE: Final = ""
"""Stands for a result that rules read as a whole, among the fields of results."""
_DATES: Final = range(EPOCH_DAY - 20 * 365, EPOCH_DAY + 80 * 365)
"""Dates are of the years from 1950 to 2050."""
_TELLING: Final = ("", "7", "1000000", "1990-01-01", "2030-01-01")
"""Texts that are short, that spell numbers, and that are dates before and after the trace."""
_DAYS_OF: Final = {"calendar day": 1, "calendar month": 31, "calendar year": 366, "business day": 2}


class FreeTraces:
    """All traces of some rules' tools, see the module docstring."""

    def __init__(self, environment: Environment, rules: Sequence[Rule]) -> None:
        self._environment = environment
        self._rules: Final = rules
        formulas = [rule.formula for rule in rules if rule.formula is not None]
        named = {atom.tool for atom in atoms_of(formulas)}
        others = [name for name in environment.tools if name not in named]
        self._tools = [*(name for name in environment.tools if name in named), *others[:1]]
        self._speakers = [name for name in SPEAKERS if name in named]
        self._arguments, self._results = _fields_read(rules)
        self._texts = _texts_of(formulas)
        self._bounds = TimeBounds(DEFAULT_START, DEFAULT_START + SECONDS_PER_DAY * _days_of(formulas))

    def excluded(self, most_calls: int) -> int:
        """The greatest length, up to ``most_calls``, for which Z3 proves that no trace up to it keeps all rules.

        -1 if there is none.
        """
        for calls in range(most_calls + 1):
            if not self._is_excluded(calls):
                return calls - 1
        return most_calls

    def _is_excluded(self, length: int) -> bool:
        slots = max(map(self._text_places, self._tools), default=0) * length
        new = _new_texts(slots, self._texts)
        logic = SymbolicLogic([*self._texts, *new, *_variants(self._texts)], z3.Bool("other texts"))
        solver = z3.SimpleSolver()
        solver.set("rlimit", QUERY_RLIMIT)
        open_values = _OpenValues(logic, solver)
        steps: list[SymbolicStep] = []
        for number in range(length):
            steps.append(self._step(number, steps, open_values))
        encoding = RuleEncoding(self._environment, logic, steps, self._bounds)
        for rule in self._rules:
            solver.add(encoding.kept_at_end(rule))
        return solver.check() == z3.unsat

    def _step(self, number: int, before: Sequence[SymbolicStep], opened: "_OpenValues") -> SymbolicStep:
        calls = {name: z3.Bool(f"{name}@{number}") for name in (*self._tools, *self._speakers)}
        opened.solver.add(z3.PbEq([(call, 1) for call in calls.values()], 1))
        time = z3.Int(f"time@{number}")
        opened.solver.add(time >= (before[-1].time if before else self._bounds.start), time <= self._bounds.end)
        completed = z3.Bool(f"completed@{number}")
        arguments: dict[str, dict[str, Any]] = {
            speaker: self._message(f"{speaker}@{number}") for speaker in self._speakers
        }
        results: dict[str, dict[str, Any]] = {}
        for name in self._tools:
            arguments[name], results[name] = self._fields(name, number, completed, opened)
        return SymbolicStep(calls, arguments, results, None, time, completed)

    def _fields(
        self, name: str, number: int, completed: z3.BoolRef, opened: "_OpenValues"
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The arguments and the results of a call that rules read."""
        tool, arguments, results = self._environment.tools[name], dict[str, Any](), dict[str, Any]()
        for parameter in tool.parameters:
            if (name, parameter.name) in self._arguments and not leaves_open(parameter.type):
                place = f"{name}.{parameter.name}@{number}"
                value = opened.value(parameter.type, place)
                given = True if parameter.required else z3.Bool(f"{place} given")
                arguments[parameter.name] = MaybeGiven(given, value)
        for result in tool.results:
            if (name, result.name) in self._results:
                shown = opened.value(result.type, f"{name}.result.{result.name}@{number}")
                results[result.name] = MaybeGiven(completed, shown)
        if (whole := self._followed(tool)) is not None:
            results[RESULT] = MaybeGiven(completed, opened.value(whole, f"{name}.result@{number}"))
        return arguments, results

    def _followed(self, tool: Tool) -> ValueType | None:
        """What is followed of the result of a tool without state: of an object the fields that rules read."""
        read = {result for name, result in self._results if name == tool.name}
        if tool.returns is None or not read:
            return None
        if not isinstance(tool.returns, ObjectOf) or WHOLE in read:
            return None if leaves_open(tool.returns) else tool.returns
        fields = {name: part for name, part in tool.returns.fields.items() if name in read and not leaves_open(part)}
        return ObjectOf(fields, tuple(name for name in tool.returns.optional if name in fields)) if fields else None

    def _message(self, place: str) -> dict[str, Any]:
        words = tuple((z3.Bool(f"{place} {word}"), word) for word in self._texts)
        return {WORDS: OpenList(words, counted=False)}

    def _text_places(self, tool: str) -> int:
        """How many different texts a call may have, at most."""
        opened = _OpenValues(SymbolicLogic(), z3.SimpleSolver())
        self._fields(tool, 0, z3.Bool("completed"), opened)
        return opened.logic.open_texts


@dataclass(frozen=True, slots=True)
class _OpenValues:
    """Makes open values of declared types."""

    logic: SymbolicLogic
    solver: z3.Solver

    def value(self, value_type: ValueType, place: str) -> SymbolicValue:
        if isinstance(value_type, ListOf):
            items: list[tuple[Any, SymbolicValue]] = []
            for number in range(ELEMENTS):
                there = z3.Bool(f"{place} has {number}")
                if items:
                    self.solver.add(z3.Implies(there, items[-1][0]))
                items.append((there, self.value(value_type.items, f"{place}[{number}]")))
            return OpenList(tuple(items))
        if isinstance(value_type, ObjectOf):
            return OpenObject({name: self._field(value_type, name, place) for name in value_type.fields})
        return from_internal(self.logic, value_type, self._scalar(value_type, place))

    def _field(self, value_type: ObjectOf, name: str, place: str) -> Alternatives:
        value = self.value(value_type.fields[name], f"{place}.{name}")
        return [(z3.Bool(f"{place} has {name}"), value)] if name in value_type.optional else singleton(value)

    def _scalar(self, value_type: ValueType, place: str) -> Truth:
        if value_type == BOOLEAN:
            return z3.Bool(place)
        if is_text_type(value_type):
            if isinstance(value_type, Choice):
                return self.logic.open_text(place, self.solver, value_type.options)
            return self.logic.open_text(place, self.solver)
        number = z3.Int(place)
        moments = range(_DATES.start * MINUTES_PER_DAY, _DATES.stop * MINUTES_PER_DAY)
        for kind, values in ((DATE, _DATES), (MOMENT, moments), (TIME, range(MINUTES_PER_DAY))):
            if type(value_type) is type(kind):
                self.solver.add(number >= values.start, number < values.stop)
        return number


def _leaves_of(formulas: Iterable[Formula]) -> Iterator[Term]:
    for formula in formulas:
        for node in subformulas(formula):
            if isinstance(node, Compare):
                yield from (*leaves(node.comparison.left), *leaves(node.comparison.right))
    for atom in atoms_of(formulas):
        if atom.condition is not None:
            yield from condition_leaves(atom.condition)


def _texts_of(formulas: Sequence[Formula]) -> list[str]:
    """The texts that formulas name."""
    named: dict[str, None] = {}
    for leaf in _leaves_of(formulas):
        literals = leaf.items if isinstance(leaf, LiteralList) else (leaf,) if isinstance(leaf, LiteralValue) else ()
        named.update(dict.fromkeys(item.content for item in literals if isinstance(item.content, str)))
    return list(named)


def _new_texts(count: int, known: Sequence[str]) -> list[str]:
    """Texts that no rule names: A, B, ..., A1, B1, ..."""
    new = (f"{letter}{round_ or ''}" for round_ in range(count + 1) for letter in ascii_uppercase)
    return list(islice((text for text in new if text not in known), count))


def _variants(known: Sequence[str]) -> list[str]:
    """Texts that differ from the known ones as functions of texts do, and that stand before and after them in order."""
    varied = (other for text in known for other in (text[:-1], f"{text} {text}", text.swapcase()))
    return [text for text in dict.fromkeys((*varied, *_TELLING)) if text not in known]


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
