"""What retrievers bring, before any model reads it: how much, how much of the question it speaks of, how they differ.

No passage is known to be the right one, so nothing here is recall. Two figures show what a ranking goes by: one that
puts the shortest piece first, or the same piece first for most questions of a case, hardly looks at the question. The
code released with the paper does both (`lawtrace.environments.legal.retrieval.bm25`).
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
"""Which retriever another one is compared with; the released ones with what they were meant to be."""


@dataclass(frozen=True, slots=True)
class DepthStatistics:
    """Means over the questions that something was retrieved for.

    Attributes:
        words: in all pieces together.
        spoken: the share of the question's words (of three letters and more) that stand in them.
        agents: how many agents they come from.
        shared: the share of the pieces that the retriever it is compared with brings, too; None where the run has none.
    """

    words: float
    spoken: float
    agents: float
    shared: float | None


@dataclass(frozen=True, slots=True)
class RetrievalLine:
    """A retriever in a context.

    Attributes:
        depths: the figures at each depth.
        shortest: the share of questions whose first piece is a shortest one of the pool.
        usual: the share of questions whose first piece is the one that most questions of the case get first.
    """

    retriever: RetrieverName
    context: str
    depths: Mapping[int, DepthStatistics]
    shortest: float
    usual: float


def retrieval_lines(cases: Sequence[Case], rows: Sequence[RetrievedRow], depths: Sequence[int]) -> list[RetrievalLine]:
    """A line for each retriever and context that brought anything, in the order of the rows."""
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
        lines.append(RetrievalLine(retriever, context, depth_figures, _shortest(found, by_id, context), _usual(found)))
    return lines


def _figures(
    rows: Sequence[RetrievedRow],
    depth: int,
    questions: Mapping[str, Question],
    texts: Mapping[tuple[str, str], str],
    others: Mapping[str, set[str]],
) -> DepthStatistics:
    words: list[int] = []
    spoken: list[float] = []
    agents: list[int] = []
    shared: list[float] = []
    for row in rows:
        hits = cut_to_depth(row.hits, depth)
        read = [word for hit in hits for word in tokenize(texts[row.case, hit.ref])]
        asked = {word for word in tokenize(questions[row.question].text) if len(word) > 2}
        words.append(len(read))
        spoken.append(len(asked.intersection(read)) / len(asked) if asked else 0.0)
        agents.append(len({hit.agent for hit in hits}))
        if row.question in others:
            shared.append(len(others[row.question] & {hit.ref for hit in hits}) / len(hits))
    return DepthStatistics(fmean(words), fmean(spoken), fmean(agents), fmean(shared) if shared else None)


def _refs(rows: Iterable[RetrievedRow], depth: int) -> dict[str, set[str]]:
    return {row.question: {hit.ref for hit in cut_to_depth(row.hits, depth)} for row in rows}


def _shortest(rows: Sequence[RetrievedRow], cases: Mapping[str, Case], context: str) -> float:
    """The pool is the whole context's; with a depth for each agent the first piece is the first agent's."""
    lengths = {row.case: {c.ref: len(c.text) for c in cases[row.case].pool(parse_context(context))} for row in rows}
    least = {case: min(of.values()) for case, of in lengths.items()}
    return fmean(lengths[row.case][row.hits[0].ref] == least[row.case] for row in rows)


def _usual(rows: Sequence[RetrievedRow]) -> float:
    firsts: dict[str, Counter[str]] = {}
    for row in rows:
        firsts.setdefault(row.case, Counter())[row.hits[0].ref] += 1
    return sum(count.most_common(1)[0][1] for count in firsts.values()) / len(rows)
