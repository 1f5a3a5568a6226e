"""Attempts of a run: the list, and a page for each."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lawtrace.environments.regulations.regulation import Provision
from lawtrace.runs.report.run_kinds import GradedUnit
from lawtrace.runs.report.task_view import view_task
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import conversation_numbers
from lawtrace.runs.web.page_frame import Pages
from lawtrace.runs.web.page_lists import natural_key, paginate, parameters, sort_rows
from lawtrace.schemas.errors import InputError
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain


class AttemptPages(Pages):
    """The attempts of a run."""

    def routes(self) -> list[Route]:
        return [Route("/runs/{run}/attempts", self.attempts), Route("/runs/{run}/attempts/{number:int}", self.attempt)]

    def attempts(self, request: Request) -> Response:
        """The list of what was judged, in a run of another kind of its answers."""
        _, folder, index = self._frame.run(request)
        unit = "unit" if index.kind else "style"
        asked = parameters(request, "outcome", "rule", "fact", "task", unit, "model", "variant")
        ranks = list(index.outcomes)
        keys: Mapping[str, Callable[[GradedUnit], Any]] = {
            "outcome": lambda one: ranks.index(one.outcome),
            "task": lambda one: (natural_key(one.variant) or (), natural_key(one.task)),
            unit: lambda one: natural_key(one.unit),
            "model": lambda one: natural_key(one.contender),
            "rules": lambda one: natural_key(", ".join(one.broken)),
            "reason": lambda one: natural_key(one.reason),
        }
        wanted = {"unit" if name == unit else name: value for name, value in asked.items()}
        found, order = sort_rows(request, index.select(**wanted), keys)
        paging = paginate(request, len(found))
        shown, verdicts = paging.of(found), index.verdicts
        with EventLogFile.open(folder.path) as event_log:
            numbers = conversation_numbers(event_log, [one.conversation for one in shown]) if index.kind else {}
        return self._frame.run_page(
            request,
            "attempts",
            "attempts",
            index=index,
            verdicts=shown,
            conversations=numbers,
            unit=unit,
            models=list(dict.fromkeys(one.contender for one in verdicts)),
            units=list(dict.fromkeys(one.unit for one in verdicts)),
            variants=list(dict.fromkeys(one.variant for one in verdicts if one.variant)),
            asked={**asked, "sort": order.asked},
            order=order,
            paging=paging,
        )

    def attempt(self, request: Request) -> Response:
        name, folder, index = self._frame.run(request)
        number: int = request.path_params["number"]
        if not 0 < number <= len(index.verdicts):
            raise InputError(f"there is no attempt number {number}; the run has {len(index.verdicts)}")
        verdict = index.verdicts[number - 1]
        variant, row = verdict.variant, verdict.verdict
        task = self._frame.index.tasks(name).get((variant or None, verdict.task))
        if row is None or task is None:
            raise InputError(f"{folder.path}: there is no task {verdict.task!r}")
        with EventLogFile.open(folder.path) as event_log:
            conversation = conversation_numbers(event_log, [row.answer]).get(row.answer)
        cited = _provisions(task.environment)
        rules = [(rule, [cited[name] for name in rule.provisions if name in cited]) for rule in row.rules]
        return self._frame.run_page(
            request,
            "attempt",
            "attempts",
            below=str(number),
            number=number,
            attempts=len(index.verdicts),
            others=[one for one in index.select(task=verdict.task) if one.variant == variant and one is not verdict],
            verdict=row,
            variant=variant,
            view=view_task(task, [row], {row.answer: index.attempt(row)}),
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
