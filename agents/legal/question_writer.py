"""The question writer: writes questions about a case from its findings (M Table 6)."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.conversation import run_proposal_loop
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.legal.case_roles import paragraphs_as_json
from lawtrace.agents.participants import RoleAgent, read_objections
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.errors import InputError
from lawtrace.environments.legal.case import LETTERS, YES_NO, Case, Choice, Question
from lawtrace.environments.legal.document import Paragraph
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.prompts.loader import Prompt

QUOTE_LENGTH = 12
"""Number of consecutive words of a finding that count as a quote."""

DUPLICATE_SIMILARITY = 0.8
"""Share of common words from which two questions of the same kind count as duplicates."""

_POINTS_AT_TEXT = re.compile(
    r"\b(?:the|this|these) (?:text|passage|paragraphs?|excerpt|document|notice|reprimand|section)\b"
    r"|\b(?:above|aforementioned|as stated|mentioned (?:earlier|before))\b",
    re.IGNORECASE,
)
_UNNAMED_PARTY = re.compile(r"\bthe (?:data )?(?:controller|processor)\b", re.IGNORECASE)


class WrittenQuestion(BaseModel):
    """One question as written."""

    model_config = ConfigDict(frozen=True)

    paragraphs: tuple[str, ...]
    whether_contains_decision: bool
    question: str
    options: dict[str, str]
    correct_answer: str


class WrittenQuestions(BaseModel):
    """All questions that the given findings support.

    The list is required, even if empty: the options of a truncated question are a JSON object too, and must not count
    as an answer without questions.
    """

    model_config = ConfigDict(frozen=True)

    questions: tuple[WrittenQuestion, ...]


def make_question_writer(
    client: ChatCompletionClient, prompt: Prompt, findings: Sequence[Paragraph]
) -> RoleAgent[WrittenQuestions]:
    return RoleAgent(
        "question_writer",
        client=client,
        prompt=prompt,
        system=prompt.fill(paragraphs=paragraphs_as_json(findings)),
        answer=WrittenQuestions,
        attend=read_objections,
        remembers=True,
    )


def check_question(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    """The objection to a question, beginning with its first words; None if it is valid."""
    reason = _find_fault(written, texts)
    return f"{written.question[:60]!r}: {reason}" if reason else None


def _find_fault(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    unknown = [ref for ref in written.paragraphs if ref not in texts]
    if not written.paragraphs or unknown:
        return f"it cites {unknown[0]!r}, which is no paragraph" if unknown else "it cites no paragraph"
    if tuple(written.options) not in (cast("tuple[str, ...]", YES_NO), cast("tuple[str, ...]", LETTERS)):
        return "the options must be Yes and No, or A, B, C and D, in that order"
    if written.correct_answer not in written.options:
        return f"the answer {written.correct_answer!r} is not among the options"
    options = [" ".join(tokenize(option)) for option in written.options.values()]
    if not all(options) or len(set(options)) < len(options):
        return "an option is empty, or occurs twice"
    if not written.question.strip().endswith("?"):
        return "it does not end in a question mark"
    pointer = _POINTS_AT_TEXT.search(written.question)
    if pointer:
        return f"it does not stand alone: {pointer[0]!r}"
    nameless = _UNNAMED_PARTY.search(written.question)
    if nameless:
        return f"it says {nameless[0]!r} where a name belongs"
    return _gives_away(written, texts)


def _gives_away(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    asked = f" {' '.join(tokenize(written.question))} "
    if "A" in written.options:
        named = [key for key, option in written.options.items() if f" {' '.join(tokenize(option))} " in asked]
        if named == [written.correct_answer]:
            return "the right option stands in the question, and no other does"
    for ref in written.paragraphs:
        said = f" {' '.join(tokenize(texts[ref]))} "
        for text in (written.question, *written.options.values()):
            words = tokenize(text)
            for start in range(len(words) - QUOTE_LENGTH + 1):
                if f" {' '.join(words[start : start + QUOTE_LENGTH])} " in said:
                    return f"it quotes the finding: {' '.join(words[start : start + 6])!r} ..."
    return None


def is_duplicate(written: WrittenQuestion, earlier: WrittenQuestion) -> bool:
    """Whether two questions are the same: the same kind of options, nearly the same words in question and options.

    Words of negation must agree, since a question and its negation are two questions.
    """
    if tuple(written.options) != tuple(earlier.options):
        return False
    first, second = _all_words(written), _all_words(earlier)
    negated = {"not", "no", "never", "without", "fail", "failed"}
    return first & negated == second & negated and len(first & second) >= DUPLICATE_SIMILARITY * len(first | second)


def _all_words(written: WrittenQuestion) -> set[str]:
    return set(tokenize(" ".join([written.question, *written.options.values()])))


FINDING_BATCH_SIZE = 6


@dataclass(frozen=True, slots=True)
class GeneratedQuestions:
    """The case with its questions, the rejected questions with reasons, and the conversations that broke off."""

    case: Case
    refused: tuple[str, ...]
    failures: tuple[str, ...]


async def write_questions(
    case: Case, *, role_models: RoleModels, context: Context, event_log: EventLog, most_rounds: int
) -> GeneratedQuestions:
    """Write the questions of a case; they replace earlier ones. Raises InputError if the case has no findings."""
    findings = case.paragraphs_of("findings")
    if not findings:
        raise InputError(f"{case.id}: no paragraph of it is a finding; correct its mapping and ingest it again")

    async def write(start: int) -> tuple[tuple[WrittenQuestion, ...], str | None]:
        batch = findings[start : start + FINDING_BATCH_SIZE]
        texts = {paragraph.ref: paragraph.text for paragraph in batch}
        place = context.at(role="question_writer", task=case.id, unit=batch[0].ref)
        found = await run_proposal_loop(
            make_question_writer(
                role_models.client("question_writer", place), role_models.prompt("question_writer"), batch
            ),
            WrittenQuestions,
            lambda answer: [reason for written in answer.questions if (reason := check_question(written, texts))],
            opening="Write the questions.",
            context=place,
            event_log=event_log,
            most_rounds=most_rounds,
        )
        if not found.proposals:
            return (), f"question_writer, from paragraph {batch[0].ref}: {found.failure}"
        return found.proposals[-1].questions, None

    written = await asyncio.gather(*(write(start) for start in range(0, len(findings), FINDING_BATCH_SIZE)))
    texts = {paragraph.ref: paragraph.text for paragraph in findings}
    kept: list[WrittenQuestion] = []
    refused: list[str] = []
    for question in (question for questions, _ in written for question in questions):
        reason = check_question(question, texts)
        twin = next((earlier for earlier in kept if is_duplicate(question, earlier)), None)
        if reason is None and twin is not None:
            reason = f"{question.question[:60]!r}: it asks the same as {twin.question[:60]!r}"
        if reason is None:
            kept.append(question)
        else:
            refused.append(reason)
    questions = tuple(_question(case.id, number, question) for number, question in enumerate(kept, 1))
    failures = tuple(failure for _, failure in written if failure is not None)
    return GeneratedQuestions(case.model_copy(update={"questions": questions}), tuple(refused), failures)


def _question(case: str, number: int, written: WrittenQuestion) -> Question:
    return Question(
        id=f"{case}/q{number}",
        text=written.question.strip(),
        options=cast("dict[Choice, str]", written.options),
        answer=cast("Choice", written.correct_answer),
        decision=written.whether_contains_decision,
        paragraphs=written.paragraphs,
    )
