"""How users put calls into words: what the offline instruction generator writes with, declared beside each tool."""

from collections.abc import Mapping
from dataclasses import dataclass

from lawtrace.environments.events import Json


@dataclass(frozen=True, slots=True)
class Phrases:
    """How a user puts a call of the tool into words.

    ``{name}`` stands for an argument; a looked-up one appears as the ``thing`` of its look-up. ``[name: words]``
    appears only if that argument is given and, for a truth, true. The offline instruction generator writes with them.

    Attributes:
        step: a business step, as an order.
        outcome: the change of state as a fact wished for, for calls that change what a goal is about.
        thing: what a look-up finds or a call makes, as a noun phrase.
    """

    step: str
    outcome: str | None = None
    thing: str | None = None

    def of(self, arguments: Mapping[str, Json]) -> "Phrases":
        """The phrases of a call with these arguments."""
        return self

    @property
    def variants(self) -> Mapping[str, "Phrases"]:
        """The phrases for every value that they depend on."""
        return {"": self}

    @property
    def texts(self) -> tuple[str, ...]:
        return (self.step, self.outcome or "", self.thing or "")


@dataclass(frozen=True, slots=True)
class PhrasesBy:
    """Phrases that depend on the value of an argument: an appointment is viewed, or moved, or cancelled."""

    parameter: str
    cases: Mapping[str, Phrases]

    def of(self, arguments: Mapping[str, Json]) -> Phrases:
        """The phrases of a call with these arguments."""
        return self.cases[str(arguments[self.parameter])]

    @property
    def variants(self) -> Mapping[str, Phrases]:
        """The phrases for every value that they depend on."""
        return self.cases

    @property
    def texts(self) -> tuple[str, ...]:
        return (f"{{{self.parameter}}}", *(text for phrases in self.cases.values() for text in phrases.texts))
