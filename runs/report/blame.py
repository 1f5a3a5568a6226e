"""From a verdict to the message that caused it."""

from collections.abc import Sequence

from lawtrace.agents.event_log import MessageSent
from lawtrace.runs.schemas.verdict_rows import RuleVerdict, Verdict
from lawtrace.runs.store.event_log_queries import LoggedMessage

Cause = tuple[int, RuleVerdict | None]
"""The number of a line, and the rule that broke there; None where what failed is no rule."""


def find_causes(verdict: Verdict, lines: Sequence[LoggedMessage]) -> list[Cause]:
    """For every broken rule the line of the conversation that broke it; where none broke and the attempt failed all the
    same, the last line of the model.

    A model that calls tools makes its calls in the order of the events, so the call of an event is found by counting. A
    program is one answer, and whatever it did was said there. What was left undone was left undone at the end.
    """
    acted = [said for said in lines if isinstance(said.line, MessageSent) and said.line.context.role == "executor"]
    if not acted:
        return []
    last = acted[-1].number
    callers = [said.number for said in acted if isinstance(said.line, MessageSent) for _ in said.line.function_calls]
    broken = [rule for rule in verdict.rules if not rule.kept]
    if not broken:
        return [] if verdict.outcome == "safe_success" else [(last, None)]
    return [(_caller(rule, callers, last), rule) for rule in broken]


def _caller(rule: RuleVerdict, callers: Sequence[int], last: int) -> int:
    if rule.broken_at is None or rule.broken_at >= len(callers):
        return last
    return callers[rule.broken_at]
