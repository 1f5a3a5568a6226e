"""The question writer without a model: what findings say becomes questions with the answer that the findings give."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import SystemMessage

from lawtrace.agents.legal.question_writer import WrittenQuestion, check_question
from lawtrace.agents.legal.scripted.yes_no_questions import write_questions
from lawtrace.environments.legal.decision_files import read_lines
from lawtrace.environments.legal.document_parser import parse_document

SHARED = Path(__file__).parents[5] / "shared" / "data" / "decisions"
OPENING = "Bottle Works sells bottles. Bottle Works is in Leeds."


def ask(*findings: str) -> list[WrittenQuestion]:
    paragraphs = [{"paragraph": str(number), "text": text} for number, text in enumerate((OPENING, *findings), 1)]
    prompt = SystemMessage(content=f"```json paragraphs\n{json.dumps(paragraphs)}\n```")
    raw: Sequence[Mapping[str, Any]] = json.loads(write_questions([prompt]))["questions"]
    return [WrittenQuestion.model_validate(question) for question in raw if question["paragraphs"] != ["1"]]


def yes_no(*findings: str) -> dict[str, str]:
    return {asked.question: asked.correct_answer for asked in ask(*findings) if "Yes" in asked.options}


@pytest.mark.parametrize(
    ("finding", "asked"),
    [
        (
            "The Commissioner finds that Bottle Works contravened regulation 22 of PECR.",
            ("infringe regulation 22", "Yes"),
        ),
        (
            "The Commissioner is satisfied that the contravention identified above was serious.",
            ("by Bottle Works was", ""),
        ),
        (
            "The Commissioner does not consider that Bottle Works deliberately set out to break the law.",
            ("set out", "No"),
        ),
        ("There is no evidence that Bottle Works sought independent legal advice.", ("Was evidence found that", "No")),
        ("Only after this incident occurred did Bottle Works train its staff.", ("before the incident occurred", "No")),
        ("For these reasons, Bottle Works cannot rely on the soft opt-in exemption.", ("rely on the soft opt-in", "")),
    ],
)
def test_a_finding_becomes_a_question_with_its_answer(finding: str, asked: tuple[str, str]) -> None:
    (question,) = [item for item in yes_no(finding).items() if asked[0] in item[0]]
    assert asked[1] in question[1]


@pytest.mark.parametrize("number", range(12))
def test_the_answer_follows_the_polarity_of_the_question(number: int) -> None:
    found = yes_no(f"Bottle Works cannot rely on exemption {number}.", f"Bottle Works failed to lock laptop {number}.")
    assert len(found) == 2
    for question, answer in found.items():
        assert answer == ("Yes" if "cannot" in question or "failed" in question else "No")


def test_questions_are_turned_now_and_then() -> None:
    answers = [answer for n in range(40) for answer in yes_no(f"Bottle Works failed to lock laptop {n}.").values()]
    assert 10 < answers.count("No") < 30


@pytest.mark.parametrize(
    "finding",
    [
        "He is satisfied that this condition is met.",
        "The Commissioner has gone on to consider whether the contravention was negligent.",
        "It was a concern.",
        "They knew.",
    ],
)
def test_what_says_nothing_by_itself_is_left_alone(finding: str) -> None:
    assert ask(finding) == []


def test_four_options_hold_one_right_answer_that_the_findings_name() -> None:
    findings = (
        "The Commissioner finds that Bottle Works infringed Article 32 of the UK GDPR and Article 6 was kept.",
        "Bottle Works failed to lock its store of customer records.",
        "The cause of the breach was a lack of proper checks for hidden data prior to sending.",
        "The Commissioner finds that there were 1,905,776 texts sent by Bottle Works, of which 1,148,247 arrived.",
    )
    four = [asked for asked in ask(*findings) if "A" in asked.options]
    right = {asked.question: asked.options[asked.correct_answer] for asked in four}
    assert list(right.values()) == [
        "Article 32 of the UK GDPR",
        "lock its store of customer records",
        "a lack of proper checks",
        "1,905,776",
    ]
    assert all(len(set(asked.options.values())) == 4 for asked in four)
    assert not any(option.startswith("Article 6 ") for asked in four for option in asked.options.values())


@pytest.mark.shared
@pytest.mark.parametrize("name", ["tempcover_mpn", "southend_council_reprimand"])
def test_what_is_written_about_real_decisions_is_sound_but_for_a_few(name: str) -> None:
    if not SHARED.exists():
        pytest.skip("needs the decisions in ../shared/data/decisions")
    paragraphs = parse_document(read_lines(SHARED / f"{name}.txt")).paragraphs()
    texts = {paragraph.ref: paragraph.text for paragraph in paragraphs}
    shown = [{"paragraph": ref, "text": text} for ref, text in texts.items()]
    prompt = SystemMessage(content=f"```json paragraphs\n{json.dumps(shown)}\n```")
    written = [WrittenQuestion.model_validate(q) for q in json.loads(write_questions([prompt]))["questions"]]
    sound = [asked for asked in written if check_question(asked, texts) is None]
    assert len(sound) >= 0.8 * len(written) > 8
