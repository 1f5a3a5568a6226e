"""A real sandbox for each test module, with small limits that hostile programs reach quickly."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from lawtrace.environments.sandbox import Limits, Program, Raised, Reply, Returned, Sandbox, Toolset
from lawtrace.schemas.attempt_rows import Execution
from lawtrace.schemas.events import Json


def answer(tool: str, arguments: dict[str, Json]) -> Reply:
    """A small call handler: Echo returns its arguments, Refuse and Miscount raise, others are unknown."""
    match tool:
        case "Echo":
            return Returned(arguments)
        case "Refuse":
            return Raised("AuthorizationError", "not granted")
        case "Miscount":
            return Raised("TypeError", "one too many")
        case _:
            return Raised("InvalidArguments", f"there is no tool {tool!r}")


TOOLS = Toolset.untyped(
    "Manager",
    {"Echo": ("first", "second"), "Refuse": (), "Miscount": (), "Missing": ()},
    ("AuthorizationError", "PayeeNotFoundError"),
)


def make(source: str) -> Program:
    return Program(source=source, tools=TOOLS, variables={"user": "Ada", "amounts": [1, 2.5, None]})


@pytest.fixture(scope="module")
def limits() -> Limits:
    """A generous time limit for busy machines; small other limits."""
    return Limits(seconds=30.0, memory_bytes=128 * 2**20, processes=8, output_bytes=2000, calls=12_000)


@pytest.fixture(scope="module")
def sandbox(limits: Limits) -> Iterator[Sandbox]:
    with Sandbox(limits) as opened:
        yield opened


@pytest.fixture(scope="module")
def hasty(limits: Limits) -> Iterator[Sandbox]:
    """A short time limit, for programs that do not end by themselves."""
    with Sandbox(replace(limits, seconds=1.0)) as opened:
        yield opened


@pytest.fixture(scope="module")
def program() -> Callable[[str], Program]:
    return make


@pytest.fixture(scope="module")
def run(sandbox: Sandbox) -> Callable[[str], Execution]:
    """Run a program with the small call handler."""
    return lambda source: sandbox.run(make(source), answer)
