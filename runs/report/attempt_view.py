"""View of one attempt: its card, the provisions it broke, and the messages that broke them."""

from dataclasses import dataclass

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.regulations.regulation import Provision
from lawtrace.runs.report.task_view import AttemptCard, JudgedAttempt, TaskView, view_task
from lawtrace.runs.report.verdict_index import VerdictIndex, VerdictSummary
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import conversation_numbers
from lawtrace.runs.tasks import Task
from lawtrace.schemas.verdict_rows import RuleVerdict


@dataclass(frozen=True, slots=True)
class JudgedRule:
    """A rule that is not kept, with its provisions."""

    rule: RuleVerdict
    provisions: tuple[Provision, ...]


@dataclass(frozen=True, slots=True)
class AttemptView:
    """An attempt.

    Attributes:
        conversation: number of its conversation in the event log; None if it is not there.
        cause: id of the last message of an attempt that failed but broke no rule.
    """

    summary: VerdictSummary
    card: AttemptCard
    broken: tuple[JudgedRule, ...]
    undetermined: tuple[JudgedRule, ...]
    conversation: int | None
    cause: str | None


def view_attempt(event_log: EventLogFile, index: VerdictIndex, summary: VerdictSummary, task: Task) -> AttemptView:
    verdict = index.row(summary)
    cited = _provisions(task.environment)

    def cite(rule: RuleVerdict) -> JudgedRule:
        return JudgedRule(rule, tuple(cited[name] for name in rule.provisions if name in cited))

    return AttemptView(
        summary,
        view_judged_task(index, [summary], task).cards[0],
        tuple(cite(rule) for rule in verdict.rules if rule.broken),
        tuple(cite(rule) for rule in verdict.rules if rule.undetermined),
        conversation_numbers(event_log, [summary.answer]).get(summary.answer),
        next((cause.message for cause in index.causes(summary) if cause.rule is None), None),
    )


def view_judged_task(index: VerdictIndex, summaries: list[VerdictSummary], task: Task) -> TaskView:
    """The task with the cards of these attempts."""
    return view_task(task, [JudgedAttempt(index.row(one), index.attempt(one), one.number) for one in summaries])


def _provisions(environment: str) -> dict[str, Provision]:
    """Provisions by citation. Empty for a user's environment, whose Python code a page must not run."""
    return load_domain(environment).regulation.by_citation if environment in BUILT_IN_DOMAINS else {}
