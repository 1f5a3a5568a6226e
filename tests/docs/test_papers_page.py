"""The page on the papers' tables and figures: every file that it names is written by a report."""

import re

import pytest

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.sections import make_run_report
from lawtrace.solver.declarations.loader import load_domain
from tests.support.pages import ROOT
from tests.support.report_content import make_content

PAGE = (ROOT / "docs" / "papers.md").read_text(encoding="utf-8")
FIRST, SECOND = PAGE.split("## MASLegalBench")
OF_ABLATIONS = {"outcomes-all-environments", "model-pairs-pooled"}
ENVIRONMENTS = ("banking", "telehealth", "smart_home")


@pytest.fixture(scope="module")
def content() -> ReportContent:
    return make_content()


def named(text: str) -> set[str]:
    return {name for name, _ in re.findall(r"`([a-z0-9-]+)\.(csv|tex|svg)`", text)}


def test_every_file_of_the_first_paper_is_written(content: ReportContent) -> None:
    report = make_run_report(content)
    panels = {f"outcomes-{load_domain(name).environment.title.lower().replace(' ', '-')}" for name in ENVIRONMENTS}
    written = {table.name for table in report.tables} | {figure.name for figure in report.figures}
    assert named(FIRST) <= written | panels | OF_ABLATIONS
    assert named(FIRST) >= panels | OF_ABLATIONS


def test_every_table_and_figure_of_both_papers_has_a_row() -> None:
    assert [f"Figure {n}" in FIRST for n in (2, 3)] == [True, True]
    assert all(f"| Table {n}" in FIRST for n in (1, 2))
    assert all(f"| Table {n}" in SECOND for n in (1, 2, 3, 4, 5))
    assert all(f"Figure {n}" in SECOND for n in (2, 3, 4))
    assert "Figures 5 and 6" in SECOND
