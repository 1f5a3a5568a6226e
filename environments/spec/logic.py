"""Logics: the connectives of terms, for Python values or for solver expressions.

A term is compiled once, against a logic, to a closure. With :class:`Logic` itself the closure maps Python values to
Python values: that is the simulator. With a symbolic logic (``solver/search/smt/symbolic_logic.py``) open values are
solver expressions, and so are results: that is the encoding. Arithmetic and order need no entry here, because Python's
operators work on both.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from lawtrace.environments.spec.types import Value


@dataclass(frozen=True, slots=True, eq=False)
class Cases:
    """A list or an object that depends on open conditions: its values, each with its truth. Exactly one is true."""

    cases: tuple[tuple[Value, Value], ...]


class Logic:
    """Operations on Python values beside Python's operators + - < <= > >=. Other logics override all of them."""

    def all(self, truths: Iterable[Value]) -> Value:
        """Conjunction; true if empty. May stop early."""
        return all(truths)

    def any(self, truths: Iterable[Value]) -> Value:
        """Disjunction; false if empty. May stop early."""
        return any(truths)

    def negate(self, truth: Value) -> Value:
        return not truth

    def choose(self, condition: Value, then: Value, otherwise: Value) -> Value:
        return then if condition else otherwise

    def cases(self, value: Value) -> Sequence[tuple[Value, Value]]:
        """The values that a list or an object can have, each with its truth."""
        return ((True, value),)

    def equal(self, left: Value, right: Value) -> Value:
        return left == right

    def there(self, value: Value) -> Value:
        """A value where it is known to be there."""
        return value

    def undeclared(self, otherwise: Value) -> Value:
        """A value that the declaration leaves open. ``otherwise``: what a simulation takes; same in symbolic logic."""
        return otherwise

    def quotient(self, number: Value, divisor: int) -> Value:
        """The number divided by a positive constant, rounded down."""
        return number // divisor

    def apply(self, function: Callable[..., Value], *texts: Value) -> Value:
        """A Python function of strings (a predicate or a string), tabulated where a string is still open."""
        return function(*texts)


PLAIN = Logic()
"""The logic of Python values."""
