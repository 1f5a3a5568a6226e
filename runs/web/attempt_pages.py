"""Tasks and attempts of a run: lists, and a page for each."""

from collections.abc import Callable, Mapping, Sequence, Set
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lawtrace.runs.report.attempt_view import view_attempt, view_judged_task
from lawtrace.runs.report.graded_units import GradedIndex, find_conversation_numbers
from lawtrace.runs.report.run_index import TaskIndex
from lawtrace.runs.report.run_kinds import GradedUnit
from lawtrace.runs.report.task_view import AttemptMark, TaskIndexRow
from lawtrace.runs.report.verdict_index import VerdictIndex, VerdictSummary
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import MessageQuery, find_conversations
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.page_frame import PageFrame
from lawtrace.runs.web.page_lists import PAGE_SIZE, natural_key, paginate, parameters, sort_rows
from lawtrace.schemas.choices import STYLES
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.verdict_rows import OUTCOMES

MOST_CARDS = 200
"""Maximum number of attempts on the page of a task."""


class AttemptPages:
    """The tasks and the attempts of a run."""

    def __init__(self, frame: PageFrame) -> None:
        self._frame = frame

    def routes(self) -> list[Route]:
        return [
            Route("/runs/{run}/attempts", self.attempts),
            Route("/runs/{run}/attempts/{number:int}", self.attempt),
            Route("/runs/{run}/tasks", self.tasks),
            Route("/runs/{run}/tasks/{number:int}", self.task),
        ]

    def attempts(self, request: Request) -> Response:
        name, folder, index = self._frame.run(request)
        if graded := self._frame.index.graded(name):
            return self._graded(request, name, folder, graded)
        asked = parameters(request, *_FILTERS)
        found, order = sort_rows(request, index.select(**asked), _VERDICT_KEYS)
        paging = paginate(request, len(found))
        return self._frame.run_page(
            request,
            "attempts",
            "attempts",
            verdicts=paging.of(found),
            task_numbers=self._frame.index.tasks(name).numbers,
            asked={**asked, "sort": order.asked},
            order=order,
            paging=paging,
            **_choices(index),
        )

    def _graded(self, request: Request, name: str, folder: RunFolder, index: GradedIndex) -> Response:
        """The list of the answers of a run of another kind."""
        asked = parameters(request, "outcome", "task", "unit", "model")
        ranks = list(index.kind.outcomes)
        keys: Mapping[str, Callable[[GradedUnit], Any]] = {
            "outcome": lambda unit: ranks.index(unit.outcome),
            **{column: partial(_natural, column) for column in ("task", "unit", "model", "reason")},
        }
        found, order = sort_rows(request, index.select(**asked), keys)
        paging = paginate(request, len(found))
        shown = paging.of(found)
        with EventLogFile.open(folder.path) as event_log:
            numbers = find_conversation_numbers(event_log, shown)
        return self._frame.run_page(
            request,
            "graded",
            "attempts",
            found=shown,
            numbers=numbers,
            asked={**asked, "sort": order.asked},
            order=order,
            paging=paging,
            kind=index.kind,
            models=list(index.counts()),
            units=list(dict.fromkeys(unit.unit for unit in index.units)),
        )

    def attempt(self, request: Request) -> Response:
        name, folder, index = self._frame.run(request)
        number: int = request.path_params["number"]
        if not 0 < number <= len(index.verdicts):
            raise InputError(f"there is no attempt number {number}; the run has {len(index.verdicts)}")
        verdict, tasks = index.verdicts[number - 1], self._frame.index.tasks(name)
        task_number = tasks.numbers.get((verdict.variant, verdict.task))
        if task_number is None:
            raise InputError(f"{folder.path}: there is no task {verdict.task!r}")
        task = tasks.row(task_number)
        with EventLogFile.open(folder.path) as event_log:
            view = view_attempt(event_log, index, verdict, task)
        return self._frame.run_page(
            request, "attempt", "attempts", below=str(number), view=view, task=task, task_number=task_number
        )

    def tasks(self, request: Request) -> Response:
        name, _, index = self._frame.run(request)
        tasks = self._frame.index.tasks(name)
        asked = parameters(request, *_FILTERS)
        fitting = {verdict.number for verdict in index.select(**asked)}
        rows = _task_rows(tasks, index, fitting)
        if any(asked.values()):
            rows = [row for row in rows if any(mark.fits for marks in row.marks.values() for mark in marks)]
        models = list(dict.fromkeys(verdict.contender for verdict in index.verdicts))
        keys: dict[str, Callable[[TaskIndexRow], Any]] = {
            column: partial(_natural, column) for column in ("name", "fact", "goal")
        }
        for number, model in enumerate(models, 1):
            for style in STYLES:
                keys[f"{style}-{number}"] = partial(TaskIndexRow.rank, model=model, style=style)
        rows, order = sort_rows(request, rows, keys)
        paging = paginate(request, len(rows))
        return self._frame.run_page(
            request,
            "tasks",
            "tasks",
            rows=paging.of(rows),
            asked={**asked, "sort": order.asked},
            order=order,
            paging=paging,
            **_choices(index),
        )

    def task(self, request: Request) -> Response:
        name, folder, index = self._frame.run(request)
        number: int = request.path_params["number"] - 1
        tasks = self._frame.index.tasks(name)
        task = tasks.row(number)
        variant = tasks.lines[number].variant
        attempts = index.select(task=task.id, variant=variant)
        with EventLogFile.open(folder.path) as event_log:
            conversations = find_conversations(event_log, MessageQuery(task=task.id), limit=PAGE_SIZE)
        return self._frame.run_page(
            request,
            "task",
            "tasks",
            below=task.id,
            view=view_judged_task(index, attempts[:MOST_CARDS], task),
            number=number,
            last=len(tasks.lines) - 1,
            variant=variant,
            more=len(attempts) if len(attempts) > MOST_CARDS else 0,
            conversations=[one for one in conversations if one.place.stage != "attempts"],
        )


