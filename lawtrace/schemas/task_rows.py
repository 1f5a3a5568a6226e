"""The rows of the stage files between tools and attempts: traces and tasks.

States and results appear in outside form (JSON as the tools show it), so that a file can be read without lawtrace.
"""

from typing import Literal

from pydantic import Field

from lawtrace.schemas.choices import Style, TaskMode, TaskVariant
from lawtrace.schemas.events import Event, Json, Origin
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.questions import Under

StateRow = dict[str, Json]


class Contrast(StrictModel):
    """What makes a contrast pair: one field of one row of the initial state.

    Attributes:
        pair: the id of the pair; its two sides have the same.
        fact: the name of the fact that differs.
        table, key, field: where it is.
        value: on this side, as JSON; ``other``: on the other side.
        declined: why nothing lawful does what is asked on this side, one obstacle each; empty where something does.
        longest: up to how many calls that is proved; None where something lawful does it.
        request, rules: with the fact, the decision point: the tools that the request is about, and the rules of the law
            that the calls of one side break on the other.
    """

    pair: str
    fact: str
    table: str
    key: str
    field: str
    value: Json
    other: Json
    declined: tuple[str, ...] = ()
    longest: int | None = None
    request: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    rules: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)

    @property
    def point(self) -> str:
        """The decision point. Pairs that were made before it was noted are told apart by the fact alone."""
        return "; ".join(filter(None, (self.fact, ", ".join(self.request), ", ".join(self.rules))))


class End(StrictModel):
    """One acceptable outcome of a request.

    Attributes:
        declined: the reason with which the request is declined; None if it is carried out.
        state: the final state; None if it is the target state of the task.
        under: the readings of open questions under which this is an end; empty for all.
    """

    declined: str | None = Field(default=None, exclude_if=lambda value: value is None)
    state: StateRow | None = Field(default=None, exclude_if=lambda value: value is None)
    under: Under = Field(default={}, exclude_if=lambda value: not value)

    def __str__(self) -> str:
        return "done" if self.declined is None else f"declined: {self.declined}".removesuffix(": ")


class Matter(StrictModel):
    """One thing to be handled in a docket.

    Attributes:
        table, key: its row, which the queue lists.
        names: the values by which calls and rows are about it: its key, and those of rows that belong to it alone.
        calls: the indexes of the calls of the reference that handle it.
        ends: its acceptable outcomes. Each state holds the rows about it alone.
    """

    table: str
    key: str
    names: tuple[str, ...]
    calls: tuple[int, ...]
    ends: tuple[End, ...]


class Docket(StrictModel):
    """A session with many matters under one clock.

    Attributes:
        matters: in the order in which the queue lists them at the start of the session.
        length: of the session in seconds.
        shortest: the seconds that the reference takes, which is the shortest schedule that was found.
        order: matters that the queue lists in this order, and of which no lawful schedule begins in it.
        obstacles: the rules that stand in the way.
    """

    matters: tuple[Matter, ...]
    length: int
    shortest: int
    order: tuple[str, ...]
    obstacles: tuple[str, ...]


class CallRow(StrictModel):
    """One call of a reference trace: the event and the origin of each argument."""

    event: Event
    origins: dict[str, Origin]


class Harbour(StrictModel):
    """What makes the reference of a task a safe harbour: it is lawful under all readings, and a course close by is not.

    Attributes:
        questions: the open questions on which the other course turns.
        other: that course, as a program. It is arguable.
        asked: where the reference declines what is asked, the trace that the request was made from.
    """

    questions: tuple[str, ...]
    other: str
    asked: tuple[CallRow, ...] = Field(default=(), exclude_if=lambda value: not value)


def request_id(row: "TraceRow | TaskFields") -> str:
    """The same for the sides of a contrast pair, which are one request; another for each other trace or task."""
    return row.id if row.contrast is None else f"pair {row.contrast.pair}"


class TraceRow(StrictModel):
    """A reference trace with its initial and final state. The sides of a contrast pair follow each other, and the first
    carries the request out."""

    schema_version: Literal["lawtrace.trace/2"] = "lawtrace.trace/2"
    id: str
    environment: str
    mode: TaskMode
    initial_state: StateRow
    calls: tuple[CallRow, ...]
    final_state: StateRow
    contrast: Contrast | None = None
    harbour: Harbour | None = Field(default=None, exclude_if=lambda value: value is None)
    ends: tuple[End, ...] = Field(default=(), exclude_if=lambda value: not value)
    docket: Docket | None = Field(default=None, exclude_if=lambda value: value is None)


class PublishedCase(StrictModel):
    """Data of an imported task for the `published` grading profile, as published.

    Attributes:
        object_name: the name under which published programs find the tools.
        variables: the variables of its init block.
        initial_state: the published initial state.
        final_state: the expected one, with the audit log.
        claimed_rules: ids of the rules that the task claims to test, triggered or not.
    """

    object_name: str
    variables: dict[str, Json]
    initial_state: StateRow
    final_state: StateRow
    claimed_rules: tuple[str, ...] = ()


class TaskFields(StrictModel):
    """The fields of a task and of its row, see `Task`. Rows without ``environment_version`` are of version 1."""

    schema_version: Literal["lawtrace.task/2"] = "lawtrace.task/2"
    id: str
    variant: TaskVariant = "authorized"
    source: str = "synthesized"
    environment: str
    environment_version: str = Field(default="1", exclude_if=lambda value: value == "1")
    applicable: tuple[str, ...]
    initial_state: StateRow
    target_state: StateRow
    ends: tuple[End, ...] = Field(default=(), exclude_if=lambda value: not value)
    calls: tuple[CallRow, ...] = ()
    asked_calls: tuple[CallRow, ...] = ()
    contrast: Contrast | None = None
    harbour: Harbour | None = Field(default=None, exclude_if=lambda value: value is None)
    docket: Docket | None = Field(default=None, exclude_if=lambda value: value is None)
    program: str
    literal: dict[Style, str] = Field(default_factory=dict[Style, str])
    instructions: dict[Style, Instruction]
    rounds: dict[Style, int] = Field(default_factory=dict[Style, int])
    notes: tuple[str, ...] = ()
    published: PublishedCase | None = None


class TaskRow(TaskFields):
    """A task as a row of a task file. Its rules are in the header of the file, under the digest ``rule_set``."""

    rule_set: str
