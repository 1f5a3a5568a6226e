"""Cases: the chunks of one regulatory decision that agents produced, and the questions about it.

Four agents work on a case, and each chunk belongs to one of them (M 3.2): ``F`` facts, ``LR`` rules, ``AR`` application
of rules to facts, ``CS`` common sense. A *context* names the active agents, such as ``F+LR``.
"""

from collections.abc import Sequence
from string import ascii_uppercase
from typing import Literal, NamedTuple, Self, cast, get_args

from pydantic import Field, model_validator

from lawtrace.environments.documents.decision import Document, Paragraph
from lawtrace.environments.legal.document_checks import states_finding
from lawtrace.environments.legal.document_parts import DocumentPart, PartRange, check_coverage, paragraphs_by_part
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel

Agent = Literal["F", "LR", "AR", "CS"]
AGENTS: tuple[Agent, ...] = get_args(Agent)

Choice = str
"""The key of an option: Yes, No or a capital letter; for a question without options, the answer in words."""

YES_NO: tuple[Choice, ...] = ("Yes", "No")
LETTERS: tuple[Choice, ...] = ("A", "B", "C", "D")
ALPHABET: tuple[Choice, ...] = tuple(ascii_uppercase)

QuestionKind = Literal["yes_no", "four_options", "options", "free_text"]
TextMatch = Literal["exact", "normalized"]
TaskMetric = Literal["balanced_accuracy", "exact_match", "f1"]

Context = tuple[Agent, ...]


def parse_context(text: str) -> Context:
    """The agents of a context such as ``F+LR``. Raises ValueError."""
    names = text.split("+")
    unknown = [name for name in names if name not in AGENTS]
    if unknown or len(set(names)) != len(names):
        raise ValueError(f"context {text!r}: write each of {', '.join(AGENTS)} at most once, joined by '+'")
    return cast("Context", tuple(names))


def context_name(context: Sequence[Agent]) -> str:
    return "+".join(context)


_NAMES = ("F", "LR", "F+LR", "AR", "CS", "AR+CS", "F+LR+AR", "F+LR+AR+CS")
CONTEXTS: tuple[Context, ...] = tuple(map(parse_context, _NAMES))
"""The eight contexts of the published grid (M Table 2); the first three are its baselines."""


class Chunk(StrictModel):
    """A chunk: the unit of retrieval.

    Attributes:
        ref: unique in the case and stable; answers cite it.
        agent: the agent that produced it.
        text: the unchanged input; `released` retrieval ranks by its characters, line ends included.
        paragraphs: the numbered paragraphs of the decision that it is based on, where known.
    """

    ref: str = Field(min_length=1)
    agent: Agent
    text: str = Field(min_length=1)
    paragraphs: tuple[str, ...] = ()


class TwinFact(StrictModel):
    """A fact that a twin question states: of the decision, with its paragraph; changed from it; or assumed."""

    fact: str
    holds: bool
    basis: Literal["stated", "changed", "assumed"]
    paragraph: str | None = None


class Twin(StrictModel):
    """The proof of the answer of a twin question, whose other twin differs in one fact and has the other answer.

    Attributes:
        pair: the id of the pair.
        topic: what the rules ask about, and ``subject``: about what in this decision.
        asks: whether the question asks for an infringement or for its absence.
        proof: the proof tree, a line for each literal; ``deciding``: the facts at its leaves.
        read_by: the model of the second reader that gave the same answer; empty if there was none.
    """

    pair: str
    topic: str
    subject: str
    asks: Literal["infringed", "kept"]
    facts: tuple[TwinFact, ...]
    deciding: tuple[str, ...]
    proof: tuple[str, ...]
    read_by: str = ""