_FILTERS = ("outcome", "rule", "task", "style", "model", "variant")


def _natural(column: str, row: object) -> object:
    return natural_key(getattr(row, column))


_VERDICT_KEYS: Mapping[str, Callable[[VerdictSummary], Any]] = {
    "outcome": lambda verdict: OUTCOMES.index(verdict.outcome),
    "task": lambda verdict: (natural_key(verdict.variant) or (), natural_key(verdict.task)),
    "rules": lambda verdict: natural_key(", ".join(verdict.broken)),
    **{column: partial(_natural, column) for column in ("style", "contender", "reason")},
}


def _choices(index: VerdictIndex) -> dict[str, Any]:
    """What the lists of a run can be filtered by."""
    verdicts = index.verdicts
    return {
        "models": list(dict.fromkeys(verdict.contender for verdict in verdicts)),
        "variants": list(dict.fromkeys(verdict.variant for verdict in verdicts if verdict.variant)),
        "rules": sorted({rule for verdict in verdicts for rule in (*verdict.broken, *verdict.undetermined)}),
    }


def _task_rows(tasks: TaskIndex, index: VerdictIndex, fitting: Set[int]) -> Sequence[TaskIndexRow]:
    """All tasks with the marks of their attempts. ``fitting``: the numbers of the verdicts that fit the filter."""
    marks = [dict[tuple[str, str], list[AttemptMark]]() for _ in tasks.lines]
    for verdict in index.verdicts:
        number = tasks.numbers.get((verdict.variant, verdict.task))
        if number is not None:
            cell = marks[number].setdefault((verdict.contender, verdict.style), [])
            cell.append(AttemptMark(verdict.outcome, verdict.number, fits=verdict.number in fitting))
    return [
        TaskIndexRow(
            f"{line.variant}: {line.id}" if line.variant else line.id, number, line.goal, line.fact, marks[number]
        )
        for number, line in enumerate(tasks.lines)
    ]
