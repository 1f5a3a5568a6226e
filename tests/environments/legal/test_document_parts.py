"""Parts of a decision: each paragraph is in exactly one, in the order of the text; mapping files."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.documents.decision_parser import parse_document
from lawtrace.environments.documents.pages import text_lines
from lawtrace.environments.legal.case import build_case
from lawtrace.environments.legal.document_parts import (
    DOCUMENT_PARTS,
    MappingFile,
    PartRange,
    check_coverage,
    format_parts,
    paragraphs_by_part,
)
from lawtrace.environments.toml_file import read_toml_model
from lawtrace.schemas.errors import InputError

DOCUMENT = parse_document(text_lines("\n".join(f"{number}. Paragraph {number}." for number in range(1, 9))).lines)


def ranges(*given: tuple[int, int, str]) -> tuple[PartRange, ...]:
    return tuple(PartRange.model_validate({"first": str(a), "last": str(b), "part": part}) for a, b, part in given)


WHOLE = ranges((1, 1, "introduction"), (2, 3, "rules"), (4, 6, "facts"), (7, 8, "findings"))


def test_a_complete_mapping_gives_every_paragraph_a_part() -> None:
    assert check_coverage(DOCUMENT, WHOLE) == []
    assert [part for part, _ in paragraphs_by_part(DOCUMENT, WHOLE)] == [
        "introduction",
        *["rules"] * 2,
        *["facts"] * 3,
        *["findings"] * 2,
    ]


@pytest.mark.parametrize(
    ("given", "objection"),
    [
        (ranges((2, 8, "facts")), "paragraphs 1 to 1 are in no part"),
        (ranges((1, 3, "facts"), (5, 8, "facts")), "paragraphs 4 to 4 are in no part"),
        (ranges((1, 7, "facts")), "paragraphs 8 to 8 are in no part"),
        (ranges((1, 5, "facts"), (4, 8, "rules")), "paragraph 4 is in two parts"),
        (ranges((1, 9, "facts")), "there is no paragraph 9"),
        (ranges((3, 1, "facts"), (2, 8, "rules")), "comes before the first"),
        ((), "paragraphs 1 to 8 are in no part"),
    ],
)
def test_an_incomplete_mapping_is_reported(given: tuple[PartRange, ...], objection: str) -> None:
    assert any(objection in said for said in check_coverage(DOCUMENT, given))
    with pytest.raises(InputError, match="do not cover"):
        build_case("case", DOCUMENT, given)


@given(st.sets(st.integers(2, 8)), st.data())
def test_partitions_cover_and_incomplete_ones_do_not(cuts: set[int], data: st.DataObject) -> None:
    starts = [1, *sorted(cuts)]
    ends = [*(start - 1 for start in starts[1:]), 8]
    parts = tuple(
        PartRange(first=str(first), last=str(last), part=data.draw(st.sampled_from(DOCUMENT_PARTS)))
        for first, last in zip(starts, ends, strict=True)
    )
    assert check_coverage(DOCUMENT, parts) == []
    assert [p.ref for _, p in paragraphs_by_part(DOCUMENT, parts)] == [p.ref for p in DOCUMENT.paragraphs()]
    lost = data.draw(st.integers(0, len(parts) - 1))
    assert check_coverage(DOCUMENT, parts[:lost] + parts[lost + 1 :])


def test_a_mapping_file_round_trips(tmp_path: Path) -> None:
    path = tmp_path / "case.parts.toml"
    odd = (*WHOLE[:-1], WHOLE[-1].model_copy(update={"because": 'says "so" \\ and\nmore'}))
    path.write_text(format_parts(odd, ["paragraph 2 is odd"], ['no "rules"']), encoding="utf-8")
    assert read_toml_model(path, MappingFile) == MappingFile(parts=odd, accepted=('no "rules"',))
    path.write_text(path.read_text(encoding="utf-8").replace('# "paragraph', '"paragraph'), encoding="utf-8")
    assert read_toml_model(path, MappingFile).accepted == ('no "rules"', "paragraph 2 is odd")


@pytest.mark.parametrize(
    ("text", "message"),
    [("parts = []", "parts"), ("[[parts]]\nfirst = '1'\nlast = '2'\npart = 'law'", r"parts\.0\.part"), ("=", "TOML")],
)
def test_a_malformed_mapping_file_is_an_error(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "parts.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=message):
        read_toml_model(path, MappingFile)
