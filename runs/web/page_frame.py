"""The frame of the viewer's pages: a page of its own or of a run, with tabs and the path that leads to it."""

from collections.abc import Sequence
from typing import Any

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from lawtrace.runs.report.run_index import RunIndex
from lawtrace.runs.report.run_kinds import identify
from lawtrace.runs.report.verdict_index import VerdictIndex
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.links import RunLinks
from lawtrace.runs.web.site import Site


class Pages:
    """Some pages of the viewer."""

    def __init__(self, frame: "PageFrame") -> None:
        self._frame = frame

    def routes(self) -> list[Route]:
        raise NotImplementedError


class PageFrame(Site):
    """The viewer: renders pages of the runs of an index."""

    def __init__(self, index: RunIndex, parts: Sequence[type[Pages]]) -> None:
        super().__init__()
        self.index = index
        self._parts = [part(self) for part in parts]

    def routes(self) -> list[Route]:
        return [*super().routes(), *(route for part in self._parts for route in part.routes())]

    def run(self, request: Request) -> tuple[str, RunFolder, VerdictIndex]:
        """The name, folder and verdicts of the run in the address."""
        name = request.path_params["run"]
        return name, self.index.folder(name), self.index.verdicts(name)

    def run_page(
        self,
        request: Request,
        template: str,
        tab: str = "",
        *,
        below: str = "",
        **values: Any,  # noqa: ANN401
    ) -> Response:
        """A page of a run. ``below``: name of a page one level below its tab."""
        run = request.path_params["run"]
        links = RunLinks(run)
        attempts = "Answers" if self.index.verdicts(run).kind else "Attempts"
        tabs = {"": "Run", "attempts": attempts, "conversations": "Conversations"}
        breadcrumbs = [("/", "Runs")]
        if tab or below:
            breadcrumbs.append((links.page(), run))
        if tab and below:
            breadcrumbs.append((links.page(tab), tabs[tab]))
        with EventLogFile.open(self.index.folder(run).path) as event_log:
            identity = identify(event_log)
        here = below or (tabs[tab] if tab else run)
        shown: dict[str, Any] = {"links": links, "tabs": tabs, "tab": tab, "identity": identity, **values}
        return self.page(request, template, breadcrumbs=breadcrumbs, here=here, run=run, **shown)

    def page(self, request: Request, template: str, *, status: int = 200, **values: Any) -> Response:  # noqa: ANN401
        if template == "error":
            values |= {"breadcrumbs": [("/", "Runs")], "here": "Error"}
        return super().page(request, template, status=status, **values)
