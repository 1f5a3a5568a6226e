"""The question writer: writes questions about a case from its findings (M Table 6)."""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, model_validator

from lawtrace.agents.legal.role_calls import RoleCalls, ValidItems, paragraphs_as_json, paragraphs_as_text, texts_of
from lawtrace.agents.participants import Role
from lawtrace.environments.errors import InputError
from lawtrace.environments.legal.case import LETTERS, YES_NO, Case, Choice, PreparedCase, Question
from lawtrace.environments.legal.document import Paragraph
from lawtrace.environments.legal.retrieval.tokenizer import tokenize

QUOTE_LENGTH = 12
"""Number of consecutive words of a finding that count as a quote."""

FINDING_BATCH_SIZE = 6

DUPLICATE_SIMILARITY = 0.8
"""Share of common words from which two questions of the same kind count as duplicates."""

_POINTS_AT_TEXT = re.compile(
    r"\b(?:the|this|these) (?:text|passage|paragraphs?|excerpt|document|notice|reprimand|section)\b"
    r"|\b(?:above|aforementioned|as stated|mentioned (?:earlier|before))\b",
    re.IGNORECASE,
)
_UNNAMED_PARTY = re.compile(r"\bthe (?:data )?(?:controller|processor)\b", re.IGNORECASE)


def _by_key(value: object) -> object:
    """Options as an object: models also write the two words, or four texts, as a list."""
    if not isinstance(value, list):
        return value
    options = cast("list[object]", value)
    keys = YES_NO if options == list(YES_NO) else LETTERS
    return dict(zip(keys, options, strict=True)) if len(options) == len(keys) else options


class WrittenQuestion(BaseModel):
    """One question as written. A prompt that shows one paragraph need not ask for ``paragraphs``."""

    model_config = ConfigDict(frozen=True)

    paragraphs: tuple[str, ...] = ()
    whether_contains_decision: bool
    question: str
    options: Annotated[dict[str, str], BeforeValidator(_by_key)]
    correct_answer: str


class WrittenQuestions(BaseModel):
    """All questions that the given findings support, as an object or as a list alone (M Table 6).

    The list is required, even if empty: the options of a truncated question are a JSON object too, and must not count
    as an answer without questions.
    """

    model_config = ConfigDict(frozen=True)

    questions: tuple[WrittenQuestion, ...]

    @model_validator(mode="before")
    @classmethod
    def _wrap(cls, value: object) -> object:
        return {"questions": cast("list[object]", value)} if isinstance(value, list) else value


_QUESTION_WRITER = Role("question_writer", WrittenQuestions)


def check_question(written: WrittenQuestion, texts: Mapping[str, str], *, may_quote: bool = False) -> str | None:
    """The objection to a question, beginning with its first words; None if it is valid.

    ``may_quote``: whether it may use the words of the finding.
    """
    reason = _find_fault(written, texts) or (None if may_quote else _find_quote(written, texts))
    return f"{written.question[:60]!r}: {reason}" if reason else None


def _find_fault(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    unknown = [ref for ref in written.paragraphs if ref not in texts]
    if not written.paragraphs or unknown:
        return f"it cites {unknown[0]!r}, which is not a paragraph" if unknown else "it cites no paragraph"
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
        return f"it cannot be understood alone: {pointer[0]!r}"
    nameless = _UNNAMED_PARTY.search(written.question)
    if nameless:
        return f"it says {nameless[0]!r} in place of a name"
    return _gives_away(written)


def _gives_away(written: WrittenQuestion) -> str | None:
    asked = f" {' '.join(tokenize(written.question))} "
    if "A" in written.options:
        named = [key for key, option in written.options.items() if f" {' '.join(tokenize(option))} " in asked]
        if named == [written.correct_answer]:
            return "the right option occurs in the question, and no other option does"
    return None


def _find_quote(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
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


async def write_questions(case: Case, calls: RoleCalls) -> PreparedCase:
    """Write the questions of a case; they replace earlier ones. Raises InputError if the case has no findings."""
    findings = case.paragraphs_of("findings")
    if not findings:
        raise InputError(f"{case.id}: no paragraph of it is a finding; correct its mapping and ingest it again")
    calls = calls.about(case.id)
    reads_text = "text" in calls.role_models.prompt(_QUESTION_WRITER.name).inputs

    async def write(batch: Sequence[Paragraph]) -> ValidItems[WrittenQuestion]:
        texts = texts_of(batch)
        return await calls.propose_items(
            _QUESTION_WRITER,
            lambda answer: [_placed(written, texts) for written in answer.questions],
            lambda written: check_question(written, texts, may_quote=reads_text),
            opening="Write the questions.",
            unit=batch[0].ref,
            paragraphs=paragraphs_as_json(batch),
            text=paragraphs_as_text(batch),
        )

    shown = calls.batches(_QUESTION_WRITER.name, findings, FINDING_BATCH_SIZE)
    batches = await asyncio.gather(*map(write, shown))
    kept: list[WrittenQuestion] = []
    refused = [reason for batch in batches for reason in batch.refused]
    for question in (question for batch in batches for question in batch.kept):
        twin = next((earlier for earlier in kept if is_duplicate(question, earlier)), None)
        if twin is None:
            kept.append(question)
        else:
            refused.append(f"{question.question[:60]!r}: it asks the same as {twin.question[:60]!r}")
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
        options=cast("dict[Choice, str]", written.options),
        answer=cast("Choice", written.correct_answer),
        decision=written.whether_contains_decision,
        paragraphs=written.paragraphs,
    )
