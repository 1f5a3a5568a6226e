"""One attempt for its page: the card of the report, the provisions that it broke, and the messages that broke them."""

from dataclasses import dataclass

from lawtrace.environments.catalogue import BUILT_IN, load_setting
from lawtrace.environments.regulation import Provision
from lawtrace.runs.grading.verdict import RuleVerdict, VerdictRow
from lawtrace.runs.reading.causes import causes_of
from lawtrace.runs.reading.judged import Judged, Mark, place_of
from lawtrace.runs.record.finding import conversation_at, lines_of
from lawtrace.runs.record.store import Record
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.tasks import AttemptCard, TaskPage, task_pages
from lawtrace.runs.stages.rows import AttemptRow, TaskRow


@dataclass(frozen=True, slots=True)
class Violation:
    """A broken rule, what the law says there, and the line that broke it; None where nothing was said."""

    rule: RuleVerdict
    provisions: tuple[Provision, ...]
    line: int | None


@dataclass(frozen=True, slots=True)
class AttemptView:
    """``talk``: the number of its conversation; ``cause``: the line at which it failed, if no rule broke."""

    mark: Mark
    card: AttemptCard
    violations: tuple[Violation, ...]
    talk: int | None
    cause: int | None


def view_task(task: TaskRow) -> TaskPage:
    """The task as the report shows it, without attempts."""
    return task_pages(_content(task))[0]


def view_attempt(record: Record, judged: Judged, mark: Mark, task: TaskRow) -> AttemptView:
    verdict, attempt = judged.verdict(mark), judged.attempt(mark)
    content = _content(task, (verdict,), (attempt,) if attempt else ())
    talk = conversation_at(record, place_of(mark))
    causes = causes_of(verdict, lines_of(record, talk.id)) if talk is not None else []
    lines = {rule.rule: line for line, rule in causes if rule is not None}
    cited = _provisions(task.environment)
    return AttemptView(
        mark,
        task_pages(content)[0].cards[0],
        tuple(
            Violation(rule, tuple(cited[name] for name in rule.provisions if name in cited), lines.get(rule.rule))
            for rule in verdict.rules
            if not rule.kept
        ),
        talk.id if talk else None,
        next((line for line, rule in causes if rule is None), None),
    )


def _content(
    task: TaskRow, verdicts: tuple[VerdictRow, ...] = (), attempts: tuple[AttemptRow, ...] = ()
) -> ReportContent:
    return ReportContent("", {}, {}, (task,), attempts, verdicts)


def _provisions(environment: str) -> dict[str, Provision]:
    """The words of the law by citation. Of an environment outside lawtrace none: its Python is not run for a page."""
    return load_setting(environment).regulation.by_citation if environment in BUILT_IN else {}
