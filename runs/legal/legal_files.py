"""The files of a legal run and their rows."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, get_args

from pydantic import Field

from lawtrace.agents.legal.decomposition import CompletedPart
from lawtrace.agents.legal.meta_llm import Citation
from lawtrace.environments.legal.case import Agent, Case, Choice
from lawtrace.environments.legal.retrieval.ranking import Hit
from lawtrace.environments.legal.retrieval.retrievers import RETRIEVER_LABELS, RetrieverName
from lawtrace.runs.store.stage_store import StageFile
from lawtrace.schemas.errors import Problem
from lawtrace.schemas.log_entries import Context
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


def _is_empty(value: object) -> bool:
    """Whether a field is left out: a grid has tens of thousands of rows, most of them without these fields."""
    return not value


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
    trial: int = Field(default=0, exclude_if=_is_empty)
    passages: tuple[str, ...]
    outcome: LegalOutcome
    choice: Choice | None = Field(default=None, exclude_if=_is_empty)
    rationale: str = Field(default="", exclude_if=_is_empty)
    citations: tuple[Citation, ...] = Field(default=(), exclude_if=_is_empty)
    reason: str = Field(default="", exclude_if=_is_empty)
    asked_in: str = Field(default="", exclude_if=_is_empty)
    steps: tuple[CompletedPart, ...] = Field(default=(), exclude_if=_is_empty)

    @property
    def cell(self) -> GridCell:
        return GridCell(self.model, self.context, self.retriever, self.depth)

    @property
    def conversation(self) -> Context:
        """The conversation that gives the answer."""
        return Context(
            stage="answers",
            role="meta_llm",
            model=self.model,
            task=self.question,
            unit=self.asked_in or self.cell.unit,
            tested_model=self.model,
            trial=self.trial,
        )


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
