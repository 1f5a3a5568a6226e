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
from lawtrace.environments.documents.decision_parser import parse_document, read_decision
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


def text_of(path: Path) -> str:
    return "\n".join(row for row, _ in rows_of(path))


def parsed(path: Path) -> Document:
    found = text_lines(text_of(path))
    return parse_document(found.lines, found.notes)


def mapped(document: Document) -> list[PartRange]:
    shown = json.dumps(shown_paragraphs(document))
    answer = json.loads(map_parts([SystemMessage(content=f"```json paragraphs\n{shown}\n```")]))
    return [PartRange.model_validate(one) for one in answer["parts"]]


def letters(text: str) -> str:
    return re.sub(r"[\W_]", "", re.sub(r"^\s*\d[\d.]*[.)]?\s", "", text)).casefold()


def share_right(path: Path, document: Document | None = None) -> float:
    """The share of the lines in paragraphs that have their part; decision and penalty count as one."""
    document = document or parsed(path)
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


def marked(text: str, heading: str, paragraph: str) -> str:
    """The blocks of a text with the marks of a format; a block is a heading if it is short and ends no sentence."""
    blocks = [block.strip() for block in re.split(r"\n\s*\n", text) if block.strip()]
    short = [len(block) < 90 and "\n" not in block and block[-1] not in ".:;," for block in blocks]
    return "".join((heading if one else paragraph).format(block) for block, one in zip(blocks, short, strict=True))


NAMES = ("european_inquiry", "nordic_supervision", "determination_with_orders", "short_reprimand")


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize(
    ("suffix", "form"),
    [
        (".html", ("<p><strong>{}</strong></p>", "<p>{}</p>")),
        (".html", ("<h3>{}</h3>", "<p>{}</p>")),
        (".html", ("<b>{}</b><br><br>", "{}<br><br>")),
        (".html", ("<p>{}</p>", "<p>{}</p>")),
        (".html", None),
        (".md", ("## {}\n\n", "{}\n\n")),
    ],
)
def test_marks_of_formats(tmp_path: Path, name: str, suffix: str, form: tuple[str, str] | None) -> None:
    path = next(path for path in FORMS if path.stem == name)
    text = text_of(path)
    file = tmp_path / f"decision{suffix}"
    file.write_text(marked(text, *form) if form else f"<h1>A</h1><pre>{text}</pre>", encoding="utf-8")
    assert share_right(path, read_decision(file)) >= 0.95


@pytest.mark.parametrize("path", FORMS, ids=lambda path: path.stem)
def test_no_word_is_lost(path: Path) -> None:
    document = parsed(path)
    kept = [document.front, document.closing, *document.notes]
    kept += [section.heading for _, section in document.outline()]
    kept += [f"{paragraph.ref} {paragraph.text}" for paragraph in document.paragraphs()]
    lost = Counter(re.findall(r"[^\W\d]+", text_of(path)))
    lost -= Counter(re.findall(r"[^\W\d]+", " ".join(kept)))
    assert lost == Counter()
