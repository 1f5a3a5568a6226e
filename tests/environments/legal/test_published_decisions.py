"""Real decisions against the published rows, which begin with the number of their paragraph in the law or the facts."""

import json
import re
from pathlib import Path

import pytest
from autogen_core.models import SystemMessage

from lawtrace.agents.legal.scripted.section_classifier import map_parts
from lawtrace.agents.legal.section_mapper import shown_paragraphs
from lawtrace.environments.legal.decision_files import read_decision
from lawtrace.environments.legal.document_checks import check_mapped
from lawtrace.environments.legal.document_parser import parse_document
from lawtrace.environments.legal.document_parts import PartRange, paragraphs_by_part

SHARED = Path(__file__).parents[4] / "shared" / "data"

SOURCES = {
    "dpp_mpn": "dpp-law-ltd-monetary-penalty-notice",
    "ticketmaster_mpn": "ticketmaster-uk-limited-mpn",
    "cabinet_office_mpn": "cabinet-office-mpn-202112",
    "central_ymca_mpn": "central-ymca-monetary-penalty-notice",
    "mermaids_mpn": "mermaids-mpn-20210705",
}
PARTS = {"legal framework": "rules", "background": "facts"}


def published(source: str) -> dict[str, str]:
    """The part of each paragraph in the published rows, by its number; items of quoted lists have none of their own."""
    found: dict[str, str] = {}
    last: list[int] = []
    for line in (SHARED / "maslegal" / "rows.jsonl").read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        number = re.match(r"(\d[\d.]*?)\.?\s", row["content"])
        if row["source"] != source or row["type"] not in PARTS or number is None:
            continue
        if [*map(int, number[1].split("."))] > last:  # a smaller number is an item of a list that is quoted
            last = [*map(int, number[1].split("."))]
            found[number[1]] = PARTS[row["type"]]
    return found


@pytest.mark.slow
@pytest.mark.shared
@pytest.mark.parametrize("name", SOURCES)
def test_nine_of_ten_paragraphs_get_the_published_part(name: str) -> None:
    if not SHARED.exists():
        pytest.skip("needs ../shared/data")
    read = read_decision(SHARED / "decisions" / f"{name}.txt")
    document = parse_document(read.lines, read.notes)
    shown = json.dumps(shown_paragraphs(document))
    answer = json.loads(map_parts([SystemMessage(content=f"```json paragraphs\n{shown}\n```")]))
    ranges = [PartRange.model_validate(one) for one in answer["parts"]]
    parts = {paragraph.ref: part for part, paragraph in paragraphs_by_part(document, ranges)}
    expected = published(SOURCES[name])
    assert len(expected) >= 15
    assert sum(parts.get(ref) == part for ref, part in expected.items()) >= 0.9 * len(expected)
    assert check_mapped(document, ranges) == []
