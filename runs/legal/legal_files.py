"""Where the files of a legal run are."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from lawtrace.agents.legal.decomposition import StopReason
from lawtrace.agents.legal.meta_llm import Citation
from lawtrace.environments.errors import Problem
from lawtrace.environments.legal.case import Agent, Choice
from lawtrace.environments.legal.retrieval.ranking import Hit
from lawtrace.environments.legal.retrieval.retrievers import RETRIEVER_LABELS, RetrieverName
from lawtrace.runs.store.run_folder import RunFolder


class LegalFolder(RunFolder):
    """The files of one legal run; record and report lie where those of every run do."""

    __slots__ = ()

    @property
    def cases(self) -> Path:
        """The cases as the run found them, so that it can go on whatever becomes of their source."""
        return self.path / "cases.jsonl"

    @property
    def retrieved(self) -> Path:
        return self.path / "retrieved.jsonl"

    @property
    def probes(self) -> Path:
        return self.path / "probes.jsonl"

    @property
    def balanced(self) -> "LegalFolder":
        """The same files once more, of the questions as a balanced evaluation asks them."""
        return LegalFolder(self.path / "balanced")

    @property
    def restated(self) -> Path:
        """What came of restating each yes/no question; in the folder of the balanced evaluation."""
        return self.path / "restated.jsonl"

    @property
    def answers(self) -> Path:
        return self.path / "answers.jsonl"


LegalOutcome = Literal["correct", "wrong", "refused", "error", "invalid"]
LEGAL_OUTCOMES: tuple[LegalOutcome, ...] = get_args(LegalOutcome)
"""What came of asking a question. *Refused*: the model declined. *Error*: it wrote something that is no answer.
*Invalid*: no answer came, through no fault of the model. All stay in the denominator, which is the questions."""


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


@dataclass(frozen=True, slots=True)
class GridCell:
    """One configuration of the grid (M Table 2): who is active, how pieces are found, how many, and who answers."""

    model: str
    context: str
    retriever: RetrieverName
    depth: int

    @property
    def column(self) -> str:
        """``BM25@3``."""
        return f"{RETRIEVER_LABELS[self.retriever]}@{self.depth}"


class RetrievedRow(_Frozen):
    """The best pieces for a question in one context, at the largest depth asked for; smaller depths begin the same."""

    schema_version: Literal["lawtrace.legal_retrieved/1"] = "lawtrace.legal_retrieved/1"
    case: str
    question: str
    context: str
    retriever: RetrieverName
    hits: tuple[Hit, ...]


class SubTaskRow(_Frozen):
    """A part of a question that an agent worked on, in the decomposed pipeline.

    Attributes:
        depth: how many splits it comes from; ``ended`` says why it was not split further.
        wanted: the agent that the decomposer named; ``agent`` is another where that one is not active.
        found: None if the agent said nothing usable.
    """

    task: str
    depth: int
    ended: StopReason
    wanted: str
    agent: Agent
    passages: tuple[str, ...]
    found: str | None
    citations: tuple[Citation, ...] = ()


class AnswerRow(_Frozen):
    """What came of one question in one cell.

    Attributes:
        passages: references of the pieces that the model was shown, in order.
        steps: the parts that the question was split into; none where it was answered at once.
        choice: the option that was read out of the answer; None unless the outcome is correct or wrong.
        reason: why there is no choice, or empty.
    """

    schema_version: Literal["lawtrace.legal_answer/1"] = "lawtrace.legal_answer/1"
    case: str
    question: str
    model: str
    context: str
    retriever: RetrieverName
    depth: int
    passages: tuple[str, ...]
    outcome: LegalOutcome
    choice: Choice | None = None
    rationale: str = ""
    citations: tuple[Citation, ...] = ()
    reason: str = ""
    steps: tuple[SubTaskRow, ...] = ()

    @property
    def cell(self) -> GridCell:
        return GridCell(self.model, self.context, self.retriever, self.depth)


Probe = Literal["without_cited", "renamed"]
"""How an answer is tried once more: without the passages that it cites, or with the main name of the case changed in
question, options and passages. An answer that rests on its citations should move by the first and not by the second."""


class ProbeRow(_Frozen):
    """An answer tried once more."""

    schema_version: Literal["lawtrace.legal_probe/1"] = "lawtrace.legal_probe/1"
    case: str
    question: str
    model: str
    context: str
    retriever: RetrieverName
    depth: int
    probe: Probe
    before: Choice
    outcome: LegalOutcome
    after: Choice | None

    @property
    def moved(self) -> bool | None:
        """Whether the answer is another one now, or a refusal; None where no answer can be read."""
        return None if self.outcome in ("error", "invalid") else self.after != self.before


class RestatedRow(_Frozen):
    """What came of restating a yes/no question with the opposite polarity.

    Attributes:
        restated: its new words; None if it was refused.
        refused: why, or empty.
        asked: whether it was drawn to be asked so.
    """

    schema_version: Literal["lawtrace.legal_restated/1"] = "lawtrace.legal_restated/1"
    case: str
    question: str
    restated: str | None
    refused: str = ""
    asked: bool = False


class DatasetIssues(_Frozen):
    """What a legal run found out beside its rows: what of the case book could not be used, and what it lacks."""

    schema_version: Literal["lawtrace.legal_findings/1"] = "lawtrace.legal_findings/1"
    problems: tuple[Problem, ...] = ()
    missing: tuple[tuple[str, Agent], ...] = ()
