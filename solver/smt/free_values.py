"""Values of the calls in free traces: open ones of each type, texts that rules name, and what a model gives them."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice, pairwise
from string import ascii_uppercase
from typing import Any, Final, cast

import z3

from lawtrace.environments.spec.clock import EPOCH_DAY
from lawtrace.environments.spec.effects import KeyResult, NestedRows, Result, RowsResult, ValueResult
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
from lawtrace.schemas.events import Json
from lawtrace.solver.logic.conditions import Condition, condition_leaves, condition_parts
from lawtrace.solver.logic.syntax import Compare, Formula, atoms_of, subformulas
from lawtrace.solver.logic.terms import FieldPath, LiteralList, LiteralValue, Term, leaves
from lawtrace.solver.smt.open_values import Alternatives, Open, OpenList, OpenObject, SymbolicValue, from_internal, only
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.smt.symbolic_steps import Optional

ELEMENTS: Final = 2
"""How many elements a list has at most."""
_DATES: Final = range(EPOCH_DAY - 20 * 365, EPOCH_DAY + 80 * 365)
"""Dates are of the years from 1950 to 2050."""


_TELLING: Final = ("", "7", "1000000", "1990-01-01", "2030-01-01")
"""Texts that are short, that spell numbers, and that are dates before and after the trace."""


@dataclass(frozen=True, slots=True)
class OpenValues:
    """Makes open values of declared types.

    Attributes:
        plain: a literal under which texts are among `named`, which rules compare the argument with, and the new ones.
        new: texts that no rule names.
    """

    logic: SymbolicLogic
    solver: z3.Solver
    plain: z3.BoolRef
    new: Sequence[str]

    def value(self, value_type: ValueType, place: str, named: Sequence[str] = ()) -> SymbolicValue:
        if isinstance(value_type, ListOf):
            items: list[tuple[Any, SymbolicValue]] = []
            for number in range(ELEMENTS):
                there = z3.Bool(f"{place} has {number}")
                if items:
                    self.solver.add(z3.Implies(there, items[-1][0]))
                items.append((there, self.value(value_type.items, f"{place}[{number}]", named)))
            return OpenList(tuple(items))
        if isinstance(value_type, ObjectOf):
            return OpenObject({name: self._field(value_type, name, place, named) for name in value_type.fields})
        return from_internal(self.logic, value_type, self._scalar(value_type, place, named))

    def _field(self, value_type: ObjectOf, name: str, place: str, named: Sequence[str]) -> Alternatives:
        value = self.value(value_type.fields[name], f"{place}.{name}", named)
        return [(z3.Bool(f"{place} has {name}"), value)] if name in value_type.optional else only(value)

    def _scalar(self, value_type: ValueType, place: str, named: Sequence[str]) -> Truth:
        if value_type == BOOLEAN:
            return z3.Bool(place)
        if is_text_type(value_type):
            if isinstance(value_type, Choice):
                return self.logic.open_text(place, self.solver, value_type.options)
            text = self.logic.open_text(place, self.solver)
            usual = [text == self.logic.index(word) for word in (*named, *self.new)]
            self.solver.add(z3.Implies(self.plain, z3.Or(usual)))
            return text
        number = z3.Int(place)
        moments = range(_DATES.start * MINUTES_PER_DAY, _DATES.stop * MINUTES_PER_DAY)
        for kind, values in ((DATE, _DATES), (MOMENT, moments), (TIME, range(MINUTES_PER_DAY))):
            if type(value_type) is type(kind):
                self.solver.add(number >= values.start, number < values.stop)
        return number

    def result(self, declared: Result, place: str) -> SymbolicValue:
        match declared:
            case ValueResult(type=value_type):
                return self.value(value_type, place)
            case KeyResult(entity=entity):
                return self.value(entity.fields[entity.key].type, place)
            case RowsResult():
                return self._row(declared, place) if declared.single else self._rows(declared, place)

    def _rows(self, declared: RowsResult | NestedRows, place: str) -> OpenList:
        rows = [(z3.Bool(f"{place} has {n}"), self._row(declared, f"{place}[{n}]")) for n in range(ELEMENTS)]
        for (before, _), (there, _) in pairwise(rows):
            self.solver.add(z3.Implies(there, before))
        return OpenList(tuple(rows))

    def _row(self, declared: RowsResult | NestedRows, place: str) -> OpenObject:
        fields = {
            name: only(self.value(declared.entity.fields[name].type, f"{place}.{name}"))
            for name in declared.fields
            if name in declared.entity.fields
        }
        for part in declared.parts if isinstance(declared, RowsResult) else ():
            fields[part.name] = only(self._rows(part, f"{place}.{part.name}"))
        return OpenObject(fields)


@dataclass(frozen=True, slots=True)
class ModelValues:
    """What a model gives to open values."""

    model: z3.ModelRef
    logic: SymbolicLogic

    def given(self, fields: Mapping[str, Any]) -> dict[str, Json]:
        found: dict[str, Json] = {}
        for name, value in fields.items():
            if not isinstance(value, Optional):
                found[name] = self.value(value)
            elif self.truth(value.given):
                found[name] = self.value(value.value)
        return found

    def value(self, value: SymbolicValue) -> Json:
        match value:
            case Open("boolean", truth):
                return self.truth(truth)
            case Open("number", expression, scale):
                number = Fraction(self._number(expression), scale)
                return number.numerator if number.denominator == 1 else float(number)
            case Open("string", expression, _, calendar) if calendar is not None:
                return calendar.encode(self._number(expression))
            case Open(_, expression):
                return self.logic.word(self._number(expression))
            case OpenList(items):
                return [self.value(item) for here, item in items if self.truth(here)]
            case OpenObject(fields):
                there = {name: alternatives[0] for name, alternatives in fields.items()}
                return {name: self.value(one) for name, (here, one) in there.items() if self.truth(here)}
            case _:
                return cast("Json", value)

    def truth(self, truth: Truth) -> bool:
        return z3.is_true(self.model.eval(truth, model_completion=True)) if z3.is_expr(truth) else bool(truth)

    def _number(self, expression: z3.ArithRef) -> int:
        return self.model.eval(expression, model_completion=True).as_long()


def usual_value(value_type: ValueType) -> Json:
    """A value of the type for a field that no rule asked about reads."""
    match value_type:
        case ListOf():
            return []
        case ObjectOf(fields=fields, optional=optional):
            return {name: usual_value(part) for name, part in fields.items() if name not in optional}
        case Choice(options=options):
            return options[0]
        case _ if value_type == BOOLEAN:
            return True
        case _ if is_text_type(value_type):
            return ascii_uppercase[0]
        case _ if type(value_type) is type(DATE):
            return value_type.encode(_DATES.start)
        case _ if type(value_type) is type(MOMENT):
            return value_type.encode(_DATES.start * MINUTES_PER_DAY)
        case _:
            return value_type.encode(0)


def usual_result(declared: Result) -> Json:
    """The same for a result."""
    match declared:
        case ValueResult(type=value_type):
            return usual_value(value_type)
        case KeyResult(entity=entity):
            return usual_value(entity.fields[entity.key].type)
        case RowsResult(single=False):
            return []
        case RowsResult(entity=entity, fields=fields):
            return {name: usual_value(entity.fields[name].type) for name in fields if name in entity.fields}


def types_in(result: Result) -> list[ValueType]:
    """The types of the scalars in a result, once for each place."""
    match result:
        case ValueResult(type=value_type):
            return places_of(value_type)
        case KeyResult(entity=entity):
            return places_of(entity.fields[entity.key].type)
        case RowsResult():
            row = _field_places(result)
            for part in result.parts:
                row += ELEMENTS * _field_places(part)
            return ELEMENTS * row


def _field_places(rows: RowsResult | NestedRows) -> list[ValueType]:
    declared = [rows.entity.fields[name].type for name in rows.fields if name in rows.entity.fields]
    return [place for value_type in declared for place in places_of(value_type)]


def places_of(value_type: ValueType) -> list[ValueType]:
    """The types of the scalars in a value, once for each place."""
    if isinstance(value_type, ListOf):
        return ELEMENTS * places_of(value_type.items)
    return [place for part in value_type.parts for place in places_of(part)] if value_type.parts else [value_type]


def _leaves_of(formulas: Iterable[Formula]) -> Iterator[Term]:
    for formula in formulas:
        for node in subformulas(formula):
            if isinstance(node, Compare):
                yield from (*leaves(node.comparison.left), *leaves(node.comparison.right))
    for atom in atoms_of(formulas):
        if atom.condition is not None:
            yield from condition_leaves(atom.condition)


def _literal_texts(terms: Iterable[Term]) -> list[str]:
    named: dict[str, None] = {}
    for leaf in terms:
        literals = leaf.items if isinstance(leaf, LiteralList) else (leaf,) if isinstance(leaf, LiteralValue) else ()
        named.update(dict.fromkeys(item.content for item in literals if isinstance(item.content, str)))
    return list(named)


def texts_of(formulas: Sequence[Formula]) -> list[str]:
    """The texts that formulas name."""
    return _literal_texts(_leaves_of(formulas))


def texts_of_arguments(formulas: Sequence[Formula]) -> dict[tuple[str, str], list[str]]:
    """The texts that formulas name together with an argument, by tool and argument."""
    found: dict[tuple[str, str], list[str]] = {}
    for atom in atoms_of(formulas):
        for condition in _comparisons(atom.condition):
            terms = condition_leaves(condition)
            for argument in (str(term.path[0]) for term in terms if isinstance(term, FieldPath)):
                found.setdefault((atom.tool, argument), []).extend(_literal_texts(terms))
    return found


def _comparisons(condition: Condition | None) -> Iterator[Condition]:
    """The parts of a condition that have no parts."""
    if condition is None:
        return
    parts = condition_parts(condition)
    if not parts:
        yield condition
    for part in parts:
        yield from _comparisons(part)


def new_texts(count: int, known: Sequence[str]) -> list[str]:
    """Texts that no rule names: A, B, ..., A1, B1, ..."""
    new = (f"{letter}{round_ or ''}" for round_ in range(count + 1) for letter in ascii_uppercase)
    return list(islice((text for text in new if text not in known), count))


def variants(known: Sequence[str]) -> list[str]:
    """Texts that differ from the known ones as functions of texts do, and that stand before and after them in order."""
    varied = (other for text in known for other in (text[:-1], f"{text} {text}", text.swapcase()))
    return [text for text in dict.fromkeys((*varied, *_TELLING)) if text not in known]
