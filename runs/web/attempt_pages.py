"""Attempts of a run: the list, and a page for each."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.regulations.regulation import Provision
from lawtrace.runs.report.run_kinds import GradedUnit
from lawtrace.runs.report.task_view import JudgedAttempt, view_task
from lawtrace.runs.report.verdict_index import GradedIndex, IndexedVerdict
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import conversation_numbers
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.page_frame import Pages
from lawtrace.runs.web.page_lists import Row, natural_key, paginate, parameters, sort_rows
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.verdict_rows import OUTCOMES


class AttemptPages(Pages):
    """The attempts of a run."""

    def routes(self) -> list[Route]:
        return [
            Route("/runs/{run}/attempts", self.attempts),
            Route("/runs/{run}/attempts/{number:int}", self.attempt),
        ]

    def attempts(self, request: Request) -> Response:
        name, folder, index = self._frame.run(request)
        if graded := self._frame.index.graded(name):
            return self._graded(request, folder, graded)
        asked = parameters(request, "outcome", "rule", "task", "style", "model", "variant")
        shown, values = _listed(request, index.select(**asked), _VERDICT_KEYS, asked)
        verdicts = index.verdicts
        return self._frame.run_page(
            request,
            "attempts",
            "attempts",
            verdicts=shown,
            models=list(dict.fromkeys(verdict.row.contender for verdict in verdicts)),
            variants=list(dict.fromkeys(verdict.variant for verdict in verdicts if verdict.variant)),
            rules=sorted({rule for verdict in verdicts for rule in (*verdict.broken, *verdict.undetermined)}),
            **values,
        )

    def _graded(self, request: Request, folder: RunFolder, index: GradedIndex) -> Response:
        """The list of the answers of a run of another kind."""
        asked = parameters(request, "outcome", "task", "unit", "model")
        ranks = list(index.kind.outcomes)
        keys: Mapping[str, Callable[[GradedUnit], Any]] = {
            "outcome": lambda unit: ranks.index(unit.outcome),
            **{column: partial(_natural, column) for column in ("task", "unit", "model", "reason")},
        }
        shown, values = _listed(request, index.select(**asked), keys, asked)
        with EventLogFile.open(folder.path) as event_log:
            numbers = conversation_numbers(event_log, [unit.conversation for unit in shown])
        return self._frame.run_page(
            request,
            "graded",
            "attempts",
            found=shown,
            numbers=numbers,
            kind=index.kind,
            models=list(index.counts()),
            units=list(dict.fromkeys(unit.unit for unit in index.units)),
            **values,
        )

    def attempt(self, request: Request) -> Response:
        name, folder, index = self._frame.run(request)
        number: int = request.path_params["number"]
        if not 0 < number <= len(index.verdicts):
            raise InputError(f"there is no attempt number {number}; the run has {len(index.verdicts)}")
        verdict = index.verdicts[number - 1]
        task = self._frame.index.tasks(name).get((verdict.variant, verdict.row.task))
        if task is None:
            raise InputError(f"{folder.path}: there is no task {verdict.row.task!r}")
        row = verdict.row
        with EventLogFile.open(folder.path) as event_log:
            conversation = conversation_numbers(event_log, [row.answer]).get(row.answer)
        cited = _provisions(task.environment)
        rules = [(rule, [cited[name] for name in rule.provisions if name in cited]) for rule in row.rules]
        return self._frame.run_page(
            request,
            "attempt",
            "attempts",
            below=str(number),
            verdict=row,
            variant=verdict.variant,
            view=view_task(task, [JudgedAttempt(row, index.attempt(row))]),
            task=task,
            judged={
                "Broken rules": [(rule, provisions) for rule, provisions in rules if rule.broken],
                "Undetermined rules": [(rule, provisions) for rule, provisions in rules if rule.undetermined],
            },
            conversation=conversation,
            cause=next((cause.message for cause in index.causes(row) if cause.rule is None), None),
        )


def _provisions(environment: str) -> dict[str, Provision]:
    """Provisions by citation. Empty for a user's environment, whose Python code a page must not run."""
    return load_domain(environment).regulation.by_citation if environment in BUILT_IN_DOMAINS else {}


def _listed(
    request: Request, rows: Sequence[Row], keys: Mapping[str, Callable[[Row], Any]], asked: Mapping[str, str | None]
) -> tuple[Sequence[Row], dict[str, Any]]:
    """The rows of the page of a sorted list, and the values that its template has for sorting and paging."""
    found, order = sort_rows(request, rows, keys)
    paging = paginate(request, len(found))
    return paging.of(found), {"asked": {**asked, "sort": order.asked}, "order": order, "paging": paging}


def _natural(column: str, row: object) -> object:
    return natural_key(getattr(row, column))


_VERDICT_KEYS: Mapping[str, Callable[[IndexedVerdict], Any]] = {
    "outcome": lambda verdict: OUTCOMES.index(verdict.row.outcome),
    "task": lambda verdict: (natural_key(verdict.variant) or (), natural_key(verdict.row.task)),
    "rules": lambda verdict: natural_key(", ".join(verdict.broken)),
    "style": lambda verdict: verdict.row.style,
    "contender": lambda verdict: natural_key(verdict.row.contender),
    "reason": lambda verdict: natural_key(verdict.row.reason),
}
