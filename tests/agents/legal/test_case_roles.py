"""Knowledge extraction: checks by code, and no lost facts or rules."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from autogen_core.models import LLMMessage

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.legal.knowledge_extraction import extract_knowledge
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.environments.documents.decision_parser import parse_document
from lawtrace.environments.documents.pages import text_lines
from lawtrace.environments.legal.case import PreparedCase, build_case
from lawtrace.environments.legal.document_parts import PartRange
from lawtrace.prompts.loader import DEFAULT_PROMPTS, Prompts
from lawtrace.schemas.log_entries import Context
from tests.support.transcripts import Cast, Script

TEXT = """1. The Office fines Bottle Works.
2. Article 32 states that data shall be safe.
3. Bottle Works kept customer records on a laptop.
4. The laptop was stolen. Bottle Works told nobody.
5. The Office finds that Bottle Works infringed Article 32.
6. Bottle Works failed to lock the laptop. The Commissioner is satisfied that the theft was foreseeable.
"""
PARTS = (
    PartRange(first="1", last="1", part="introduction"),
    PartRange(first="2", last="2", part="rules"),
    PartRange(first="3", last="4", part="facts"),
    PartRange(first="5", last="6", part="findings"),
)

CASE = build_case("bottles", parse_document(text_lines(TEXT).lines), PARTS)


def says(answer: Mapping[str, Any]) -> Script:
    return lambda messages: json.dumps(answer)


STATED = {"paragraph": "3", "entity_or_concept": "Bottle Works", "legal_alignment": "Controller"}
APPLIED = says({"entities_and_concepts": [STATED], "relations": []})
INFERRED = says({"inferred_alignments": []})


def calls(prompts: Prompts = DEFAULT_PROMPTS, **scripts: Script) -> RoleCalls:
    return RoleCalls(
        Cast({"application": APPLIED, "common_sense": INFERRED}, "scripted", prompts, **scripts),
        Context(stage="reading", role="application"),
        MemoryEventLog(),
        most_rounds=2,
    )


async def read(prompts: Prompts = DEFAULT_PROMPTS, **scripts: Script) -> PreparedCase:
    return await extract_knowledge(CASE, calls(prompts, **scripts))


def refs(reading: PreparedCase) -> list[str]:
    return [chunk.ref for chunk in reading.case.chunks]


async def test_without_a_model_there_are_passages_of_facts_and_rules_alone() -> None:
    models = Cast({}, "offline")
    context = Context(stage="reading", role="application")
    reading = await extract_knowledge(CASE, RoleCalls(models, context, MemoryEventLog()))
    assert refs(reading) == ["LR:2", "F:3", "F:4"]
    assert not models.asked


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        ({"paragraph": "3", "entity_or_concept": "Can Works", "legal_alignment": "Controller"}, "does not mention"),
        ({"paragraph": "3", "entity_or_concept": "Bottle Works", "legal_alignment": "Villain"}, "is none of"),
        ({"paragraph": "5", "entity_or_concept": "Bottle Works", "legal_alignment": "Controller"}, "not a paragraph"),
        ({"paragraph": "3", "entity_or_concept": "", "legal_alignment": "Controller"}, "does not mention"),
    ],
)
async def test_invalid_alignments_are_rejected(entry: dict[str, str], reason: str) -> None:
    reading = await read(application=says({"entities_and_concepts": [entry], "relations": []}))
    assert any(reason in said for said in reading.refused)
    assert not any(chunk.agent in ("AR", "CS") for chunk in reading.case.chunks)


async def test_an_inference_needs_known_entries_and_must_be_new() -> None:
    def infer(rests_on: list[str], name: str) -> Script:
        entry = {"rests_on": rests_on, "entity_or_concept": name, "legal_alignment": "Controller"}
        return says({"inferred_alignments": [entry]})

    good = await read(common_sense=infer(["AR:3/1"], "Bottle Holding"))
    (kept,) = [chunk for chunk in good.case.chunks if chunk.agent == "CS"]
    assert kept.paragraphs == ("3",)
    for rests_on, name, reason in (
        ([], "Bottle Holding", "rests on nothing"),
        (["AR:99/1"], "Bottle Holding", "not known"),
        (["AR:3/1"], "bottle works", "already"),
    ):
        reading = await read(common_sense=infer(rests_on, name))
        assert any(reason in said for said in reading.refused)
        assert not any(chunk.agent == "CS" for chunk in reading.case.chunks)


async def test_the_common_sense_agent_reads_the_paragraphs_and_what_was_found_in_them() -> None:
    sent: list[str] = []

    def infer(messages: Sequence[LLMMessage]) -> str:
        sent.append(str(messages[0].content))
        return INFERRED(messages)

    await read(common_sense=infer)
    await read(PUBLISHED, common_sense=infer)
    ours, *published = sent
    assert "The laptop was stolen." in ours
    assert '"ref": "AR:3/1"' in ours
    assert len(published) == 2  # one paragraph at a time
    assert ["The laptop was stolen." in text for text in published] == [False, True]
    assert not any("AR:3/1" in text for text in published)


PUBLISHED = Prompts(dict.fromkeys(["application", "common_sense"], "published"))


async def test_answers_to_the_published_prompts_are_accepted() -> None:
    """The fields of the paper's tables: no paragraph, closed list in other case, absent values as null."""

    def apply(messages: Sequence[LLMMessage]) -> str:
        if "stolen" in str(messages[0].content):
            return '{"entities_and_concepts": [], "relations": []}'
        entity = {"legal_alignment": "controller", "legal_source": None, "rationale": None}
        relation = {"source": "Bottle Works", "relation": "kept", "target": "customer records", "rationale": "said"}
        entities = [{"entity_or_concept": "Bottle Works", **entity}, {"entity_or_concept": "laptop", **entity}]
        entities[1]["legal_alignment"] = None
        return f"Here it is:\n{json.dumps({'entities_and_concepts': entities, 'relations': [relation]})}"

    def infer(messages: Sequence[LLMMessage]) -> str:
        entry = {"entity_or_concept": "customers", "legal_alignment": "Data Subjects", "legal_source": "Article 4"}
        return json.dumps({"inferred_alignments": [{**entry, "rationale": "they are persons"}]})

    reading = await read(PUBLISHED, application=apply, common_sense=infer)
    entries = [chunk for chunk in reading.case.chunks if chunk.agent in ("AR", "CS")]
    assert [(chunk.ref, chunk.paragraphs) for chunk in entries] == [
        *(("AR:3/1", ("3",)), ("AR:3/2", ("3",))),
        *(("CS:1/1", ("3",)), ("CS:2/1", ("4",))),
    ]
    assert json.loads(entries[0].text)["legal_alignment"] == "Controller"
    assert json.loads(entries[2].text)["legal_alignment"] == "Data Subject"
    assert reading.failures == ()
    (refused,) = reading.refused
    assert "'laptop'" in refused


async def test_unusable_answers_lose_no_fact() -> None:
    reading = await read(application=lambda messages: "no")
    assert len(reading.failures) == 1
    assert refs(reading) == ["LR:2", "F:3", "F:4"]
