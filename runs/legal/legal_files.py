"""The files of a legal run and their rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pydantic import SerializerFunctionWrapHandler, model_serializer

from lawtrace.agents.legal.decomposition import CompletedPart
from lawtrace.agents.legal.meta_llm import Citation
from lawtrace.environments.legal.case import Agent, Case, Choice
from lawtrace.environments.legal.retrieval.ranking import Hit
from lawtrace.environments.legal.retrieval.retrievers import RETRIEVER_LABELS, RetrieverName
from lawtrace.runs.store.stage_store import StageFile
from lawtrace.schemas.errors import Problem
from lawtrace.schemas.models import StrictModel

LegalOutcome = Literal["correct", "wrong", "refused", "error", "invalid"]
LEGAL_OUTCOMES: tuple[LegalOutcome, ...] = get_args(LegalOutcome)
"""The outcome of one question. *Refused*: the model declined to answer. *Error*: its reply is not an answer. *Invalid*:
there is no reply, for a reason outside the model. All outcomes count in the denominator."""


@dataclass(frozen=True, slots=True)
class GridCell:
    """One configuration of the grid (M Table 2): active agents, retriever, depth, Meta-LLM."""

    model: str
    context: str
    retriever: RetrieverName
    depth: int

    @property
    def column(self) -> str:
        """``BM25@3``."""
        return f"{RETRIEVER_LABELS[self.retriever]}@{self.depth}"

    @property
    def unit(self) -> str:
        """``F+LR BM25@3``: the unit of its conversations."""
        return f"{self.context} {self.column}"


class RetrievedRow(StrictModel):
    """The best chunks for a question by one retriever, at the largest depth. Smaller depths are their prefixes.

    ``hits``: for each context, best first, each with reference, agent, rank and score.
    """

    schema_version: Literal["lawtrace.legal_retrieved/2"] = "lawtrace.legal_retrieved/2"
    case: str
    question: str
    retriever: RetrieverName
    hits: Mapping[str, tuple[Hit, ...]]


class AnswerRow(StrictModel):
    """The answer to one question in one cell.

    Attributes:
        passages: references of the chunks that the model was shown, in order.
        asked_in: the unit whose conversation gave the answer, since its prompt was the same; empty for its own.
        steps: the parts of the question; empty where it was answered at once.
        trial: the repetition of the question, from 0.
        choice: the option read from the answer, or its text; None unless the outcome is correct or wrong.
        reason: why there is no choice, or empty.
    """

    schema_version: Literal["lawtrace.legal_answer/1"] = "lawtrace.legal_answer/1"
    case: str
    question: str
    model: str
    context: str
    retriever: RetrieverName
    depth: int
    trial: int = 0
    passages: tuple[str, ...]
    outcome: LegalOutcome
    choice: Choice | None = None
    rationale: str = ""
    citations: tuple[Citation, ...] = ()
    reason: str = ""
    asked_in: str = ""
    steps: tuple[CompletedPart, ...] = ()

    @property
    def cell(self) -> GridCell:
        return GridCell(self.model, self.context, self.retriever, self.depth)

    @model_serializer(mode="wrap")
    def _without_empty(self, dump: SerializerFunctionWrapHandler) -> dict[str, Any]:
        """A grid has tens of thousands of rows, most of them without these fields."""
        fields: dict[str, Any] = dump(self)
        return {name: value for name, value in fields.items() if value or name not in _OFTEN_EMPTY}


_OFTEN_EMPTY = frozenset({"trial", "choice", "rationale", "citations", "reason", "asked_in", "steps"})


class DatasetIssues(StrictModel):
    """Rows of the dataset that could not be used, and agents without a chunk in a case."""

    schema_version: Literal["lawtrace.legal_findings/1"] = "lawtrace.legal_findings/1"
    problems: tuple[Problem, ...] = ()
    missing: tuple[tuple[str, Agent], ...] = ()


CASES = StageFile("cases.jsonl", Case)
"""A copy of the cases, so that the run can be resumed or repeated when their source has changed."""

DATASET_ISSUES = StageFile("dataset_issues.jsonl", DatasetIssues)
RETRIEVED = StageFile("retrieved.jsonl", RetrievedRow)
ANSWERS = StageFile("answers.jsonl", AnswerRow)
