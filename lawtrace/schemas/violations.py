"""Violations of a rule, with the events that decide them, and what a monitor says after each event."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

Scalar = bool | int | float | str
"""A literal, or a value of a variable."""

Verdict = Literal["satisfied", "violated", "holding", "open"]


TemplateName = Literal["operational restriction", "instruction adherence", "general"]


Role = Literal[
    "occasion",
    "happened",
    "different",
    "interruption",
    "missing",
    "too old",
    "too recent",
    "too soon",
    "too late",
    "counted",
    "comparison",
    "due",
]
"""What a piece of evidence is for the rule:

    occasion        the step that the rule is about
    happened        something true at another step
    different       a step that is not what the rule asks for
    interruption    the step that ends what had to go on
    missing         there is no such step in the window
    too old, ...    such a step, outside the window
    counted         the events of an aggregate, with its value
    comparison      a comparison of values
    due             what the future decides, until the end of the window
"""

NameSteps = Callable[[Sequence[int]], str]
"""Names the steps with these indexes, in words: ``call 3``, ``calls 1, 2 and 6``."""


@dataclass(frozen=True, slots=True)
class Evidence:
    """One reason for a violation.

    Attributes:
        role: see `Role`.
        text: what is true or missing, as a formula.
        steps: indexes of the steps, from 0.
        start: the first second of the window, None without a bound.
        end: the last one: for a duty its deadline.
    """

    role: Role
    text: str
    steps: tuple[int, ...] = ()
    start: int | None = None
    end: int | None = None

    @property
    def window(self) -> str:
        """The window in words; empty without bounds."""
        begin = "" if self.start is None else f"from {format_time(self.start)}"
        end = "" if self.end is None else f"{'to' if begin else 'until'} {format_time(self.end)}"
        return f"{begin} {end}".strip()

    def sentence(self, name_steps: NameSteps) -> str:
        """In words. `name_steps`: what steps are called."""
        steps = name_steps(self.steps) if self.steps else ""
        window = f" {self.window}" if self.window else ""
        match self.role:
            case "missing":
                return f"no {self.text}{window}"
            case "due":
                return f"{self.text} is due" + ("" if self.end is None else f" by {format_time(self.end)}")
            case "comparison":
                return self.text
            case "counted":
                return f"{self.text} [{steps}]" if steps else self.text
            case "different":
                return f"{steps} is not {self.text}"
            case "occasion" | "happened":
                return f"{steps} is {self.text}"
            case _:
                return f"{steps} is {self.text}: {self.role}"


@dataclass(frozen=True, slots=True)
class ExplainedViolation:
    """One way in which a trace breaks a rule, or may still break it.

    Attributes:
        step: index of the step at which the rule is false, from 0.
        time: its time in seconds, if known.
        values: of the variables of the rule.
        certain: index of the step from which the violation was certain; None if only the end of the trace made it so.
        evidence: why.
    """

    step: int
    time: int | None
    values: dict[str, Scalar]
    certain: int | None
    evidence: tuple[Evidence, ...]

    def sentence(self, name_steps: NameSteps) -> str:
        """The object, the step, and why; see `Evidence.sentence`."""
        named = ", ".join(f"{key} = {format_value(value)}" for key, value in self.values.items())
        parts = [found.sentence(name_steps) for found in self.evidence]
        parts = parts or [f"the rule is not kept at {name_steps([self.step])}"]
        return (f"for {named}: " if named else "") + "; ".join(dict.fromkeys(parts))


def format_time(time: int) -> str:
    """A date in UTC, if the time is likely to count from 1970."""
    return f"{datetime.fromtimestamp(time, UTC):%Y-%m-%d %H:%M:%S}" if 10**8 <= time < 10**11 else f"{time} s"


def format_value(value: object) -> str:
    """A value in a sentence: texts quoted, whole numbers without a point."""
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return f'"{value}"' if isinstance(value, str) else str(value)
