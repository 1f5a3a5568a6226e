"""Decisions in the forms of many authorities: the parts come out right, or a fault says what a person must correct.

A form is a text; a line ``@part`` names the part of the lines below it, and ``@`` begins title, address and date.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from autogen_core.models import SystemMessage

from lawtrace.agents.legal.scripted.section_classifier import map_parts
from lawtrace.agents.legal.section_mapper import shown_paragraphs
from lawtrace.environments.documents.decision import Document
from lawtrace.environments.documents.decision_parser import parse_document
from lawtrace.environments.documents.pages import text_lines
from lawtrace.environments.legal.document_checks import check_mapped, check_parsed
from lawtrace.environments.legal.document_parts import PartRange, paragraphs_by_part

FORMS = sorted((Path(__file__).parent / "forms").glob("*.txt"))


def rows_of(path: Path) -> Iterator[tuple[str, str]]:
    part = ""
    for row in path.read_text(encoding="utf-8").splitlines():
        if row.startswith("@"):
            part = row[1:]
        else:
            yield row, part


def parsed(path: Path) -> Document:
    found = text_lines("\n".join(row for row, _ in rows_of(path)))
    return parse_document(found.lines, found.notes)


def mapped(document: Document) -> list[PartRange]:
    shown = json.dumps(shown_paragraphs(document))
    answer = json.loads(map_parts([SystemMessage(content=f"```json paragraphs\n{shown}\n```")]))
    return [PartRange.model_validate(one) for one in answer["parts"]]


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", re.sub(r"^\s*\d[\d.]*[.)]?\s", "", text)).casefold()


def share_right(path: Path) -> float:
    """The share of the lines in paragraphs that have their part; decision and penalty count as one."""
    document = parsed(path)
    outcome = {"decision": "outcome", "penalty": "outcome"}
    parts = [
        (letters(one.text), outcome.get(part, part)) for part, one in paragraphs_by_part(document, mapped(document))
    ]
    headings = letters(" ".join(section.heading for _, section in document.outline()))
    expected = [(letters(row), outcome.get(part, part)) for row, part in rows_of(path) if part]
    expected = [(words, part) for words, part in expected if len(words) > 3 and words not in headings]
    return sum(any(words in text and part == found for text, found in parts) for words, part in expected) / len(
        expected
    )


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_parts_are_right_or_a_fault_is_told(path: Path) -> None:
    document = parsed(path)
    assert share_right(path) >= 0.95 or [*check_parsed(document), *check_mapped(document, mapped(document))]


def test_most_forms_come_out_right() -> None:
    assert sum(share_right(path) >= 0.95 for path in FORMS) >= 11


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_no_word_is_lost(path: Path) -> None:
    document = parsed(path)
    kept = [document.front, document.closing, *document.notes]
    kept += [section.heading for _, section in document.outline()]
    kept += [f"{paragraph.ref} {paragraph.text}" for paragraph in document.paragraphs()]
    lost = Counter(re.findall(r"[^\W\d]+", " ".join(row for row, _ in rows_of(path))))
    lost -= Counter(re.findall(r"[^\W\d]+", " ".join(kept)))
    assert lost == Counter()
