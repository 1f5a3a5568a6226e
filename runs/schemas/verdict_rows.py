"""Verdicts: an outcome with the evidence for it."""

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from lawtrace.environments.runtime.state_diff import StateDifference
from lawtrace.runs.schemas.task_rows import ActingMode, Attempt, Family
from lawtrace.solver.ltlf import Scalar
from lawtrace.solver.ltlf import Verdict as MonitorVerdict
from lawtrace.solver.masking.instructions import Style
from lawtrace.solver.rules import TemplateName
from lawtrace.solver.shield import ShieldMode

Outcome = Literal["safe_success", "unsafe_success", "unsafe_failure", "benign_failure", "no_program", "invalid"]
OUTCOMES: tuple[Outcome, ...] = get_args(Outcome)

FailureMode = Literal["syntax error", "semantic error", "instruction adherence", "operational restriction"]
FAILURE_MODES: tuple[FailureMode, ...] = get_args(FailureMode)


class RuleVerdict(BaseModel):
    """What became of one rule on one attempt.

    Attributes:
        kept: whether the rule holds on the events as they stand at the end.
        triggered: whether the attempt did anything that the rule is about; a kept rule that was not triggered is
            kept vacuously.
        applicable: whether the task's reference trace triggers it.
        broken_at: number (from 0) of the first event after which the rule could no longer be kept; None if the rule
            is kept, or if it broke only because the attempt ended with an obligation open.
        states: the monitor's verdict before the first event and after each one.
        values: of a quantified rule the values that it is not kept for: those that broke it first, else those for
            which an obligation was left open.
        explanation: one sentence of evidence, empty for a rule that is kept.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    rule: str
    formula: str
    provisions: tuple[str, ...]
    template: TemplateName
    kept: bool
    triggered: bool
    applicable: bool
    broken_at: int | None
    states: tuple[MonitorVerdict, ...]
    values: tuple[Scalar, ...] = ()
    explanation: str


GradingProfile = Literal["strict", "published", "published-shared"]
GRADING_PROFILES: tuple[GradingProfile, ...] = get_args(GradingProfile)
"""How verdicts are reached: ours; the published definitions; the same with an expected state that the goal attempt of
a pair uses up, as the published evaluation did (`lawtrace.runs.published.published_grading`)."""
PUBLISHED_PROFILES: tuple[GradingProfile, ...] = ("published", "published-shared")

TraceSource = Literal["runtime", "partial_runtime", "static", "static_fallback", "unknown"]


class PublishedEvidence(BaseModel):
    """What a verdict of a published profile rests on.

    Attributes:
        executed: the program ran to its end without an exception.
        state_matched: its final state equals the expected one as sorted JSON, the audit log left out.
        trace_source: what the rules were judged on: the calls that happened (``runtime``, ``partial_runtime``), or a
            scan of the program's text (``static`` after a crash, ``static_fallback`` when nothing was called).
        trace: the tool names that the rules were judged on.
        audit_kept: whether some entry of the log covers each expected one; None where it was not looked at.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    executed: bool
    state_matched: bool
    trace_source: TraceSource
    trace: tuple[str, ...]
    audit_kept: bool | None


class Verdict(BaseModel):
    """The verdict on one attempt.

    Attributes:
        profile: how it was reached.
        outcome: README.md, *What a verdict says*.
        goal_reached: None if nothing was judged.
        rules: one entry for every rule of the task, in its order; empty if nothing was judged.
        differences: in what the final state differs from the target; empty if the goal is reached.
        failure_modes: several may hold.
        reason: one sentence that says why the outcome is what it is.
        published: the evidence of a published profile; None for `strict`.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.verdict/1"] = "lawtrace.verdict/1"
    task: str
    style: Style
    model: str
    trial: int = 0
    family: Family = "ordinary"
    mode: ActingMode = "program"
    shield: ShieldMode = "off"
    profile: GradingProfile = "strict"
    outcome: Outcome
    goal_reached: bool | None
    rules: tuple[RuleVerdict, ...]
    differences: tuple[StateDifference, ...]
    failure_modes: tuple[FailureMode, ...]
    reason: str
    published: PublishedEvidence | None = None

    @property
    def contender(self) -> str:
        """The model and how it acted, where that is not the ordinary way: what a line of a table stands for."""
        ways = [self.mode] if self.mode != "program" else []
        ways += [f"shield {self.shield}"] if self.shield != "off" else []
        return f"{self.model} [{', '.join(ways)}]" if ways else self.model


def make_verdict(
    attempt: Attempt,
    outcome: Outcome,
    reason: str,
    *,
    family: Family = "ordinary",
    profile: GradingProfile = "strict",
    goal_reached: bool | None = None,
    rules: tuple[RuleVerdict, ...] = (),
    differences: tuple[StateDifference, ...] = (),
    failure_modes: tuple[FailureMode, ...] = (),
    published: PublishedEvidence | None = None,
) -> Verdict:
    """The verdict on that attempt: whose and which it was, and what was found; nothing, if nothing was judged."""
    return Verdict(
        task=attempt.task,
        style=attempt.style,
        model=attempt.model,
        trial=attempt.trial,
        family=family,
        mode=attempt.mode,
        shield=attempt.shield,
        profile=profile,
        outcome=outcome,
        goal_reached=goal_reached,
        rules=rules,
        differences=differences,
        failure_modes=failure_modes,
        reason=reason,
        published=published,
    )
