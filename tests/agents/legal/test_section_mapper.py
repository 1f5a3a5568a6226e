"""The section mapper: an incomplete mapping is rejected and never used."""

import json
from collections.abc import Sequence

import pytest
from autogen_core.models import LLMMessage

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.agents.legal.section_mapper import map_sections
from lawtrace.environments.documents.decision import Document
from lawtrace.environments.documents.decision_parser import parse_document
from lawtrace.environments.documents.lines import Line
from lawtrace.environments.documents.pages import text_lines
from lawtrace.environments.legal.document_parts import PartRange, check_coverage, check_order
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.log_entries import Context, MessageSent
from tests.support.transcripts import Cast, Script

DOCUMENT = parse_document(
    text_lines(
        "1. The Office fines Bottle Works.\nLegal framework\n2. Article 32 states that data shall be safe.\n"
        "Background\n3. A laptop was stolen in 2021.\nThe contravention\n4. Bottle Works failed to lock it.\n"
        "The amount of the penalty\n5. It is £5,000.\n"
    ).lines
)

WHOLE = [
    ("1", "1", "introduction"),
    ("2", "2", "rules"),
    ("3", "3", "facts"),
    ("4", "4", "findings"),
    ("5", "5", "penalty"),
]


def answer(parts: Sequence[tuple[str, str, str]]) -> str:
    return json.dumps({"parts": [{"first": first, "last": last, "part": part} for first, last, part in parts]})


async def mapped(
    script: Script, event_log: MemoryEventLog | None = None, rounds: int = 3, document: Document = DOCUMENT
) -> list[PartRange]:
    context = Context(stage="ingest", role="section_mapper")
    return await map_sections(
        document, RoleCalls(Cast(section_mapper=script), context, event_log or MemoryEventLog(), rounds)
    )


async def test_a_heading_shared_by_all_paragraphs_is_ignored() -> None:
    title = Line("A decision of the Office", level=1)
    below = [Line(s.heading, level=2) if s.heading else None for s in DOCUMENT.sections]
    lines = [title]
    for heading, section in zip(below, DOCUMENT.sections, strict=True):
        lines += [heading] if heading else []
        lines += [Line(f"{paragraph.ref}. {paragraph.text}", level=0) for paragraph in section.paragraphs]
    titled = parse_document(lines)
    assert [path.split(" > ")[0] for path, _ in titled.outline()] == ["A decision of the Office"] * 5
    found = await mapped(LEGAL_OFFLINE_ROLES["section_mapper"], document=titled)
    assert [(given.first, given.last, given.part) for given in found] == WHOLE


async def test_the_offline_mapper_uses_headings_and_words() -> None:
    found = await mapped(LEGAL_OFFLINE_ROLES["section_mapper"])
    assert [(given.first, given.last, given.part) for given in found] == WHOLE
    assert check_order(found) == []


async def test_paragraphs_of_an_annex_are_annex_under_any_heading() -> None:
    headings = {"The contravention": "1. It failed.", "Annex 1": "", "Appeals against decisions": "1. There is one."}
    lines = [
        Line(text, level=level)
        for heading, below in headings.items()
        for text, level in ((heading, 2), (below, 0))
        if text
    ]
    found = await mapped(LEGAL_OFFLINE_ROLES["section_mapper"], document=parse_document(lines))
    assert [(part.last, part.part) for part in found] == [("1", "findings"), ("Annex 1/1", "annex")]


async def test_a_long_document_is_mapped_in_windows() -> None:
    sentence = "It was so, as the parties agreed in their letters of that year. " * 6
    headings = ("Legal framework", "Background", "The contravention", "The amount of the penalty")
    text = "\n\n".join(
        f"{heading}\n\n" + "\n\n".join(f"{40 * part + number}. {sentence}" for number in range(1, 41))
        for part, heading in enumerate(headings)
    )
    prompts: list[str] = []

    def script(messages: Sequence[LLMMessage]) -> str:
        prompts.append(str(messages[0].content))
        return LEGAL_OFFLINE_ROLES["section_mapper"](messages)

    found = await mapped(script, document=parse_document(text_lines(f"NOTICE\n\nTo: Bottle Works\n\n{text}").lines))
    assert len(prompts) > 2
    assert max(map(len, prompts)) < 30_000
    assert "json before" not in prompts[0]
    assert all("json before" in prompt for prompt in prompts[1:])
    ends = [(given.last, given.part) for given in found]
    assert ends == [("40", "rules"), ("80", "facts"), ("120", "findings"), ("160", "penalty")]


async def test_an_incomplete_mapping_is_rejected_with_the_reason() -> None:
    heard: list[str] = []

    def script(messages: Sequence[LLMMessage]) -> str:
        heard.append(str(messages[-1].content))
        return answer(WHOLE if len(heard) > 1 else [WHOLE[0], *WHOLE[2:]])

    event_log = MemoryEventLog()
    found = await mapped(script, event_log)
    assert check_coverage(DOCUMENT, found) == []
    assert "paragraphs 2 to 2 are in no part" in heard[1]
    said = [entry.source for entry in event_log.entries if isinstance(entry, MessageSent)]
    assert said == ["user", "section_mapper", "check", "section_mapper", "check"]


async def test_no_complete_mapping_is_a_failure() -> None:
    with pytest.raises(OperationalError, match=r"\(paragraphs 5 to 5 are in no part\); give a mapping with --parts"):
        await mapped(lambda messages: answer(WHOLE[:-1]), rounds=2)
    with pytest.raises(OperationalError, match="the section mapper failed"):
        await mapped(lambda messages: "no idea")


async def test_an_unusual_order_is_used_after_the_last_round_with_a_warning() -> None:
    odd = [
        ("1", "1", "introduction"),
        ("2", "2", "findings"),
        ("3", "3", "facts"),
        ("4", "4", "findings"),
        ("5", "5", "annex"),
    ]
    found = await mapped(lambda messages: answer(odd), rounds=2)
    assert check_order(found) == ["facts (3 to 3) comes after findings"]


async def test_a_finding_among_the_facts_is_asked_again() -> None:
    heard: list[str] = []
    document = parse_document(
        text_lines(
            "1. Article 32 applies.\n2. It was lost.\n3. The Office finds that it infringed Article 32.\n4. £5."
        ).lines
    )
    wrong = [("1", "1", "rules"), ("2", "3", "facts"), ("4", "4", "penalty")]
    right = [("1", "1", "rules"), ("2", "2", "facts"), ("3", "3", "findings"), ("4", "4", "penalty")]

    def script(messages: Sequence[LLMMessage]) -> str:
        heard.append(str(messages[-1].content))
        return answer(right if len(heard) > 1 else wrong)

    found = await mapped(script, document=document)
    assert "paragraph 3 is in Background, but states a finding" in heard[1]
    assert [given.part for given in found] == ["rules", "facts", "findings", "penalty"]
