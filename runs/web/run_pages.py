"""The pages of a run as a whole: progress, sections of the report, files."""

from collections import Counter
from collections.abc import Sequence
from typing import Any, cast

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from lawtrace.runs.report.run_progress import measure_progress
from lawtrace.runs.report.sections import PAGES
from lawtrace.runs.report.summary import OutcomeLine, verdict_table
from lawtrace.runs.report.table_files import FILE_NAME
from lawtrace.runs.report.tables import Table
from lawtrace.runs.report.verdict_index import VerdictSummary
from lawtrace.runs.scoring.metrics import OutcomeCounts
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.web.export import TABLES
from lawtrace.runs.web.links import RunLinks
from lawtrace.runs.web.page_frame import PageFrame
from lawtrace.runs.web.render import make_environment, render, render_sections
from lawtrace.runs.web.run_reports import RunReports
from lawtrace.runs.web.site import html_response
from lawtrace.schemas.errors import InputError


class RunPages:
    """The pages of a run as a whole."""

    def __init__(self, frame: PageFrame) -> None:
        self._frame = frame
        self._reports = RunReports(frame.index)

    def routes(self) -> list[Route]:
        return [
            Route("/runs/{run}/", self.run),
            Route("/runs/{run}/progress", self.progress),
            *(Route(f"/runs/{{run}}/{page}", self.sections, name=page) for page in PAGES),
            Route("/runs/{run}/tables/{file}", self.table),
            Route("/runs/{run}/variants/{variant:int}/tables/{file}", self.table),
            Route("/runs/{run}/report.html", self.report),
            Route("/runs/{run}/variants/{variant:int}/report.html", self.report),
        ]

    def run(self, request: Request) -> Response:
        name, folder, verdicts = self._frame.run(request)
        with EventLogFile.open(folder.path) as event_log:
            return self._frame.run_page(
                request,
                "run",
                progress=measure_progress(folder, event_log, verdicts),
                recipe=event_log.recipe,
                created=event_log.created,
                has_report=folder.report.exists(),
                tables=_verdict_tables(verdicts.verdicts),
                broken=Counter(rule for verdict in verdicts.verdicts for rule in verdict.broken).most_common(),
                graded=self._frame.index.graded(name),
            )

    def progress(self, request: Request) -> Response:
        """The part of a run page that changes while the run is in progress."""
        name, folder, verdicts = self._frame.run(request)
        with EventLogFile.open(folder.path) as event_log:
            progress = measure_progress(folder, event_log, verdicts)
        html = render(self._frame.environment, "parts/progress.html.jinja", progress=progress, links=RunLinks(name))
        return html_response(html)

    def sections(self, request: Request) -> Response:
        """A page of sections of the report."""
        name, page = request.path_params["run"], request.url.path.rpartition("/")[2]
        report = self._reports.load(name)
        links = RunLinks(name, with_tables=(self._frame.index.folder(name).path / TABLES).is_dir())
        environment = make_environment(*report.template_folders) if report.template_folders else self._frame.environment
        return self._frame.run_page(
            request,
            "sections",
            page,
            title=PAGES[page],
            notices=report.notices,
            problems=report.problems,
            sections=render_sections(environment, report.of_page(page), links),
        )

    def report(self, request: Request) -> Response:
        """The report file. It has its own content policy; this header revokes the permissions of viewer pages."""
        folder = self._frame.index.folder(request.path_params["run"])
        if "variant" in request.path_params:
            folder = folder.variant(request.path_params["variant"])
        if not folder.report.exists():
            raise InputError(f"{folder.path}: the run has no report yet")
        policy = "sandbox allow-scripts allow-popups; frame-ancestors 'none'; connect-src 'none'; form-action 'none'"
        return FileResponse(folder.report, headers={"content-security-policy": policy})

    def table(self, request: Request) -> Response:
        """A table or figure of the report as a file, as plain text: browsers show it or save it."""
        folder, file = self._frame.index.folder(request.path_params["run"]), request.path_params["file"]
        if "variant" in request.path_params:
            folder = folder.variant(request.path_params["variant"])
        path = folder.path / TABLES / file
        if not FILE_NAME.fullmatch(file) or not path.is_file():
            raise InputError(f"{folder.path}: there is no table {file!r}; `lawtrace report` writes the tables of a run")
        kind = "image/svg+xml" if file.endswith(".svg") else "text/plain"
        return FileResponse(path, media_type=kind)


def _verdict_tables(verdicts: Sequence[VerdictSummary]) -> dict[str, Table]:
    """A table for the run, or for each variant of an ablation, from the verdicts so far. Denied sessions are apart."""
    counts: dict[str | None, dict[tuple[str, str, str], Counter[Any]]] = {}
    for verdict in verdicts:
        shown = verdict.contender + (", denied sessions" if verdict.task_variant == "denied" else "")
        groups = counts.setdefault(verdict.variant, {})
        groups.setdefault((shown, verdict.contender, verdict.style), Counter())[verdict.outcome] += 1
    return {
        variant or "": verdict_table(
            [
                OutcomeLine("", shown, model, cast("Any", style), (), OutcomeCounts(of, of.total()), None, variant)
                for (shown, model, style), of in groups.items()
            ],
            title=variant or "All tasks",
        )
        for variant, groups in counts.items()
    }
