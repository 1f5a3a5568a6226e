"""From a law to rules: every provision is aligned, refined, mapped and written down as rules, in pieces, each with a
trail (P 3.2).

    scope_aligner          does it concern what these tools can do?
    verifiability_refiner  which atomic obligations can a sequence of calls show?
    tool_mapper            which tools do they speak of?
    policy_extractor       the formulas; code validates, proves, and the LTL critic objects (extracting.py)

Each step is a conversation with code that checks it. What became of every provision is kept, whatever it is: that calls
cannot show it is an answer, a piece whose conversation broke off is a gap with its reason, and the rest goes on.
"""

import asyncio
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar, cast

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel

from lawtrace.agents.conversation import ProposalLoopResult, run_proposal_loop
from lawtrace.agents.conversations.provenance import (
    MessageCollector,
    ProvisionBatch,
    ProvisionStatus,
    ProvisionStatusName,
)
from lawtrace.agents.conversations.rule_proposal import ProposedRules, RuleCandidate, propose_rules
from lawtrace.agents.event_log import Context, EventLog
from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.agents.participants import RoleAgent
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles import RoleName
from lawtrace.agents.roles.extraction_roles import (
    MappedObligation,
    Obligation,
    Refinement,
    Scoping,
    ToolMapping,
    check_mapping,
    check_refinement,
    check_scoping,
    make_scope_aligner,
    make_tool_mapper,
    make_verifiability_refiner,
)
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.prompts.loader import Prompt

Answer = TypeVar("Answer", bound=BaseModel)

BATCH_SIZE = 12
CONCURRENT_BATCHES = 4


@dataclass(frozen=True, slots=True)
class BatchCandidate:
    """A rule as one piece's conversation left it, before rules of other pieces are looked at, with the words quoted."""

    candidate: RuleCandidate
    quote: str
    piece: int


@dataclass(slots=True)
class ExtractionResult:
    """What came of all conversations.

    Attributes:
        candidates: all rules proposed, those that stand and those that were dropped or withdrawn.
        fates: what became of each provision, in the order of the text.
        pieces: each with its messages.
        stopped_by: the budget that is spent, if that is why not everything was read.
    """

    candidates: list[BatchCandidate] = field(default_factory=list[BatchCandidate])
    fates: dict[str, ProvisionStatus] = field(default_factory=dict[str, ProvisionStatus])
    pieces: list[ProvisionBatch] = field(default_factory=list[ProvisionBatch])
    stopped_by: BudgetExhausted | None = None


@dataclass(frozen=True, slots=True)
class _ExtractionSettings:
    """Where the conversations are held."""

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
    """Work through the regulation, some pieces at once. ``on_provision`` is called for each provision that is done.

    A step that breaks off over an unusable answer is held ``max_common_trials`` times at most, each a trial of its
    own, so that what a record holds of earlier trials is not asked again.
    """
    table = _ExtractionSettings(environment, regulation, role_models, context, most_rounds, critic, most_trials)
    places = asyncio.Semaphore(CONCURRENT_BATCHES)
    drawing = ExtractionResult()

    async def work(
        number: int, provisions: Sequence[Provision]
    ) -> tuple[ProvisionBatch, list[BatchCandidate], dict[str, ProvisionStatus]]:
        async with places:
            listening = MessageCollector(event_log)
            piece = _Batch(table, number, provisions, listening)
            try:
                await piece.work()
            except BudgetExhausted as spent:
                # What was paid for so far is kept, and told of.
                drawing.stopped_by = spent
                piece.stop(str(spent))
            for _ in provisions:
                on_provision()
            messages = tuple(listening.messages)
            whole = ProvisionBatch(piece=number, citations=tuple(p.citation for p in provisions), messages=messages)
            return whole, piece.candidates, piece.fates

    pieces = [
        regulation.provisions[start : start + BATCH_SIZE] for start in range(0, len(regulation.provisions), BATCH_SIZE)
    ]
    results = await asyncio.gather(*(work(number, piece) for number, piece in enumerate(pieces, 1)))
    for piece, candidates, fates in results:
        drawing.pieces.append(piece)
        drawing.candidates += candidates
        drawing.fates |= fates
    return drawing


