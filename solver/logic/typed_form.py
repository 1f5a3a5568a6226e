"""Typed form: calls and comparisons written with few tests, by what is known of the values that are compared.

    ok, ok == true, not (ok == false)     are   ok == true           if `ok` is a boolean that each call has
    n >= 3, n > 2, not (n < 3)            are   not n < 3            if `n` is a whole number that each call has
    kind == "b"                           is    not kind == "a"      if there are two choices, and both are compared
    60 >= days(d, now)                    is    days(d, now) <= 60

A comparison with a missing value is false, so `ok == false` and `not ok` are two tests if `ok` may be missing. What
formulas compare a term with divides its values into cases that no comparison tells apart. From the tests that do, each
comparison is built so that all combinations of their truth are possible: what is left is propositional.
"""

import operator
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import pairwise
from math import floor
from typing import Any, Final

from lawtrace.environments.spec.types import INTEGER, MONEY, Choice
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic import terms as t
from lawtrace.solver.logic.conditions import (
    MIRRORED,
    AndCondition,
    Comparison,
    Condition,
    IsTrue,
    NotCondition,
    Operator,
    OrCondition,
    condition_variables,
    equation,
    subconditions,
)
from lawtrace.solver.logic.normal_form import conjunction, disjunction, negated
from lawtrace.solver.logic.signature import ANYTHING, COUNT, Declared, Signature
from lawtrace.solver.logic.type_check import Scope, TermContext, Variable

_SIGNS: Final[Mapping[Operator, Callable[[Any, Any], bool]]] = {
    "==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "!=": operator.ne
}  # fmt: skip
"""The tests, those that are preferred first."""
_Constant = t.LiteralValue | None
_Test = tuple[Operator, _Constant]
"""What a term is compared with: a constant, or the other term of a pair."""


def typed_forms(formulas: Sequence[s.Formula], signature: Signature) -> list[s.Formula]:
    """Formulas that mean the same on traces of one call a step that are as the signature says, by common tests.

    `signature`: what is certain of completed calls (`lawtrace.solver.logic.signature.simulated_signature`).
    """
    form = _TypedForm(signature)
    for formula in formulas:  # to know all tests
        form.rule(formula)
    form.is_complete = True
    return [*map(form.rule, formulas)]


@dataclass(slots=True)
class _Subject:
    """A term, or a pair of terms, of a known kind, and the tests of it in all formulas.

    Attributes:
        known: what is known of the values.
        least: of numbers.
        is_same: whether both terms of a pair are one; None for a single term.
    """

    known: Declared
    least: int | None = None
    is_same: bool | None = None
    tests: dict[_Test, None] = field(default_factory=dict[_Test, None])
    _cases: Sequence[tuple[Any, Any]] = ()
    _letters: Sequence[tuple[int, _Test]] = ()

    def mask(self, test: _Test) -> int:
        """The cases in which a test is true, as the bits of a number."""
        sign, constant = test
        self._cases = self._cases or [*self._values(), *(() if self.known.present else ((None, None),))]
        return sum(
            1 << place
            for place, (one, other) in enumerate(self._cases)
            if one is not None and _SIGNS[sign](one, other if constant is None else _comparable(constant))
        )

    @property
    def every(self) -> int:
        return (1 << len(self._cases)) - 1

    def _values(self) -> list[tuple[Any, Any]]:
        """Values in place of all: none that there may be is compared otherwise with each constant."""
        if self.is_same is not None:
            different = [(0, 1)] if self.known.kind == "boolean" else [(0, 1), (1, 0)]
            return [(1, 1), *(() if self.is_same else different)]
        points = sorted({_comparable(constant) for _, constant in self.tests if constant is not None})
        if self.known.kind == "boolean":
            values: list[Any] = [False, True]
        elif self.known.kind == "string":
            choices = self.known.type.options if isinstance(self.known.type, Choice) else ()
            values = [*choices] or ["", *points, *(f"{text}\0" for text in points)]
        elif scale := 1 if self.known.type == INTEGER else 100 if self.known.type == MONEY else 0:
            near = {floor(point * scale) + place for point in points for place in (-1, 0, 1, 2)}
            values = [Fraction(number, scale) for number in sorted(near)]
        else:
            between = [(low + high) / 2 for low, high in pairwise(points)]
            values = [points[0] - 1, *points, *between, points[-1] + 1]
        return [(value, None) for value in values if self.least is None or value >= self.least]

    def letters(self) -> Sequence[tuple[int, _Test]]:
        """The tests that are used, each with its cases."""
        if not self._letters:
            constants: Sequence[_Constant] = sorted({one for _, one in self.tests if one}, key=_comparable)
            tests: list[_Test] = [(sign, one) for sign in _SIGNS for one in constants or [None]]
            offered = [(self.mask(test), test) for test in tests]
            used: dict[int, _Test] = {}
            for own in map(self.mask, self.tests):
                found, test = next((mask, test) for mask, test in offered if mask in (own, self.every ^ own))
                used[found] = test
            self._letters = [(mask, test) for mask, test in offered if used.get(mask) == test]
        return self._letters

    def written(self, mask: int, within: int, write: Callable[[_Test], s.Formula]) -> s.Formula:
        """What is true in some cases, and false in the others of those that are possible."""
        if not within & ~mask or not within & mask:
            return s.Top() if within & mask else s.Bottom()
        own, test = next((own, test) for own, test in self.letters() if 0 != within & own != within)
        then, otherwise = (self.written(mask, part, write) for part in (within & own, within & ~own))
        if then == otherwise:
            return then
        letter = write(test)
        return disjunction([conjunction([letter, then]), conjunction([negated(letter), otherwise])])


