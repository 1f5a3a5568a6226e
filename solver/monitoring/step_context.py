"""The present step of an evaluation, the values of variables in it, and how compiled subformulas look."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from operator import itemgetter
from typing import ClassVar, Protocol, cast

from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.syntax import Formula
from lawtrace.solver.logic.terms import Value, is_value
from lawtrace.solver.monitoring.pending import Status
from lawtrace.solver.monitoring.undo import Track

Key = tuple[Hashable, ...]
"""The values of some variables, as a dictionary key."""


class _Truth:
    """A boolean as a dictionary key: in Python True == 1, in JSON not."""

    __slots__ = ("content",)

    def __init__(self, content: bool) -> None:
        self.content = content


_TRUE, _FALSE = _Truth(True), _Truth(False)


def to_key(value: Scalar) -> Hashable:
    """A value as a dictionary key."""
    return value if value is not True and value is not False else _TRUE if value else _FALSE


def from_key(value: Hashable) -> Scalar:
    """The value of a key."""
    return value.content if isinstance(value, _Truth) else cast("Scalar", value)


def as_key(value: Value) -> Hashable:
    """A value as a dictionary key; None if it cannot be the value of a variable."""
    return to_key(value) if is_value(value) else None


Check = Callable[[], Status]
Generator = Callable[[], Iterator[Status]]


class StepContext:
    """The present step, and the values of variables while it is evaluated.

    Attributes:
        values: by the number of the variable, as key values; only what the running check has bound is meaningful.
    """

    unlogged: ClassVar = frozenset({"events", "numbers", "values"})

    def __init__(self) -> None:
        self.position = -1
        self.time = 0
        self.events: dict[str, list[Event]] = {}
        self.values: list[Hashable] = []
        self.numbers: dict[str, int] = {}

    def clear(self) -> None:
        """Go back to before the first step."""
        self.position = -1
        self.time = 0
        self.events = {}

    def number(self, variable: str) -> int:
        if variable not in self.numbers:
            self.numbers[variable] = len(self.values)
            self.values.append(None)
        return self.numbers[variable]

    def reader(self, variables: Sequence[str]) -> Callable[[], Key]:
        """A function that reads the key of some variables."""
        numbers, values = [self.number(variable) for variable in variables], self.values
        if not numbers:
            return lambda: ()
        if len(numbers) == 1:
            (only,) = numbers
            return lambda: (values[only],)
        get = itemgetter(*numbers)
        return lambda: get(values)

    def writer(self, variables: Sequence[str]) -> Callable[[Key], None]:
        """A function that binds some variables to a key."""
        numbers, values = [self.number(variable) for variable in variables], self.values

        def write(key: Key) -> None:
            for number, value in zip(numbers, key, strict=True):
                values[number] = value

        return write

    def bindings(self, variables: Sequence[str]) -> Callable[[], dict[str, Json]]:
        """A function that reads the values of some variables by name."""
        numbered, values = [(variable, self.number(variable)) for variable in variables], self.values
        return lambda: {name: from_key(values[number]) for name, number in numbered}


class Compiler(Protocol):
    """What tables need of `lawtrace.solver.monitoring.evaluation`."""

    @property
    def track(self) -> Track: ...

    @property
    def context(self) -> StepContext: ...

    def compile_check(self, formula: Formula, bound: frozenset[str]) -> Check: ...

    def compile_generator(self, formula: Formula, bound: frozenset[str]) -> Generator: ...

    def compile_finder(self, formula: Formula) -> Generator | None: ...
