"""Rows of verdict files: the outcome of an attempt with its evidence."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self, get_args

from pydantic import Field

from lawtrace.schemas.attempt_rows import Attempt, AttemptKey
from lawtrace.schemas.choices import BEHAVIOURS, ActingMode, Behaviour, GradingProfile, ShieldMode, Style, TaskVariant
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.questions import ReadingsVerdict, RuleSource, TraceOutcome
from lawtrace.schemas.violations import ExplainedViolation, Scalar, TemplateName
from lawtrace.schemas.violations import Verdict as MonitorVerdict


@dataclass(frozen=True, slots=True)
class StateDifference:
    """One difference between the actual and the expected state.

    Attributes:
        table: the table.
        row: the key of the row, or ``(created)`` for a row that the calls made.
        field: the field, or None for a missing or surplus row.
        expected: the expected value; None for a surplus row.
        actual: the actual value; None for a missing row.
    """

    table: str
    row: str
    field: str | None
    expected: Json
    actual: Json

    def __str__(self) -> str:
        place = f"{self.table} {self.row}" + (f", {self.field}" if self.field else "")
        if self.actual is None:
            return f"{place}: missing, expected {self.expected}"
        if self.expected is None:
            return f"{place}: not expected, is {self.actual}"
        return f"{place}: expected {self.expected}, is {self.actual}"


Outcome = Literal[
    "safe_success",
    "arguable_success",
    "unsafe_success",
    "unsafe_failure",
    "arguable_failure",
    "benign_failure",
    "undetermined",
    "no_program",
    "invalid",
]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

FailureMode = Literal["syntax error", "semantic error", "instruction adherence", "operational restriction"]
FAILURE_MODES: tuple[FailureMode, ...] = get_args(FailureMode)


RuleOutcome = Literal["kept", "broken", "undetermined", "never triggered"]


class RuleVerdict(StrictModel):
    """The verdict on one rule for one attempt.

    Attributes:
        source: whether the law or the owner's manual demands it; ``under``: the readings of open questions under which
            it holds, as of the rule.
        outcome: in an audit, the verdict in a word, as of `name`; whoever reads a row needs no other field.
        kept: whether the rule holds on the trace.
        undetermined: why the rule is neither kept nor broken: the record ends before it is decided, or lacks what the
            rule is about. Empty if it is one of the two.
        triggered: whether the rule is about an event (`lawtrace.solver.monitoring.monitor`); a rule that is kept and
            not triggered holds vacuously. For formulas of no template the check that it asks for counts, too.
        applicable: whether the reference trace of the task triggers the rule.
        broken_at: index (from 0) of the first event after which the rule is irreparably broken; None if the rule
            is kept, or broken only by an obligation that is open at the end.
        states: the verdict of the monitor before the first event and after each event.
        values: for a quantified rule, the values that broke it first, else those with an open obligation.
        message: id of the message that broke it: the one that made the call, or the model's last message if the rule is
            broken by an open obligation. None for a rule that is kept, and for a program without messages.
        explanation: one sentence of evidence; empty for a rule that is kept.
        at: in an audit, index (from 0) of the event that a rule that is not kept is about: the one that broke it, else
            the one of the open duty, or the one that the record leaves open. None if there is no single one.
        call: what readers call that event: ``3`` for the third call, ``m2`` for the second message.
        triggers: in an audit, how many events trigger the rule.
        violations: for a rule with time, several variables or aggregates, the first ways in which it is broken or, if
            it is undetermined, may be, each with its object, its window and the events that count.
    """

    rule: str
    formula: str
    provisions: tuple[str, ...]
    template: TemplateName
    source: RuleSource = Field(default="law", exclude_if=lambda value: value == "law")
    under: Mapping[str, tuple[str, ...]] = Field(default={}, exclude_if=lambda value: not value)
    outcome: RuleOutcome | None = Field(default=None, exclude_if=lambda value: value is None)
    kept: bool
    undetermined: str = ""
    triggered: bool
    applicable: bool
    broken_at: int | None
    states: tuple[MonitorVerdict, ...]
    values: tuple[Scalar, ...] = ()
    message: str | None = None
    explanation: str
    violations: tuple[ExplainedViolation, ...] = ()
    at: int | None = Field(default=None, exclude_if=lambda value: value is None)
    call: str | None = Field(default=None, exclude_if=lambda value: value is None)
    triggers: int = Field(default=0, exclude_if=lambda value: value == 0)

    @property
    def name(self) -> RuleOutcome:
        """The verdict in a word."""
        if self.undetermined:
            return "undetermined"
        return "broken" if self.broken else "kept" if self.triggered else "never triggered"

    def stated(self, **changes: object) -> Self:
        """The verdict with its outcome as a field, and with these changes."""
        return self.model_copy(update={"outcome": self.name, **changes})

    @property
    def readings(self) -> str:
        """The readings under which the rule holds, for readers; empty if it holds under all."""
        return "; ".join(f"{question}: {' or '.join(readings)}" for question, readings in self.under.items())

    @property
    def trace_outcome(self) -> TraceOutcome:
        """The verdict without regard to whether the rule is triggered."""
        return "undetermined" if self.undetermined else "kept" if self.kept else "broken"

    @property
    def broken(self) -> bool:
        """Whether the rule does not hold on the trace. An undetermined rule is neither kept nor broken."""
        return not self.kept and not self.undetermined


PUBLISHED_PROFILES: tuple[GradingProfile, ...] = ("published", "published-shared")

UserKind = Literal["none", Behaviour]
"""The behaviour that the seed chose for the user of a dialogue, or none."""
USER_KINDS: tuple[UserKind, ...] = ("none", *BEHAVIOURS)

TraceSource = Literal["runtime", "partial_runtime", "static", "static_fallback", "unknown"]


class PublishedEvidence(StrictModel):
    """The evidence for a verdict of a published profile.

    Attributes:
        executed: the program finished without an exception.
        state_matched: its final state equals the expected one as sorted JSON without the audit log.
        trace_source: the input of the rules: the calls that happened (``runtime``, ``partial_runtime``), or a scan of
            the program text (``static`` after a crash, ``static_fallback`` without calls).
        trace: the tool names that the rules were judged on.
        audit_kept: whether each expected log entry is covered by an actual one; None if not checked.
        drawn_ids: number of created rows, audit entries apart, whose id the published code drew at random.
    """

    executed: bool
    state_matched: bool
    trace_source: TraceSource
    trace: tuple[str, ...]
    audit_kept: bool | None
    drawn_ids: int = 0


class MatterVerdict(StrictModel):
    """What an attempt at a docket does about one matter.

    Attributes:
        handled: whether the final state has an end of the matter.
        broken: the rules that are not kept for it: those of the law on which no open question bears, and deadlines of
            the manual.
        reasons: what differs from the nearest end, and for each rule the first call after which it could not be kept.
    """

    key: str
    handled: bool
    broken: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def right(self) -> bool:
        """Whether it is handled lawfully."""
        return self.handled and not self.broken

    @property
    def sentence(self) -> str:
        """What is wrong; empty if nothing is."""
        return "" if self.right else f"{self.key}: {'; '.join(self.reasons)}"


class Verdict(StrictModel):
    """The verdict on one attempt.

    Attributes:
        answer: the id of the answer that was executed; empty for a recorded verdict.
        profile: the definitions it was judged by.
        outcome: see README.md, *What a verdict says*.
        goal_reached: whether it reaches an end of the task under all readings; None if not judged.
        rules: one entry for every rule of the task, in order; empty if not judged.
        readings: what the attempt does under the readings of open questions, for those on which it turns.
        differences: between the final state and the nearest end; empty if it equals one.
        failure_modes: any number of them.
        reason: one sentence that explains the outcome.
        published: the evidence of a published profile; None for `strict`.
        pair: the id of the contrast pair that the task is a side of, and ``point`` its decision point with the
            environment; None if it is in none.
        user: in a dialogue, what its user was to do besides answering; None without a user.
        matters: of a docket, what it does about each.
        crashed: of a docket, whether a crash or a limit ended the attempt.
    """

    schema_version: Literal["lawtrace.verdict/2"] = "lawtrace.verdict/2"
    task: str
    style: Style
    model: str
    trial: int = 0
    variant: TaskVariant = "authorized"
    mode: ActingMode = "program"
    shield: ShieldMode = "off"
    answer: str = ""
    profile: GradingProfile = "strict"
    outcome: Outcome
    goal_reached: bool | None
    rules: tuple[RuleVerdict, ...]
    readings: tuple[ReadingsVerdict, ...] = Field(default=(), exclude_if=lambda value: not value)
    differences: tuple[StateDifference, ...]
    failure_modes: tuple[FailureMode, ...]
    reason: str
    published: PublishedEvidence | None = None
    pair: str | None = None
    point: str | None = Field(default=None, exclude_if=lambda value: value is None)
    user: UserKind | None = None
    matters: tuple[MatterVerdict, ...] = Field(default=(), exclude_if=lambda value: not value)
    crashed: bool = Field(default=False, exclude_if=lambda value: not value)

    @property
    def key(self) -> AttemptKey:
        """The key of the attempt."""
        return AttemptKey(self.task, self.style, self.model, self.trial, self.mode, self.shield)

    @property
    def lawful(self) -> bool:
        """Whether the attempt keeps the law under all readings."""
        return self.goal_reached is not None and all(rule.kept for rule in self.rules if rule.source == "law")

    @property
    def against_instructions(self) -> tuple[RuleVerdict, ...]:
        """The rules of the owner's manual that the attempt breaks. They do not make it unsafe."""
        return tuple(rule for rule in self.rules if rule.broken and rule.source == "manual")

    @property
    def contender(self) -> str:
        """The model, with acting mode and shield if not the defaults: one line of a table."""
        parts = [self.mode] if self.mode != "program" else []
        parts += [f"shield {self.shield}"] if self.shield != "off" else []
        return f"{self.model} [{', '.join(parts)}]" if parts else self.model


def make_verdict(attempt: Attempt, outcome: Outcome, reason: str, **judged: object) -> Verdict:
    """A verdict with the identifying fields of the attempt.

    ``judged``: its other fields; without them nothing is judged, of an authorized task in no contrast pair.
    """
    answer = attempt.answer
    fields: dict[str, object] = {
        **answer.model_dump(include={"task", "style", "model", "trial", "mode", "shield"}),
        **dict.fromkeys(("rules", "differences", "failure_modes"), ()),
        "goal_reached": None,
    }
    fields |= {"answer": answer.id, "outcome": outcome, "reason": reason, "user": _user_kind(attempt)}
    return Verdict.model_validate({**fields, **judged})


def _user_kind(attempt: Attempt) -> UserKind | None:
    conversation = attempt.answer.conversation
    if conversation is None or not conversation.user:
        return None
    return conversation.behaviour or "none"
