"""The published dataset (MASLegalBench, M 4): turns rows of content, type and source into cases.

A row that cannot be used is reported and left out. Texts are kept unchanged: a knowledge row stays the JSON text that
it was published as.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, cast

from pydantic import BeforeValidator, TypeAdapter, ValidationError

from lawtrace.environments.legal.case import Agent, Case, Choice, Chunk, Question
from lawtrace.environments.legal.question_sets import options_by_key
from lawtrace.schemas.errors import Problem, describe_validation_error
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


def _as_options(value: object) -> object:
    """Options of a list by key: the paper's prompt writes lists."""
    return options_by_key([str(one) for one in cast("list[object]", value)]) if isinstance(value, list) else value


def _as_answer(value: object) -> object:
    if not isinstance(value, list):
        return value
    members = cast("list[object]", value)
    return members[0] if len(members) == 1 else members


class _PublishedQuestion(FrozenModel):
    """The JSON of a question row; the flag is a string in the published data."""

    whether_contains_decision: bool
    question: str
    options: Annotated[dict[Choice, str], BeforeValidator(_as_options)]
    correct_answer: Annotated[Choice, BeforeValidator(_as_answer)]


@dataclass(slots=True)
class _CaseBuilder:
    """A case under construction."""

    chunks: list[Chunk] = field(default_factory=list[Chunk])
    questions: list[Question] = field(default_factory=list[Question])
    seen: Counter[str] = field(default_factory=Counter[str])


def parse_rows(rows: Iterable[tuple[str, Mapping[str, Any]]]) -> tuple[tuple[Case, ...], tuple[Problem, ...]]:
    """The cases in the order in which their sources appear, and the rows that could not be used.

    ``rows`` gives each row with its place for messages. References count the rows of an agent within its case (``F1``,
    ``LR3``, ``AR12``), question ids count its question rows. Bad rows count too, so that correcting one renames
    nothing.
    """
    growing: dict[str, _CaseBuilder] = {}
    problems: list[Problem] = []
    for place, raw in rows:
        try:
            row = PublishedRow.model_validate(raw)
            if not row.source.strip():
                raise ValueError("source: it is empty, so the case is unknown")
            _add(growing.setdefault(row.source, _CaseBuilder()), row)
        except ValidationError as error:
            problems.append(Problem(place, describe_validation_error(error)))
        except ValueError as error:
            problems.append(Problem(place, str(error)))
    cases = tuple(
        Case(id=source, chunks=tuple(case.chunks), questions=tuple(case.questions)) for source, case in growing.items()
    )
    return cases, tuple(problems)


def _add(case: _CaseBuilder, row: PublishedRow) -> None:
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
