"""A real jail for each test module, with limits small enough for hostile programs to meet them soon."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from lawtrace.environments.events import Json
from lawtrace.environments.sandbox import Execution, Jail, Limits, Program, Raised, Reply, Returned, Toolset


def answer(tool: str, arguments: dict[str, Json]) -> Reply:
    """A small judge: Echo returns its arguments, Refuse raises what is documented, all else is not a tool."""
    match tool:
        case "Echo":
            return Returned(arguments)
        case "Refuse":
            return Raised("AuthorizationError", "not granted")
        case _:
            return Raised("InvalidArguments", f"there is no tool {tool!r}")


TOOLS = Toolset.untyped(
    "Manager",
    {"Echo": ("first", "second"), "Refuse": (), "Missing": ()},
    ("AuthorizationError", "PayeeNotFoundError"),
)


def make(source: str) -> Program:
    return Program(
        source=source,
        tools=TOOLS,
        variables={"user": "Ada", "amounts": [1, 2.5, None]},
    )


@pytest.fixture(scope="module")
def limits() -> Limits:
    """Time enough on a busy machine; the rest is soon met."""
    return Limits(seconds=30.0, memory_bytes=128 * 2**20, processes=8, output_bytes=2000, calls=12_000)


@pytest.fixture(scope="module")
def jail(limits: Limits) -> Iterator[Jail]:
    with Jail(limits) as opened:
        yield opened


@pytest.fixture(scope="module")
def hasty(limits: Limits) -> Iterator[Jail]:
    """For programs that would not end by themselves."""
    with Jail(replace(limits, seconds=1.0)) as opened:
        yield opened


@pytest.fixture(scope="module")
def program() -> Callable[[str], Program]:
    return make


@pytest.fixture(scope="module")
def run(jail: Jail) -> Callable[[str], Execution]:
    """Run a program with the small judge."""
    return lambda source: jail.run(make(source), answer)
