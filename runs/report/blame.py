"""The message that broke a rule."""

from collections.abc import Sequence

from lawtrace.agents.event_log import MessageSent
from lawtrace.runs.schemas.verdict_rows import RuleVerdict, Verdict
from lawtrace.runs.store.event_log_queries import LoggedMessage

Cause = tuple[int, RuleVerdict | None]
"""The number of a message and the rule it broke; None if the attempt failed without breaking a rule."""


def find_causes(verdict: Verdict, lines: Sequence[LoggedMessage]) -> list[Cause]:
    """The message that broke each broken rule; the last message of the model if it failed without breaking a rule.

    In tools mode, calls are in the order of the events, so counting finds the message of an event. A program is one
    message. An obligation that was never fulfilled is broken by the last message.
    """
    sent = [one for one in lines if isinstance(one.line, MessageSent) and one.line.context.role == "executor"]
    if not sent:
        return []
    last = sent[-1].number
    callers = [one.number for one in sent if isinstance(one.line, MessageSent) for _ in one.line.function_calls]
    broken = [rule for rule in verdict.rules if not rule.kept]
    if not broken:
        return [] if verdict.outcome == "safe_success" else [(last, None)]
    return [(_caller(rule, callers, last), rule) for rule in broken]


def _caller(rule: RuleVerdict, callers: Sequence[int], last: int) -> int:
    if rule.broken_at is None or rule.broken_at >= len(callers):
        return last
    return callers[rule.broken_at]
