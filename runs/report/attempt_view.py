"""One attempt for its page: the card of the report, the provisions that it broke, and the messages that broke them."""

from dataclasses import dataclass

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.regulations.regulation import Provision
from lawtrace.runs.report.blame import find_causes
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.task_view import AttemptCard, TaskView, view_tasks
from lawtrace.runs.report.verdict_index import VerdictIndex, VerdictSummary, conversation_of
from lawtrace.runs.schemas.task_rows import Attempt, Task
from lawtrace.runs.schemas.verdict_rows import RuleVerdict, Verdict
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import conversation_messages, find_conversation


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule, what the law says there, and the line that broke it; None where nothing was said."""

    rule: RuleVerdict
    provisions: tuple[Provision, ...]
    line: int | None


@dataclass(frozen=True, slots=True)
class AttemptView:
    """``talk``: the number of its conversation; ``cause``: the line at which it failed, if no rule broke."""

    mark: VerdictSummary
    card: AttemptCard
    violations: tuple[Violation, ...]
    talk: int | None
    cause: int | None


def view_task(task: Task) -> TaskView:
    """The task as the report shows it, without attempts."""
    return view_tasks(_content(task))[0]


def view_attempt(event_log: EventLogFile, judged: VerdictIndex, mark: VerdictSummary, task: Task) -> AttemptView:
    verdict, attempt = judged.verdict(mark), judged.attempt(mark)
    content = _content(task, (verdict,), (attempt,) if attempt else ())
    talk = find_conversation(event_log, conversation_of(mark))
    causes = find_causes(verdict, conversation_messages(event_log, talk.id)) if talk is not None else []
    lines = {rule.rule: line for line, rule in causes if rule is not None}
    cited = _provisions(task.environment)
    return AttemptView(
        mark,
        view_tasks(content)[0].cards[0],
        tuple(
            Violation(rule, tuple(cited[name] for name in rule.provisions if name in cited), lines.get(rule.rule))
            for rule in verdict.rules
            if not rule.kept
        ),
        talk.id if talk else None,
        next((line for line, rule in causes if rule is None), None),
    )


def _content(task: Task, verdicts: tuple[Verdict, ...] = (), attempts: tuple[Attempt, ...] = ()) -> ReportContent:
    return ReportContent("", {}, {}, (task,), attempts, verdicts)


def _provisions(environment: str) -> dict[str, Provision]:
    """The words of the law by citation. Of an environment outside lawtrace none: its Python is not run for a page."""
    return load_domain(environment).regulation.by_citation if environment in BUILT_IN_DOMAINS else {}
