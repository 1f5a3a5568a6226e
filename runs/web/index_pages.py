"""The pages over all runs: the list of runs, and the comparison of two."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import islice
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lawtrace.runs.report.run_comparison import Flip, compare_folders, comparison_table
from lawtrace.runs.report.run_index import RunListing
from lawtrace.runs.report.transcript_diff import diff_conversations
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import MessageQuery
from lawtrace.runs.web.links import RunLinks
from lawtrace.runs.web.page_frame import Pages
from lawtrace.runs.web.page_lists import (
    PAGE_SIZE,
    Order,
    Pagination,
    natural_key,
    paginate,
    parameters,
    query_number,
    sort_rows,
)
from lawtrace.schemas.errors import InputError


class IndexPages(Pages):
    """The list of runs, and the comparison of two."""

    def routes(self) -> list[Route]:
        return [Route("/", self.runs), Route("/compare", self.compare)]

    def runs(self, request: Request) -> Response:
        index = self._frame.index
        names: Sequence[str] = index.names()
        order, lines = Order("started", "descending"), dict[str, RunListing]()
        if request.query_params.get("sort") not in (None, "", order.asked):
            listed, order = sort_rows(request, [index.line(name) for name in names], _RUN_KEYS)
            lines = {line.name: line for line in listed}
            names = list(lines)
        paging = paginate(request, len(names))
        return self._frame.page(
            request,
            "runs",
            breadcrumbs=[],
            lines=[lines.get(name) or index.line(name) for name in paging.of(names)],
            root=str(index.root),
            asked={"sort": order.asked},
            order=order,
            paging=paging,
        )

    def compare(self, request: Request) -> Response:
        """Two runs, or two models: attempts with different outcomes, and conversations that differ."""
        index, asked = self._frame.index, parameters(request, "model", "against", "change")
        names = request.query_params.getlist("run")
        shown: dict[str, Any] = {
            "names": names,
            "asked": asked,
            "runs": index.names(),
            "models": [index.models(name) for name in names[:2]],
        }
        if len(names) == 2:
            model, against = asked["model"], asked["against"]
            models = (model or against or "", against or model or "") if model or against else None
            shown |= self._comparison(request, (names[0], names[1]), models)
        return self._frame.page(request, "compare", breadcrumbs=[("/", "Runs")], here="Compare", **shown)

    def _comparison(self, request: Request, names: tuple[str, str], models: tuple[str, str] | None) -> dict[str, Any]:
        first, second = (self._frame.index.folder(name) for name in names)
        found: dict[str, Any] = {"comparison": None, "error": ""}
        try:
            comparison = compare_folders(first.path, second.path, models)
            changes = Counter(map(_change, comparison.flips))
            wanted = request.query_params.get("change")
            found = {
                "comparison": comparison,
                "error": "",
                "table": comparison_table(comparison),
                "changes": dict(changes.most_common()),
                "flips": [flip for flip in comparison.flips if wanted in (None, "", _change(flip))],
            }
        except InputError as invalid:
            found["error"] = str(invalid)
        page = max(1, query_number(request, "page", 1))
        with EventLogFile.open(first.path) as one, EventLogFile.open(second.path) as other:
            start = (page - 1) * PAGE_SIZE
            diffs = diff_conversations(one, other, MessageQuery(), models)
            differing = list(islice(diffs, start, start + PAGE_SIZE + 1))
        return found | {
            "run_links": [RunLinks(name) for name in names],
            "links": RunLinks(names[0]),
            "diffs": differing[:PAGE_SIZE],
            "paging": Pagination(page, None, len(differing) > PAGE_SIZE),
        }


def _change(flip: Flip) -> str:
    """How an outcome changed from the first side to the second, as a filter."""
    return " → ".join(flip.outcomes)


_RUN_KEYS: Mapping[str, Callable[[RunListing], Any]] = {
    "name": lambda line: natural_key(line.name),
    "state": lambda line: line.state,
    "started": lambda line: line.created or None,
    "recipe": lambda line: natural_key(line.recipe),
    "environments": lambda line: line.environments or None,
    "models": lambda line: tuple(line.rates) or None,
    "rate": lambda line: line.best_rate,
    "messages": lambda line: line.messages,
}
