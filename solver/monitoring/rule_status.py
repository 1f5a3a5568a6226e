"""What the monitor of one rule says of it, however it follows the rule."""

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from lawtrace.schemas.questions import TraceOutcome
from lawtrace.schemas.violations import Scalar, Verdict

UNTIMED: Final = "the rule is about time, and an event has none"
"""Why a rule is not decided."""

FinalStatus = Literal["kept", "broken", "left_open", "not_due"]
"""A rule at the end of a trace: kept; irreparably broken by some event; with an open obligation; or with an obligation
whose deadline the end of the session does not reach."""

OUTCOMES: Final[Mapping[FinalStatus, TraceOutcome]] = {
    "kept": "kept",
    "broken": "broken",
    "left_open": "broken",
    "not_due": "undetermined",
}
"""What a complete trace does to a rule."""


@dataclass(frozen=True, slots=True)
class Violation:
    """One way in which a trace breaks a rule.

    Attributes:
        position: the step at which the rule is false, from 0.
        values: of the variables of its quantifiers.
        certain: the step from which the violation was certain; None if only the end of the trace made it so.
    """

    position: int
    values: tuple[tuple[str, Scalar], ...]
    certain: int | None


@dataclass(frozen=True, slots=True)
class RuleStatus:
    """The status of one rule after the events so far.

    Attributes:
        verdict: the verdict of its state; for a quantified rule, over all values.
        triggered: whether the rule was triggered, see `lawtrace.solver.monitoring.monitor`.
        first_irreparable: index of the first event after which a violation was certain, None before that. A rule that
            no trace keeps is violated from the beginning without such an event.
        ending: the decision if the trace ends here.
        values: for a quantified rule the values for which it is not kept: those that broke first, else those with an
            open obligation.
        violations: for a rule without an automaton the ways in which it is broken, or would be if the trace ended here,
            or may be after the end of the session.
        triggers: for a rule without an automaton, how many events triggered it, and `last_trigger` the index of the
            last; for others `TriggerFinder` finds them.
        unknown: why the rule cannot be judged, for instance for want of times; None if it can.
        closing: for an open rule a shortest sequence of calls that would close it (for the first of `values`), each as
            the atoms that must be true of it; empty otherwise.
    """

    verdict: Verdict
    triggered: bool
    first_irreparable: int | None
    ending: FinalStatus
    values: tuple[Scalar, ...] = ()
    closing: tuple[str, ...] = ()
    violations: tuple[Violation, ...] = ()
    unknown: str | None = None
    triggers: int = 0
    last_trigger: int | None = None


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What the verdicts on the continuations of a trace depend on; see `Monitor.fingerprint`.

    Attributes:
        shared: the tables of the past, or what all values of a quantified rule share.
        states: the states of the automaton: of the rule, or of the values that continuations have.
        duties: the open duties.
        elsewhere: the states of the values that have occurred.
    """

    shared: Hashable = None
    states: tuple[int, ...] = ()
    duties: frozenset[Hashable] = frozenset()
    elsewhere: frozenset[int] = frozenset()
