"""Pairs of twin questions about an issue: which facts to change, and the text of both questions.

The base of a pair is the decision's facts, or these with one change. Each set of facts is asked once.
"""

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from lawtrace.environments.legal.case import Question, Twin, TwinFact
from lawtrace.runs.legal.twins.horn import Proof, Rules, Topic

MOST_PAIRS = 4
"""Pairs about one issue."""

BACKGROUND = 2
"""Facts that bear on the penalty alone in each question, beside one that is changed."""

Twins = tuple[Question, Question]


@dataclass(frozen=True, slots=True)
class IssueFact:
    """A fact of an issue: its sentences, and the paragraph that states it, in other words; None if it is assumed."""

    holds: bool
    yes: str
    no: str
    paragraph: str | None = None
    words: str | None = None


@dataclass(frozen=True, slots=True)
class Issue:
    """One thing in a decision that a provision applies to, with the facts that are known of it."""

    case: str
    party: str
    topic: Topic
    subject: str
    facts: Mapping[str, IssueFact]

    def worded(self, sentences: Mapping[str, tuple[str, str]]) -> "Issue":
        """The issue with these sentences for yes and no; facts without sentences are left out."""
        facts = {
            name: replace(fact, yes=sentences[name][0], no=sentences[name][1])
            for name, fact in self.facts.items()
            if name in sentences
        }
        return replace(self, facts=facts)


@dataclass(frozen=True, slots=True)
class _Side:
    """One twin: the values of all facts, whether the provision was infringed, and the proof."""

    values: Mapping[str, bool]
    infringed: bool
    proof: Proof


def make_pairs(issue: Issue, rules: Rules, seed: int) -> list[Twins]:
    """At most `MOST_PAIRS` pairs, on different facts first; none if too few facts are known."""
    order = random.Random(f"{seed}/{issue.case}/{issue.topic.id}/{issue.subject}")
    names = order.sample(sorted(issue.facts), len(issue.facts))
    used: set[frozenset[tuple[str, bool]]] = set()
    turned: set[str] = set()
    found: list[Twins] = []
    for again in (False, True):
        for base in [(), *((name,) for name in names)]:
            first = _side(issue, rules, base)
            for name in order.sample(names, len(names)):
                if first is None or len(found) == MOST_PAIRS or name in base or (name in turned and not again):
                    continue
                second = _side(issue, rules, (*base, name))
                if second is None or first.infringed == second.infringed:
                    continue
                sets = {frozenset(first.values.items()), frozenset(second.values.items())}
                if not sets & used:
                    used |= sets
                    turned.add(name)
                    found.append(_pair(issue, rules, (first, second), (*base, name), order))
    return found


def _side(issue: Issue, rules: Rules, changed: Sequence[str]) -> _Side | None:
    values = {name: fact.holds != (name in changed) for name, fact in issue.facts.items()}
    verdict = rules.verdict(issue.topic, values)
    return _Side(values, *verdict) if verdict else None


def _pair(
    issue: Issue, rules: Rules, sides: tuple[_Side, _Side], changed: Sequence[str], order: random.Random
) -> Twins:
    deciding = {leaf.removeprefix("not ") for side in sides for leaf in side.proof.leaves()}
    weighing = [fact.name for fact in rules.facts if fact.weighs and fact.name in issue.facts]
    background = [name for name in weighing if name not in changed]
    beside = {*changed, *order.sample(background, min(BACKGROUND, len(background)))} & {*weighing}
    names = [name for name in issue.facts if name in {*deciding, *changed} - beside]
    for name in sorted(beside):
        names.insert(order.randint(1, len(names)), name)
    asks = order.choice(("infringed", "kept"))
    pair = f"{issue.case}/{issue.topic.id}/{issue.subject}/{'+'.join(changed)}"

    def question(side: _Side) -> Question:
        facts = tuple(_stated(name, issue.facts[name], side.values[name]) for name in names)
        verb = "infringe" if asks == "infringed" else "comply with"
        asked = f"On these facts, and in this respect alone, did {issue.party} {verb} {issue.topic.provision}?"
        return Question(
            id=pair,
            text=" ".join([*(_sentence(issue.facts[fact.fact], fact) for fact in facts), asked]),
            options={"Yes": "Yes", "No": "No"},
            answer="Yes" if side.infringed == (asks == "infringed") else "No",
            decision=True,
            paragraphs=tuple(dict.fromkeys(fact.paragraph for fact in facts if fact.paragraph)),
            twin=Twin(
                pair=pair,
                topic=issue.topic.id,
                subject=issue.subject,
                asks=asks,
                facts=facts,
                deciding=side.proof.leaves(),
                proof=side.proof.lines(),
            ),
        )

    first, second = order.sample(sides, 2)
    return question(first), question(second)


def _stated(name: str, known: IssueFact, holds: bool) -> TwinFact:
    if holds != known.holds:
        return TwinFact(fact=name, holds=holds, basis="changed")
    basis = "stated" if known.paragraph else "assumed"
    return TwinFact(fact=name, holds=holds, basis=basis, paragraph=known.paragraph)


def _sentence(known: IssueFact, fact: TwinFact) -> str:
    """The sentence of a fact, with its paragraph, or how it differs from the decision, in brackets."""
    said = (known.yes if fact.holds else known.no).strip().removesuffix(".")
    basis = {"stated": f"paragraph {fact.paragraph}", "changed": "changed from the decision", "assumed": "assumed"}[
        fact.basis
    ]
    return f"{said} ({basis})."


def facts_told(question: Question) -> str:
    """The sentences of a twin question that tell facts, without what stands in brackets behind each."""
    return re.sub(r" \((?:paragraph|changed|assumed)[^()]*\)\.", ".", question.text.rpartition("On these facts,")[0])


def numbered(case: str, pairs: Sequence[Twins], read_by: str) -> Iterator[Question]:
    """The questions of a case, with short ids, t1a and t1b are twins, and with the model of their second reader."""
    for number, twins in enumerate(pairs, 1):
        for letter, question in zip("ab", twins, strict=True):
            assert question.twin is not None
            twin = question.twin.model_copy(update={"pair": f"{case}/t{number}", "read_by": read_by})
            yield question.model_copy(update={"id": f"{case}/t{number}{letter}", "twin": twin})
