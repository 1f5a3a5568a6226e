"""Lengths of parts and shares of elements, counted as in the paper."""

from lawtrace.environments.documents.decision_parser import parse_document
from lawtrace.environments.documents.pages import text_lines
from lawtrace.environments.legal.case import build_case
from lawtrace.environments.legal.document_parts import PartRange
from lawtrace.runs.legal.case_statistics import count_questions, part_lengths
from lawtrace.runs.legal.charts import case_figures
from tests.support.legal.small_cases import BOTTLES

DOCUMENT = parse_document(text_lines("\n".join(f"{number}. Paragraph." for number in range(1, 7))).lines)
CASE = build_case(
    "six",
    DOCUMENT,
    (
        PartRange(first="1", last="1", part="introduction"),
        PartRange(first="2", last="2", part="rules"),
        PartRange(first="3", last="4", part="facts"),
        PartRange(first="5", last="5", part="findings"),
        PartRange(first="6", last="6", part="annex"),
    ),
)


def test_published_cases_have_two_parts_and_documents_have_all() -> None:
    assert part_lengths([CASE, BOTTLES]) == {
        "Introduction": (1, 1, 1.0, 1),
        "Legal framework": (1, 2, 1.5, 2),
        "Background": (2, 3, 2.5, 2),
        "Infringements": (1, 1, 1.0, 1),
        "Annex": (1, 1, 1.0, 1),
    }


def test_questions_are_counted_by_kind() -> None:
    counts = count_questions(BOTTLES)
    assert (counts["questions"], counts["yes_no"], counts["four_options"], counts["other"]) == (3, 2, 1, 0)


def test_figures_of_cases_shade_counts_by_their_share() -> None:
    figures = case_figures([CASE, BOTTLES])
    assert [figure.title.split()[0] for figure in figures] == ["Elements", "Questions", "Questions"]
    assert [figure.title for figure in case_figures([CASE])] == [figures[0].title]
    argument, kinds, _ = (figure.table for figure in figures)
    assert [row.cells[0].text for row in argument.rows] == ["six", "bottles *"]
    elements = {"Rule": 1, "Facts": 2, "Application": 0, "Issue and Conclusion": 1}
    assert argument.frame().to_dict("records")[0] == {"Case": "six", **elements}
    assert kinds.frame().to_dict("records") == [{"Case": "bottles", "yes/no": 2, "A–D": 1}]
    assert [cell.shade for cell in kinds.rows[0].cells[1:]] == [2 / 3, 1 / 3]
    assert all("<svg" in figure.svg for figure in figures)
