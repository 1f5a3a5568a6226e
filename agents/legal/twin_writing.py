"""The roles that make twin questions: who finds facts in a decision, words them, reviews the wording, and reads again.

What the facts are and what follows from them is not known here (`lawtrace.runs.legal.twins`).
"""

import asyncio
import re
from collections.abc import Mapping, Sequence
from typing import Literal

from lawtrace.agents.legal.role_calls import RoleCalls, ValidItems, as_json, paragraphs_as_json, texts_of
from lawtrace.agents.participants import Role, RoleFailure
from lawtrace.environments.documents.decision import Paragraph
from lawtrace.environments.legal.retrieval.tokenizer import occur_in, tokenize
from lawtrace.schemas.models import FrozenModel

PARAGRAPHS_AT_ONCE = 150
"""Paragraphs of a decision that one request for its facts shows."""

QUOTE_LENGTH = 12
"""Number of consecutive words of a paragraph that count as a quote."""

MOST_LENGTH = 1.6
"""Length of a longer sentence over that of its counterpart, beyond 20 characters."""

_OUTCOME = re.compile(r"\b(?:infring|contraven|violat|compl(?:y|i)|lawful|unlawful|illegal)\w*", re.IGNORECASE)


class FoundFact(FrozenModel):
    """A fact that a paragraph states, quoted and in other words, with the topic and the subject of its issue.

    ``quote``: consecutive words of the paragraph; empty in a list that is shipped without the text.
    """

    topic: str
    subject: str
    fact: str
    holds: bool
    paragraph: str
    quote: str = ""
    words: str


class FoundFacts(FrozenModel):
    """All facts found in the given paragraphs. ``party``: the name of the party that the decision is about."""

    party: str
    facts: tuple[FoundFact, ...]


class FactWording(FrozenModel):
    """The sentences that say that a fact of an issue holds, and that it does not."""

    issue: int
    fact: str
    yes: str
    no: str


class Wording(FrozenModel):
    """The sentences of all facts asked for."""

    sentences: tuple[FactWording, ...]


class WordingFault(FrozenModel):
    """What is wrong with the sentences of a fact."""

    issue: int
    fact: str
    fault: str


class WordingReview(FrozenModel):
    """Whether sentences are good: the faults found; none if all are."""

    faults: tuple[WordingFault, ...]

    @property
    def objections(self) -> tuple[str, ...]:
        return tuple(f"issue {one.issue}, {one.fact}: {one.fault}" for one in self.faults)


class Reading(FrozenModel):
    """The second reader's answer to a question; None if it cannot be decided.

    ``unsupported``: facts that the question states as those of the decision, and the paragraphs do not.
    """

    question: str
    answer: Literal["Yes", "No"] | None
    unsupported: tuple[str, ...] = ()
    because: str = ""


class Readings(FrozenModel):
    """The answers to all questions."""

    answers: tuple[Reading, ...]


FACT_FINDER = Role("fact_finder", FoundFacts)
TWIN_WRITER = Role("twin_writer", Wording)
TWIN_EVALUATOR = Role(
    "twin_evaluator",
    WordingReview,
    message_filter=lambda content: content.model_dump_json() if isinstance(content, Wording) else None,
    stateful=False,
)
TWIN_READER = Role("twin_reader", Readings)


def check_fact(found: FoundFact, texts: Mapping[str, str], known: Mapping[str, Sequence[str]]) -> str | None:
    """The objection to a fact; None if its topic has it, and its paragraph holds the quote.

    ``known``: the names of the facts of each topic.
    """
    name = f"{found.topic}, {found.fact}"
    if found.fact not in known.get(found.topic, ()):
        return f"{name}: no such topic, or the topic has no such fact"
    if found.paragraph not in texts:
        return f"{name} cites {found.paragraph!r}, which is not a paragraph"
    if _plain(found.quote) not in _plain(texts[found.paragraph]):
        return f"{name}: {found.quote[:60]!r} does not occur in paragraph {found.paragraph} in these words"
    if not found.subject.strip() or not found.words.strip():
        return f"{name}: subject and words must not be empty"
    if said := find_quote(found.words, texts[found.paragraph]):
        return f"{name}: its words must not quote paragraph {found.paragraph}: {said!r} ..."
    return None


