"""Twin questions about cases: facts, their sentences, pairs, and a second reader who answers as the rules do."""

import asyncio
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Literal

from lawtrace.agents.legal.role_calls import RoleCalls, ValidItems, texts_of
from lawtrace.agents.legal.twin_writing import (
    TWIN_READER,
    TWIN_WRITER,
    FactWording,
    FoundFact,
    Reading,
    check_fact,
    find_facts,
    read_questions,
    word_facts,
)
from lawtrace.environments.documents.decision import Paragraph
from lawtrace.environments.legal.case import Agent, Case, Chunk, PreparedCase, Question
from lawtrace.runs.legal.twins.horn import NamedFact, Rules, load_rules
from lawtrace.runs.legal.twins.pairs import Issue, IssueFact, Twins, make_pairs, numbered
from lawtrace.runs.legal.twins.shortcuts import balance
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel

ISSUES_AT_ONCE = 8
"""Issues whose sentences are written in one conversation."""

QUESTIONS_AT_ONCE = 16
"""Questions that the second reader answers in one request; never two twins."""


class CaseFacts(StrictModel):
    """The facts that were found in a case. A person can correct the file."""

    schema_version: Literal["lawtrace.case_facts/1"] = "lawtrace.case_facts/1"
    case: str
    party: str
    facts: tuple[FoundFact, ...]


def check_case_facts(rows: Sequence[CaseFacts], cases: Sequence[Case], place: Path) -> dict[str, CaseFacts]:
    """The facts by case. Raises InputError for the first case without, or the first fact that is wrong."""
    given = {row.case: row for row in rows}
    for case in cases:
        if case.id not in given:
            raise InputError(f"{place}: it has no facts of the case {case.id!r}")
        texts = texts_of(paragraphs_read(case))
        for fact in given[case.id].facts:
            if wrong := check_fact(fact, texts, _known(load_rules())):
                raise InputError(f"{place}: {case.id}: {wrong}")
    return given


def paragraphs_read(case: Case) -> tuple[Paragraph, ...]:
    """All paragraphs but law and annexes. Raises InputError for a case without a document."""
    found = case.paragraphs_of("introduction", "facts", "application", "findings", "decision", "penalty")
    if not found:
        raise InputError(f"{case.id}: it has no document; `lawtrace legal ingest` makes a case from a decision")
    return found


def _known(rules: Rules) -> dict[str, list[str]]:
    return {topic.id: [fact.name for fact in rules.facts_of(topic)] for topic in rules.topics}


async def write_twins(
    cases: Sequence[Case], given: Mapping[str, CaseFacts], seed: int, calls: RoleCalls
) -> tuple[list[CaseFacts], list[PreparedCase]]:
    """The facts of each case, and the case with questions that no shortcut answers.

    Args:
        given: facts by case; those of other cases are found by a model.
    """
    makers = [_CaseMaker(case, seed, calls.about(case.id)) for case in cases]
    made = await asyncio.gather(*(maker.pair(given.get(maker.case.id)) for maker in makers))
    _leave_out_shortcuts(makers)
    reader = calls.role_models.name_of(TWIN_READER.name).replace("offline", "")
    if reader:
        await asyncio.gather(*(maker.read() for maker in makers))
        _leave_out_shortcuts(makers)
    return made, [maker.prepared(reader) for maker in makers]


def _leave_out_shortcuts(makers: "Sequence[_CaseMaker]") -> None:
    chosen = {twins[0].id for twins in balance([twins for maker in makers for twins in maker.pairs])}
    for maker in makers:
        maker.keep(lambda twins: None if twins[0].id in chosen else f"{twins[0].id}: a shortcut answers it")


