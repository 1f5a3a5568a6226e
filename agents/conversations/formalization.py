"""From a regulation to rules: one model or several write the rules of a group of provisions without seeing each other,
and what the rule sets allow is compared.

    policy_extractor  writes the rules of a group; code validates them, the LTL critic objects (`rule_proposal`)
    code              puts the rule sets into classes: equal by proof, or separated by a session that only some allow
    annotator         judges such sessions by the text, without the rules; a person may answer instead

A rule set counts as the conjunction of its rules, because each formalizer splits provisions in another way. First the
sessions that separate classes are asked about, shortest first, until one class is left; then some that break a single
rule of it, since all may be wrong together. Formalizers whose rules an answer refutes see the session and write again.
"""

import asyncio
import hashlib
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from typing import Final

from lawtrace.agents.concurrency import gather, run_in_worker_thread
from lawtrace.agents.conversation import ProposalLoopResult, first_usable, run_proposal_loop
from lawtrace.agents.conversations.formalized_group import (
    AskedSession,
    Comparison,
    Determinacy,
    FormalizedGroup,
    FormalizerResult,
    GivenJudgment,
)
from lawtrace.agents.conversations.rule_proposal import ProposedRules, propose_rules
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles import extraction_roles as roles
from lawtrace.agents.roles.rule_answers import SessionJudgment
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.choices import Feedback
from lawtrace.schemas.errors import NotRecorded
from lawtrace.schemas.events import Event
from lawtrace.schemas.log_entries import Context, MessageSent
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.solver.logic.signature import environment_signature
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Proof, Unknown
from lawtrace.solver.separation.answers import Judge, SeparatingTrace, rules_in_common
from lawtrace.solver.separation.separation import Separator
from lawtrace.solver.trace_notation import tell_session

ANNOTATOR_ROUNDS: Final = 2
"""How often an annotator is asked for words that stand in the law."""
MOST_SEARCHES: Final = 3
"""How often sessions that separate classes are sought, if those found before are not understood."""
MOST_ALIKE: Final = 3
"""For how many rules of the first class a session that breaks only this one is sought."""
MOST_WORDS: Final = 8_000
"""How many words of other provisions of the regulation are shown beside a group."""


class FoundSession(StrictModel):
    """A session of the search. ``end``: when it ends, in seconds since 1970."""

    events: tuple[Event, ...]
    end: int

    def outcome(self, rules: Sequence[Rule]) -> TraceOutcome:
        return Judge({rule.id: rule for rule in rules}).outcome(self.events, self.end)


