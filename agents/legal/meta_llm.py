"""The Meta-LLM: answers a legal question from retrieved passages (M 3.2, 5.1, Table 9)."""

import json
from collections.abc import Sequence
from functools import reduce
from typing import Annotated

from pydantic import BeforeValidator

from lawtrace.agents.legal.role_calls import RoleCalls, as_json
from lawtrace.agents.participants import Role, RoleFailure
from lawtrace.environments.legal.case import Chunk, Question
from lawtrace.environments.legal.choice_parser import is_refusal
from lawtrace.schemas.models import FrozenModel


def _as_text(value: object) -> object:
    """The answer as text: models also write ["A"], true or 3. `parse_choice` interprets it."""
    if isinstance(value, list):
        members: list[object] = [*value]
        return _as_text(members[0]) if len(members) == 1 else json.dumps(members)
    return json.dumps(value) if isinstance(value, bool | int | float) else value


class Citation(FrozenModel):
    """A passage that an answer rests on, with a quote from it."""

    passage: str
    quote: str = ""


class LegalAnswer(FrozenModel):
    """The answer as written. A null answer is a refusal."""

    rationale: str = ""
    citations: tuple[Citation, ...] = ()
    answer: Annotated[str | None, BeforeValidator(_as_text)]


def question_json(question: Question) -> str:
    return as_json({"question": question.text, "options": question.options})


def passages_json(passages: Sequence[Chunk]) -> str:
    return as_json([{"ref": chunk.ref, "text": chunk.text.strip()} for chunk in passages])


_REMOVED = ("\\", "(square)", "square)", "(square", ")square", "square(")
"""What the published code leaves out of passages, in this order."""


def _without_marks(text: str) -> str:
    return reduce(lambda left, part: left.replace(part, ""), _REMOVED, text)


_META_LLM = Role("meta_llm", LegalAnswer, stateful=False, is_refusal=is_refusal)


async def answer_once(
    question: Question, passages: Sequence[Chunk], calls: RoleCalls, *, may_refuse: bool = True
) -> LegalAnswer | RoleFailure:
    """The answer or a failure. Raises errors that stop the run.

    The published prompt is filled as by the published code: options as a Python dict, chunks by lines.
    """
    if calls.role_models.prompt(_META_LLM.name).verbatim:
        context = "\n".join(_without_marks(chunk.text) for chunk in passages)
        asked = f"{question.text}\nOptions: {dict(question.options)}"
        return await calls.ask(_META_LLM, opening="", question_content=asked, context=context)
    return await calls.ask(
        _META_LLM,
        opening="Answer the question.",
        question=question_json(question),
        passages=passages_json(passages),
        may_refuse=may_refuse,
    )
