"""A dataset of two cases; one of them has no common-sense chunk."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from autogen_core.models import LLMMessage, SystemMessage

from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.environments.legal.case import AGENTS, Agent, Case, Choice, Chunk, Question
from lawtrace.environments.legal.dataset import LegalDataset


def asked(id: str, text: str, options: dict[Choice, str], answer: Choice) -> Question:  # noqa: A002 (the field's name)
    return Question(id=id, text=text, options=options, answer=answer, decision=True)


def _chunks(texts: dict[Agent, list[str]]) -> tuple[Chunk, ...]:
    return tuple(
        Chunk(ref=f"{agent}{number}", agent=agent, text=text)
        for agent in AGENTS
        for number, text in enumerate(texts.get(agent, []), 1)
    )


BOTTLES = Case(
    id="bottles",
    chunks=_chunks(
        {
            "F": [
                "4. Bottle Works kept customer records on an unlocked laptop.",
                "5. The laptop was stolen from a car in May.",
                "6. Bottle Works told nobody for ninety days.",
            ],
            "LR": [
                "2. Article 32 demands security appropriate to the risk.",
                "3. Article 33 demands notice of a breach within 72 hours.",
            ],
            "AR": ['{"entity_or_concept": "Bottle Works", "legal_alignment": "Controller"}'],
            "CS": ['{"entity_or_concept": "customer records", "legal_alignment": "Personal Data"}'],
        }
    ),
    questions=(
        asked(
            "bottles/q1",
            "Did Bottle Works infringe Article 32 by keeping customer records on an unlocked laptop?",
            {"Yes": "Yes", "No": "No"},
            "Yes",
        ),
        asked(
            "bottles/q2",
            "Which provision did Bottle Works infringe by telling nobody for ninety days?",
            {
                "A": "Article 33 on notice of a breach within 72 hours",
                "B": "Article 6 on lawful bases",
                "C": "Article 89 on archives and on research that serves the public interest",
                "D": "none",
            },
            "A",
        ),
        asked("bottles/q3", "Was a zebra involved?", {"Yes": "Yes", "No": "No"}, "No"),
    ),
)

LETTERS_CASE = Case(
    id="letters",
    chunks=_chunks(
        {
            "F": ["7. Letter House sent advertising letters without consent."],
            "LR": ["1. Advertising needs consent."],
            "AR": ['{"source": "Letter House", "relation": "sent", "target": "letters"}'],
        }
    ),
    questions=(
        asked(
            "letters/q1",
            "Did Letter House send advertising letters without the consent it needs?",
            {"Yes": "Yes, it did", "No": "No, it did not"},
            "Yes",
        ),
    ),
)

BOOK = LegalDataset((BOTTLES, LETTERS_CASE))


def prepare_passages(paragraph: str) -> Callable[[Mapping[str, Any]], str]:
    """Plays the roles that write passages: one of a paragraph that names Bottle Works, and what follows from it."""
    stated = {"paragraph": paragraph, "entity_or_concept": "Bottle Works", "legal_alignment": "Controller"}
    inferred = {"rests_on": [f"AR:{paragraph}/1"], "entity_or_concept": "records", "legal_alignment": "Personal Data"}

    def answer(request: Mapping[str, Any]) -> str:
        if "inferred_alignments" in request["messages"][0]["content"]:
            return json.dumps({"inferred_alignments": [inferred]})
        return json.dumps({"entities_and_concepts": [stated], "relations": []})

    return answer


def answer_and_cite(request: Mapping[str, Any]) -> str:
    """Chooses the first option and cites the first passage."""
    messages: list[LLMMessage] = [SystemMessage(content=request["messages"][0]["content"])]
    option = next(iter(labelled_json(messages, "question")["options"]))
    cited = [{"passage": shown["ref"]} for shown in labelled_json(messages, "passages")[:1]]
    return json.dumps({"answer": option, "citations": cited})