def _comparable(constant: t.LiteralValue) -> Any:  # noqa: ANN401
    content = constant.content
    return content if isinstance(content, bool | str) else Fraction(str(content))


_Write = Callable[[Condition], s.Formula]
"""Makes a formula of a test."""


class _TypedForm:
    def __init__(self, signature: Signature) -> None:
        self.is_complete = False
        self._signature: Final = signature
        self._subjects: Final[dict[object, _Subject]] = {}
        self._scope: Scope = {}

    def rule(self, formula: s.Formula) -> s.Formula:
        """The typed form. A variable has the kind of all fields with which it is equated, wherever it is bound."""
        kinds: dict[str, set[t.Kind | None]] = {}
        for atom in s.atoms_of([formula]):
            for equated in filter(None, map(equation, subconditions(atom.condition))):
                name, place, is_listed = equated
                known = self._context(atom).known(place)
                kinds.setdefault(name, set()).add((known.elements or ANYTHING).kind if is_listed else known.kind)
        for node in s.subformulas(formula):
            if isinstance(node, s.Compare) and node.comparison.operator == "==":
                for name in s.free_variables(node):  # may get the value of the other side
                    kinds.setdefault(name, set()).add(None)
        one = {
            name: Declared(next(iter(found)) if len(found) == 1 else None, present=True)
            for name, found in kinds.items()
        }
        self._scope = {name: Variable(declared) for name, declared in one.items()}
        return self._formula(formula)

    def _formula(self, formula: s.Formula, *, is_step: bool = False) -> s.Formula:
        """`is_step`: whether it is about a step that exists: on the empty trace, all comparisons are false."""
        match formula:
            case s.Atom(_, condition) if condition is not None:
                call, context = replace(formula, condition=None), self._context(formula)
                found = self._condition(condition, context, lambda test: replace(formula, condition=test))
                return found if isinstance(found, s.Atom | s.Bottom) else conjunction([call, found])
            case s.Compare(comparison) if is_step:
                return self._comparison(comparison, self._context(formula), _as_test)
            case _:
                is_step = is_step or isinstance(formula, s.FUTURE + s.PAST)
                return s.map_children(formula, lambda part: self._formula(part, is_step=is_step))

    def _context(self, of: s.Formula) -> TermContext:
        """What the names in a call or a comparison mean."""
        atom = of if isinstance(of, s.Atom) and not of.attempted and of.tool in self._signature else None
        return TermContext(atom, self._scope, self._signature)

    def _condition(self, condition: Condition, context: TermContext, write: _Write) -> s.Formula:
        match condition:
            case IsTrue(only):
                return self._comparison(Comparison(only, "==", t.LiteralValue(True)), context, write)
            case Comparison():
                return self._comparison(condition, context, write)
            case NotCondition(part):
                return negated(self._condition(part, context, write))
            case AndCondition(parts):
                return conjunction(self._condition(part, context, write) for part in parts)
            case OrCondition(parts):
                return disjunction(self._condition(part, context, write) for part in parts)
            case _:
                return write(condition)

    def _comparison(self, comparison: Comparison, context: TermContext, write: _Write) -> s.Formula:
        """A comparison by tests, and that the objects are there of which it compares fields."""
        left, sign, right = comparison.left, comparison.operator, comparison.right
        if sign in MIRRORED and _place(left) > _place(right):
            left, sign, right = right, MIRRORED[sign], left
        written = Comparison(left, sign, right)
        subject = self._subject(written, context)
        if subject is None:
            return write(written)
        listed = right.items if isinstance(right, t.LiteralList) else ()
        single = right if isinstance(right, t.LiteralValue) else None
        tests: list[_Test] = [("==", one) for one in listed] or [(sign, single)]
        subject.tests |= dict.fromkeys(tests)
        mask = 0
        for test in tests if self.is_complete else ():
            mask |= subject.mask(test)
        if not self.is_complete or (mask in (0, subject.every) and condition_variables(written)):
            return write(written)
        there = [write(one) for term in (left, right) for one in _optional_objects(term, context)[0]]
        found = subject.written(mask, subject.every, lambda test: write(Comparison(left, test[0], test[1] or right)))
        return conjunction([*there, found])

    def _subject(self, comparison: Comparison, context: TermContext) -> _Subject | None:
        """What a comparison tests, if the kind of the values is known."""
        left, sign, right = comparison.left, comparison.operator, comparison.right
        one, other = self._known(left, context), self._known(right, context)
        listed = right.items if isinstance(right, t.LiteralList) and sign == "in" else ()
        kinds = {one.kind, *([t.kind_of(item.content) for item in listed] or [other.kind])}
        orders = kinds <= {"number", "string"} or (kinds == {"boolean"} and sign in ("==", "!=", "in"))
        if len(kinds) > 1 or not orders or not (listed or sign in _SIGNS):
            return None
        counts = one is COUNT or (isinstance(left, t.FunctionCall) and left.function == "len")
        is_pair = not isinstance(right, t.LiteralValue | t.LiteralList)
        known = replace(one, present=one.present and other.present, type=None if is_pair else one.type)
        texts = _nameless(left), is_pair and (left == right, _nameless(right))
        key = context.atom and context.atom.tool, known.kind, known.present, known.type, texts
        new = _Subject(known, 0 if counts and not is_pair else None, left == right if is_pair else None)
        return self._subjects.setdefault(key, new)

    def _known(self, term: t.Term, context: TermContext) -> Declared:
        """What is certain of the value of a term."""
        match term:
            case t.LiteralList():
                return Declared("list", present=True)
            case s.EventAggregate("count") | s.RelationAggregate("count"):
                return COUNT
            case s.EventAggregate("sum", t.FieldPath() as summed, atom):
                kind = self._context(atom).known(summed).kind
                return Declared("number", present=True) if kind == "number" else ANYTHING
            case _ if any(isinstance(leaf, t.Computed) for leaf in t.leaves(term)):
                return ANYTHING
            case _:
                known = context.known(term)
                return replace(known, present=known.present and _optional_objects(term, context)[1])


