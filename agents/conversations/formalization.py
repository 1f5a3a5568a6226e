"""Formalization: models that do not see each other write rules for the same group of provisions, and what the rule sets
allow is compared.

    formalizer   writes the rules of a group; code parses and checks them, and sends its objections back
    code         puts the rule sets into classes: equal by proof, or separated by a session that only some allow
    annotator    judges such sessions by the text, without the rules; a person may answer instead

A rule set counts as the conjunction of its rules, because each formalizer splits provisions in another way. First the
sessions that separate classes are asked about, shortest first, until one class is left; then some that break a single
rule of it, since all may be wrong together.
"""

import asyncio
import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeVar

from pydantic import BaseModel, Field

from lawtrace.agents.concurrency import gather, run_in_worker_thread
from lawtrace.agents.conversation import ProposalLoopResult, first_usable, run_proposal_loop
from lawtrace.agents.conversations.rule_proposal import rule_of, validate_signature
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.agents.participants import Role
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles import extraction_roles as roles
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.models import FrozenModel, StrictModel
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.monitoring.rule_status import OUTCOMES
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Proof
from lawtrace.solver.separation.separation import SeparatingTrace, separate
from lawtrace.solver.trace_notation import tell_session

Answer = TypeVar("Answer", bound=BaseModel)

ANNOTATOR_ROUNDS: Final = 2
"""How often an annotator is asked for words that stand in the law."""
MOST_ALIKE: Final = 3
"""For how many rules of the first class a session that breaks only this one is sought."""
MOST_WORDS: Final = 8_000
"""How many words of other provisions of the regulation are shown beside a group."""

Judgment = Literal["lawful", "unlawful", "arguable", "not understood"]
Determinacy = Literal["agreed", "settled", "contested", "fits no class", "not understood", "open", "not read"]
"""*agreed*: one class, and nothing refutes it; *settled*: answers leave one class; *open*: there are several, and no
answer decides between them; *not read*: fewer than two formalizers gave usable rules."""


class OpenPoint(FrozenModel):
    """A point that a formalizer finds open, with the readings; its rules have the first."""

    citation: str
    asks: str
    readings: tuple[str, ...] = ()


class Formalization(roles.Proposal):
    """The rules of a group of provisions, in every turn."""

    open_points: tuple[OpenPoint, ...] = ()


class SessionJudgment(FrozenModel):
    """Whether a session is lawful by a group of provisions, with the words that decide."""

    verdict: Judgment
    citation: str = ""
    words: str = ""
    because: str = ""


class GivenJudgment(SessionJudgment):
    """An answer to a question. ``by``: the model, or the person."""

    session: str
    by: str = "a person"