class _Batch:
    """Some provisions that are worked on together."""

    def __init__(
        self, table: _ExtractionSettings, number: int, provisions: Sequence[Provision], event_log: EventLog
    ) -> None:
        self._table = table
        self._number = number
        self._provisions = provisions
        self._ledger = event_log
        self.candidates: list[BatchCandidate] = []
        self.fates = {
            p.citation: ProvisionStatus(citation=p.citation, fate="unread", because="not begun") for p in provisions
        }

    async def work(self) -> None:
        concerned = await self._align(self._provisions)
        obligations = await self._refine(concerned) if concerned else []
        mapped = await self._map(obligations) if obligations else []
        if mapped:
            await self._write(mapped)

    def stop(self, because: str) -> None:
        """Nothing more can be asked: provisions that nothing was decided on stay unread."""
        undecided = ("unread", "no_rule")
        self._break_off([p for p in self._provisions if self.fates[p.citation].fate in undecided], "the run", because)

    async def _align(self, provisions: Sequence[Provision]) -> list[Provision]:
        found = await self._propose(
            "scope_aligner",
            lambda place: make_scope_aligner(*self._seated(place), self._table.environment, self._part(provisions)),
            Scoping,
            lambda answer: check_scoping(answer, provisions),
            opening="Align the provisions.",
        )
        if not found.proposals:
            self._break_off(provisions, "scope alignment", found.failure)
            return []
        decided = {decision.citation: decision for decision in found.proposals[-1].decisions}
        concerned: list[Provision] = []
        for provision in provisions:
            decision = decided.get(provision.citation)
            if decision is None:
                self._settle(provision.citation, "unread", "scope alignment left it out, whatever was said to it")
            elif decision.concerns:
                concerned.append(provision)
                self._settle(provision.citation, "no_rule", "nothing came of it", decision.because)
            else:
                self._settle(provision.citation, "out_of_scope", decision.because or "no reason was given")
        return concerned

    async def _refine(self, provisions: Sequence[Provision]) -> list[Obligation]:
        part = self._part(provisions)
        found = await self._propose(
            "verifiability_refiner",
            lambda place: make_verifiability_refiner(*self._seated(place), part),
            Refinement,
            lambda answer: check_refinement(answer, part),
            opening="Refine the provisions.",
        )
        if not found.proposals:
            self._break_off(provisions, "refinement", found.failure)
            return []
        last = found.proposals[-1]
        obligations = [
            one
            for one in last.obligations
            if not check_refinement(Refinement(obligations=(one,)), _only(part, one.citation))
        ]
        for said in last.not_checkable:
            if said.citation in part.by_citation:
                self._settle(said.citation, "not_checkable", said.because)
        invalid = {one.citation for one in last.obligations} - {one.citation for one in obligations}
        for citation in invalid & part.by_citation.keys():
            self._settle(citation, "not_checkable", "no obligation with words that stand in it was found")
        for one in obligations:
            self._settle(one.citation, "no_rule", "an obligation was found, but no tool that shows it", refined=True)
        return obligations

    async def _map(self, obligations: Sequence[Obligation]) -> list[tuple[Obligation, MappedObligation]]:
        tools = self._table.environment.tools
        found = await self._propose(
            "tool_mapper",
            lambda place: make_tool_mapper(*self._seated(place), self._table.environment, obligations),
            ToolMapping,
            lambda answer: check_mapping(answer, obligations, tools),
            opening="Map the obligations.",
        )
        if not found.proposals:
            cited = {one.citation for one in obligations}
            self._break_off([p for p in self._provisions if p.citation in cited], "tool mapping", found.failure)
            return []
        whole: list[tuple[Obligation, MappedObligation]] = []
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
                whole.append((one, known))
            elif all(one.citation != other.citation for other, _ in whole):
                self._settle(one.citation, "no_rule", f"no tool shows it: {known.because or 'no reason was given'}")
        return whole

    async def _write(self, mapped: Sequence[tuple[Obligation, MappedObligation]]) -> None:
        cited = list(dict.fromkeys(one.citation for one, _ in mapped))
        part = self._part([p for p in self._provisions if p.citation in cited])
        quotes = {one.citation: one.quote for one, _ in reversed(mapped)}
        extraction = await self._extract(part, _mapped_json(mapped))
        if extraction.failure is not None:
            self._break_off(part.provisions, "writing rules", extraction.failure)
            return
        for citation in cited:
            self._settle(citation, "no_rule", "no rule was written for it", refined=True)
        for said in extraction.not_checkable:
            if said.citation in part.by_citation:
                self._settle(said.citation, "not_checkable", said.because, refined=True)
        for candidate in extraction.candidates:
            citation = candidate.proposed.citation
            quote = candidate.proposed.quote or quotes.get(citation, "")
            self.candidates.append(BatchCandidate(candidate, quote, self._number))
            if citation in part.by_citation:  # a rule that cites what nobody mapped says nothing of that provision
                dropped = candidate.because is not None
                because = f"its rule was dropped: {candidate.because}" if dropped else ""
                self._settle(citation, "no_rule", because, refined=True)

    async def _propose(
        self,
        role: RoleName,
        seat: Callable[[Context], RoleAgent[Answer]],
        answer: type[Answer],
        object_to: Callable[[Answer], Sequence[str]],
        opening: str,
    ) -> ProposalLoopResult[Answer]:
        trial = 0
        while True:
            place = self._place(role).at(trial=trial)
            found = await run_proposal_loop(
                seat(place),
                answer,
                object_to,
                opening=opening,
                context=place,
                event_log=self._ledger,
                most_rounds=self._table.most_rounds,
            )
            trial += 1
            if found.proposals or not found.unusable or trial >= self._table.most_trials:
                return found

    async def _extract(self, part: Regulation, obligations: str) -> ProposedRules:
        trial = 0
        while True:
            extraction = await propose_rules(
                self._table.environment,
                part,
                role_models=self._table.role_models,
                context=self._place("policy_extractor").at(trial=trial),
                event_log=self._ledger,
                most_rounds=self._table.most_rounds,
                critic=self._table.critic,
                obligations=obligations,
            )
            trial += 1
            if not extraction.unusable or trial >= self._table.most_trials:
                return extraction

    def _settle(
        self, citation: str, fate: ProvisionStatusName, because: str, scope: str = "", *, refined: bool | None = None
    ) -> None:
        before = self.fates.get(citation)
        if before is not None:
            changes: dict[str, object] = {"fate": fate, "because": because, "scope": scope or before.scope}
            if refined is not None:
                changes["refined"] = refined
            self.fates[citation] = ProvisionStatus.model_validate({**before.model_dump(), **changes})

    def _break_off(self, provisions: Sequence[Provision], step: str, failure: str | None) -> None:
        for provision in provisions:
            self._settle(provision.citation, "unread", f"{step} broke off: {failure or 'no answer was usable'}")

    def _part(self, provisions: Sequence[Provision]) -> Regulation:
        return self._table.regulation.with_provisions(provisions)

    def _place(self, role: RoleName) -> Context:
        return self._table.context.at(role=role, unit=f"batch {self._number}", conversation_kind=role)

    def _seated(self, place: Context) -> tuple[ChatCompletionClient, Prompt]:
        """Who plays the role, and the words it is told."""
        role = cast("RoleName", place.role)
        return self._table.role_models.client(role, place), self._table.role_models.prompt(role)


def _only(part: Regulation, citation: str) -> Regulation:
    """The part with that provision alone; as it is where there is none of the citation."""
    return part.with_provisions([part.by_citation[citation]]) if citation in part.by_citation else part


def _mapped_json(mapped: Sequence[tuple[Obligation, MappedObligation]]) -> str:
    told = [
        {**one.model_dump(), "first_tools": tools.first, "second_tools": tools.second, "why": tools.because}
        for one, tools in mapped
    ]
    return json.dumps(told, indent=1, ensure_ascii=False)