@dataclass(frozen=True)
class Formalizing:
    """What all groups share.

    Attributes:
        models_of: the models of the roles in which a formalizer's rules are written, or an annotator judges.
        formalizers: the models that write rules.
        annotators: the models that judge sessions.
        answers: of people.
        rounds: maximum proposals of a formalizer.
        feedback: what a formalizer gets back, besides the objections of code.
        trials: how often a conversation without a usable answer is held.
        recorded: the message at a place of the runs that are replayed or resumed.
    """

    environment: Environment
    regulation: Regulation
    models_of: Callable[[ModelSpec], RoleModels]
    formalizers: Sequence[ModelSpec]
    annotators: Sequence[ModelSpec]
    answers: Sequence[GivenJudgment]
    context: Context
    event_log: EventLog
    rounds: int
    feedback: Feedback = "traces"
    trials: int = 1
    recorded: Callable[[Context], str | None] = lambda place: None

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
        self._formalizers = {chr(ord("A") + number): model for number, model in enumerate(setup.formalizers)}
        self._found: list[FoundSession] = []
        self._again: set[str] = set()
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
        found = FormalizedGroup(
            group=self._name,
            environment=self._setup.environment.name,
            regulation=self._inputs["regulation"],
            provisions={one.citation: one.words() for one in self._part.provisions},
            formalizations=(),
        )
        try:
            written = await gather(
                self._formalize(name, model, f"Write the rules of {self._name}.")
                for name, model in self._formalizers.items()
            )
            found = found.model_copy(update={"formalizations": tuple(written)})
            if any(one.failure for one in written):
                return found
            found = await self._judged(found)
            while refuted := self._refuted(found):
                self._again |= refuted.keys()
                revised = await gather(
                    self._revised(one, refuted[one.name]) for one in found.formalizations if one.name in refuted
                )
                again = {one.name: one for one in revised if one.failure is None}
                formalizations = tuple(again.get(one.name, one) for one in found.formalizations)
                found = await self._judged(found.model_copy(update={"formalizations": formalizations}))
            common = await run_in_worker_thread(partial(self._common, found))
        except BudgetExhausted as exhausted:
            return found.model_copy(update={"stopped": str(exhausted)})
        return found.model_copy(update={"common": common})

    def _common(self, found: FormalizedGroup) -> tuple[str, ...]:
        """The rules of the classes that are left that each of the others implies."""
        sets = [{rule.id: rule for rule in one.rules} for one in found.formalizations if one.name in found.left]
        signature = environment_signature(self._setup.environment)
        follow = Counter(name for two in combinations(sets, 2) for name in rules_in_common(two, signature))
        return tuple(name for one in sets for name in one if follow[name] == len(sets) - 1 > 0)

    async def _formalize(self, name: str, model: ModelSpec, opening: str, kind: str = "") -> FormalizerResult:
        setup = self._setup
        role_models = setup.models_of(model)

        def write(place: Context) -> Awaitable[ProposedRules]:
            return propose_rules(
                setup.environment,
                self._part,
                role_models=role_models,
                context=place,
                event_log=setup.event_log,
                most_rounds=setup.rounds,
                inputs=self._inputs,
                opening=opening,
                feedback=setup.feedback,
            )

        unit = f"{self._name}, {name}{kind}"
        place = setup.context.at(role=roles.POLICY_EXTRACTOR.name, unit=unit, conversation_kind="formalization")
        found = await first_usable(write, place, setup.trials)
        named = role_models.name_of(roles.POLICY_EXTRACTOR.name)
        if found.last is None or found.failure:
            return FormalizerResult(name=name, model=named, failure=found.failure)
        prefix = f"{name}." if len(self._formalizers) > 1 else ""
        return FormalizerResult(
            name=name,
            model=named,
            rules=tuple(rule.model_copy(update={"id": prefix + rule.id}) for rule in found.rules),
            refused=found.refused,
            disputed=found.disputed,
            revised=bool(kind),
            proposal=found.last,
        )

    def _refuted(self, found: FormalizedGroup) -> dict[str, list[AskedSession]]:
        """Who is to write again, with the sessions that refute them: each once, later only if no class is left."""
        if self._setup.feedback != "traces" or (self._again and found.left):
            return {}
        refuted: dict[str, list[AskedSession]] = {}
        for members in found.classes:
            if wrong := [one for one in found.sessions if _refutes(one, members[0])]:
                refuted |= {name: wrong for name in members if name not in self._again}
        return refuted

    async def _revised(self, before: FormalizerResult, sessions: Sequence[AskedSession]) -> FormalizerResult:
        """What a formalizer writes after it has seen how sessions are judged."""
        told = [
            f"{one.told}\nJudged {one.judgments[0].verdict} by {one.judgments[0].citation}, "
            f"{one.judgments[0].words!r}: {one.judgments[0].because}"
            for one in sessions
        ]
        opening = (
            f"Write the rules of {self._name}. These are your rules so far:\n\n{before.proposal.model_dump_json()}\n\n"
            "By the text, these sessions are judged otherwise than by your rules:\n\n" + "\n\n".join(told)
        )
        try:
            return await self._formalize(before.name, self._formalizers[before.name], opening, ", again")
        except NotRecorded as missing:  # as with sessions: a replay may find others
            return before.model_copy(update={"failure": str(missing)})

    async def _judged(self, found: FormalizedGroup) -> FormalizedGroup:
        """Compare the rule sets and ask about sessions: about others, too, if the first are not understood."""
        for seed in range(1, MOST_SEARCHES + 1):
            found = await self._asked(await run_in_worker_thread(partial(self._compared, found, seed)))
            if found.determinacy != "not understood":
                break
        return found

    def _compared(self, found: FormalizedGroup, seed: int) -> FormalizedGroup:
        """Put the rule sets into classes, with the sessions that separate these. `seed`: above 1, others are sought."""
        environment = self._setup.environment
        sets = {one.name: one.rules for one in found.formalizations}
        before = {(one.first, one.second): one for one in found.comparisons if seed > 1 and one.relation == "separated"}
        classes: dict[str, list[str]] = {}
        comparisons: list[Comparison] = []
        for name, rules in sets.items():
            for first, members in classes.items():
                comparison, session = self._compare((first, sets[first]), (name, rules), seed)
                comparisons.append(before.get((first, name), comparison))
                self._found += [session] if session else []
                if comparison.relation == "equal":
                    members.append(name)
                    break
            else:
                classes[name] = [name]
        judges = {first: Judge({rule.id: rule for rule in sets[first]}) for first in classes}
        rules = next((sets[first] for first in classes if sets[first]), ())
        for rule in rules[:MOST_ALIKE] if seed == 1 else ():
            forbidden = self._separate([rule], (), rules)
            self._found += [forbidden] if isinstance(forbidden, FoundSession) else []
        judged = {one.id: one.judgments for one in found.sessions}
        sessions = {one.id: one for one in (_session(environment, one, judges) for one in self._found)}
        ordered = sorted(sessions.values(), key=lambda one: (len({*one.outcomes.values()}) == 1, one.calls))
        return found.model_copy(
            update={
                "classes": tuple(map(tuple, classes.values())),
                "comparisons": tuple(comparisons),
                "sessions": tuple(one.model_copy(update={"judgments": judged.get(one.id, ())}) for one in ordered),
            }
        )

    def _compare(
        self, first: tuple[str, Sequence[Rule]], second: tuple[str, Sequence[Rule]], seed: int
    ) -> tuple[Comparison, FoundSession | None]:
        pair = {"first": first[0], "second": second[0]}
        if not first[1] and not second[1]:
            return Comparison(**pair, relation="equal", why="Neither has a rule."), None
        answer = self._separate(first[1], second[1], (), seed)
        match answer:
            case FoundSession():
                return Comparison(**pair, relation="separated"), answer
            case Proof(shown=shown):
                return Comparison(**pair, relation="equal", why=shown), None
            case _:
                return Comparison(**pair, relation="unknown", why=answer.why), None

    def _separate(
        self, first: Sequence[Rule], second: Sequence[Rule], context: Sequence[Rule], seed: int = 1
    ) -> FoundSession | Proof[SeparatingTrace] | Unknown:
        """A session that tells rule sets apart: the recorded one, if it still does, since another one would not be
        judged; else what the search finds. It is a message of the log, from ``separation``."""
        setup = self._setup
        rules = json.dumps([[rule.model_dump(mode="json") for rule in part] for part in (first, second, context)])
        unit = f"{self._name}, {hashlib.sha256(rules.encode()).hexdigest()[:8]}"
        place = setup.context.at(role="separation", unit=unit, conversation_kind="separation", turn=seed)
        recorded = setup.recorded(place)
        session = FoundSession.model_validate_json(recorded) if recorded else None
        if session is None or session.outcome(first) == session.outcome(second):
            answer = Separator(setup.environment, context, seed).separate(first, second)
            if not isinstance(answer, Found):
                return answer
            session = FoundSession(events=answer.trace.events, end=answer.trace.end)
        setup.event_log.record(MessageSent(context=place, source=place.role, content=session.model_dump_json()))
        return session

    async def _asked(self, found: FormalizedGroup) -> FormalizedGroup:
        """Ask about the sessions that can still tell classes apart, and then about the others."""
        left = [members[0] for members in found.classes]
        sessions: dict[str, AskedSession] = {one.id: one for one in found.sessions}
        for alike in (False, True):
            for one in found.sessions:
                if not left or (len({one.outcomes[name] for name in left}) == 1) is not alike:
                    continue
                judged = sessions[one.id] = (
                    one if one.judgments else one.model_copy(update={"judgments": await self._judgments(one)})
                )
                left = [name for name in left if not _refutes(judged, name)]
        asked = tuple(sessions.values())
        one_class = len(found.classes) == 1 and len(self._formalizers) == 1
        determinacy = _determinacy(left, asked, alone=one_class)
        return found.model_copy(update={"sessions": asked, "left": tuple(left), "determinacy": determinacy})

    async def _judgments(self, session: AskedSession) -> tuple[GivenJudgment, ...]:
        """The answers of people and of all annotators to one question."""
        setup = self._setup
        given = [one for one in setup.answers if one.session == session.id and one.group in {"", self._name}]
        for number, model in enumerate(setup.annotators, 1):
            role_models = setup.models_of(model)

            def judge(
                place: Context, role_models: RoleModels = role_models
            ) -> Awaitable[ProposalLoopResult[SessionJudgment]]:
                return run_proposal_loop(
                    roles.ANNOTATOR.agent(role_models, place, **self._inputs),
                    lambda answer: roles.misquoted(answer, [one.words() for one in setup.regulation.provisions]),
                    opening=f"The session:\n\n{session.told}",
                    context=place,
                    event_log=setup.event_log,
                    most_rounds=ANNOTATOR_ROUNDS,
                )

            unit = f"{self._name}, {session.id}, {number}"
            place = setup.context.at(role=roles.ANNOTATOR.name, unit=unit, conversation_kind=roles.ANNOTATOR.name)
            try:
                result = await first_usable(judge, place, setup.trials)
            except NotRecorded:  # a replay may find other sessions, which were not judged
                continue
            if result.proposals:
                by = role_models.name_of(roles.ANNOTATOR.name)
                given.append(GivenJudgment(session=session.id, by=by, **result.proposals[-1].model_dump()))
        return tuple(given)


