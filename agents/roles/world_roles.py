"""The roles that write an environment for given tools, and their structured answers."""

from typing import Literal

from pydantic import BaseModel

from lawtrace.agents.participants import Objections, Role
from lawtrace.schemas.models import FrozenModel

SentenceKind = Literal["rule", "manual", "question", "not sayable"]
"""*manual*: how to work, which no rule judges; *question*: careful lawyers differ; *not sayable*: no call shows it."""


class DraftPart(FrozenModel):
    """A part of an `environment.toml`: the tables, or some tools. A part of the same name replaces it."""

    name: str
    toml: str


class ClassedSentence(FrozenModel):
    """What a sentence of the policy is."""

    citation: str
    kind: SentenceKind
    because: str = ""


class WorldDraft(FrozenModel):
    """The parts that are new or changed. ``later``: the tools that the next answer declares."""

    parts: tuple[DraftPart, ...] = ()
    later: tuple[str, ...] = ()
    sentences: tuple[ClassedSentence, ...] = ()


class DraftReport(FrozenModel):
    """What code finds in a draft.

    Attributes:
        declaration: the whole file.
        errors: why it cannot be used.
        findings: of `lawtrace env check`.
        differences: the first between recorded calls and those that the draft carries out.
        undeclared: what was recorded and the draft does not declare, with how often.
        equal, recorded: how many of the recorded fields are equal; those that cannot be known are not counted.
    """

    declaration: str
    errors: tuple[str, ...] = ()
    findings: tuple[str, ...] = ()
    differences: tuple[str, ...] = ()
    undeclared: tuple[str, ...] = ()
    equal: int = 0
    recorded: int = 0

    @property
    def score(self) -> tuple[bool, int, int, float]:
        """Greater is better: whether it loads, the percents of recorded fields that are equal, findings, the share.

        A finding says where it is and what to do, so a user can correct it; a wrong effect has to be found first.
        Within a percent a finding counts more, since it may make tasks impossible.
        """
        share = self.equal / self.recorded if self.recorded else 0.0
        return not self.errors, int(100 * share), -len(self.findings), share

    @property
    def is_clean(self) -> bool:
        return not (self.errors or self.findings or self.differences)

    def told(self) -> str:
        """The report for a model, without the file."""
        parts = {
            "Errors, to be corrected first:": self.errors,
            "Findings:": self.findings,
            "First differences from recorded calls (here: what the draft computes):": self.differences,
            "Recorded, and not declared:": self.undeclared,
        }
        told = ["\n".join([title, *(f"- {line}" for line in lines)]) for title, lines in parts.items() if lines]
        if self.recorded:
            told.append(f"{self.equal} of {self.recorded} recorded fields are equal.")
        return "\n\n".join(told) or "No errors and no findings."


def _read_by_writer(content: BaseModel | str) -> str | None:
    match content:
        case str():
            return content
        case DraftReport():
            return content.told()
        case Objections(objections=objections) if objections:
            return "The critic objects:\n" + "\n".join(f"- {one}" for one in objections)
        case _:
            return None


def _read_by_critic(content: BaseModel | str) -> str | None:
    if not isinstance(content, DraftReport) or content.errors:
        return None
    return f"The draft:\n\n```toml\n{content.declaration}```\n\nWhat code found:\n\n{content.told()}"


WORLD_WRITER = Role("world_writer", WorldDraft, message_filter=_read_by_writer)
"""Writes the declaration, and says what each sentence of the policy is."""
WORLD_CRITIC = Role("world_critic", Objections, message_filter=_read_by_critic, stateful=False)
"""Objects to a draft."""
