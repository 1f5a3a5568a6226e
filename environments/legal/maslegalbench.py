"""The published dataset (MASLegalBench, M 4): turns rows of content, type and source into cases.

A row that cannot be used is reported and left out. Texts are kept unchanged: a knowledge row stays the JSON text that
it was published as.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from pydantic import TypeAdapter, ValidationError

from lawtrace.environments.legal.case import Agent, Case, Choice, Chunk, Question
from lawtrace.environments.legal.case_rows import GrowingCase, PlacedRow, build_cases
from lawtrace.schemas.errors import Problem
from lawtrace.schemas.models import FrozenModel

_AGENT_OF_TYPE: Mapping[str, Agent] = {
    "background": "F",
    "legal framework": "LR",
    "entity": "AR",
    "relation": "AR",
    "inferred alignment": "CS",
}
_OBJECT: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])
_JSON_TYPES = frozenset({"entity", "relation", "inferred alignment"})


class PublishedRow(FrozenModel):
    """One row as published."""

    content: str
    type: str
    source: str


class _PublishedQuestion(FrozenModel):
    """The JSON of a question row; the flag is a string in the published data."""

    whether_contains_decision: bool
    question: str
    options: dict[Choice, str]
    correct_answer: Choice


def parse_rows(rows: Iterable[PlacedRow]) -> tuple[tuple[Case, ...], tuple[Problem, ...]]:
    """The cases in the order in which their sources appear, and the rows that could not be used.

    References count the rows of an agent within its case (``F1``, ``LR3``, ``AR12``), question ids its question rows.
    """
    return build_cases(rows, _add)


def _add(raw: Mapping[str, Any], cases: Mapping[str, GrowingCase]) -> None:
    row = PublishedRow.model_validate(raw)
    if not row.source.strip():
        raise ValueError("source: it is empty, so the case is unknown")
    case = cases[row.source]
    if row.type == "question":
        case.seen["question"] += 1
        case.questions.append(_question(row, case.seen["question"]))
        return
    agent = _AGENT_OF_TYPE.get(row.type)
    if agent is None:
        raise ValueError(f"type: {row.type!r} is unknown; known are question, {', '.join(_AGENT_OF_TYPE)}")
    case.seen[agent] += 1
    if row.type in _JSON_TYPES:
        _object(row.content)
    if not row.content.strip():
        raise ValueError("content: it is empty")
    case.chunks.append(Chunk(ref=f"{agent}{case.seen[agent]}", agent=agent, text=row.content))


def _question(row: PublishedRow, number: int) -> Question:
    published = _PublishedQuestion.model_validate(_object(row.content))
    return Question(
        id=f"{row.source}/q{number}",
        text=published.question,
        options=published.options,
        answer=published.correct_answer,
        decision=published.whether_contains_decision,
    )


def _object(content: str) -> dict[str, Any]:
    try:
        return _OBJECT.validate_json(content)
    except ValidationError as error:
        raise ValueError(f"content: not a JSON object: {error.errors()[0]['msg']}") from error
