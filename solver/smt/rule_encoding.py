"""Encoding of rules for Z3: the truth of conditions on open calls, and the runs of automata over them.

A condition is read as `lawtrace.solver.ltlf.conditions` defines it, over arguments and results that may be open. What
cannot be encoded (the order of texts, rows inside results, other functions of the history) becomes an unconstrained
truth. So *no trace* remains a proof, and a trace that Z3 finds counts only if it keeps the rules when it is simulated
(`lawtrace.solver.smt.bounded_model_checking`).

A quantified rule is encoded once for every value that an open call can have in the fields that it compares.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from operator import ge, gt, le, lt
from typing import Any, Final, cast

import z3

from lawtrace.environments.events import Event
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult, ValueResult
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, FromTrace, Parameter
from lawtrace.environments.spec.types import (
    BOOLEAN,
    DATE,
    INTEGER,
    MOMENT,
    MONEY,
    TIME,
    ListOf,
    Value,
    ValueType,
    WrongFormat,
)
from lawtrace.solver.ltlf import Automaton, Condition, Scalar
from lawtrace.solver.ltlf.conditions import (
    AndCondition,
    Comparison,
    ElementCondition,
    IsTrue,
    NotCondition,
    Operator,
    OrCondition,
)
from lawtrace.solver.ltlf.terms import RESULT, BoundVariable, FieldPath, LiteralList, LiteralValue, Term, is_value
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic

_NUMBERS: Final = (MONEY, INTEGER)
_TIMES: Final = (DATE, MOMENT, TIME)
_ORDERS: Final[Mapping[str, Callable[[Any, Any], Any]]] = {"<": lt, "<=": le, ">": gt, ">=": ge}


class _Unsupported(Exception):
    """A part of a condition that cannot be encoded; the message says which."""


@dataclass(frozen=True, slots=True)
class SymbolicStep:
    """One step of the bounded problem: the tool called, its arguments and results, and the pending events.

    Attributes:
        time: when the call begins, in seconds since 1970.
    """

    calls: Mapping[str, z3.BoolRef]
    arguments: Mapping[str, Mapping[str, Value]]
    results: Mapping[str, Mapping[str, Value]]
    pending: Mapping[str, Value]
    time: Value


@dataclass(frozen=True, slots=True)
class _TypedValue:
    """A value in internal form with its type; a literal of a rule is in external form and has none."""

    value: Value
    type: ValueType | None = None


class _PendingList:
    """The derived list of pending events."""


_OperandValue = _TypedValue | _PendingList | Sequence[_TypedValue] | None
"""The value of an operand: one value, a list, the list of pending events, or missing."""


class RuleEncoder:
    """Encodes runs of automata over the symbolic steps.

    Attributes:
        unsupported: why some condition was left unconstrained, a sentence each.
    """

    def __init__(
        self,
        environment: Environment,
        logic: SymbolicLogic,
        solver: z3.Solver,
        steps: Sequence[SymbolicStep],
        last: State,
    ) -> None:
        """`last`: the state after the last step, which contains every row of any step."""
        self.unsupported: dict[str, None] = {}
        self._environment = environment
        self._logic = logic
        self._solver = solver
        self._steps = steps
        self._last = last

    def rule_kept(self, name: str, automaton: Automaton) -> Value:
        """The truth that the calls keep the rule."""
        if not automaton.is_quantified:
            return self._accepted(name, automaton, None)
        instances: list[Value] = []
        for value in self._values(automaton):
            occurs = self._occurs(automaton, value)
            accepted = self._accepted(f"{name} for {value!r}", automaton, value)
            instances.append(self._logic.any([self._logic.negate(occurs), accepted]))
        return self._logic.all(instances)

    def _accepted(self, name: str, automaton: Automaton, of: Scalar | None) -> Value:
        """The truth that the automaton accepts, with one Boolean for each state and step."""
        here: list[Value] = [state == automaton.initial for state in range(len(automaton.table))]
        for number, step in enumerate(self._steps):
            arrivals: list[list[Value]] = [[] for _ in automaton.table]
            for tool, act in step.calls.items():
                for letter, met in self._letters(automaton, tool, number, of):
                    for state in range(len(automaton.table)):
                        arrivals[automaton.step(state, letter)].append(self._logic.all([here[state], act, met]))
            following: list[Value] = []
            for state, alternatives in enumerate(arrivals):
                truth = z3.Bool(f"{name}:{state}@{number}")
                self._solver.add(truth == self._logic.any(alternatives))
                following.append(truth)
            here = following
        return self._logic.any([here[state] for state in sorted(automaton.accepting)])

    def _letters(self, automaton: Automaton, tool: str, number: int, of: Scalar | None) -> Iterator[tuple[int, Value]]:
        """The letters of a completed call of a tool, each with the truth that the call has it."""
        bits = automaton.alphabet.by_tool.get(tool, ())
        conditions = list(dict.fromkeys(atom.condition for _, atom in bits if atom.condition is not None))
        truths = [self._truth(condition, tool, number, of) for condition in conditions]
        for met in product((True, False), repeat=len(conditions)):
            true = {condition for condition, holds in zip(conditions, met, strict=True) if holds}
            letter = sum(bit for bit, atom in bits if atom.condition is None or atom.condition in true)
            signed = [t if holds else self._logic.negate(t) for t, holds in zip(truths, met, strict=True)]
            combined = self._logic.all(signed)
            if combined is not False:
                yield letter, combined

    def _truth(self, condition: Condition, tool: str, number: int, of: Scalar | None) -> Value:
        match condition:
            case NotCondition(part):
                return self._logic.negate(self._truth(part, tool, number, of))
            case AndCondition(parts):
                return self._logic.all([self._truth(part, tool, number, of) for part in parts])
            case OrCondition(parts):
                return self._logic.any([self._truth(part, tool, number, of) for part in parts])
            case IsTrue() | Comparison() | ElementCondition():
                try:
                    return self._simple(condition, tool, number, of)
                except _Unsupported as error:
                    self.unsupported[f"`{tool}({condition})`: {error}"] = None
                    return z3.Bool(f"{tool}({condition}) of {of!r}@{number}")

    def _simple(
        self, condition: IsTrue | Comparison | ElementCondition, tool: str, number: int, of: Scalar | None
    ) -> Value:
        if isinstance(condition, ElementCondition):
            raise _Unsupported("the elements of a list")
        if isinstance(condition, IsTrue):
            read = self._read(condition.field, tool, number, of)
            return read.value if isinstance(read, _TypedValue) and read.type is BOOLEAN else False
        left, right = (self._read(operand, tool, number, of) for operand in (condition.left, condition.right))
        if left is None or right is None:
            return False
        if condition.operator == "in":
            return self._within(left, right, number)
        if not isinstance(left, _TypedValue) or not isinstance(right, _TypedValue):
            raise _Unsupported("lists are compared as a whole")
        return self._compared(left, condition.operator, right)

    def _read(self, operand: Term, tool: str, number: int, of: Scalar | None) -> _OperandValue:
        match operand:
            case LiteralValue(value):
                return _TypedValue(value)
            case LiteralList(items):
                return [_TypedValue(item.content) for item in items]
            case BoundVariable():
                return None if of is None else _TypedValue(of)
            case FieldPath((first, *rest)) if first == RESULT:
                return self._result(tool, number, rest)
            case FieldPath(path):
                if path[1:]:
                    raise _Unsupported("a part of an argument")
                return self._argument(tool, number, str(path[0]))
            case _:
                raise _Unsupported("a computed value")

    def _argument(self, tool: str, number: int, name: str) -> _OperandValue:
        parameter = self._environment.tools[tool].parameter(name)
        value = self._steps[number].arguments[tool][name]
        if isinstance(parameter.source, FromTrace):
            if parameter.source.function is not pending_events:
                raise _Unsupported("a function of the calls so far")
            return _PendingList()
        if value is None:
            raise _Unsupported("an argument that is left out here and need not be")
        if isinstance(parameter.type, ListOf):
            return [_TypedValue(item, parameter.type.items) for item in cast("Sequence[Value]", value)]
        return _TypedValue(value, parameter.type)

    def _result(self, tool: str, number: int, path: Sequence[str | int]) -> _OperandValue:
        declared = {result.name: result for result in self._environment.tools[tool].results}
        result = declared.get(str(path[0])) if len(path) == 1 else None
        match result:
            case ValueResult(type=value_type):
                return _TypedValue(self._steps[number].results[tool][result.name], value_type)
            case KeyResult(entity=entity):
                return _TypedValue(self._steps[number].results[tool][result.name], entity.fields[entity.key].type)
            case _:
                raise _Unsupported("rows inside a result")

    def _within(self, left: _OperandValue, right: _OperandValue, number: int) -> Value:
        if not isinstance(left, _TypedValue):
            raise _Unsupported("a list inside a list")
        if isinstance(right, _PendingList):
            if z3.is_expr(left.value):
                raise _Unsupported("an open value in the list of events")
            return self._steps[number].pending.get(left.value, False) if isinstance(left.value, str) else False
        if isinstance(right, _TypedValue) or right is None:
            return False
        return self._logic.any([self._compared(left, "==", item) for item in right])

    def _compared(self, left: _TypedValue, operator: Operator, right: _TypedValue) -> Value:
        if not z3.is_expr(left.value) and not z3.is_expr(right.value):
            outside = Comparison(LiteralValue(_external_value(left)), operator, LiteralValue(_external_value(right)))
            return outside.holds(Event("", {}))
        if not z3.is_expr(left.value):
            mirrored: dict[str, Operator] = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
            return self._compared(right, mirrored.get(operator, operator), left)
        value_type, value = left.type, left.value
        other = _internal_value(value_type, right)
        if other is None:
            return False
        if isinstance(other, Fraction):  # a constant of a rule may have fractions of a cent: 10.005
            value, other = value * other.denominator, other.numerator
        if operator in ("==", "!="):
            same = self._logic.equal(value, other)
            return same if operator == "==" else self._logic.negate(same)
        if value_type not in (*_NUMBERS, *_TIMES):
            raise _Unsupported("the order of texts")
        return _ORDERS[operator](value, other)

    def _values(self, automaton: Automaton) -> list[Scalar]:
        """The values that can occur in the fields that the variable is compared with."""
        values: dict[tuple[bool, Scalar], None] = {}
        for tool, places in automaton.alphabet.bound_fields.items():
            if tool not in self._environment.tools:
                continue
            for place, _, _ in places:
                for value in self._candidates(tool, place):
                    values[isinstance(value, bool), value] = None
        return [value for _, value in values]

    def _candidates(self, tool: str, place: FieldPath) -> Iterator[Scalar]:
        first, *_ = place.path
        parameters = {parameter.name: parameter for parameter in self._environment.tools[tool].parameters}
        for number in range(len(self._steps)):
            try:
                read = self._read(place, tool, number, None)
            except _Unsupported as error:
                self.unsupported[f"`{tool}`, `{place}`: {error}"] = None
                return
            for given in [read] if isinstance(read, _TypedValue) else read if isinstance(read, Sequence) else ():
                if not z3.is_expr(given.value):
                    outside = _external_value(given)
                    if is_value(outside):
                        yield outside
                elif first in parameters and self._range(parameters[str(first)], given.value) is not None:
                    yield from self._range(parameters[str(first)], given.value) or ()
                else:
                    self.unsupported[f"`{tool}`, `{place}`: it has too many values to follow each"] = None
                    return

    def _range(self, parameter: Parameter, value: z3.ExprRef) -> Sequence[str] | None:
        """The texts that an open argument can equal."""
        if isinstance(parameter.source, FromLookup):
            entity = parameter.source.entity
            return [str(row.values[entity.key]) for row in self._last.tables[entity.table]]
        return self._logic.range_of(value)

    def _occurs(self, automaton: Automaton, value: Scalar) -> Value:
        meetings: list[Value] = []
        for number, step in enumerate(self._steps):
            for tool, places in automaton.alphabet.bound_fields.items():
                if tool not in step.calls:
                    continue
                for place, spread, _ in places:
                    comparison = (
                        Comparison(BoundVariable("v"), "in", place)
                        if spread
                        else Comparison(place, "==", BoundVariable("v"))
                    )
                    met = self._truth(comparison, tool, number, value)
                    meetings.append(self._logic.all([step.calls[tool], met]))
        return self._logic.any(meetings)


def _external_value(given: _TypedValue) -> Any:  # noqa: ANN401 (a JSON value)
    return given.value if given.type is None else given.type.encode(given.value)


def _internal_value(value_type: ValueType | None, given: _TypedValue) -> Any:  # noqa: ANN401 (a value, a fraction of one, an expression, None)
    """The other side of a comparison with an open value of that type; None if the JSON types differ."""
    if z3.is_expr(given.value):
        if given.type is not value_type and not (_is_text(given.type) and _is_text(value_type)):
            raise _Unsupported("open values of different kinds")
        return given.value
    value = _external_value(given)
    if value_type is BOOLEAN:
        return value if isinstance(value, bool) else None
    if value_type is not None and value_type in _NUMBERS:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        return Fraction(str(value)) * value_type.decode(1) if is_number else None
    if not isinstance(value, str):
        return None
    if value_type is not None and value_type in _TIMES:
        try:
            return value_type.decode(value)
        except WrongFormat:
            raise _Unsupported("a text that is not a time") from None
    return value


def _is_text(value_type: ValueType | None) -> bool:
    return (
        value_type is not None
        and value_type not in (BOOLEAN, *_NUMBERS, *_TIMES)
        and not isinstance(value_type, ListOf)
    )