class _CaseMaker:
    """Makes the pairs of one case."""

    def __init__(self, case: Case, seed: int, calls: RoleCalls) -> None:
        self.case = case
        self.pairs: list[Twins] = []
        self._rules, self._seed, self._calls = load_rules(), seed, calls
        self._paragraphs = paragraphs_read(case)
        self._refused: list[str] = []

    async def pair(self, given: CaseFacts | None) -> CaseFacts:
        """Make the pairs, of given facts or of those that a model finds; the facts."""
        found = given or await self._find()
        issues = [issue for issue in find_issues(found, self._rules) if make_pairs(issue, self._rules, self._seed)]
        if self._calls.role_models.name_of(TWIN_WRITER.name) != "offline":
            parts = [issues[start : start + ISSUES_AT_ONCE] for start in range(0, len(issues), ISSUES_AT_ONCE)]
            worded = await asyncio.gather(*(self._word(part, found) for part in parts))
            issues = [issue for part in worded for issue in part]
        self.pairs = [twins for issue in issues for twins in make_pairs(issue, self._rules, self._seed)]
        return found

    async def read(self) -> None:
        """Keep the pairs of which the second reader answers both questions as the rules do."""
        parts = [
            [twins[side] for twins in self.pairs[start : start + QUESTIONS_AT_ONCE]]
            for side in (0, 1)
            for start in range(0, len(self.pairs), QUESTIONS_AT_ONCE)
        ]
        read = await asyncio.gather(*(self._read_part(str(number), part) for number, part in enumerate(parts)))
        faults = {text: fault for part in read for text, fault in part.items()}
        self.keep(lambda twins: faults[twins[0].text] or faults[twins[1].text])

    def keep(self, find_fault: Callable[[Twins], str | None]) -> None:
        """Leave out the pairs with a fault."""
        faults = [(twins, find_fault(twins)) for twins in self.pairs]
        self.pairs = [twins for twins, fault in faults if fault is None]
        self._refused += [fault for _, fault in faults if fault is not None]

    def prepared(self, read_by: str) -> PreparedCase:
        questions = tuple(numbered(self.case.id, self.pairs, read_by))
        return PreparedCase(case=self.case.model_copy(update={"questions": questions}), refused=tuple(self._refused))

    async def _find(self) -> CaseFacts:
        topics = [
            {
                "topic": topic.id,
                "provision": topic.provision,
                "issue": topic.issue,
                "facts": {fact.name: {"yes": fact.yes, "no": fact.no} for fact in self._rules.facts_of(topic)},
            }
            for topic in self._rules.topics
        ]
        party, found = await find_facts(self._paragraphs, topics, _known(self._rules), self._calls)
        self._note(found)
        return CaseFacts(case=self.case.id, party=party or self.case.id, facts=found.kept)

    def _note(self, items: ValidItems[FoundFact] | ValidItems[FactWording]) -> None:
        self._refused += [*items.refused, *([items.failure] if items.failure else [])]

    async def _word(self, issues: Sequence[Issue], found: CaseFacts) -> list[Issue]:
        """The issues with sentences by a model; facts without good ones are left out.

        Facts that do not depend on the subject are worded once, as those of issue 0.
        """
        texts = texts_of(self._paragraphs)
        subjects = dict(enumerate([found.party, *(issue.subject for issue in issues)]))
        facts: dict[int, dict[str, dict[str, object]]] = {number: {} for number in subjects}
        sources: dict[tuple[int, str], str] = {}
        for number, issue in enumerate(issues, 1):
            for name, fact in issue.facts.items():
                place = number if self._rules.fact(name).of_subject else 0
                circumstances = {"holds": fact.holds, "words": fact.words} if fact.paragraph else {}
                facts[place][name] = {"fact": name, "yes": fact.yes, "no": fact.no, **circumstances}
                sources[place, name] = texts.get(fact.paragraph or "", "")
        asked = [
            {"issue": number, "subject": subject, "facts": [*facts[number].values()]}
            for number, subject in subjects.items()
        ]
        worded = await word_facts(asked, sources, found.party, self._calls.at_unit(issues[0].subject))
        self._note(worded)
        return [
            issue.worded({one.fact: (one.yes, one.no) for one in worded.kept if one.issue in (0, number)})
            for number, issue in enumerate(issues, 1)
        ]

    async def _read_part(self, name: str, questions: Sequence[Question]) -> dict[str, str | None]:
        """Why a question is left out, by its text; None if the reader answers it as the rules do."""
        topics = {question.twin.topic for question in questions if question.twin}
        cited = {ref for question in questions for ref in question.paragraphs}
        answers = await read_questions(
            {str(number): question.text for number, question in enumerate(questions, 1)},
            "\n".join(topic.law for topic in self._rules.topics if topic.id in topics),
            [paragraph for paragraph in self._paragraphs if paragraph.ref in cited],
            self._calls.at_unit(name),
        )
        return {
            question.text: _find_reading_fault(question, answers.get(str(number)))
            for number, question in enumerate(questions, 1)
        }


def find_issues(found: CaseFacts, rules: Rules) -> Iterator[Issue]:
    """The issues of a case with their facts, found and assumed, in the rules' own sentences.

    A fact that does not depend on the subject is the same for all issues. One that is found both to hold and not to is
    left out.
    """
    stated: dict[tuple[str, str, str], list[FoundFact]] = defaultdict(list)
    for one in found.facts:
        stated[_place(one.topic, one.subject, rules.fact(one.fact))].append(one)
    for name, subject in dict.fromkeys((one.topic, one.subject.strip()) for one in found.facts):
        topic = rules.topic(name)
        facts: dict[str, IssueFact] = {}
        for fact in rules.facts_of(topic):
            members = stated[_place(name, subject, fact)]
            values = {one.holds for one in members} or {fact.assume} - {None}
            if len(values) == 1:
                first = members[0] if members else None
                yes, no = fact.said_of(found.party, subject)
                facts[fact.name] = IssueFact(
                    values == {True}, yes, no, first and first.paragraph, first and first.words
                )
        yield Issue(found.case, found.party, topic, subject, facts)


def without_text(case: Case, found: CaseFacts) -> Case:
    """The case without the text of its decision: its passages are the facts in other words, and the law."""
    rules = load_rules()
    issues = [*find_issues(found, rules)]
    facts = [(rules.fact(name), fact) for issue in issues for name, fact in issue.facts.items() if fact.paragraph]
    texts: dict[tuple[str | None, str | None], Agent] = {
        (fact.paragraph, fact.words): named.agent for named, fact in facts
    }
    stated = (
        Chunk(ref=f"{agent}:{ref}/{number}", agent=agent, text=f"{ref}. {words}", paragraphs=(str(ref),))
        for number, ((ref, words), agent) in enumerate(texts.items(), 1)
    )
    topics = dict.fromkeys(issue.topic.id for issue in issues)
    law = (Chunk(ref=f"LR:{topic}", agent="LR", text=rules.topic(topic).law) for topic in topics)
    return Case(id=case.id, chunks=(*stated, *law), questions=case.questions)


def _place(topic: str, subject: str, fact: NamedFact) -> tuple[str, str, str]:
    """What a fact is about: the subject of a topic, or the whole case."""
    return (topic, subject.strip(), fact.name) if fact.of_subject else ("", "", fact.name)


def _find_reading_fault(question: Question, reading: Reading | None) -> str | None:
    if reading is None:
        return f"{question.id}: the second reader gave no answer"
    if reading.answer != question.answer:
        return f"{question.id}: the reader answers {reading.answer}, the rules {question.answer}: {reading.because}"
    return f"{question.id}: not in the paragraphs: {reading.unsupported[0]}" if reading.unsupported else None
