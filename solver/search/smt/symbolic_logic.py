"""Symbolic logic: evaluates the terms of a declaration to Z3 expressions.

Connectives fold constants. Concrete operands give concrete results, so a mostly concrete state makes small expressions.
Strings are indices into a finite pool (Z3's string theory is slower by orders of magnitude and returns arbitrary
strings), so a claim made with this logic holds for that vocabulary only.
"""

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final, cast

import z3

from lawtrace.environments.spec.logic import Cases, Logic
from lawtrace.environments.spec.types import Record, Value


@dataclass(frozen=True, slots=True, eq=False)
class OpenPresence(Cases):
    """A text, a number or a truth that is there under a condition. ``value``: what it is then."""

    value: Value


class SymbolicLogic(Logic):
    """Constant-folding connectives over Python values and Z3 expressions. The pool of strings grows as strings are met.

    Strings are compared with open strings by index; numbers and truths stand for themselves.
    """

    def __init__(self, vocabulary: Sequence[str] = (), context: z3.Context | None = None) -> None:
        """`context`: of Z3, in which expressions are made; that of the process by default."""
        self._context: Final = z3.main_ctx() if context is None else context
        self._numerals: dict[int, z3.ArithRef] = {}
        self._indices: dict[str, int] = {}
        self._ranges: dict[str, tuple[str, ...]] = {}
        for word in vocabulary:
            self.index(word)

    def solver(self) -> z3.Solver:
        """A solver for expressions of this logic."""
        return z3.SimpleSolver(self._context)

    def open_truth(self, name: str) -> z3.BoolRef:
        """An open truth of that name; the same name is the same truth."""
        return z3.Bool(name, self._context)

    def open_number(self, name: str) -> z3.ArithRef:
        """An open integer of that name."""
        return z3.Int(name, self._context)

    def numeral(self, number: int) -> z3.ArithRef:
        """The expression of a number."""
        if number not in self._numerals:
            self._numerals[number] = z3.IntVal(number, self._context)
        return self._numerals[number]

    def index(self, text: str) -> int:
        """The index of the string in the pool, added if it is new."""
        return self._indices.setdefault(text, len(self._indices))

    def word(self, index: int) -> str:
        return list(self._indices)[index]

    def open_text(self, name: str, solver: z3.Solver, words: Sequence[str] | None = None) -> z3.ArithRef:
        """An open string: one of the pool, or of ``words``. The solver is told its range."""
        range_ = tuple(self._indices) if words is None else tuple(dict.fromkeys(words))
        variable = self.open_number(name)
        if words is None:
            solver.add(variable >= 0, variable < len(range_))
        else:
            equations = [_equation(variable, self.numeral(self.index(word))) for word in range_]
            solver.add(cast("z3.BoolRef", _DISJUNCTION(equations)))
        self._ranges[name] = range_
        return variable

    def is_text(self, variable: z3.ExprRef) -> bool:
        """Whether the variable is an open string."""
        return variable.decl().name() in self._ranges

    def range_of(self, variable: z3.ExprRef) -> Sequence[str] | None:
        """The possible values of an open string; None if unknown."""
        return self._ranges.get(variable.decl().name())

    def all(self, truths: Iterable[Value]) -> Value:
        return _fold_constants(map(self.there, truths), absorbing=False, combine=_CONJUNCTION)

    def any(self, truths: Iterable[Value]) -> Value:
        return _fold_constants(map(self.there, truths), absorbing=True, combine=_DISJUNCTION)

    def negate(self, truth: Value) -> Value:
        truth = self.there(truth)
        return _negation(truth) if z3.is_expr(truth) else not truth

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value:
        if not z3.is_expr(condition):
            return then if condition else otherwise
        if then is otherwise:
            return then
        if any(_has_parts(value) for value in (then, otherwise)):
            return self._joined_cases(condition, then, otherwise)
        if any(value is None or isinstance(value, OpenPresence) for value in (then, otherwise)):
            return self._open_presence(condition, then, otherwise)
        return _choice(condition, self._carried(then), self._carried(otherwise))

    def cases(self, value: Value) -> Sequence[tuple[Value, Value]]:
        return value.cases if isinstance(value, Cases) else ((True, value),)

    def _joined_cases(self, condition: Value, then: Value, otherwise: Value) -> Value:
        cases = [(self.all([condition, truth]), value) for truth, value in self.cases(then)]
        cases += [(self.all([self.negate(condition), truth]), value) for truth, value in self.cases(otherwise)]
        return Cases(tuple((truth, value) for truth, value in cases if truth is not False))

    def _open_presence(self, condition: Value, then: Value, otherwise: Value) -> Value:
        sides = ((condition, then), (self.negate(condition), otherwise))
        absent = self.any(self.all([truth, self.equal(value, None)]) for truth, value in sides)
        then, otherwise = self.there(then), self.there(otherwise)
        value = self.choose(condition, otherwise if then is None else then, then if otherwise is None else otherwise)
        return OpenPresence(((absent, None), (self.negate(absent), value)), value)

    def there(self, value: Value) -> Value:
        return value.value if isinstance(value, OpenPresence) else value

    def equal(self, left: Value, right: Value) -> Value:
        if isinstance(left, Cases) or isinstance(right, Cases):
            return self.any(
                self.all([one, other, self.equal(a, b)])
                for one, a in self.cases(left)
                for other, b in self.cases(right)
            )
        if isinstance(left, tuple | Record) or isinstance(right, tuple | Record):
            return self._equal_parts(left, right)
        if not (z3.is_expr(left) or z3.is_expr(right)):
            return left == right
        if left is None or right is None:
            return False
        return _equation(self._carried(left), self._carried(right))

    def _equal_parts(self, left: Value, right: Value) -> Value:
        if isinstance(left, Record) and isinstance(right, Record):
            return self.all(self.equal(left[name], right[name]) for name in {**left.values, **right.values})
        if not (isinstance(left, tuple) and isinstance(right, tuple)):
            return False
        items, others = cast("tuple[Value, ...]", left), cast("tuple[Value, ...]", right)
        if len(items) != len(others):
            return False
        return self.all(self.equal(one, other) for one, other in zip(items, others, strict=True))

    def quotient(self, number: Value, divisor: int) -> Value:
        return number / divisor if z3.is_expr(number) else number // divisor

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        texts = tuple(map(self.there, texts))
        if not any(z3.is_expr(text) for text in texts):
            return function(*texts)
        ranges = [self.words_of(text) if z3.is_expr(text) else (text,) for text in texts]
        values = {words: function(*words) for words in itertools.product(*ranges)}
        if all(isinstance(value, bool) for value in values.values()):
            return self.any(
                self.all([self.equal(text, word) for text, word in zip(texts, words, strict=True)])
                for words, value in values.items()
                if value
            )
        result: Value = None
        for words, value in values.items():
            if result is None:  # the last case of the chain needs no condition, because the range is complete
                result = self._carried(value)
                continue
            case = self.all([self.equal(text, word) for text, word in zip(texts, words, strict=True)])
            result = self.choose(case, value, result)
        return result

    def words_of(self, text: z3.ExprRef) -> Sequence[str]:
        """The possible values of a string expression: its own range for a variable, else the whole pool."""
        is_variable = text.num_args() == 0
        return (self._ranges.get(text.decl().name()) if is_variable else None) or tuple(self._indices)

    def _carried(self, value: Value) -> Any:  # noqa: ANN401 (an expression, a number or a boolean)
        if isinstance(value, str):
            return self.numeral(self.index(value))
        if isinstance(value, bool):
            return z3.BoolVal(value, self._context)
        if value is None:
            raise TypeError("an absent value cannot meet an open one")
        return self.numeral(value) if isinstance(value, int) else value


