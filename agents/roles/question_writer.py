"""The question writer: from findings to questions, as a commissioner would ask them (M Table 6)."""

import re
from collections.abc import Mapping, Sequence
from typing import cast

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict

from lawtrace.agents.roles.segments import paragraphs_json
from lawtrace.agents.speaker import RoleSpeaker, hear_objections
from lawtrace.environments.casebook.case import LETTERS, YES_NO
from lawtrace.environments.casebook.documents.tree import Paragraph
from lawtrace.environments.casebook.retrieval.words import words_of
from lawtrace.prompts.loader import Prompt

QUOTED_WORDS = 12
"""So many words of the finding in a row are a quote."""

ALIKE = 0.8
"""Questions of the same kind that share so much of their words are one question."""

_POINTS_AT_TEXT = re.compile(
    r"\b(?:the|this|these) (?:text|passage|paragraphs?|excerpt|document|notice|reprimand|section)\b"
    r"|\b(?:above|aforementioned|as stated|mentioned (?:earlier|before))\b",
    re.IGNORECASE,
)
_NAMELESS = re.compile(r"\bthe (?:data )?(?:controller|processor)\b", re.IGNORECASE)


class WrittenQuestion(BaseModel):
    """One question as written."""

    model_config = ConfigDict(frozen=True)

    paragraphs: tuple[str, ...]
    whether_contains_decision: bool
    question: str
    options: dict[str, str]
    correct_answer: str


class WrittenQuestions(BaseModel):
    """All questions that the findings at hand support. The list must be there, if empty: the options of a question that
    was cut off are an object, too, and must not pass for findings without a question."""

    model_config = ConfigDict(frozen=True)

    questions: tuple[WrittenQuestion, ...]


def seat_question_writer(
    client: ChatCompletionClient, prompt: Prompt, findings: Sequence[Paragraph]
) -> RoleSpeaker[WrittenQuestions]:
    return RoleSpeaker(
        "question_writer",
        client=client,
        prompt=prompt,
        system=prompt.fill(paragraphs=paragraphs_json(findings)),
        answer=WrittenQuestions,
        attend=hear_objections,
        remembers=True,
    )


def check_question(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    """What speaks against a question, in its own words at the front; None if nothing does."""
    reason = _against(written, texts)
    return f"{written.question[:60]!r}: {reason}" if reason else None


def _against(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    unknown = [ref for ref in written.paragraphs if ref not in texts]
    if not written.paragraphs or unknown:
        return f"it cites {unknown[0]!r}, which is no paragraph" if unknown else "it cites no paragraph"
    if tuple(written.options) not in (cast("tuple[str, ...]", YES_NO), cast("tuple[str, ...]", LETTERS)):
        return "the options must be Yes and No, or A, B, C and D, in that order"
    if written.correct_answer not in written.options:
        return f"the answer {written.correct_answer!r} is not among the options"
    options = [" ".join(words_of(option)) for option in written.options.values()]
    if not all(options) or len(set(options)) < len(options):
        return "an option is empty, or occurs twice"
    if not written.question.strip().endswith("?"):
        return "it does not end in a question mark"
    pointer = _POINTS_AT_TEXT.search(written.question)
    if pointer:
        return f"it does not stand alone: {pointer[0]!r}"
    nameless = _NAMELESS.search(written.question)
    if nameless:
        return f"it says {nameless[0]!r} where a name belongs"
    return _gives_away(written, texts)


def _gives_away(written: WrittenQuestion, texts: Mapping[str, str]) -> str | None:
    asked = f" {' '.join(words_of(written.question))} "
    if "A" in written.options:
        named = [key for key, option in written.options.items() if f" {' '.join(words_of(option))} " in asked]
        if named == [written.correct_answer]:
            return "the right option stands in the question, and no other does"
    for ref in written.paragraphs:
        said = f" {' '.join(words_of(texts[ref]))} "
        for text in (written.question, *written.options.values()):
            words = words_of(text)
            for start in range(len(words) - QUOTED_WORDS + 1):
                if f" {' '.join(words[start : start + QUOTED_WORDS])} " in said:
                    return f"it quotes the finding: {' '.join(words[start : start + 6])!r} ..."
    return None


def is_duplicate(written: WrittenQuestion, earlier: WrittenQuestion) -> bool:
    """Whether two questions ask the same: the same kind of options, nearly the same words in question and options.

    The words of negation count for themselves, since a question and its negated form are two.
    """
    if tuple(written.options) != tuple(earlier.options):
        return False
    first, second = _all_words(written), _all_words(earlier)
    negated = {"not", "no", "never", "without", "fail", "failed"}
    return first & negated == second & negated and len(first & second) >= ALIKE * len(first | second)


def _all_words(written: WrittenQuestion) -> set[str]:
    return set(words_of(" ".join([written.question, *written.options.values()])))