class Question(StrictModel):
    """A question with the options Yes and No, in any order, with 2 to 26 lettered options, or without options.

    Attributes:
        id: unique in the dataset.
        options: by their keys; empty if the answer is a text.
        answer: the key of the right option; of a question without options, the right text.
        also: other right texts of a question without options.
        match: whether a text must agree exactly, or in its words alone, without case, punctuation and articles.
        decision: whether its source passage contains a decision of the commissioner rather than an opinion.
        paragraphs: the numbered paragraphs that it was written from, where known.
        twin: the pair and the proof of a twin question.
    """

    id: str = Field(min_length=1)
    text: str = Field(min_length=1)
    options: dict[Choice, str]
    answer: Choice = Field(min_length=1)
    decision: bool
    paragraphs: tuple[str, ...] = ()
    also: tuple[str, ...] = ()
    match: TextMatch = "normalized"
    twin: Twin | None = Field(default=None, exclude_if=lambda value: value is None)

    @model_validator(mode="after")
    def _has_one_answer(self) -> Self:
        if not self.options:
            return self
        keys = tuple(self.options)
        lettered = len(keys) > 1 and keys == ALPHABET[: len(keys)]
        if not lettered and not (len(keys) == len(YES_NO) and set(keys) == {*YES_NO}):
            raise ValueError(f"the options must be Yes and No, or letters from A on; these are {[*self.options]}")
        if self.also:
            raise ValueError("other right texts need a question without options")
        if not all(option.strip() for option in self.options.values()):
            raise ValueError("an option is empty")
        if self.answer not in self.options:
            raise ValueError(f"the answer {self.answer!r} is not among the options {[*self.options]}")
        return self

    @property
    def kind(self) -> QuestionKind:
        if not self.options:
            return "free_text"
        if "Yes" in self.options:
            return "yes_no"
        return "four_options" if tuple(self.options) == LETTERS else "options"


class Case(StrictModel):
    """One decision.

    Attributes:
        document: the decision as a tree; published cases have none.
        parts: the part of the decision that each paragraph belongs to; covers the document if there is one.
        metric: by which a task of another benchmark is scored, beside accuracy.
    """

    schema_version: Literal["lawtrace.case/1"] = "lawtrace.case/1"
    id: str = Field(min_length=1)
    chunks: tuple[Chunk, ...]
    questions: tuple[Question, ...] = ()
    document: Document | None = None
    parts: tuple[PartRange, ...] = ()
    metric: TaskMetric | None = Field(default=None, exclude_if=lambda value: value is None)

    @model_validator(mode="before")
    @classmethod
    def _without_introduction(cls, value: object) -> object:
        """Earlier files repeat the opening of the decision, which is in ``document``."""
        if not isinstance(value, dict):
            return value
        return {name: of for name, of in cast("dict[str, object]", value).items() if name != "introduction"}

    @model_validator(mode="after")
    def _has_distinct_names(self) -> Self:
        for what, names in (
            ("reference", [chunk.ref for chunk in self.chunks]),
            ("question id", [question.id for question in self.questions]),
        ):
            if len(set(names)) < len(names):
                twice = next(name for name in names if names.count(name) > 1)
                raise ValueError(f"the {what} {twice!r} occurs twice")
        if self.document is not None and (wrong := check_coverage(self.document, self.parts)):
            raise ValueError(f"parts: {wrong[0]}")
        return self

    def paragraphs_of(self, *wanted: DocumentPart) -> tuple[Paragraph, ...]:
        """The paragraphs of the parts, in the order of the text; empty without the document."""
        if self.document is None:
            return ()
        return tuple(p for part, p in paragraphs_by_part(self.document, self.parts) if part in wanted)

    def chunks_of(self, context: Context) -> tuple[Chunk, ...]:
        """The chunks of the active agents, in the order of the case."""
        return tuple(chunk for chunk in self.chunks if chunk.agent in context)


class PreparedCase(NamedTuple):
    """A case with its chunks or questions, and what is not among them.

    ``refused``: entries or questions that code left out, with reasons; ``failures``: conversations that broke off.
    """

    case: Case
    refused: tuple[str, ...] = ()
    failures: tuple[str, ...] = ()


_AGENT_OF_PART: dict[DocumentPart, Agent] = {"facts": "F", "rules": "LR"}


def build_case(id: str, document: Document, parts: Sequence[PartRange]) -> Case:  # noqa: A002 (the field's name)
    """A case with a chunk for each paragraph of facts and of rules that states no finding, with its number in the
    reference (``F:17``). Raises InputError if the parts do not cover the document."""
    wrong = check_coverage(document, parts)
    if wrong:
        raise InputError(f"{id}: the parts do not cover the document: {'; '.join(wrong)}")
    chunks = (
        Chunk(
            ref=f"{_AGENT_OF_PART[part]}:{paragraph.ref}",
            agent=_AGENT_OF_PART[part],
            text=f"{paragraph.ref}. {paragraph.text}",
            paragraphs=(paragraph.ref,),
        )
        for part, paragraph in paragraphs_by_part(document, parts)
        if part in _AGENT_OF_PART and paragraph.text and not states_finding(paragraph.text, law=part == "rules")
    )
    return Case(id=id, chunks=tuple(chunks), document=document, parts=tuple(parts))
