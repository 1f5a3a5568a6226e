"""The scripted question writer: one question for each finding, in both polarities."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from autogen_core.models import SystemMessage

from lawtrace.agents.legal.question_writer import WrittenQuestion, check_question
from lawtrace.agents.legal.scripted.infringement_questions import write_questions

OPENING = "Bottle Works sells bottles. Bottle Works is in Leeds."


def ask(*findings: str) -> list[WrittenQuestion]:
    paragraphs = [{"paragraph": str(number), "text": text} for number, text in enumerate((OPENING, *findings), 1)]
    prompt = SystemMessage(content=f"```json paragraphs\n{json.dumps(paragraphs)}\n```")
    raw: Sequence[Mapping[str, Any]] = json.loads(write_questions([prompt]))["questions"]
    questions = [WrittenQuestion.model_validate(question) for question in raw]
    texts = {paragraph["paragraph"]: paragraph["text"] for paragraph in paragraphs}
    assert all(check_question(question, texts) is None for question in questions)
    return questions


@pytest.mark.parametrize("number", range(5, 15))
def test_the_answer_follows_the_polarity_of_the_question(number: int) -> None:
    (question,) = ask(f"The Commissioner finds that Bottle Works infringed Article {number} of the UK GDPR.")
    assert f"Article {number} of the UK GDPR" in question.question
    assert question.correct_answer == ("No" if question.question.startswith("Is it false") else "Yes")
    assert question.paragraphs == ("2",)


def test_both_polarities_occur() -> None:
    findings = [f"Bottle Works contravened regulation and Article {number}." for number in range(5, 15)]
    findings = [finding.replace("regulation and ", "") for finding in findings]
    assert {question.correct_answer for question in ask(*findings)} == {"Yes", "No"}


def test_each_provision_gives_one_question() -> None:
    assert len(ask("Bottle Works infringed Article 32.", "Bottle Works was in breach of Article 32.")) == 1


@pytest.mark.parametrize(
    "finding",
    [
        "The Commissioner does not find that Bottle Works infringed Article 32.",
        "Bottle Works denied that Bottle Works infringed Article 32.",
        "The Commissioner considered whether Bottle Works infringed Article 32.",
        "Article 32 protects customers whom Bottle Works serves.",
        "Another company infringed Article 32.",
    ],
)
def test_other_sentences_give_no_question(finding: str) -> None:
    assert ask(finding) == []
