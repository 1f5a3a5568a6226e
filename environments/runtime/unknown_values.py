"""Values that a record does not show: three-valued logic for the terms of declarations.

Tools compiled against `UNKNOWN_LOGIC` compute on states that are known in part. A result is unknown exactly where it
could be one or another for what is not known, as far as Kleene's connectives tell.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import cast

from lawtrace.environments.spec.logic import Logic
from lawtrace.environments.spec.types import Record, Value


class Unknown:
    """A value that is not known. ``excluded``: values that it is not. Arithmetic and order with it are unknown."""

    __slots__ = ("_empty", "excluded")

    def __init__(self, excluded: Iterable[Value] = (), *, empty: bool = False) -> None:
        self.excluded = frozenset(excluded)
        self._empty = empty

    def _unknown(self, *_: object) -> "Unknown":
        return UNKNOWN

    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __floordiv__ = __getitem__ = _unknown
    __lt__ = __le__ = __gt__ = __ge__ = _unknown

    def __iter__(self) -> "Iterator[Unknown]":
        """An item, as of a list that has some; none of one that is empty."""
        return iter(() if self._empty else (UNKNOWN,))

    def __bool__(self) -> bool:
        return not self._empty

    def __repr__(self) -> str:
        return "unknown"


UNKNOWN = Unknown()
_NO_ITEMS = Unknown(empty=True)


class UnknownLogic(Logic):
    """Connectives over Python values and unknown ones."""

    def all(self, truths: Iterable[Value]) -> Value:
        found: Value = True
        for truth in truths:
            if isinstance(truth, Unknown):
                found = UNKNOWN
            elif not truth:
                return False
        return found

    def any(self, truths: Iterable[Value]) -> Value:
        found: Value = False
        for truth in truths:
            if isinstance(truth, Unknown):
                found = UNKNOWN
            elif truth:
                return True
        return found

    def negate(self, truth: Value) -> Value:
        return truth if isinstance(truth, Unknown) else not truth

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value:
        if not isinstance(condition, Unknown):
            return then if condition else otherwise
        return then if self.equal(then, otherwise) is True else UNKNOWN

    def cases(self, value: Value) -> Sequence[tuple[Value, Value]]:
        return ((UNKNOWN, _NO_ITEMS), (UNKNOWN, UNKNOWN)) if isinstance(value, Unknown) else ((True, value),)

    def equal(self, left: Value, right: Value) -> Value:
        for one, other in ((left, right), (right, left)):
            if isinstance(one, Unknown):
                return False if not isinstance(other, Unknown) and other in one.excluded else UNKNOWN
        if isinstance(left, Record) and isinstance(right, Record):
            return self.all(self.equal(left[name], right[name]) for name in {**left.values, **right.values})
        if isinstance(left, tuple) and isinstance(right, tuple):
            items, others = cast("tuple[Value, ...]", left), cast("tuple[Value, ...]", right)
            same = (self.equal(one, other) for one, other in zip(items, others, strict=False))
            return len(items) == len(others) and self.all(same)
        return left == right

    def undeclared(self, otherwise: Value) -> Value:
        return UNKNOWN

    def quotient(self, number: Value, divisor: int) -> Value:
        return number // divisor

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        return UNKNOWN if any(isinstance(text, Unknown) for text in texts) else function(*texts)


UNKNOWN_LOGIC = UnknownLogic()
