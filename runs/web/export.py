"""A report as one HTML file that needs no network and no other file: the static export of the viewer's pages.

Beside it, the folder `tables` has its tables and figures as files. The same report gives the same bytes. The page's
content policy blocks all requests and all scripts except its own.
"""

import base64
import hashlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from jinja2 import Environment
from markupsafe import Markup

from lawtrace.runs.published import is_comparison, published_evaluation
from lawtrace.runs.report.content import (
    ReportContent,
    describe_settings,
    identify_recipe,
    load_content,
    load_run_content,
    run_title,
    unfinished_notice,
)
from lawtrace.runs.report.sections import RunReport, make_ablation_report, make_run_report
from lawtrace.runs.report.table_files import write_table_files
from lawtrace.runs.scoring.ablation import Ablation, read_ablation
from lawtrace.runs.stages.resolve import ResolvedRecipe, recorded_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import ModelUsage, measure_usage
from lawtrace.runs.store.run_folder import NOT_MADE, RunFolder
from lawtrace.runs.store.stage_files import replacing
from lawtrace.runs.variants import variants_of
from lawtrace.runs.web.links import ReportLinks
from lawtrace.runs.web.render import SCRIPT, make_environment, render, render_css, render_sections


@dataclass(frozen=True, slots=True)
class Assets:
    """The style sheet and the script of a self-contained page, with the base64 SHA-256 of the script."""

    css: Markup
    script: Markup
    script_hash: str


TABLES = "tables"
"""The folder of tables and figures, beside the report of a run."""


def tables_beside(page: Path) -> Path:
    """The folder of the tables and figures of a page: named after it where it is not alone in the folder of a run."""
    return page.with_name(TABLES if page.name == "report.html" else f"{page.stem}.{TABLES}")


def render_report(content: ReportContent) -> str:
    """The report of a run as HTML. Raises InputError for a verdict on an unknown task."""
    return render_export(make_run_report(content))


def export_report(report: RunReport, path: Path) -> None:
    """Write a report to one HTML file, atomically, and its tables and figures to the folder beside it.

    Raises OperationalError if a file cannot be written.
    """
    tables = tables_beside(path)
    write_page(render_export(report, tables.name), path)
    write_table_files(tables, report.tables, report.figures, report.identity)


def render_export(report: RunReport, tables: str = TABLES) -> str:
    environment = make_environment(*report.template_folders)
    links = ReportLinks(report.rule_anchors, report.identity, tables)
    return render(
        environment,
        "report.html.jinja",
        report=report,
        sections=render_sections(environment, report.sections, links),
        links=links,
        assets=standalone_assets(environment),
    )


def standalone_assets(environment: Environment) -> Assets:
    """The style sheet and the script of a page that stands alone."""
    script = SCRIPT.read_text(encoding="utf-8")
    digest = hashlib.sha256(script.encode()).digest()
    return Assets(Markup(render_css(environment)), Markup(script), base64.b64encode(digest).decode())  # noqa: S704


@dataclass(frozen=True, slots=True)
class WrittenReport:
    """A report as written, with the data of its tables.

    Attributes:
        content: of a run or a comparison of profiles; None for an ablation.
        ablation: None for any other run.
    """

    path: Path
    content: ReportContent | None
    ablation: Ablation | None
    usage: tuple[ModelUsage, ...] = ()


def write_run_report(path: Path, env: str | None = None, *, resolved: ResolvedRecipe | None = None) -> WrittenReport:
    """Write the report of a finished run, of an ablation and each of its variants, or of a comparison of profiles.

    ``env``: folder of an environment of the user; ``resolved``: the
    recipe of the run, where it has just ended. Raises InputError if the folder holds none of them.
    """
    folder = RunFolder(path)
    if resolved is not None:
        env = resolved.recipe.environment
    if folder.variants.exists():
        return _write_ablation_reports(folder, env, resolved)
    if is_comparison(path):
        load: Callable[..., tuple[ReportContent, RunReport]] = published_evaluation("comparison_report:load_report")
        content, report = load(path, env)
    else:
        content = load_run_content(path, env, resolved.inputs.domain if resolved is not None else None)
        report = make_run_report(content)
    export_report(report, folder.report)
    return WrittenReport(folder.report, content, None, content.usage)


def _write_ablation_reports(folder: RunFolder, env: str | None, resolved: ResolvedRecipe | None) -> WrittenReport:
    with EventLogFile.open(folder.path) as event_log:
        recipe = recorded_recipe(event_log, env)
        usage = measure_usage(event_log, recipe.prices)
        identity = identify_recipe(event_log, recipe)
    ablation = read_ablation(folder.path)
    if all(row.ended == NOT_MADE for row in ablation.variants):
        folder.judged()
    contents: dict[int, ReportContent] = {}
    domains = {} if resolved is None else {variant.number: inputs.domain for variant, inputs in resolved.variants}
    for variant, row in zip(variants_of(recipe), ablation.variants, strict=True):
        if row.ended is None:
            files = folder.variant(row.number)
            of_variant = {"variant": f"{row.number}: {row.name}", **identity}
            content = load_content(files, variant.recipe, (), of_variant, domains.get(row.number))
            export_report(make_run_report(content), files.report)
            contents[row.number] = replace(content, attempts=())  # they do not all fit in memory
    title = f"{run_title(recipe, folder)}, ablation"
    report = make_ablation_report(ablation, contents, title, describe_settings(recipe), usage, identity)
    report = replace(report, notices=(*unfinished_notice(folder.path, None, ablation), *report.notices))
    export_report(report, folder.report)
    return WrittenReport(folder.report, None, ablation, usage)


def write_page(text: str, path: Path) -> None:
    """Write a page, atomically. Raises OperationalError if the file cannot be written."""
    with replacing(path, "the report ") as partial:
        partial.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