def _has_parts(value: Value) -> bool:
    """Whether it is a list or an object, or one of several."""
    return isinstance(value, tuple | Record | Cases) and not isinstance(value, OpenPresence)


# The functions of Z3's Python interface compare and convert the sorts of all operands first, which takes most of the
# time of an encoding. The following make the same expressions where the sorts are known.
_Z3: Final = cast("Any", z3)


def _joined(make: Callable[..., Any], truths: Sequence[Any]) -> Value:
    """A conjunction or disjunction of expressions known to be Boolean."""
    context = truths[0].ctx
    array = (_Z3.Ast * len(truths))(*(truth.as_ast() for truth in truths))
    return _Z3.BoolRef(make(context.ref(), len(truths), array), context)


_CONJUNCTION: Final = partial(_joined, _Z3.Z3_mk_and)
_DISJUNCTION: Final = partial(_joined, _Z3.Z3_mk_or)


def _negation(truth: Any) -> Value:  # noqa: ANN401
    return _Z3.BoolRef(_Z3.Z3_mk_not(truth.ctx_ref(), truth.as_ast()), truth.ctx)


def _same_sort(one: object, other: object) -> bool:
    """Whether both are truths or both are integers. There are no other numbers."""
    return any(isinstance(one, sort) and isinstance(other, sort) for sort in (z3.ArithRef, z3.BoolRef))


def _equation(left: Any, right: Any) -> Value:  # noqa: ANN401
    if not _same_sort(left, right):
        return left == right
    return _Z3.BoolRef(_Z3.Z3_mk_eq(left.ctx_ref(), left.as_ast(), right.as_ast()), left.ctx)


def _choice(condition: Any, then: Any, otherwise: Any) -> Value:  # noqa: ANN401
    if not _same_sort(then, otherwise):
        return z3.If(condition, then, otherwise)
    make = _Z3.BoolRef if _Z3.is_bool(then) else _Z3.ArithRef
    return make(_Z3.Z3_mk_ite(condition.ctx_ref(), condition.as_ast(), then.as_ast(), otherwise.as_ast()), then.ctx)


def _fold_constants(truths: Iterable[Value], *, absorbing: bool, combine: Callable[..., Value]) -> Value:
    open_truths: list[Value] = []
    for truth in truths:
        if z3.is_expr(truth):
            open_truths.append(truth)
        elif bool(truth) is absorbing:
            return absorbing
    if not open_truths:
        return not absorbing
    return open_truths[0] if len(open_truths) == 1 else combine(open_truths)
