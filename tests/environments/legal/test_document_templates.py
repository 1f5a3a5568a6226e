"""Decisions in templates of several regulators and years: the parts come out right, whatever marks the headings."""

import json
from collections.abc import Callable, Sequence

import pytest
from autogen_core.models import SystemMessage

from lawtrace.agents.legal.scripted.section_classifier import map_parts
from lawtrace.agents.legal.section_mapper import shown_paragraphs
from lawtrace.environments.documents.decision import Document
from lawtrace.environments.documents.decision_parser import parse_document
from lawtrace.environments.documents.pages import text_lines
from lawtrace.environments.legal.document_parts import DocumentPart, PartRange, paragraphs_by_part

Sections = Sequence[tuple[str, DocumentPart, Sequence[str]]]

SECTIONS: Sections = (
    (
        "Introduction",
        "introduction",
        (
            "The Office has decided to issue this notice to Harbour Clinic Ltd, a company that runs four surgeries.",
            "The notice imposes a penalty of £40,000. It explains the reasons of the Office and the amount.",
        ),
    ),
    (
        "Legal framework",
        "rules",
        (
            "Article 5(1)(f) of the Regulation provides that personal data shall be kept secure against loss.",
            "Article 32(1) states: “the controller shall implement measures appropriate to the risk, including\n"
            "1. encryption of data;\n2. a process for regular testing;\n3. the ability to restore access.”",
            "Section 155 of the Act sets out when the Office may give a penalty notice to a person.",
        ),
    ),
    (
        "Background to the case",
        "facts",
        (
            "Harbour Clinic keeps the records of 31,000 patients in a register that a supplier maintains for it.",
            "On 3 March 2021 a laptop with a copy of the register was taken from a car in front of a station.",
            "On 9 March 2021 the clinic informed the Office. It stated that the disk of the laptop was not encrypted.",
            "In June 2021 the Office asked for the policy on portable devices. The clinic responded on\n"
            "12 July 2021 that there was none, and that staff had been advised by mail.",
        ),
    ),
    (
        "Findings of infringement",
        "findings",
        (
            "The Office finds that Harbour Clinic infringed Article 32(1) because it let staff copy the register.",
            "It failed to encrypt the disk, although the cost of encryption was small and the risk was known.",
            "There was a lack of training. Harbour Clinic should have told its staff what may be copied and why.",
        ),
    ),
    (
        "Amount of the penalty",
        "penalty",
        (
            "The Office considered aggravating and mitigating factors. The clinic co-operated from the beginning.",
            "A penalty of £40,000 is effective, proportionate and dissuasive.",
        ),
    ),
)

ROMAN = ("I", "II", "III", "IV", "V")


