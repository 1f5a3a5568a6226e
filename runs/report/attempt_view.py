"""View of one attempt: its card, the provisions it broke, and the messages that broke them."""

from dataclasses import dataclass

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.regulations.regulation import Provision
from lawtrace.runs.report.task_view import JudgedAttempt, TaskView, view_task
from lawtrace.runs.report.verdict_index import IndexedVerdict, VerdictIndex
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
        task: with the card of this attempt alone.
        conversation: number of its conversation in the event log; None if it is not there.
        cause: id of the last message of an attempt that failed but broke no rule.
    """

    verdict: IndexedVerdict
    task: TaskView
    broken: tuple[JudgedRule, ...]
    undetermined: tuple[JudgedRule, ...]
    conversation: int | None
    cause: str | None


def view_attempt(event_log: EventLogFile, index: VerdictIndex, judged: IndexedVerdict, task: Task) -> AttemptView:
    verdict = judged.row
    cited = _provisions(task.environment)

    def cite(rule: RuleVerdict) -> JudgedRule:
        return JudgedRule(rule, tuple(cited[name] for name in rule.provisions if name in cited))

    return AttemptView(
        judged,
        view_task(task, [JudgedAttempt(verdict, index.attempt(verdict))]),
        tuple(cite(rule) for rule in verdict.rules if rule.broken),
        tuple(cite(rule) for rule in verdict.rules if rule.undetermined),
        conversation_numbers(event_log, [verdict.answer]).get(verdict.answer),
        next((cause.message for cause in index.causes(verdict) if cause.rule is None), None),
    )


def _provisions(environment: str) -> dict[str, Provision]:
    """Provisions by citation. Empty for a user's environment, whose Python code a page must not run."""
    return load_domain(environment).regulation.by_citation if environment in BUILT_IN_DOMAINS else {}
