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
from dataclasses import dataclass
from typing import TypeVar

from pydantic import BaseModel

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.agents.conversation import ProposalLoopResult, first_usable, run_proposal_loop
from lawtrace.agents.conversations.provenance import (
    ExtractionProvenance,
    MessageCollector,
    ProvenanceHeader,
    ProvisionBatch,
    ProvisionProvenance,
    ProvisionStatus,
    ProvisionStatusName,
    RuleCandidate,
    measure_funnel,
)
from lawtrace.agents.conversations.request_sizes import PROVISIONS_PER_REQUEST
from lawtrace.agents.conversations.rule_consolidation import consolidate_rules, settle_provision
from lawtrace.agents.conversations.rule_proposal import propose_rules, quotes_of
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.agents.participants import Role
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles import extraction_roles as roles
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.choices import EXTRACTION_ROLES
from lawtrace.schemas.log_entries import Context

Answer = TypeVar("Answer", bound=BaseModel)

CONCURRENT_BATCHES = 4


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
    parse_warnings: Sequence[str] = (),
    on_provision: Callable[[], None] = lambda: None,
) -> ExtractionProvenance:
    """Process the regulation, some batches concurrently. ``on_provision`` is called for each finished provision.

    A step that breaks off because of an unusable answer is run ``most_trials`` times at most. Each run is a trial of
    its own, so that a resumed run does not repeat earlier trials. If the budget is used up, the results that were paid
    for are kept, and the header says so.
    """
    setup = _Setup(environment, regulation, role_models, context, most_rounds, critic, most_trials)
    slots = asyncio.Semaphore(CONCURRENT_BATCHES)
    size, provisions = PROVISIONS_PER_REQUEST, regulation.provisions
    batches = [
        _Batch(setup, number, provisions[start : start + size], event_log)
        for number, start in enumerate(range(0, len(provisions), size), 1)
    ]
    stopped: str | None = None

    async def process(batch: _Batch) -> None:
        nonlocal stopped
        async with slots:
            try:
                await batch.process()
            except BudgetExhausted as exhausted:
                stopped = str(exhausted)
                batch.stop(stopped)
        for _ in batch.statuses:
            on_provision()

    await asyncio.gather(*map(process, batches))
    proposed = [candidate for batch in batches for candidate in batch.candidates]
    candidates = await run_in_worker_thread(lambda: consolidate_rules(environment, proposed))
    rows = tuple(row for batch in batches for row in batch.provision_rows(candidates))
    head = ProvenanceHeader(
        regulation=regulation.id,
        title=regulation.title,
        source=regulation.source,
        restated=regulation.restated,
        environment=environment.name,
        models={role: role_models.name_of(role) for role in EXTRACTION_ROLES if critic or role != "ltl_critic"},
        funnel=measure_funnel(rows, candidates),
        stopped=stopped,
        parse_warnings=tuple(parse_warnings),
    )
    return ExtractionProvenance(head, rows, candidates, tuple(batch.row() for batch in batches))


class _Batch:
    """A batch of provisions in progress."""

    def __init__(self, setup: _Setup, number: int, provisions: Sequence[Provision], event_log: EventLog) -> None:
        self._setup = setup
        self._number = number
        self._provisions = provisions
        self._event_log = MessageCollector(event_log)
        self._documentation = roles.documentation_json(setup.environment)
        self.candidates: list[RuleCandidate] = []
        self.statuses = {
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
        open_ = [p for p in self._provisions if self.statuses[p.citation].fate in undecided]
        self._break_off(open_, "the run", because)

    def row(self) -> ProvisionBatch:
        return ProvisionBatch(
            piece=self._number, citations=tuple(self.statuses), messages=tuple(self._event_log.messages)
        )

    def provision_rows(self, candidates: Sequence[RuleCandidate]) -> list[ProvisionProvenance]:
        """The provisions with the status that the consolidated candidates give them."""
        return [settle_provision(p, self.statuses[p.citation], candidates, self._number) for p in self._provisions]

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
        setup = self._setup
        proposed = await first_usable(
            lambda context: propose_rules(
                setup.environment,
                part,
                role_models=setup.role_models,
                context=context,
                event_log=self._event_log,
                most_rounds=setup.most_rounds,
                critic=setup.critic,
                obligations=_mapped_json(mapped),
            ),
            self._place(roles.POLICY_EXTRACTOR.name),
            setup.most_trials,
        )
        if proposed.failure is not None:
            self._break_off(part.provisions, "writing rules", proposed.failure)
            return
        for citation in cited:
            self._set(citation, "no_rule", "no rule was written for it", refined=True)
        for answer in proposed.last.not_checkable:
            if answer.citation in part.by_citation:
                self._set(answer.citation, "not_checkable", answer.because, refined=True)
        for answer in proposed.last.not_understood:
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
        setup = self._setup
        return await first_usable(
            lambda context: run_proposal_loop(
                role.agent(setup.role_models, context, **inputs),
                object_to,
                opening=opening,
                context=context,
                event_log=self._event_log,
                most_rounds=setup.most_rounds,
            ),
            self._place(role.name),
            setup.most_trials,
        )

    def _place(self, role: str) -> Context:
        return self._setup.context.at(role=role, unit=f"batch {self._number}", conversation_kind=role)

    def _set(
        self, citation: str, status: ProvisionStatusName, because: str, scope: str = "", *, refined: bool | None = None
    ) -> None:
        before = self.statuses.get(citation)
        if before is not None:
            changes: dict[str, object] = {"fate": status, "because": because, "scope": scope or before.scope}
            if refined is not None:
                changes["refined"] = refined
            self.statuses[citation] = before.model_copy(update=changes)

    def _set_not_understood(self, citation: str, because: str) -> None:
        """Note why a sentence of the provision is not understood; its status changes only if no other gives a rule."""
        before = self.statuses.get(citation)
        if before is not None:
            reasons = tuple(dict.fromkeys((*before.not_understood, because)))
            changes = {"fate": "not_understood", "because": "; ".join(reasons), "not_understood": reasons}
            self.statuses[citation] = before.model_copy(update=changes)

    def _break_off(self, provisions: Sequence[Provision], step: str, failure: str | None) -> None:
        for provision in provisions:
            self._set(provision.citation, "unread", f"{step} broke off: {failure or 'no answer was usable'}")

    def _part(self, provisions: Sequence[Provision]) -> Regulation:
        return self._setup.regulation.with_provisions(provisions)


def _only(part: Regulation, citation: str) -> Regulation:
    """The part reduced to that provision; unchanged if the provision is not in it."""
    return part.with_provisions([part.by_citation[citation]]) if citation in part.by_citation else part


def _mapped_json(mapped: Sequence[tuple[roles.Obligation, roles.MappedObligation]]) -> str:
    shown = [
        {**one.model_dump(), "first_tools": tools.first, "second_tools": tools.second, "why": tools.because}
        for one, tools in mapped
    ]
    return json.dumps(shown, indent=1, ensure_ascii=False)