def _session(environment: Environment, trace: FoundSession, judges: Mapping[str, Judge]) -> AskedSession:
    told = tell_session(trace.events, trace.end, environment)
    told += "" if environment.simulated else "\nArguments and results that are not named do not matter."
    happened = [(event.tool, dict(event.arguments), event.result, event.time) for event in trace.events]
    digest = hashlib.sha256(json.dumps([happened, trace.end], sort_keys=True, default=str).encode()).hexdigest()[:8]
    outcomes: dict[str, TraceOutcome] = {name: judge.outcome(trace.events, trace.end) for name, judge in judges.items()}
    return AskedSession(id=digest, told=told, calls=len(trace.events), outcomes=outcomes)


def _refutes(session: AskedSession, name: str) -> bool:
    """Whether all answers say of the session the opposite of what a class does."""
    verdicts = {judgment.verdict for judgment in session.judgments}
    outcome = session.outcomes[name]
    return (verdicts == {"lawful"} and outcome != "kept") or (verdicts == {"unlawful"} and outcome != "broken")


def _determinacy(left: Sequence[str], sessions: Sequence[AskedSession], *, alone: bool) -> Determinacy:
    asked = [{one.verdict for one in session.judgments} for session in sessions if session.judgments]
    if any(len(verdicts) > 1 or "arguable" in verdicts for verdicts in asked):
        return "contested"
    if not left:
        return "fits no class"
    if len(left) > 1:
        return "not understood" if {"not understood"} in asked else "open"
    split = any(one.judgments and len({*one.outcomes.values()}) > 1 for one in sessions)
    return "settled" if split else "one formalizer" if alone else "agreed"
