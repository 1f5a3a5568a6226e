"""Lengths of parts and shares of elements, as the tables of the paper count them."""

from environments.casebook.documents.parsing import parse_document
from environments.casebook.documents.parts import PartRange
from environments.casebook.ingest import build_case
from environments.documents.plain import text_lines
from runs.legal.lengths import element_shares, part_lengths
from tests.support.small_cases import BOTTLES

DOCUMENT = parse_document(text_lines("\n".join(f"{number}. Paragraph." for number in range(1, 7))))
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


def test_published_cases_have_two_parts_and_documents_all() -> None:
    lines = {line.label: (line.least, line.most, line.mean, line.cases) for line in part_lengths([CASE, BOTTLES])}
    assert lines == {
        "Introduction": (1, 1, 1.0, 1),
        "Legal framework": (1, 2, 1.5, 2),
        "Background": (2, 3, 2.5, 2),
        "Infringements": (1, 1, 1.0, 1),
        "Annex": (1, 1, 1.0, 1),
    }


def test_shares_are_of_the_paragraphs_that_map_to_an_element() -> None:
    (line,) = element_shares([CASE, BOTTLES])
    assert line.case == "six"
    assert line.shares == {"Rule": 0.25, "Facts": 0.5, "Application": 0.0, "Issue and Conclusion": 0.25}
