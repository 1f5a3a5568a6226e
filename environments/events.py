"""What a trace is made of: events, and where the arguments of a call come from.

An event is one call with its arguments, its result and whether it succeeded. The five outcomes:

- ``completed``: the tool did what it promises; only completed calls make a plain atom of a rule true;
- ``failed``: the tool answered that it did not succeed (its documented ``success`` result is false), nothing changed;
- ``raised``: the tool raised one of its documented exceptions, nothing changed;
- ``rejected``: the call itself was malformed (unknown tool, missing or ill-typed argument), nothing changed;
- ``shielded``: a shield stood against the call, so it never reached its tool. To the rules it has not happened.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

Json = JsonValue
"""A JSON value as Python holds it. Arguments and results are of this type at every boundary."""

CallOutcome = Literal["completed", "failed", "raised", "rejected", "shielded"]

JsonPath = tuple[str | int, ...]
"""Steps into a JSON value: ``("payees", 0, "payee_id")``."""


@dataclass(frozen=True, slots=True)
class Event:
    """One call as it really happened.

    Attributes:
        tool: name of the tool, as called (a rejected call may name a tool that does not exist).
        arguments: the arguments by parameter name, as JSON values.
        outcome: see the module docstring.
        result: what the tool returned (completed or failed), else None.
        error: ``Name: reason`` of the exception (raised, rejected or shielded), else None.
    """

    tool: str
    arguments: Mapping[str, Json]
    outcome: CallOutcome = "completed"
    result: Json = None
    error: str | None = None

    @property
    def completed(self) -> bool:
        return self.outcome == "completed"


@dataclass(frozen=True, slots=True)
class SaidByUser:
    """The argument is in the user's words."""

    kind: Literal["said"] = "said"


@dataclass(frozen=True, slots=True)
class FromResult:
    """The argument is read from an earlier result: ``path`` into the result of call number ``step`` (from 0)."""

    step: int
    path: JsonPath
    kind: Literal["from_result"] = "from_result"


@dataclass(frozen=True, slots=True)
class FromResults:
    """The argument is a list, and each of its items is read from an earlier result."""

    items: tuple[FromResult, ...]
    kind: Literal["from_results"] = "from_results"


@dataclass(frozen=True, slots=True)
class Derived:
    """The argument follows from the calls before it (the list of audit events); nobody says it."""

    function: str
    kind: Literal["derived"] = "derived"


Origin = SaidByUser | FromResult | FromResults | Derived
"""Where an argument of a reference trace comes from: a trace whose arguments nobody could know is not valid."""
