"""Rule extraction: from the provisions of a regulation to rules with provenance (P 3.2).

    scope_aligner          does the provision concern what the tools can do?
    verifiability_refiner  which atomic obligations can a sequence of calls show?
    tool_mapper            which tools do they refer to?
    policy_extractor       the formulas; code validates and analyses, the LTL critic objects (`rule_proposal`)

Provisions are processed in batches. Each step is a conversation with code that checks it. Every provision ends with a
status: that calls cannot show it is a result, and a batch whose conversation broke off keeps the reason while the
others continue.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import BaseModel

from lawtrace.agents.conversation import ProposalLoopResult, run_proposal_loop
from lawtrace.agents.conversations.provenance import (
    MessageCollector,
    ProvisionBatch,
    ProvisionStatus,
    ProvisionStatusName,
    RuleCandidate,
)
from lawtrace.agents.conversations.request_sizes import PROVISIONS_PER_REQUEST
from lawtrace.agents.conversations.rule_proposal import ProposedRules, propose_rules, quotes_of
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.agents.participants import Role
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles import extraction_roles as roles
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.log_entries import Context

Answer = TypeVar("Answer", bound=BaseModel)

CONCURRENT_BATCHES = 4


@dataclass(slots=True)
class ExtractionResult:
    """The result of all conversations.

    Attributes:
        candidates: every proposed rule; those with the status *proposed* met no objection in their batch.
        provisions: the status of each provision, in the order of the text.
        batches: the batches with their messages.
        stopped_by: the budget that is used up, if that is why provisions are unread.
    """

    candidates: list[RuleCandidate] = field(default_factory=list[RuleCandidate])
    provisions: dict[str, ProvisionStatus] = field(default_factory=dict[str, ProvisionStatus])
    batches: list[ProvisionBatch] = field(default_factory=list[ProvisionBatch])
    stopped_by: BudgetExhausted | None = None


@dataclass(frozen=True, slots=True)
class _Setup:
    """What all batches share."""

    environment: Environment
    regulation: Regulation
    role_models: RoleModels
    context: Context
    most_rounds: int
    critic: bool
    most_trials: int


async def extract_rules(
    environment: Environment,
    regulation: Regulation,
    *,
    role_models: RoleModels,
    context: Context,
    event_log: EventLog,
    most_rounds: int,
    critic: bool = True,
    most_trials: int = 1,
    on_provision: Callable[[], None] = lambda: None,
) -> ExtractionResult:
    """Process the regulation, some batches concurrently. ``on_provision`` is called for each finished provision.

    A step that breaks off because of an unusable answer is run ``most_trials`` times at most. Each run is a trial of
    its own, so that a resumed run does not repeat earlier trials.
    """
    setup = _Setup(environment, regulation, role_models, context, most_rounds, critic, most_trials)
    slots = asyncio.Semaphore(CONCURRENT_BATCHES)
    result = ExtractionResult()

    async def process(number: int, provisions: Sequence[Provision]) -> tuple[_Batch, ProvisionBatch]:
        async with slots:
            collector = MessageCollector(event_log)
            batch = _Batch(setup, number, provisions, collector)
            try:
                await batch.process()
            except BudgetExhausted as exhausted:
                # Results that were paid for are kept.
                result.stopped_by = exhausted
                batch.stop(str(exhausted))
            for _ in provisions:
                on_provision()
            citations = tuple(provision.citation for provision in provisions)
            return batch, ProvisionBatch(piece=number, citations=citations, messages=tuple(collector.messages))

    batches = [
        regulation.provisions[start : start + PROVISIONS_PER_REQUEST]
        for start in range(0, len(regulation.provisions), PROVISIONS_PER_REQUEST)
    ]
    for batch, row in await asyncio.gather(*(process(number, batch) for number, batch in enumerate(batches, 1))):
        result.batches.append(row)
        result.candidates += batch.candidates
        result.provisions |= batch.provisions
    return result


class _Batch:
    """A batch of provisions in progress."""

    def __init__(self, setup: _Setup, number: int, provisions: Sequence[Provision], event_log: EventLog) -> None:
        self._setup = setup
        self._number = number
        self._provisions = provisions
        self._event_log = event_log
        self._documentation = roles.documentation_json(setup.environment)
        self.candidates: list[RuleCandidate] = []
        self.provisions = {
            p.citation: ProvisionStatus(citation=p.citation, fate="unread", because="not begun") for p in provisions
        }

    async def process(self) -> None:
        in_scope = await self._align(self._provisions)
        obligations = await self._refine(in_scope) if in_scope else []
        mapped = await self._map(obligations) if obligations else []
        if mapped:
            await self._write(mapped)

    def stop(self, because: str) -> None:
        """Set provisions without a decision to unread."""
        undecided = ("unread", "no_rule")
        open_ = [p for p in self._provisions if self.provisions[p.citation].fate in undecided]
        self._break_off(open_, "the run", because)

    async def _align(self, provisions: Sequence[Provision]) -> list[Provision]:
        part = self._part(provisions)
        found = await self._propose(
            roles.SCOPE_ALIGNER,
            lambda answer: roles.check_scoping(answer, provisions),
            "Align the provisions.",
            regulation=roles.regulation_title(part),
            provisions=roles.provisions_json(part, headings=True),
            documentation=self._documentation,
        )
        if not found.proposals:
            self._break_off(provisions, "scope alignment", found.failure)
            return []
        decided = {decision.citation: decision for decision in found.proposals[-1].decisions}
        in_scope: list[Provision] = []
        for provision in provisions:
            decision = decided.get(provision.citation)
            if decision is None:
                self._set(provision.citation, "unread", "scope alignment made no decision on it")
            elif decision.concerns:
                in_scope.append(provision)
                self._set(provision.citation, "no_rule", "no obligation was found", decision.because)
            else:
                self._set(provision.citation, "out_of_scope", decision.because or "no reason was given")
        return in_scope

    async def _refine(self, provisions: Sequence[Provision]) -> list[roles.Obligation]:
        part = self._part(provisions)
        found = await self._propose(
            roles.VERIFIABILITY_REFINER,
            lambda answer: roles.check_refinement(answer, part),
            "Refine the provisions.",
            regulation=roles.regulation_title(part),
            provisions=roles.provisions_json(part),
        )
        if not found.proposals:
            self._break_off(provisions, "refinement", found.failure)
            return []
        last = found.proposals[-1]
        obligations = [
            one
            for one in last.obligations
            if not roles.check_refinement(roles.Refinement(obligations=(one,)), _only(part, one.citation))
        ]
        for answer in last.not_checkable:
            if answer.citation in part.by_citation:
                self._set(answer.citation, "not_checkable", answer.because)
        invalid = {one.citation for one in last.obligations} - {one.citation for one in obligations}
        for citation in invalid & part.by_citation.keys():
            self._set(citation, "not_checkable", "no obligation quotes words that it contains")
        for answer in last.not_understood:
            self._set_not_understood(answer.citation, answer.because)
        for one in obligations:
            self._set(one.citation, "no_rule", "an obligation was found, but no tool that shows it", refined=True)
        return obligations

    async def _map(
        self, obligations: Sequence[roles.Obligation]
    ) -> list[tuple[roles.Obligation, roles.MappedObligation]]:
        tools = self._setup.environment.tools
        found = await self._propose(
            roles.TOOL_MAPPER,
            lambda answer: roles.check_mapping(answer, obligations, tools),
            "Map the obligations.",
            obligations=roles.obligations_json(obligations),
            documentation=self._documentation,
        )
        if not found.proposals:
            cited = {one.citation for one in obligations}
            self._break_off([p for p in self._provisions if p.citation in cited], "tool mapping", found.failure)
            return []
        complete: list[tuple[roles.Obligation, roles.MappedObligation]] = []
        for mapped in found.proposals[-1].mapped:
            if not 0 < mapped.obligation <= len(obligations):
                continue
            one = obligations[mapped.obligation - 1]
            known = mapped.model_copy(
                update={
                    "first": tuple(name for name in mapped.first if name in tools),
                    "second": tuple(name for name in mapped.second if name in tools),
                }
            )
            if (known.first and known.second) or (one.order == "other" and (known.first or known.second)):
                complete.append((one, known))
            elif known.not_understood:
                self._set_not_understood(one.citation, known.because)
            elif all(one.citation != other.citation for other, _ in complete):
                self._set(one.citation, "no_rule", f"no tool shows it: {known.because or 'no reason was given'}")
        return complete

    async def _write(self, mapped: Sequence[tuple[roles.Obligation, roles.MappedObligation]]) -> None:
        cited = list(dict.fromkeys(one.citation for one, _ in mapped))
        part = self._part([p for p in self._provisions if p.citation in cited])
        quotes = {one.citation: one.quote for one, _ in reversed(mapped)}
        proposed = await self._propose_rules(part, _mapped_json(mapped))
        if proposed.failure is not None:
            self._break_off(part.provisions, "writing rules", proposed.failure)
            return
        for citation in cited:
            self._set(citation, "no_rule", "no rule was written for it", refined=True)
        for answer in proposed.not_checkable:
            if answer.citation in part.by_citation:
                self._set(answer.citation, "not_checkable", answer.because, refined=True)
        for answer in proposed.not_understood:
            self._set_not_understood(answer.citation, answer.because)
        for candidate in proposed.candidates:
            (citation,) = candidate.rule.provisions
            found = candidate.quotes or quotes_of(quotes.get(citation, ""), citation, self._setup.regulation)
            self.candidates.append(candidate.model_copy(update={"piece": self._number, "quotes": found}))
            if citation in part.by_citation:  # a rule may cite a provision outside the batch
                because = "" if candidate.status == "proposed" else f"its rule was dropped: {candidate.because}"
                self._set(citation, "no_rule", because, refined=True)

    async def _propose(
        self, role: Role[Answer], object_to: Callable[[Answer], Sequence[str]], opening: str, **inputs: str
    ) -> ProposalLoopResult[Answer]:
        trial = 0
        while True:
            context = self._context(role.name, trial)
            found = await run_proposal_loop(
                role.agent(self._setup.role_models, context, **inputs),
                role.answer,
                object_to,
                opening=opening,
                context=context,
                event_log=self._event_log,
                most_rounds=self._setup.most_rounds,
            )
            trial += 1
            if found.proposals or not found.unusable or trial >= self._setup.most_trials:
                return found

    async def _propose_rules(self, part: Regulation, obligations: str) -> ProposedRules:
        trial = 0
        while True:
            proposed = await propose_rules(
                self._setup.environment,
                part,
                role_models=self._setup.role_models,
                context=self._context("policy_extractor", trial),
                event_log=self._event_log,
                most_rounds=self._setup.most_rounds,
                critic=self._setup.critic,
                obligations=obligations,
            )
            trial += 1
            if not proposed.unusable or trial >= self._setup.most_trials:
                return proposed

    def _set(
        self, citation: str, status: ProvisionStatusName, because: str, scope: str = "", *, refined: bool | None = None
    ) -> None:
        before = self.provisions.get(citation)
        if before is not None:
            changes: dict[str, object] = {"fate": status, "because": because, "scope": scope or before.scope}
            if refined is not None:
                changes["refined"] = refined
            self.provisions[citation] = before.model_copy(update=changes)

    def _set_not_understood(self, citation: str, because: str) -> None:
        """Note why a sentence of the provision is not understood; its status changes only if no other gives a rule."""
        before = self.provisions.get(citation)
        if before is not None:
            reasons = tuple(dict.fromkeys((*before.not_understood, because)))
            changes = {"fate": "not_understood", "because": "; ".join(reasons), "not_understood": reasons}
            self.provisions[citation] = before.model_copy(update=changes)

    def _break_off(self, provisions: Sequence[Provision], step: str, failure: str | None) -> None:
        for provision in provisions:
            self._set(provision.citation, "unread", f"{step} broke off: {failure or 'no answer was usable'}")

    def _part(self, provisions: Sequence[Provision]) -> Regulation:
        return self._setup.regulation.with_provisions(provisions)

    def _context(self, role: str, trial: int) -> Context:
        return self._setup.context.at(role=role, unit=f"batch {self._number}", conversation_kind=role, trial=trial)


def _only(part: Regulation, citation: str) -> Regulation:
    """The part reduced to that provision; unchanged if the provision is not in it."""
    return part.with_provisions([part.by_citation[citation]]) if citation in part.by_citation else part


def _mapped_json(mapped: Sequence[tuple[roles.Obligation, roles.MappedObligation]]) -> str:
    shown = [
        {**one.model_dump(), "first_tools": tools.first, "second_tools": tools.second, "why": tools.because}
        for one, tools in mapped
    ]
    return json.dumps(shown, indent=1, ensure_ascii=False)