class FormalizerResult(StrictModel):
    """What one formalizer wrote.

    Attributes:
        name: a letter, with which the ids of its rules begin.
        model: its model.
        rules: those to which code has no objection.
        invalid: the others, with the objection.
        failure: why there is no proposal, or None.
    """

    name: str
    model: str
    rules: tuple[Rule, ...] = ()
    invalid: tuple[roles.RuleObjection, ...] = ()
    not_checkable: tuple[roles.NotCheckable, ...] = ()
    open_points: tuple[OpenPoint, ...] = ()
    failure: str | None = None


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
        id: a digest of what is told.
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
        classes: the formalizers whose rules are equal.
        sessions: those that separate classes, shortest first; then those that break one rule of the first class.
        left: the classes that no answer refutes, by their first formalizers.
    """

    kind: Literal["group"] = "group"
    group: str
    citations: tuple[str, ...]
    formalizations: tuple[FormalizerResult, ...]
    classes: tuple[tuple[str, ...], ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    sessions: tuple[AskedSession, ...] = ()
    left: tuple[str, ...] = ()
    determinacy: Determinacy = "not read"
    stopped: str | None = Field(default=None, exclude_if=lambda value: value is None)

    @property
    def rules(self) -> tuple[Rule, ...]:
        """The rules of the class that is left, if it is one and the answers decide."""
        decided = self.determinacy in {"agreed", "settled"}
        return next((one.rules for one in self.formalizations if decided and one.name == self.left[0]), ())


FORMALIZER = Role("formalizer", Formalization)
"""Writes the rules of a group of provisions."""
ANNOTATOR = Role("annotator", SessionJudgment)
"""Judges a session by the text."""


def provision_groups(regulation: Regulation, citations: Sequence[str] = ()) -> dict[str, tuple[Provision, ...]]:
    """The provisions of each article or section; with citations one group of what they name, or begin."""
    if citations:
        named = {p.citation for one in citations for p in regulation.cited(one)}
        chosen = [p for p in regulation.provisions if p.citation in named or p.citation.startswith(tuple(citations))]
        return {", ".join(citations): tuple(chosen)}
    groups: dict[str, list[Provision]] = {}
    for provision in regulation.provisions:
        groups.setdefault(re.split(r"\s*\(", provision.citation)[0], []).append(provision)
    return {name: tuple(provisions) for name, provisions in groups.items()}


@dataclass(frozen=True)
class Formalizing:
    """What all groups share.

    Attributes:
        models_of: a role, played by a model.
        formalizers: their models, at least two.
        annotators: the models that judge sessions.
        answers: of people.
        rounds: maximum proposals of a formalizer.
        trials: how often a conversation without a usable answer is held.
    """

    environment: Environment
    regulation: Regulation
    models_of: Callable[[str, ModelSpec], RoleModels]
    formalizers: Sequence[ModelSpec]
    annotators: Sequence[ModelSpec]
    answers: Sequence[GivenJudgment]
    context: Context
    event_log: EventLog
    rounds: int
    trials: int = 1

    async def groups(
        self, groups: Mapping[str, Sequence[Provision]], on_group: Callable[[], None] = lambda: None
    ) -> list[FormalizedGroup]:
        """All groups, some of them concurrently. A used-up budget is noted in the groups that it stopped."""
        slots = asyncio.Semaphore(4)

        async def process(name: str, provisions: Sequence[Provision]) -> FormalizedGroup:
            async with slots:
                found = await _Group(self, name, provisions).process()
            on_group()
            return found

        return await gather(process(*group) for group in groups.items())


class _Group:
    """A group in progress."""

    def __init__(self, setup: Formalizing, name: str, provisions: Sequence[Provision]) -> None:
        self._setup = setup
        self._name = name
        self._part = setup.regulation.with_provisions(provisions)
        shown, words = list[Provision](), 0
        for other in setup.regulation.provisions:
            words += len(other.words().split())
            if other.citation not in self._part.by_citation and words <= MOST_WORDS:
                shown.append(other)
        self._inputs = {
            "regulation": roles.regulation_title(self._part),
            "provisions": roles.provisions_json(self._part, headings=True),
            "others": json.dumps({one.citation: one.words() for one in shown}, indent=1, ensure_ascii=False),
            "documentation": roles.documentation_json(setup.environment),
        }

    async def process(self) -> FormalizedGroup:
        found = FormalizedGroup(group=self._name, citations=tuple(self._part.by_citation), formalizations=())
        try:
            letters = (chr(ord("A") + number) for number in range(len(self._setup.formalizers)))
            written = await gather(map(self._formalize, letters, self._setup.formalizers))
            found = found.model_copy(update={"formalizations": tuple(written)})
            if sum(one.failure is None for one in written) < 2:
                return found
            found = await run_in_worker_thread(lambda: self._compared(found))
            return await self._asked(found)
        except BudgetExhausted as exhausted:
            return found.model_copy(update={"stopped": str(exhausted)})

    async def _formalize(self, name: str, model: ModelSpec) -> FormalizerResult:
        result = await self._propose(
            FORMALIZER,
            model,
            name,
            lambda proposal: [*self._objections(proposal).values()],
            f"Write the rules of {self._name}.",
            self._setup.rounds,
        )
        named = self._setup.models_of(FORMALIZER.name, model).name_of(FORMALIZER.name)
        if not result.proposals:
            return FormalizerResult(name=name, model=named, failure=result.failure or "no answer was usable")
        last = result.proposals[-1]
        objections = self._objections(last)
        rules = [rule_of(last, one, self._part) for one in last.rules if one.id not in objections]
        return FormalizerResult(
            name=name,
            model=named,
            rules=tuple(rule.model_copy(update={"id": f"{name}.{rule.id}"}) for rule in rules),
            invalid=tuple(
                roles.RuleObjection(rule=one.id, because=objections[one.id])
                for one in last.rules
                if one.id in objections
            ),
            not_checkable=last.not_checkable,
            open_points=last.open_points,
        )

    def _objections(self, proposal: Formalization) -> dict[str, str]:
        """The objections to rules, by their ids, and to provisions without an answer, by their citations."""
        found: dict[str, str] = {}
        ids = [rule.id for rule in proposal.rules]
        for rule in proposal.rules:
            why = validate_signature(proposal, rule, self._setup.environment, self._part)
            why = "its id occurs twice; give each rule its own" if ids.count(rule.id) > 1 else why
            if why is not None:
                found[rule.id] = why if "rule " in why[:5] else f"rule {rule.id!r}: {why}"
        answered = {one.citation for one in (*proposal.rules, *proposal.not_checkable)}
        for citation in self._part.by_citation:
            if citation not in answered:
                found[citation] = f"{citation}: write a rule, or give the reason in not_checkable"
        return found

    def _compared(self, found: FormalizedGroup) -> FormalizedGroup:
        """Put the rule sets into classes, with the sessions that separate these."""
        environment = self._setup.environment
        sets = {one.name: one.rules for one in found.formalizations if one.failure is None}
        classes: dict[str, list[str]] = {}
        comparisons: list[Comparison] = []
        traces: list[SeparatingTrace] = []
        for name, rules in sets.items():
            for first, members in classes.items():
                comparison, trace = _compare(environment, (first, sets[first]), (name, rules))
                comparisons.append(comparison)
                traces += [trace] if trace else []
                if comparison.relation == "equal":
                    members.append(name)
                    break
            else:
                classes[name] = [name]
        judges = {first: Monitor({rule.id: rule.compiled for rule in sets[first]}) for first in classes}
        traces.sort(key=lambda trace: len(trace.events))
        rules = next((sets[first] for first in classes if sets[first]), ())
        for rule in rules[:MOST_ALIKE]:
            forbidden = separate(environment, [rule], (), rules)
            traces += [forbidden.trace] if isinstance(forbidden, Found) else []
        sessions = {one.id: one for one in (_session(environment, trace, judges) for trace in traces)}
        return found.model_copy(
            update={
                "classes": tuple(map(tuple, classes.values())),
                "comparisons": tuple(comparisons),
                "sessions": tuple(sessions.values()),
            }
        )

    async def _asked(self, found: FormalizedGroup) -> FormalizedGroup:
        """Ask about the sessions that can still tell classes apart, and then about the others."""
        left = [members[0] for members in found.classes]
        sessions: dict[str, AskedSession] = {one.id: one for one in found.sessions}
        for alike in (False, True):
            for one in found.sessions:
                outcomes = {one.outcomes[name] for name in left}
                if not left or (len(outcomes) == 1) is not alike or sessions[one.id].judgments:
                    continue
                judged = await self._judgments(one)
                sessions[one.id] = one.model_copy(update={"judgments": judged})
                verdicts = {judgment.verdict for judgment in judged}
                for verdict, outcome in (("lawful", "kept"), ("unlawful", "broken")):
                    if verdicts == {verdict}:
                        left = [name for name in left if one.outcomes[name] == outcome]
        asked = tuple(sessions.values())
        return found.model_copy(
            update={"sessions": asked, "left": tuple(left), "determinacy": _determinacy(left, asked)}
        )

    async def _judgments(self, session: AskedSession) -> tuple[GivenJudgment, ...]:
        """The answers of people and of all annotators to one question."""
        setup = self._setup
        given = [one for one in setup.answers if one.session == session.id]
        for number, model in enumerate(setup.annotators, 1):
            by, asked = f"{session.id}, {number}", f"The session:\n\n{session.told}"
            result = await self._propose(ANNOTATOR, model, by, self._misquoted, asked, ANNOTATOR_ROUNDS)
            if result.proposals:
                last, by = result.proposals[-1], setup.models_of(ANNOTATOR.name, model).name_of(ANNOTATOR.name)
                given.append(GivenJudgment(session=session.id, by=by, **last.model_dump()))
        return tuple(given)

    async def _propose(
        self,
        role: Role[Answer],
        model: ModelSpec,
        by: str,
        object_to: Callable[[Answer], Sequence[str]],
        opening: str,
        rounds: int,
    ) -> ProposalLoopResult[Answer]:
        """What a model proposes; again in a resumed run, if no answer of it could be used."""
        setup, name = self._setup, role.name
        return await first_usable(
            lambda place: run_proposal_loop(
                role.agent(setup.models_of(name, model), place, **self._inputs),
                object_to,
                opening=opening,
                context=place,
                event_log=setup.event_log,
                most_rounds=rounds,
            ),
            setup.context.at(role=name, unit=f"{self._name}, {by}", conversation_kind=name),
            setup.trials,
        )

    def _misquoted(self, judgment: SessionJudgment) -> Sequence[str]:
        provisions = self._setup.regulation.provisions
        quoted = any(roles.quoted_in(judgment.words, provision.words()) for provision in provisions)
        needed = judgment.verdict in {"unlawful", "arguable"}
        return ("`words` must be words of a provision, as they stand there",) if needed and not quoted else ()


def _compare(
    environment: Environment, first: tuple[str, Sequence[Rule]], second: tuple[str, Sequence[Rule]]
) -> tuple[Comparison, SeparatingTrace | None]:
    pair = {"first": first[0], "second": second[0]}
    if not first[1] and not second[1]:
        return Comparison(**pair, relation="equal", why="Neither has a rule."), None
    answer = separate(environment, first[1], second[1])
    match answer:
        case Found(trace):
            return Comparison(**pair, relation="separated"), trace
        case Proof(shown=shown):
            return Comparison(**pair, relation="equal", why=shown), None
        case _:
            return Comparison(**pair, relation="unknown", why=answer.why), None


def _session(environment: Environment, trace: SeparatingTrace, judges: Mapping[str, Monitor]) -> AskedSession:
    told = tell_session(trace.events, trace.end, environment)
    outcomes: dict[str, TraceOutcome] = {}
    for name, monitor in judges.items():
        monitor.clear()
        monitor.run(trace.events)
        found = {OUTCOMES[status.ending] for status in monitor.statuses(trace.end).values()}
        outcomes[name] = "broken" if "broken" in found else "undetermined" if "undetermined" in found else "kept"
    digest = hashlib.sha256(told.encode()).hexdigest()[:8]
    return AskedSession(id=digest, told=told, calls=len(trace.events), outcomes=outcomes)


def _determinacy(left: Sequence[str], sessions: Sequence[AskedSession]) -> Determinacy:
    asked = [{one.verdict for one in session.judgments} for session in sessions if session.judgments]
    if any(len(verdicts) > 1 or "arguable" in verdicts for verdicts in asked):
        return "contested"
    if not left:
        return "fits no class"
    if len(left) == 1:
        split = any(one.judgments and len({*one.outcomes.values()}) > 1 for one in sessions)
        return "not understood" if {"not understood"} in asked else "settled" if split else "agreed"
    return "not understood" if {"not understood"} in asked else "open"