def find_quote(text: str, paragraph: str) -> str | None:
    """The first words of a quote of the paragraph in the text."""
    words = tokenize(text)
    starts = range(len(words) - QUOTE_LENGTH + 1)
    quotes = (words[start : start + QUOTE_LENGTH] for start in starts)
    return next((" ".join(quote[:6]) for quote in quotes if occur_in(" ".join(quote), paragraph)), None)


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", text.casefold())


async def find_facts(
    paragraphs: Sequence[Paragraph], topics: object, known: Mapping[str, Sequence[str]], calls: RoleCalls
) -> tuple[str, ValidItems[FoundFact]]:
    """The name of the party, and the facts that the paragraphs state about the topics."""
    parties: list[str] = []

    async def find(batch: Sequence[Paragraph]) -> ValidItems[FoundFact]:
        texts = texts_of(batch)

        def facts_of(answer: FoundFacts) -> Sequence[FoundFact]:
            parties.append(answer.party.strip())
            return answer.facts

        return await calls.propose_items(
            FACT_FINDER,
            facts_of,
            lambda found: check_fact(found, texts, known),
            opening="List the facts.",
            unit=batch[0].ref,
            topics=as_json(topics),
            paragraphs=paragraphs_as_json(batch),
        )

    found = await asyncio.gather(*map(find, calls.batches(FACT_FINDER.name, paragraphs, PARAGRAPHS_AT_ONCE)))
    return next(filter(None, parties), ""), ValidItems(
        kept=tuple(fact for one in found for fact in one.kept),
        refused=tuple(reason for one in found for reason in one.refused),
        failure=next((one.failure for one in found if one.failure), None),
    )


def find_wording_fault(wording: FactWording | None, source: str) -> str | None:
    """What code finds wrong with the sentences of a fact that the decision states in the text ``source``."""
    if wording is None:
        return "it has no sentences"
    for sentence in (wording.yes, wording.no):
        if not sentence.strip().endswith("."):
            return f"{sentence[:40]!r} is not a sentence that ends in a full stop"
        if said := _OUTCOME.search(sentence):
            return f"{said[0]!r} says what is to be decided"
        if quote := find_quote(sentence, source):
            return f"it quotes the decision: {quote!r} ..."
    if _plain(wording.yes) == _plain(wording.no):
        return "both sentences are the same"
    short, long = sorted((len(wording.yes), len(wording.no)))
    return "one sentence is much longer than the other" if long > MOST_LENGTH * short + 20 else None


async def word_facts(
    issues: object, sources: Mapping[tuple[int, str], str], party: str, calls: RoleCalls
) -> ValidItems[FactWording]:
    """The sentences for the facts of issues: writer, check by code, evaluator, until none objects.

    Args:
        issues: as the roles see them, each with its number.
        sources: for the issue and name of each fact, the text that its sentences must not quote.
    """

    def review(wording: Wording) -> WordingReview:
        given = {(one.issue, one.fact): one for one in wording.sentences}
        faults = (
            WordingFault(issue=issue, fact=fact, fault=fault)
            for (issue, fact), source in sources.items()
            if (fault := find_wording_fault(given.get((issue, fact)), source))
        )
        return WordingReview(faults=tuple(faults))

    found = await calls.propose(
        TWIN_WRITER,
        lambda draft: review(draft).objections,
        opening="Write the sentences.",
        unit=calls.context.unit,
        reviewer=TWIN_EVALUATOR,
        issues=as_json(issues),
        party=party,
    )
    if not found.proposals:
        return ValidItems(failure=found.failure)
    last = found.proposals[-1]
    faults = [*review(last).faults, *(found.last.faults if isinstance(found.last, WordingReview) else ())]
    good = {*sources} - {(fault.issue, fault.fact) for fault in faults}
    kept = tuple(one for one in last.sentences if (one.issue, one.fact) in good)
    return ValidItems(kept, WordingReview(faults=tuple(faults)).objections, found.failure)


async def read_questions(
    questions: Mapping[str, str], law: str, paragraphs: Sequence[Paragraph], calls: RoleCalls
) -> Mapping[str, Reading]:
    """The second reader's answers by name of the question; one without a usable answer is missing.

    ``questions``: their texts by name.
    """
    answer = await calls.ask(
        TWIN_READER,
        opening="Answer the questions.",
        law=law,
        paragraphs=paragraphs_as_json(paragraphs),
        questions=as_json([{"question": name, "text": text} for name, text in questions.items()]),
    )
    return {} if isinstance(answer, RoleFailure) else {reading.question: reading for reading in answer.answers}
