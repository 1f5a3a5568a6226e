"""Statistics of retrieval: size of the retrieved text, overlap with the question, overlap between retrievers.

The dataset does not say which passage is relevant, so there is no recall. Two figures show rankings that hardly depend
on the question: the shortest chunk comes first, or the same chunk comes first for most questions of a case. The ranking
of the published code does both (`lawtrace.environments.legal.retrieval.bm25`).
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean

from lawtrace.environments.legal.case import Case, Question, parse_context
from lawtrace.environments.legal.retrieval.ranking import cut_to_depth
from lawtrace.environments.legal.retrieval.retrievers import RetrieverName
from lawtrace.environments.legal.retrieval.tokenizer import tokenize
from lawtrace.runs.legal.legal_files import RetrievedRow

REFERENCE_RETRIEVER: Mapping[RetrieverName, RetrieverName] = {
    "embedding": "bm25",
    "hybrid": "bm25",
    "released_bm25": "bm25",
    "released_embedding": "embedding",
}
"""The reference of each retriever; that of a released one is its intended method."""


@dataclass(frozen=True, slots=True)
class DepthStatistics:
    """Means over the questions with retrieved chunks.

    Attributes:
        words: in all chunks together.
        question_words: share of the question's words (three letters or more) that occur in the chunks.
        agents: number of agents that the chunks belong to.
        shared: share of the chunks that the reference retriever also finds; None if the run does not have it.
    """

    words: float
    question_words: float
    agents: float
    shared: float | None


@dataclass(frozen=True, slots=True)
class RetrievalLine:
    """A retriever in a context.

    Attributes:
        depths: statistics by depth.
        shortest: share of questions whose first chunk is a shortest one of the pool.
        most_common: share of questions whose first chunk is the most common first chunk of the case.
    """

    retriever: RetrieverName
    context: str
    depths: Mapping[int, DepthStatistics]
    shortest: float
    most_common: float


def retrieval_lines(cases: Sequence[Case], rows: Sequence[RetrievedRow], depths: Sequence[int]) -> list[RetrievalLine]:
    """A line for each retriever and context with retrieved chunks, in the order of the rows."""
    by_id = {case.id: case for case in cases}
    questions = {question.id: question for case in cases for question in case.questions}
    texts = {(case.id, chunk.ref): chunk.text for case in cases for chunk in case.chunks}
    groups: dict[tuple[RetrieverName, str], list[RetrievedRow]] = {}
    for row in rows:
        if row.hits:
            groups.setdefault((row.retriever, row.context), []).append(row)
    lines: list[RetrievalLine] = []
    for (retriever, context), found in groups.items():
        other = groups.get((REFERENCE_RETRIEVER[retriever], context), []) if retriever in REFERENCE_RETRIEVER else []
        depth_figures = {depth: _figures(found, depth, questions, texts, _refs(other, depth)) for depth in depths}
        lines.append(
            RetrievalLine(retriever, context, depth_figures, _shortest(found, by_id, context), _most_common(found))
        )
    return lines


def _figures(
    rows: Sequence[RetrievedRow],
    depth: int,
    questions: Mapping[str, Question],
    texts: Mapping[tuple[str, str], str],
    others: Mapping[str, set[str]],
) -> DepthStatistics:
    words: list[int] = []
    question_words: list[float] = []
    agents: list[int] = []
    shared: list[float] = []
    for row in rows:
        hits = cut_to_depth(row.hits, depth)
        read = [word for hit in hits for word in tokenize(texts[row.case, hit.ref])]
        asked = {word for word in tokenize(questions[row.question].text) if len(word) > 2}
        words.append(len(read))
        question_words.append(len(asked.intersection(read)) / len(asked) if asked else 0.0)
        agents.append(len({hit.agent for hit in hits}))
        if row.question in others:
            shared.append(len(others[row.question] & {hit.ref for hit in hits}) / len(hits))
    return DepthStatistics(fmean(words), fmean(question_words), fmean(agents), fmean(shared) if shared else None)


def _refs(rows: Iterable[RetrievedRow], depth: int) -> dict[str, set[str]]:
    return {row.question: {hit.ref for hit in cut_to_depth(row.hits, depth)} for row in rows}


def _shortest(rows: Sequence[RetrievedRow], cases: Mapping[str, Case], context: str) -> float:
    """The pool is the whole context's; with a depth for each agent the first chunk is the first agent's."""
    lengths = {
        row.case: {c.ref: len(c.text) for c in cases[row.case].chunks_of(parse_context(context))} for row in rows
    }
    least = {case: min(of.values()) for case, of in lengths.items()}
    return fmean(lengths[row.case][row.hits[0].ref] == least[row.case] for row in rows)


def _most_common(rows: Sequence[RetrievedRow]) -> float:
    firsts: dict[str, Counter[str]] = {}
    for row in rows:
        firsts.setdefault(row.case, Counter())[row.hits[0].ref] += 1
    return sum(count.most_common(1)[0][1] for count in firsts.values()) / len(rows)
