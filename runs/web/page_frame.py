"""The frame of the viewer's pages: a page of its own or of a run, with tabs and the path that leads to it."""

from collections.abc import Callable, Mapping
from typing import Any

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response

from lawtrace.runs.report.run_index import RunIndex
from lawtrace.runs.report.run_kinds import identify
from lawtrace.runs.report.sections import PAGES
from lawtrace.runs.report.verdict_index import VerdictIndex
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.web.links import RunLinks
from lawtrace.runs.web.render import make_environment, render
from lawtrace.runs.web.run_reports import report_pages
from lawtrace.schemas.errors import InputError, LawtraceError


class PageFrame:
    """Renders pages of the runs of an index."""

    def __init__(self, index: RunIndex) -> None:
        self.index = index
        self.environment = make_environment()

    def run(self, request: Request) -> tuple[str, RunFolder, VerdictIndex]:
        """The name, folder and verdicts of the run in the address."""
        name = request.path_params["run"]
        return name, self.index.folder(name), self.index.verdicts(name)

    def run_page(self, run: str, template: str, tab: str = "", *, below: str = "", **values: Any) -> Response:  # noqa: ANN401
        """A page of a run. ``below``: name of a page one level below its tab."""
        links = RunLinks(run)
        pages = {page: PAGES[page] for page in report_pages(self.index.folder(run))}
        lists = {"attempts": "Answers"} if self.index.graded(run) else {"tasks": "Tasks", "attempts": "Attempts"}
        tabs = {"": "Run", **pages, **lists, "conversations": "Conversations"}
        provenance = [("/", "Runs")]
        if tab or below:
            provenance.append((links.page(), run))
        if tab and below:
            provenance.append((links.page(tab), tabs[tab]))
        with EventLogFile.open(self.index.folder(run).path) as event_log:
            identity = identify(event_log)
        here = below or (tabs[tab] if tab else run)
        shown: dict[str, Any] = {
            "links": links, "tabs": tabs, "tab": tab, "here": here, "identity": identity, **values
        }  # fmt: skip
        return self.page(template, provenance=provenance, run=run, **shown)

    def error_handlers(self) -> Mapping[Any, Callable[[Request, Any], Response]]:
        def lawtrace_error(_: Request, error: LawtraceError) -> Response:
            return self._error(str(error), 404 if isinstance(error, InputError) else 500)

        def http_error(request: Request, error: HTTPException) -> Response:
            return self._error(f"{error.detail}: {request.url.path}", error.status_code)

        return {LawtraceError: lawtrace_error, HTTPException: http_error}

    def _error(self, text: str, status: int) -> Response:
        return self.page("error", status=status, provenance=[("/", "Runs")], here="Error", text=text)

    def page(self, template: str, *, status: int = 200, **values: Any) -> Response:  # noqa: ANN401
        return html_response(render(self.environment, f"pages/{template}.html.jinja", **values), status)


def html_response(text: str, status: int = 200) -> HTMLResponse:
    return HTMLResponse(text.encode("utf-8", "backslashreplace"), status_code=status)