def pages(lines: Sequence[str], size: int, finish: Callable[[list[str], int], list[str]]) -> list[list[str]]:
    return [finish(list(lines[at : at + size]), at // size + 1) for at in range(0, len(lines), size)]


def wrapped(number: str, text: str, indent: str = "      ") -> list[str]:
    """A numbered paragraph in lines of about 60 signs."""
    lines: list[str] = []
    for block in text.split("\n"):
        words = block.split()
        line = ""
        for word in words:
            if len(line) + len(word) > 60:
                lines.append(line)
                line = ""
            line = f"{line} {word}".strip()
        lines.append(line)
    head = f"{number}".ljust(len(indent)) if number else ""
    return [f"{head}{lines[0]}", *(f"{indent}{line}" for line in lines[1:])]


def roman_with_running_heads() -> str:
    """Roman headings in capitals, a mark of classification on top of each page, the number of the page joined to it."""
    body: list[str] = []
    count = 0
    for label, (heading, _, paragraphs) in zip(ROMAN, SECTIONS, strict=True):
        body.append(f"{label}.   {heading.upper()}")
        for text in paragraphs:
            count += 1
            body += wrapped(f"{count}.", text)
    cut = pages(["PENALTY NOTICE", "To: Harbour Clinic Ltd", *body], 14, lambda page, n: page)
    text = ""
    for number, page in enumerate(cut, 1):
        mark = "Restricted - Office use" if number == 1 else f"{' ' * 30}{number}Restricted - Office use"
        text += "\n".join([mark, "", *page]) + "\n\n"
    return text


def capitals_and_restarts() -> str:
    """Headings in capitals; the numbers begin again in each section; form feeds and *Page n of m*."""
    body: list[str] = ["ENFORCEMENT NOTICE", ""]
    for heading, _, paragraphs in SECTIONS:
        body += ["", heading.upper(), ""]
        for number, text in enumerate(paragraphs, 1):
            body += [*wrapped(f"{number}.", text, "    "), ""]
    return "\f".join("\n".join([*page, f"Page {n} of 9"]) for n, page in enumerate(pages(body, 18, lambda p, n: p), 1))


def lettered_with_contents() -> str:
    """Lettered headings, a table of contents, footnotes with small numbers in the text, decimal paragraphs."""
    contents = [f"{'ABCDE'[place]}. {heading} ........ {place + 2}" for place, (heading, *_) in enumerate(SECTIONS)]
    body: list[str] = []
    for section, (heading, _, paragraphs) in enumerate(SECTIONS, 1):
        body.append(f"{'ABCDE'[section - 1]}. {heading}")
        for number, text in enumerate(paragraphs, 1):
            body += wrapped(f"{section}.{number}", text)
    text = ["Notice", "", "Contents", *contents, ""]
    note = 0
    for number, page in enumerate(pages(body, 16, lambda p, n: p), 1):
        note += 2
        text += [*page, f"{note - 1} Letter of the clinic, page {note}.", f"{note} Second letter.", "", str(number), ""]
    return "\n".join(text)


def plain_headings_without_page_numbers() -> str:
    """Headings in ordinary letters, numbers with brackets, a head that is repeated where pages were lost."""
    lines: list[str] = []
    count = 0
    for heading, _, paragraphs in SECTIONS:
        lines += ["", heading, ""]
        for text in paragraphs:
            count += 1
            lines += [*wrapped(f"{count})", text), ""]
            if count % 3 == 0:
                lines += ["", "Office of Records, Decision 17", ""]
    return "\n".join(["DECISION", "", *lines])


def unnumbered_reprimand() -> str:
    lines = ["REPRIMAND", ""]
    for heading, _, paragraphs in SECTIONS:
        lines += ["", heading.upper(), ""]
        for text in paragraphs:
            lines += [*wrapped("", text, ""), ""]
    return "\n".join(lines)


def mapped(document: Document) -> dict[str, str]:
    """The part of each paragraph, by its first words."""
    shown = json.dumps(shown_paragraphs(document))
    answer = json.loads(map_parts([SystemMessage(content=f"```json paragraphs\n{shown}\n```")]))
    ranges = [PartRange.model_validate(one) for one in answer["parts"]]
    return {paragraph.text[:30]: part for part, paragraph in paragraphs_by_part(document, ranges)}


@pytest.mark.parametrize(
    "template",
    [
        roman_with_running_heads,
        capitals_and_restarts,
        lettered_with_contents,
        plain_headings_without_page_numbers,
        unnumbered_reprimand,
    ],
)
def test_parts_come_out_right_in_every_template(template: Callable[[], str]) -> None:
    read = text_lines(template())
    document = parse_document(read.lines, read.notes)
    texts = [" ".join(text.split()) for _, _, paragraphs in SECTIONS for text in paragraphs]
    assert [paragraph.text for paragraph in document.paragraphs()] == texts
    expected = {" ".join(text.split())[:30]: part for _, part, paragraphs in SECTIONS for text in paragraphs}
    assert mapped(document) == expected


def test_headings_of_three_kinds_nest() -> None:
    text = (
        "I. FACTS\n1. One thing happened.\nA. The attack\n2. It began in May.\nLater events\n3. It ended.\n"
        "B. The report\n4. It was late.\nII. FINDINGS\n5. The Office finds a breach.\nC. Other\n6. Nothing.\n"
    )
    document = parse_document(text_lines(text).lines)
    assert [path for path, section in document.outline() if section.paragraphs] == [
        "I. FACTS",
        "I. FACTS > A. The attack",
        "I. FACTS > A. The attack > Later events",
        "I. FACTS > B. The report",
        "II. FINDINGS",
        "II. FINDINGS > C. Other",
    ]


def test_a_lost_number_ends_nothing() -> None:
    numbers = [number for number in range(1, 40) if number not in {9, 10, 11, 12, 13}]
    text = "\n".join(f"{number}. Paragraph {number} is complete." for number in numbers)
    document = parse_document(text_lines(text).lines)
    assert [paragraph.ref for paragraph in document.paragraphs()] == [str(number) for number in numbers]
    assert document.parse_warnings == ("paragraph 14 follows 8: 5 numbers are missing",)
