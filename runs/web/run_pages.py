"""The pages of a run as a whole: progress, and the files of its report."""

from collections import Counter
from collections.abc import Sequence

from starlette.requests import Request
from starlette.responses import FileResponse, Response
from starlette.routing import Route

from lawtrace.runs.report.outcome_lines import OutcomeLine
from lawtrace.runs.report.outcome_tables import verdict_table
from lawtrace.runs.report.run_index import measure_progress
from lawtrace.runs.report.run_kinds import GradedUnit
from lawtrace.runs.report.sections import make_extraction_report
from lawtrace.runs.report.table_files import FILE_NAME
from lawtrace.runs.report.tables import Table
from lawtrace.runs.scoring.metrics import count_outcomes, group_by
from lawtrace.runs.stages.artifacts import FORMALIZED
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.web.export import TABLES, render_export
from lawtrace.runs.web.links import RunLinks
from lawtrace.runs.web.page_frame import Pages
from lawtrace.runs.web.render import render
from lawtrace.runs.web.site import html_response
from lawtrace.schemas.errors import InputError

_OF_FILES = {
    "content-security-policy": (
        "sandbox allow-scripts allow-popups; frame-ancestors 'none'; connect-src 'none'; form-action 'none'"
    )
}
"""Files have a content policy of their own; this header revokes the permissions of viewer pages."""


class RunPages(Pages):
    """The pages of a run as a whole."""

    def routes(self) -> list[Route]:
        return [
            Route("/runs/{run}/", self.run),
            Route("/runs/{run}/progress", self.progress),
            Route("/runs/{run}/tables/{file}", self.table),
            Route("/runs/{run}/variants/{variant:int}/tables/{file}", self.table),
            Route("/runs/{run}/report.html", self.report),
            Route("/runs/{run}/extraction.html", self.extraction),
            Route("/runs/{run}/variants/{variant:int}/report.html", self.report),
        ]

    def run(self, request: Request) -> Response:
        _, folder, verdicts = self._frame.run(request)
        with EventLogFile.open(folder.path) as event_log:
            return self._frame.run_page(
                request,
                "run",
                progress=measure_progress(folder, event_log),
                recipe=event_log.recipe,
                created=event_log.created,
                has_report=folder.report.exists(),
                has_extraction=folder.formalized.exists(),
                tables=_verdict_tables(verdicts.verdicts),
                broken=Counter(rule for verdict in verdicts.verdicts for rule in verdict.broken).most_common(),
                index=verdicts,
            )

    def progress(self, request: Request) -> Response:
        """The part of a run page that changes while the run is in progress."""
        name, folder, _ = self._frame.run(request)
        with EventLogFile.open(folder.path) as event_log:
            progress = measure_progress(folder, event_log)
        html = render(self._frame.environment, "parts/progress.html.jinja", progress=progress, links=RunLinks(name))
        return html_response(html)

    def report(self, request: Request) -> Response:
        """The report file."""
        folder = self._frame.index.folder(request.path_params["run"])
        if "variant" in request.path_params:
            folder = folder.variant(request.path_params["variant"])
        if not folder.report.exists():
            raise InputError(f"{folder.path}: the run has no report yet")
        return FileResponse(folder.report, headers=_OF_FILES)

    def extraction(self, request: Request) -> Response:
        """How the rules were written, as `lawtrace rules extract` shows it."""
        folder = self._frame.index.folder(request.path_params["run"])
        if not folder.formalized.exists():
            raise InputError(f"{folder.path}: the run extracted no rules")
        response = html_response(render_export(make_extraction_report(FORMALIZED.read(folder.formalized))))
        response.headers.update(_OF_FILES)
        return response

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


def _verdict_tables(verdicts: Sequence[GradedUnit]) -> dict[str, Table]:
    """A table for the run, or for each variant of an ablation, from the verdicts so far."""
    judged = [(one.variant or None, one.verdict) for one in verdicts if one.verdict]
    groups = group_by(judged, lambda one: (one[0], one[1].contender, one[1].style))
    lines = group_by(
        (
            OutcomeLine("", model, model, style, rows, count_outcomes(rows), variant=variant)
            for (variant, model, style), members in groups.items()
            for rows in [tuple(row for _, row in members)]
        ),
        lambda line: line.variant,
    )
    return {variant or "": verdict_table(of, title=variant or "All tasks") for variant, of in lines.items()}