def _as_test(condition: Condition) -> s.Formula:
    assert isinstance(condition, Comparison)
    return s.Compare(condition)


def _optional_objects(term: t.Term, context: TermContext) -> tuple[list[Condition], bool]:
    """That the objects are there of which a term reads fields, and that may be missing; and whether that is all that
    may be missing besides the fields themselves."""
    there, is_all = list[Condition](), True
    for path in [leaf.path for leaf in t.leaves(term) if isinstance(leaf, t.FieldPath)]:
        for length in range(1, len(path)):
            whole = t.FieldPath(path[:length])
            known = context.known(whole)
            scalars = (name for name, part in (known.fields or {}).items() if part.present and part.type is not None)
            if not known.present and (name := next(scalars, None)) is not None:
                there.append(Comparison(part := t.FieldPath((*whole.path, name)), "==", part))
            elif not known.present:
                is_all = False
    return there, is_all


def _place(term: t.Term) -> tuple[bool, bool, str]:
    """The order of terms in comparisons."""
    return isinstance(term, t.LiteralValue), bool(s.term_variables(term)), _nameless(term)


def _nameless(term: t.Term) -> str:
    """The text of a term without the names of variables, which rules may choose."""
    text = str(term)
    for name in s.term_variables(term):
        text = re.sub(rf"\b{re.escape(name)}\b", "_", text)
    return text
