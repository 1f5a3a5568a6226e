"""Horn rules over named facts: what follows from given facts, with its proof.

A literal of a rule is the conclusion of another one or a fact, the latter alone with ``not``. A fact that is not given
satisfies neither itself nor its negation, so what follows from some facts follows from more of them.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Literal

from lawtrace.environments.toml_file import read_toml_model
from lawtrace.schemas.models import StrictModel

_NOT = "not "


class HornRule(StrictModel):
    """``then`` holds if all literals of ``given`` do. ``provision``: on which this rests."""

    then: str
    given: tuple[str, ...]
    provision: str


class NamedFact(StrictModel):
    """A fact, with a sentence for its presence and its absence.

    Attributes:
        assume: its value where a decision does not state it; None if it must be stated.
        agent: the agent whose passages hold it: facts, or their legal classification.
        weighs: the provision by which it bears on the penalty alone; empty for facts of the rules.
    """

    name: str
    yes: str
    no: str
    assume: bool | None = None
    agent: Literal["F", "AR"] = "F"
    weighs: str = ""

    @property
    def of_subject(self) -> bool:
        """Whether its sentences speak of the subject of an issue."""
        return "{subject}" in self.yes + self.no

    def said_of(self, party: str, subject: str) -> tuple[str, str]:
        """The sentences for yes and no about a party and a subject."""
        yes, no = (text.format(party=party, subject=subject) for text in (self.yes, self.no))
        return f"{yes[:1].upper()}{yes[1:]}", f"{no[:1].upper()}{no[1:]}"


class Topic(StrictModel):
    """What can be asked about one provision.

    Attributes:
        infringed: the conclusion that the provision was infringed; ``kept``: that it was not.
        issue: what one issue of the topic is, for those who look for it.
        law: the provision as published.
    """

    id: str
    provision: str
    infringed: str
    kept: str
    issue: str
    law: str


@dataclass(frozen=True, slots=True)
class Proof:
    """A literal that holds: a given fact (no premises), or a conclusion with the proofs of its premises."""

    literal: str
    provision: str = ""
    premises: tuple["Proof", ...] = ()

    def leaves(self) -> tuple[str, ...]:
        """The literals of given facts that it rests on, each once."""
        found = [leaf for premise in self.premises for leaf in premise.leaves()] or [self.literal]
        return tuple(dict.fromkeys(found))

    def lines(self, depth: int = 0) -> tuple[str, ...]:
        """The tree as text, a line for each literal, premises indented below their conclusion."""
        own = f"{'  ' * depth}{self.literal}{f' ({self.provision})' if self.provision else ''}"
        return (own, *(line for premise in self.premises for line in premise.lines(depth + 1)))


class Rules(StrictModel):
    """The file of rules. ``impossible``: sets of literals that cannot hold together."""

    topics: tuple[Topic, ...]
    facts: tuple[NamedFact, ...]
    rules: tuple[HornRule, ...]
    impossible: tuple[frozenset[str], ...]

    def topic(self, name: str) -> Topic:
        return next(topic for topic in self.topics if topic.id == name)

    def fact(self, name: str) -> NamedFact:
        return next(fact for fact in self.facts if fact.name == name)

    def facts_of(self, topic: Topic) -> tuple[NamedFact, ...]:
        """The facts on which the goals of a topic depend, then those that bear on the penalty alone."""
        reached, waiting = set[str](), [topic.infringed, topic.kept]
        while waiting:
            reached.add(name := waiting.pop())
            literals = (literal for rule in self.rules if rule.then == name for literal in rule.given)
            waiting += [literal.removeprefix(_NOT) for literal in literals]
        return tuple(fact for fact in self.facts if fact.name in reached or fact.weighs)

    def verdict(self, topic: Topic, facts: Mapping[str, bool]) -> tuple[bool, Proof] | None:
        """Whether the provision was infringed, with the proof; None if the facts do not decide it, or cannot hold."""
        proofs = derive(self.rules, facts)
        if any(together <= proofs.keys() for together in self.impossible):
            return None
        if topic.infringed in proofs:
            return True, proofs[topic.infringed]
        return (False, proofs[topic.kept]) if topic.kept in proofs else None


def derive(rules: Iterable[HornRule], facts: Mapping[str, bool]) -> dict[str, Proof]:
    """All literals that hold, by forward chaining, each with a proof from the fewest facts."""
    rules = [*rules]
    given: Sequence[str] = [name if holds else f"{_NOT}{name}" for name, holds in facts.items()]
    proofs = {literal: Proof(literal) for literal in given}
    changed = True
    while changed:
        changed = False
        for rule in rules:
            if all(literal in proofs for literal in rule.given):
                proof = Proof(rule.then, rule.provision, tuple(proofs[literal] for literal in rule.given))
                known = proofs.get(rule.then)
                if known is None or len(proof.leaves()) < len(known.leaves()):
                    proofs[rule.then], changed = proof, True
    return proofs


@cache
def load_rules() -> Rules:
    """The rules of the package."""
    return read_toml_model(Path(__file__).parent / "rules.toml", Rules)
