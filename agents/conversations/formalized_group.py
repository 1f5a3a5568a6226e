"""A group of provisions with the rules that were written for it, and what they are worth."""

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

from pydantic import Field

from lawtrace.agents.roles.rule_answers import Proposal, RuleObjection, SessionJudgment
from lawtrace.environments.regulations.regulation import Provision, Regulation, article_of, is_part_of
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.questions import Question, Reading, TraceOutcome
from lawtrace.solver.rule_transforms import merge_rules
from lawtrace.solver.rules import Rule

MOST_PROVISIONS: Final = 30
"""How many provisions a group has."""

Determinacy = Literal[
    "one formalizer", "agreed", "settled", "contested", "fits no class", "not understood", "open", "not read"
]
"""*agreed*: one class, and nothing refutes it; *settled*: answers leave one class; *open*: there are several, and no
answer decides between them; *not read*: a formalizer gave no usable answer."""


class GivenJudgment(SessionJudgment):
    """An answer to a question. ``by``: the model, or the person. ``group``: by whose provisions; empty for any."""

    session: str
    group: str = Field(default="", exclude_if=lambda value: not value)
    by: str = "a person"


def latest_answers(rows: Iterable[GivenJudgment]) -> list[GivenJudgment]:
    """Of each person's answers to a question the last one."""
    return [*{(one.group, one.session, one.by): one for one in rows}.values()]


class FormalizerResult(StrictModel):
    """What one formalizer wrote.

    Attributes:
        name: a letter, with which the ids of its rules begin where there are several.
        model: its model.
        rules: those to which code has no objection.
        refused: the others, with the objection.
        disputed: what the critic still objects to in the rules.
        failure: why there is no proposal, or None.
        revised: whether it saw judged sessions and wrote again.
        proposal: its last answer.
    """

    name: str
    model: str
    rules: tuple[Rule, ...] = ()
    refused: tuple[RuleObjection, ...] = ()
    disputed: tuple[RuleObjection, ...] = ()
    failure: str | None = None
    revised: bool = False
    proposal: Proposal = Proposal(rules=())


class Comparison(StrictModel):
    """Two rule sets, by the names of their formalizers.

    Attributes:
        why: the proof, or what was tried.
    """

    first: str
    second: str
    relation: Literal["equal", "separated", "unknown"]
    why: str = ""


class AskedSession(StrictModel):
    """A session that the simulator carried out, and a question about it.

    Attributes:
        id: a digest of what happens.
        told: in sentences.
        calls: how many there are.
        outcomes: by the name of the first of each class, what its rules do with it.
        judgments: the answers so far.
    """

    id: str
    told: str
    calls: int
    outcomes: Mapping[str, TraceOutcome]
    judgments: tuple[GivenJudgment, ...] = ()


class FormalizedGroup(StrictModel):
    """A group of provisions with all its formalizations.

    Attributes:
        group: what the citations have in common.
        regulation: its title and source.
        provisions: the words by the citations.
        classes: the formalizers whose rules are equal.
        sessions: those that separate classes, shortest first; then those that break one rule of the first class.
        left: the classes that no answer refutes, by their first formalizers.
        common: of several classes that are left, the rules that all others imply.
        command: the command line that continues with these groups, where one wrote them.
    """

    group: str
    environment: str
    regulation: str
    provisions: Mapping[str, str]
    formalizations: tuple[FormalizerResult, ...]
    classes: tuple[tuple[str, ...], ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    sessions: tuple[AskedSession, ...] = ()
    left: tuple[str, ...] = ()
    common: tuple[str, ...] = Field(default=(), exclude_if=lambda value: not value)
    determinacy: Determinacy = "not read"
    stopped: str | None = Field(default=None, exclude_if=lambda value: value is None)
    command: str | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def failure(self) -> str | None:
        """Why the group is not read, or None."""
        return self.stopped or next((one.failure for one in self.formalizations if one.failure), None)

    @property
    def is_read(self) -> bool:
        return self.failure is None

    @property
    def questions(self) -> int:
        """How many sessions were judged."""
        return sum(bool(session.judgments) for session in self.sessions)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the class that is left; if several are, those of each, under a reading of its own if the others
        do not imply them.
        """
        written = {one.name: one.rules for one in self.formalizations}
        if self.determinacy in {"not read", "fits no class"} or not self.left:
            return ()
        if len(self.left) == 1:
            return written[self.left[0]]
        question = self._question()
        return tuple(
            rule
            if rule.id in self.common
            else rule.model_copy(update={"under": {question.id: (name,)}, "questions": (question,)})
            for name in self.left
            for rule in written[name]
        )

    def _question(self) -> Question:
        """Which of the classes that are left is right."""
        apart = [one for one in self.sessions if len({one.outcomes[name] for name in self.left}) > 1]
        judged = [answer for one in apart for answer in one.judgments]
        readings = [
            Reading(
                id=name,
                means="; ".join(f"session {one.id} is {_LAWFUL[one.outcomes[name]]}" for one in apart)
                or f"what formalizer {name} wrote",
                basis="; ".join(dict.fromkeys(answer.words for answer in judged if answer.words)),
            )
            for name in self.left
        ]
        return Question(
            id=re.sub(r"[^a-z0-9]+", "-", self.group.casefold()).strip("-") or "group",
            provisions=tuple(dict.fromkeys(answer.citation for answer in judged if answer.citation in self.provisions))
            or tuple(self.provisions),
            asks=f"Which formalization of {self.group} is right? " + " ".join(one.told for one in apart[:1]),
            readings=tuple(readings),
        )


_LAWFUL: Final[Mapping[TraceOutcome, str]] = {"kept": "lawful", "broken": "unlawful", "undetermined": "undetermined"}


def rules_of(groups: Iterable[FormalizedGroup]) -> tuple[Rule, ...]:
    """The rules of all groups, each id once. Of two that say the same, or of which one implies the other by proof, one
    stays, with the provisions of both."""
    named: dict[str, Rule] = {}
    for rule in (rule for group in groups for rule in group.rules):
        id_, number = rule.id, 2
        while id_ in named:
            id_, number = f"{rule.id}-{number}", number + 1
        named[id_] = rule.model_copy(update={"id": id_})
    kept = merge_rules(rule for rule in named.values() if not rule.under)
    return (*kept, *(rule for rule in named.values() if rule.under))


def provision_groups(regulation: Regulation, citations: Sequence[str] = ()) -> dict[str, tuple[Provision, ...]]:
    """The provisions of each article or section; with citations one group of what they name, or begin.

    Raises InputError if there is no such provision.
    """
    if citations:
        named = {p.citation for one in citations for p in regulation.cited(one)}
        chosen = [p for p in regulation.provisions if p.citation in named or is_part_of(p.citation, citations)]
        if not chosen:
            raise InputError(f"{regulation.id} has no provision {', '.join(citations)}")
        return {", ".join(citations): tuple(chosen)}
    articles: dict[str, list[Provision]] = {}
    for provision in regulation.provisions:
        articles.setdefault(article_of(provision.citation), []).append(provision)
    groups: dict[str, tuple[Provision, ...]] = {}
    for name, provisions in articles.items():
        for start in range(0, len(provisions), MOST_PROVISIONS):
            part = provisions[start : start + MOST_PROVISIONS]
            groups[f"{name}, from {part[0].citation}" if start else name] = tuple(part)
    return groups
