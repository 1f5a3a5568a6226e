"""Python source of a term: one expression, compiled to a function of a scope and of the values of free variables.

A function is several times as fast as nested closures, and terms are evaluated for every row of every call. In the
plain logic, connectives are Python's own. In any other logic they are calls of its methods; conjunctions and
disjunctions evaluate their operands one by one there too, because a logic may stop early.
"""

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from types import CodeType
from typing import Any, Final, Protocol

from lawtrace.environments.spec.logic import PLAIN, Logic
from lawtrace.environments.spec.types import Value

MAX_DEPTH: Final = 30
"""How deeply source is nested. Python's parser has a limit; deeper parts become functions of their own."""
_LITERALS: Final = (bool, int, str, type(None))


class Coded(Protocol):
    """What source is written of: a term."""

    def code(self, code: "TermCode") -> str: ...

    def compile(self, logic: Logic, *variables: Any) -> Callable[..., Value]: ...  # noqa: ANN401


class TermCode:
    """Writes the source of one function.

    Attributes:
        is_plain: whether connectives are Python's own.
    """

    def __init__(self, logic: Logic, variables: Sequence[object]) -> None:
        """`variables`: those that the function takes after the scope, in order."""
        self.is_plain: Final = logic is PLAIN
        self._logic: Final = logic
        self._names: Final[dict[object, str]] = {}
        self._values: Final[dict[str, object]] = {"logic": logic}
        self._depth = 0
        self._parameters: Final = [self._add(variable) for variable in variables]

    def function(self, term: Coded) -> Callable[..., Value]:
        """The function: a scope and the values of the variables to the value of the term."""
        body = term.code(self)
        lines = [f"def term({', '.join(['scope', *self._parameters])}):"]
        lines += ["    arguments = scope.arguments"] * ("arguments[" in body)
        lines += ["    tables = scope.state.tables"] * ("tables[" in body)
        made: dict[str, Any] = {**self._values}
        exec(_compiled("\n".join([*lines, f"    return {body}"])), made)  # noqa: S102 (source from terms alone)
        return made["term"]

    def of(self, term: Coded) -> str:
        """The expression of a subterm."""
        if self._depth == MAX_DEPTH:
            inner = term.compile(self._logic, *self._names)
            return f"{self.constant(inner)}({', '.join(['scope', *self._names.values()])})"
        self._depth += 1
        source = term.code(self)
        self._depth -= 1
        return source

    def constant(self, value: object) -> str:
        """A literal, or the name of a value."""
        if isinstance(value, _LITERALS):
            return repr(value)
        name = f"value_{len(self._values)}"
        self._values[name] = value
        return name

    @contextmanager
    def bound(self, variable: object) -> Generator[str]:
        """The name of a variable that a loop binds, for the subterms in the loop."""
        yield self._add(variable)
        del self._names[variable]

    def variable(self, variable: object) -> str:
        """The name of a variable that an enclosing loop or the caller binds."""
        return self._names[variable]

    def _add(self, variable: object) -> str:
        self._names[variable] = f"bound_{len(self._names)}"
        return self._names[variable]

    def all(self, truths: Sequence[str]) -> str:
        return f"({' and '.join(truths)})" if self.is_plain else f"logic.all({_one_by_one(truths)})"

    def any(self, truths: Sequence[str]) -> str:
        return f"({' or '.join(truths)})" if self.is_plain else f"logic.any({_one_by_one(truths)})"

    def negate(self, truth: str) -> str:
        return f"(not {truth})" if self.is_plain else f"logic.negate({truth})"

    def choose(self, condition: str, then: str, otherwise: str) -> str:
        if self.is_plain:
            return f"({then} if {condition} else {otherwise})"
        return self.call(_choose, condition, f"lambda: {then}", f"lambda: {otherwise}")

    def equal(self, left: str, right: str) -> str:
        return f"({left} == {right})" if self.is_plain else f"logic.equal({left}, {right})"

    def there(self, value: str) -> str:
        """A value that is there, for arithmetic and order."""
        return value if self.is_plain else f"logic.there({value})"

    def quotient(self, number: str, divisor: int) -> str:
        return f"({number} // {divisor})" if self.is_plain else f"logic.quotient({number}, {divisor})"

    def apply(self, function: Callable[..., Value], operands: Sequence[str]) -> str:
        called = self.constant(function)
        if self.is_plain:
            return f"{called}({', '.join(operands)})"
        return f"logic.apply({', '.join([called, *operands])})"

    def call(self, function: Callable[..., Value], *operands: str) -> str:
        """A call of a function that takes the logic first."""
        return f"{self.constant(function)}({', '.join(['logic', *operands])})"

    def some(self, truth: str, each: str) -> str:
        """A disjunction over what a loop makes: `each` is its ``for`` clause."""
        return f"any({truth} {each})" if self.is_plain else f"logic.any({truth} {each})"

    def first(self, condition: str, value: str, each: str, otherwise: str) -> str:
        """The value for the first turn of a loop that meets the condition, else another."""
        if self.is_plain:
            return f"next(({value} {each} if {condition}), {otherwise})"
        return self.call(_first, f"[({condition}, {value}) {each}]", otherwise)


@lru_cache(maxsize=8192)
def _compiled(source: str) -> CodeType:
    return compile(source, "<term>", "exec")


def _one_by_one(truths: Sequence[str]) -> str:
    return f"part() for part in ({', '.join(f'lambda: {truth}' for truth in truths)},)"


def _choose(logic: Logic, condition: Value, then: Callable[[], Value], otherwise: Callable[[], Value]) -> Value:
    """One of two values; what is not chosen is computed only where the condition is open."""
    if isinstance(condition, bool):
        return then() if condition else otherwise()
    return logic.choose(condition, then(), otherwise())


def _first(logic: Logic, candidates: Sequence[tuple[Value, Value]], otherwise: Value) -> Value:
    value = otherwise
    for truth, candidate in reversed(candidates):
        value = logic.choose(truth, candidate, value)
    return value
