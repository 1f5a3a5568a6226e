"""The Meta-LLM: answers a legal question from retrieved passages (M 3.2, 5.1, Table 9)."""

import json
from collections.abc import Sequence
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict

from lawtrace.agents.legal.role_calls import RoleCalls, as_json
from lawtrace.agents.participants import Role, RoleFailure
from lawtrace.environments.legal.case import Chunk, Question
from lawtrace.environments.legal.choice_parser import is_refusal


def _as_text(value: object) -> object:
    """The answer as text: models also write ["A"], true or 3. `parse_choice` interprets it."""
    if isinstance(value, list):
        members: list[object] = [*value]
        return _as_text(members[0]) if len(members) == 1 else json.dumps(members)
    return json.dumps(value) if isinstance(value, bool | int | float) else value


class Citation(BaseModel):
    """A passage that an answer rests on, with a quote from it."""

    model_config = ConfigDict(frozen=True)

    passage: str
    quote: str = ""


class LegalAnswer(BaseModel):
    """The answer as written. A null answer is a refusal."""

    model_config = ConfigDict(frozen=True)

    rationale: str = ""
    citations: tuple[Citation, ...] = ()
    answer: Annotated[str | None, BeforeValidator(_as_text)]


def question_json(question: Question) -> str:
    return as_json({"question": question.text, "options": question.options})


def passages_json(passages: Sequence[Chunk]) -> str:
    return as_json([{"ref": chunk.ref, "text": chunk.text.strip()} for chunk in passages])


_META_LLM = Role("meta_llm", LegalAnswer, remembers=False, declines=is_refusal)


async def answer_once(
    question: Question, passages: Sequence[Chunk], calls: RoleCalls, *, may_refuse: bool = True
) -> LegalAnswer | RoleFailure:
    """The answer or a failure. Raises errors that stop the run."""
    return await calls.ask(
        _META_LLM,
        opening="Answer the question.",
        question=question_json(question),
        passages=passages_json(passages),
        may_refuse=may_refuse,
    )
