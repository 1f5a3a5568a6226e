"""Logics: the connectives of terms, for Python values or for solver expressions.

A term is compiled once, against a logic, to a closure. With :class:`PlainLogic` the closure maps Python values to
Python values: that is the simulator. With a symbolic logic (``solver/smt/symbolic_logic.py``) open values are solver
expressions, and so are results: that is the encoding. Arithmetic and order need no entry here, because Python's
operators work on both.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from lawtrace.environments.spec.types import Value


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """A list or an object that depends on open conditions: its values, each with its truth. Exactly one is true."""

    cases: tuple[tuple[Value, Value], ...]


class Logic(Protocol):
    """Operations on values beside Python's operators + - < <= > >=."""

    def all(self, truths: Iterable[Value]) -> Value:
        """Conjunction; true if empty. May stop early."""
        ...

    def any(self, truths: Iterable[Value]) -> Value:
        """Disjunction; false if empty. May stop early."""
        ...

    def negate(self, truth: Value) -> Value: ...

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value: ...

    def cases(self, value: Value) -> Sequence[tuple[Value, Value]]:
        """The values that a list or an object can have, each with its truth."""
        ...

    def equal(self, left: Value, right: Value) -> Value: ...

    def quotient(self, number: Value, divisor: int) -> Value:
        """The number divided by a positive constant, rounded down."""
        ...

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        """A Python function of strings (a predicate or a string), tabulated where a string is still open."""
        ...


class PlainLogic:
    """The logic of Python values."""

    def all(self, truths: Iterable[Value]) -> Value:
        return all(truths)

    def any(self, truths: Iterable[Value]) -> Value:
        return any(truths)

    def negate(self, truth: Value) -> Value:
        return not truth

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value:
        return then if condition else otherwise

    def cases(self, value: Value) -> Sequence[tuple[Value, Value]]:
        return ((True, value),)

    def equal(self, left: Value, right: Value) -> Value:
        return left == right

    def quotient(self, number: Value, divisor: int) -> Value:
        return number // divisor

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        return function(*texts)


PLAIN = PlainLogic()
