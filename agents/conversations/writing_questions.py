"""From findings to questions: the question writer proposes, code objects, what stays objectionable is left out."""

import asyncio
from dataclasses import dataclass
from typing import cast

from lawtrace.agents.casting import Casting
from lawtrace.agents.conversations.checked import propose
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.agents.roles.question_writer import (
    WrittenQuestion,
    WrittenQuestions,
    check_question,
    is_duplicate,
    seat_question_writer,
)
from lawtrace.environments.casebook.case import Case, Choice, Question
from lawtrace.environments.errors import InputError

FINDINGS_AT_ONCE = 6


@dataclass(frozen=True, slots=True)
class QuestionsWritten:
    """The case with its questions, what was left out and why, and conversations that broke off."""

    case: Case
    refused: tuple[str, ...]
    failures: tuple[str, ...]


async def write_questions(
    case: Case, *, casting: Casting, context: Context, ledger: Ledger, most_rounds: int
) -> QuestionsWritten:
    """Write the questions of a case; those it had before are replaced. Raises InputError if it has no findings."""
    findings = case.part("findings")
    if not findings:
        raise InputError(f"{case.id}: no paragraph of it is a finding; correct its mapping and ingest it again")

    async def write(start: int) -> tuple[tuple[WrittenQuestion, ...], str | None]:
        batch = findings[start : start + FINDINGS_AT_ONCE]
        texts = {paragraph.ref: paragraph.text for paragraph in batch}
        place = context.at(role="question_writer", task=case.id, style=batch[0].ref)
        found = await propose(
            seat_question_writer(casting.client("question_writer", place), casting.prompt("question_writer"), batch),
            WrittenQuestions,
            lambda answer: [reason for written in answer.questions if (reason := check_question(written, texts))],
            opening="Write the questions.",
            context=place,
            ledger=ledger,
            most_rounds=most_rounds,
        )
        if not found.proposals:
            return (), f"question_writer, from paragraph {batch[0].ref}: {found.failure}"
        return found.proposals[-1].questions, None

    written = await asyncio.gather(*(write(start) for start in range(0, len(findings), FINDINGS_AT_ONCE)))
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
    return QuestionsWritten(case.model_copy(update={"questions": questions}), tuple(refused), failures)


def _question(case: str, number: int, written: WrittenQuestion) -> Question:
    return Question(
        id=f"{case}/q{number}",
        text=written.question.strip(),
        options=cast("dict[Choice, str]", written.options),
        answer=cast("Choice", written.correct_answer),
        decision=written.whether_contains_decision,
        paragraphs=written.paragraphs,
    )
