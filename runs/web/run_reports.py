"""The reports of the runs in an index, for the viewer's pages."""

from dataclasses import replace
from threading import Lock

from lawtrace.agents.models.call_settings import call_settings
from lawtrace.runs.report.content import (
    describe_settings,
    identify_ablation,
    load_viewer_content,
    load_without_attempts,
)
from lawtrace.runs.report.run_index import FileStamps, RunIndex, cached, stage_files
from lawtrace.runs.report.run_kinds import run_kind_of
from lawtrace.runs.report.sections import RunReport, make_ablation_report, make_extraction_report, make_run_report
from lawtrace.runs.scoring.ablation import read_ablation
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import measure_usage
from lawtrace.runs.store.provenance_file import read_provenance
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.variants import variants_of
from lawtrace.schemas.recipe import Recipe


class RunReports:
    """Loads reports on demand and keeps them until their files change."""

    def __init__(self, index: RunIndex) -> None:
        self._index = index
        self._reports: dict[str, tuple[FileStamps, RunReport]] = {}
        self._lock = Lock()

    def load(self, name: str) -> RunReport:
        """The report of a finished run, without its tasks. Raises InputError if the run is not finished."""
        folder = self._index.folder(name)
        files = (*stage_files(folder, "tasks", "verdicts"), folder.findings, folder.provenance, folder.report)
        return cached(self._reports, self._lock, name, files, lambda: _load_report(folder))


def report_pages(folder: RunFolder) -> tuple[str, ...]:
    """The `PAGES` that the run has."""
    if folder.variants.exists():
        return ("results", "building")
    pages = ("results", "building", "rules") if folder.verdicts.exists() else ()
    if not pages and run_kind_of(folder.path) is not None:
        pages = ("results",)
    return (*pages, "extraction") if folder.provenance.exists() else pages


def _load_report(folder: RunFolder) -> RunReport:
    if kind := run_kind_of(folder.path):
        return kind.load_report(folder.path)
    if folder.variants.exists():
        with EventLogFile.open(folder.path) as event_log:
            recipe = Recipe.model_validate(event_log.recipe)
            usage = measure_usage(event_log, call_settings(recipe).budget.prices)
            identity = identify_ablation(event_log, recipe, folder)
        ablation, title = read_ablation(folder.path), f"{recipe.name}, ablation"
        contents = {
            row.number: load_without_attempts(folder.variant(row.number), variant.recipe)
            for variant, row in zip(variants_of(recipe), ablation.variants, strict=True)
            if row.ended is None
        }
        return make_ablation_report(ablation, contents, title, describe_settings(recipe), usage, identity)
    report = make_run_report(load_viewer_content(folder))
    if folder.provenance.exists():
        extraction = make_extraction_report(read_provenance(folder.provenance))
        report = replace(report, sections=(*report.sections, *extraction.sections))
    return report
