"""The connectives that terms are built from, for one carrier of values.

A term is compiled once, against a logic, to a closure. With :class:`PlainLogic` the closure takes Python values and
gives Python values: that is the simulator. With a symbolic logic (``solver/smt/symbolic_logic.py``) it takes solver
expressions where something is open and gives solver expressions: that is the encoding. Arithmetic and order need no
entry here, because Python's operators work on both carriers.
"""

from collections.abc import Callable, Iterable
from typing import Protocol

from lawtrace.environments.spec.types import Value


class Logic(Protocol):
    """What a carrier of values must offer beside Python's own operators + - < <= > >=."""

    def all(self, truths: Iterable[Value]) -> Value:
        """True if every one is; true for none. Need not look at all of them."""
        ...

    def any(self, truths: Iterable[Value]) -> Value:
        """True if at least one is; false for none. Need not look at all of them."""
        ...

    def negate(self, truth: Value) -> Value: ...

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value: ...

    def equal(self, left: Value, right: Value) -> Value: ...

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        """A Python function of strings (a predicate or a string), tabulated where a string is still open."""
        ...


class PlainLogic:
    """Python values in, Python values out."""

    def all(self, truths: Iterable[Value]) -> Value:
        return all(truths)

    def any(self, truths: Iterable[Value]) -> Value:
        return any(truths)

    def negate(self, truth: Value) -> Value:
        return not truth

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value:
        return then if condition else otherwise

    def equal(self, left: Value, right: Value) -> Value:
        return left == right

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        return function(*texts)


PLAIN = PlainLogic()
