"""Changes of headings: another tree with the same paragraphs."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.legal.document import Document, Paragraph, Section
from lawtrace.environments.legal.heading_changes import (
    HeadingChange,
    change_headings,
    check_heading_changes,
    list_headings,
)
from lawtrace.schemas.errors import InputError


def section(heading: str, *refs: str, below: tuple[Section, ...] = ()) -> Section:
    paragraphs = tuple(Paragraph(ref=ref, text=f"Text {ref}.") for ref in refs)
    return Section(heading=heading, paragraphs=paragraphs, sections=below)


DOCUMENT = Document(
    sections=(
        section("", "1"),
        section("BACKGROUND", "2", below=(section("Official-Sensitive", "3"), section("The incident", "4"))),
        section("Official-Sensitive", "5"),
        section("IV. FINDINGS", "6", below=(section("37 Letter to the Office", "7"),)),
    )
)


def outline(document: Document) -> list[tuple[str, list[str]]]:
    return [(path, [paragraph.ref for paragraph in one.paragraphs]) for path, one in document.outline()]


def change(**levels: int) -> list[HeadingChange]:
    return [HeadingChange(heading=heading, level=level) for heading, level in levels.items()]


def test_running_heads_and_footnotes_are_taken_out_and_levels_changed() -> None:
    changed = change_headings(DOCUMENT, change(h2=0, h3=1, h4=0, h5=1, h6=0))
    assert outline(changed) == [
        ("", ["1"]),
        ("BACKGROUND", ["2", "3"]),
        ("The incident", ["4", "5"]),
        ("IV. FINDINGS", ["6", "7"]),
    ]
    texts = {paragraph.ref: paragraph.text for paragraph in changed.paragraphs()}
    assert texts["6"] == "Text 6. 37 Letter to the Office"
    assert texts["2"] == "Text 2."  # a running head is not text
    assert change_headings(DOCUMENT, []) is DOCUMENT


@pytest.mark.parametrize(
    ("levels", "objection"),
    [
        ({"h9": 1}, "there is no heading h9"),
        ({"h1": 2}, "heading h1 has level 2, but the heading before it has level 0"),
        ({"h5": 4}, "heading h5 has level 4, but the heading before it has level 1"),
    ],
)
def test_changes_that_make_no_tree_are_refused(levels: dict[str, int], objection: str) -> None:
    assert check_heading_changes(DOCUMENT, change(**levels)) == [objection]
    with pytest.raises(InputError, match=objection):
        change_headings(DOCUMENT, change(**levels))


def test_a_heading_has_one_level() -> None:
    assert check_heading_changes(DOCUMENT, [*change(h1=1), *change(h1=0)]) == ["heading h1 has 2 levels"]


@given(st.dictionaries(st.sampled_from([f"h{number}" for number in range(1, 7)]), st.integers(0, 4)))
def test_valid_changes_keep_every_paragraph_once_and_in_order(levels: dict[str, int]) -> None:
    changes = change(**levels)
    if check_heading_changes(DOCUMENT, changes):
        return
    changed = change_headings(DOCUMENT, changes)
    assert [paragraph.ref for paragraph in changed.paragraphs()] == list("1234567")
    kept = [one.section.heading for one in list_headings(DOCUMENT) if one.id and levels.get(one.id, 1)]
    assert [one.section.heading for one in list_headings(changed) if one.id] == kept
