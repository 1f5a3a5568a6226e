"""Real decisions against labels of their paragraphs: the published rows, which begin with the number of a paragraph of
the law or the facts, and for two decisions labels of all paragraphs, made by reading them."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from autogen_core.models import SystemMessage

from lawtrace.agents.legal.scripted import section_classifier
from lawtrace.agents.legal.scripted.section_classifier import HEADING_PATTERNS, map_parts
from lawtrace.agents.legal.section_mapper import shown_paragraphs
from lawtrace.environments.documents.decision import Document
from lawtrace.environments.documents.decision_parser import read_decision
from lawtrace.environments.legal.document_checks import check_mapped
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

READ = {
    "tempcover_mpn": "introduction 1-3, rules 4-16, facts 17-34, findings 35-64, outcome 65-81",
    "southend_council_reprimand": "introduction 1-2, facts 3-4, findings 5-5, facts 6-6, findings 7-13, outcome 14-25",
}
"""Labels by the last part of the number; *outcome* is decision or penalty."""


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
    document = parsed(name)
    ranges = mapped(document)
    expected = published(SOURCES[name])
    assert len(expected) >= 15
    assert right(document, ranges, expected) >= 0.9 * len(expected)
    assert check_mapped(document, ranges) == []


@pytest.mark.slow
@pytest.mark.shared
def test_held_out_decisions(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each decision is mapped with the words of headings that occur in the six others only."""
    if not SHARED.exists():
        pytest.skip("needs ../shared/data")
    documents = {name: parsed(name) for name in (*SOURCES, *READ)}
    labels = {name: published(source) for name, source in SOURCES.items()} | {name: read(name) for name in READ}
    found = {"published rows": [0, 0, 0], "read": [0, 0, 0]}
    for name, document in documents.items():
        expected, kind = labels[name], "published rows" if name in SOURCES else "read"
        seen = right(document, mapped(document), expected)
        words = [heading for other, one in documents.items() if other != name for heading in headings(one)]
        monkeypatch.setattr(section_classifier, "HEADING_PATTERNS", known_from(words))
        unseen = right(document, mapped(document), expected)
        monkeypatch.undo()
        print(f"{name}: {len(expected)} labels, right {seen}, held out {unseen}")  # noqa: T201
        found[kind] = [sum(pair) for pair in zip(found[kind], (len(expected), seen, unseen), strict=True)]
    for kind, (all_labels, seen, unseen) in found.items():
        print(f"{kind}: right {seen / all_labels:.1%}, held out {unseen / all_labels:.1%} of {all_labels} labels")  # noqa: T201
        assert unseen >= 0.9 * all_labels


def parsed(name: str) -> Document:
    return read_decision(SHARED / "decisions" / f"{name}.txt")


def mapped(document: Document) -> list[PartRange]:
    shown = json.dumps(shown_paragraphs(document))
    answer = json.loads(map_parts([SystemMessage(content=f"```json paragraphs\n{shown}\n```")]))
    return [PartRange.model_validate(one) for one in answer["parts"]]


def right(document: Document, ranges: Sequence[PartRange], expected: Mapping[str, str]) -> int:
    parts = {paragraph.ref: part for part, paragraph in paragraphs_by_part(document, ranges)}
    outcome = {"decision": "outcome", "penalty": "outcome"}
    return sum(part in (found, outcome.get(found)) for ref, part in expected.items() if (found := parts.get(ref, "")))


def read(name: str) -> dict[str, str]:
    prefix = "1." if name == "southend_council_reprimand" else ""
    ranges = [re.fullmatch(r"(\w+) (\d+)-(\d+)", one) for one in READ[name].split(", ")]
    return {f"{prefix}{n}": one[1] for one in ranges if one for n in range(int(one[2]), int(one[3]) + 1)}


def headings(document: Document) -> list[str]:
    return [section.heading for _, section in document.outline() if section.heading]


def known_from(words: Sequence[str]) -> list[tuple[str, float, re.Pattern[str]]]:
    """The patterns of headings without the alternatives that match none of the headings."""
    kept = [
        (
            part,
            weight,
            [one for one in alternatives(pattern.pattern) if any(re.search(one, text, re.I) for text in words)],
        )
        for part, weight, pattern in HEADING_PATTERNS
    ]
    return [(part, weight, re.compile("|".join(rest), re.IGNORECASE)) for part, weight, rest in kept if rest]


def alternatives(pattern: str) -> list[str]:
    """The outermost alternatives of a regular expression."""
    found, depth = [""], 0
    for sign in pattern:
        depth += (sign in "([") - (sign in ")]")
        if sign == "|" and depth == 0:
            found.append("")
        else:
            found[-1] += sign
    return found
