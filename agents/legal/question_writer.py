"""The question writer: writes questions about a case from its findings (M Table 6)."""

import asyncio
from collections.abc import Mapping, Sequence
from typing import Annotated, cast

from pydantic import BeforeValidator, model_validator

from lawtrace.agents.legal.question_checks import AskedQuestion, DecisionText, find_question_fault, find_quote
from lawtrace.agents.legal.role_calls import RoleCalls, ValidItems, paragraphs_as_json, paragraphs_as_text, texts_of
from lawtrace.agents.participants import Role
from lawtrace.environments.documents.decision import Paragraph
from lawtrace.environments.legal.case import LETTERS, YES_NO, Case, PreparedCase, Question
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import FrozenModel

FINDING_BATCH_SIZE = 6

DUPLICATE_SIMILARITY = 0.8
"""Share of common words from which two questions of the same kind count as duplicates."""


def _by_key(value: object) -> object:
    """Options as an object: models also write the two words, or four texts, as a list."""
    if not isinstance(value, list):
        return value
    options = cast("list[object]", value)
    keys = YES_NO if options == list(YES_NO) else LETTERS
    return dict(zip(keys, options, strict=True)) if len(options) == len(keys) else options


class WrittenQuestion(FrozenModel):
    """One question as written. A prompt that shows one paragraph need not ask for ``paragraphs``."""

    paragraphs: tuple[str, ...] = ()
    whether_contains_decision: bool
    question: str
    options: Annotated[dict[str, str], BeforeValidator(_by_key)]
    correct_answer: str


class WrittenQuestions(FrozenModel):
    """All questions that the given findings support, as an object or as a list alone (M Table 6).

    The list is required, even if empty: the options of a truncated question are a JSON object too, and must not count
    as an answer without questions.
    """

    questions: tuple[WrittenQuestion, ...]

    @model_validator(mode="before")
    @classmethod
    def _wrap(cls, value: object) -> object:
        return {"questions": cast("list[object]", value)} if isinstance(value, list) else value


_QUESTION_WRITER = Role("question_writer", WrittenQuestions)


def check_question(
    written: WrittenQuestion, texts: Mapping[str, str], decision: DecisionText | None = None, *, may_quote: bool = False
) -> str | None:
    """The objection to a question, beginning with its first words; None if it is valid.

    Args:
        texts: the paragraphs that the writer saw, by their reference.
        decision: the whole decision; these paragraphs alone if it is None.
        may_quote: whether it may use the words of the finding.
    """
    reason = _find_form_fault(written, texts)
    if reason is None:
        asked = AskedQuestion(written.question, written.options, written.correct_answer)
        reason = find_question_fault(asked, decision or DecisionText([*texts.values()]))
    if reason is None and not may_quote:
        reason = _find_quote(written, texts)
    return f"{written.question[:60]!r}: {reason}" if reason else None


def _find_form_fault(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    unknown = [ref for ref in written.paragraphs if ref not in texts]
    if not written.paragraphs or unknown:
        return f"it cites {unknown[0]!r}, which is not a paragraph" if unknown else "it cites no paragraph"
    if tuple(written.options) not in (YES_NO, LETTERS):
        return "the options must be Yes and No, or A, B, C and D, in that order"
    if written.correct_answer not in written.options:
        return f"the answer {written.correct_answer!r} is not among the options"
    options = [" ".join(tokenize(option)) for option in written.options.values()]
    if not all(options) or len(set(options)) < len(options):
        return "an option is empty, or occurs twice"
    return None


def _find_quote(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    for ref in written.paragraphs:
        quote = find_quote(iter((written.question, *written.options.values())), texts[ref])
        if quote:
            return f"it quotes the finding: {quote!r} ..."
    return None


def is_duplicate(written: WrittenQuestion, earlier: WrittenQuestion) -> bool:
    """Whether two questions of one kind are the same: nearly the same words in the question, or with the options.

    Words of negation must agree, since a question and its negation are two questions.
    """
    if tuple(written.options) != tuple(earlier.options):
        return False
    return _alike([written.question], [earlier.question]) or _alike(
        [written.question, *written.options.values()], [earlier.question, *earlier.options.values()]
    )


_NEGATIONS = frozenset({"not", "no", "never", "without", "fail", "failed", "false"})


def _alike(first: Sequence[str], second: Sequence[str]) -> bool:
    one, other = set(tokenize(" ".join(first))), set(tokenize(" ".join(second)))
    numbers = {word for word in one ^ other if any(map(str.isdigit, word))}  # another provision, date or amount
    same = one & _NEGATIONS == other & _NEGATIONS and not numbers
    return same and len(one & other) >= DUPLICATE_SIMILARITY * len(one | other)


def _without_duplicates(questions: Sequence[WrittenQuestion], refused: list[str]) -> list[WrittenQuestion]:
    """Each question once; none of two that are the same and have different answers."""
    kept: list[WrittenQuestion] = []
    for question in questions:
        twin = next((earlier for earlier in kept if is_duplicate(question, earlier)), None)
        if twin is None:
            kept.append(question)
            continue
        refused.append(f"{question.question[:60]!r}: it asks the same as {twin.question[:60]!r}")
        if question.options[question.correct_answer] != twin.options[twin.correct_answer]:
            kept.remove(twin)
            refused.append(f"{twin.question[:60]!r}: the same question has another answer")
    return kept


async def write_questions(case: Case, calls: RoleCalls) -> PreparedCase:
    """Write the questions of a case; they replace earlier ones. Raises InputError if the case has no findings."""
    findings = case.paragraphs_of("findings")
    if not findings:
        raise InputError(f"{case.id}: no paragraph of it is a finding; correct its mapping and ingest it again")
    calls = calls.about(case.id)
    assert case.document is not None
    decision = DecisionText([paragraph.text for paragraph in case.document.paragraphs()])
    reads_text = "text" in calls.role_models.prompt(_QUESTION_WRITER.name).inputs

    async def write(batch: Sequence[Paragraph]) -> ValidItems[WrittenQuestion]:
        texts = texts_of(batch)
        return await calls.propose_items(
            _QUESTION_WRITER,
            lambda answer: [_placed(written, texts) for written in answer.questions],
            lambda written: check_question(written, texts, decision, may_quote=reads_text),
            opening="Write the questions.",
            unit=batch[0].ref,
            paragraphs=paragraphs_as_json(batch),
            text=paragraphs_as_text(batch),
        )

    shown = calls.batches(_QUESTION_WRITER.name, findings, FINDING_BATCH_SIZE)
    batches = await asyncio.gather(*map(write, shown))
    refused = [reason for batch in batches for reason in batch.refused]
    kept = _without_duplicates([question for batch in batches for question in batch.kept], refused)
    return PreparedCase(
        case=case.model_copy(
            update={"questions": tuple(_question(case.id, number, one) for number, one in enumerate(kept, 1))}
        ),
        refused=tuple(refused),
        failures=tuple(batch.failure for batch in batches if batch.failure is not None),
    )


def _placed(written: WrittenQuestion, texts: Mapping[str, str]) -> WrittenQuestion:
    """The question with its paragraph, if it names none and there was only one."""
    if written.paragraphs or len(texts) > 1:
        return written
    return written.model_copy(update={"paragraphs": tuple(texts)})


def _question(case: str, number: int, written: WrittenQuestion) -> Question:
    return Question(
        id=f"{case}/q{number}",
        text=written.question.strip(),
        options=written.options,
        answer=written.correct_answer,
        decision=written.whether_contains_decision,
        paragraphs=written.paragraphs,
    )
