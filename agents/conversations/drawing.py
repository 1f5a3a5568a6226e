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

from lawtrace.agents.casting import Casting
from lawtrace.agents.clients.budget import BudgetSpent
from lawtrace.agents.conversations.checked import Proposals, propose
from lawtrace.agents.conversations.extracting import Candidate, Extraction, extract_rules
from lawtrace.agents.conversations.trail import Fate, FateName, Listening, Piece
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.agents.roles import RoleName
from lawtrace.agents.roles.scope_aligner import Scoping, check_scoping, seat_scope_aligner
from lawtrace.agents.roles.tool_mapper import MappedObligation, ToolMapping, check_mapping, seat_tool_mapper
from lawtrace.agents.roles.verifiability_refiner import (
    Obligation,
    Refinement,
    check_refinement,
    seat_verifiability_refiner,
)
from lawtrace.agents.speaker import RoleSpeaker
from lawtrace.environments.declaration import Environment
from lawtrace.environments.regulation import Provision, Regulation
from lawtrace.prompts.loader import Prompt

Answer = TypeVar("Answer", bound=BaseModel)

PROVISIONS_AT_ONCE = 12
PIECES_AT_ONCE = 4


@dataclass(frozen=True, slots=True)
class DrawnRule:
    """A rule as one piece's conversation left it, before rules of other pieces are looked at, with the words quoted."""

    candidate: Candidate
    quote: str
    piece: int


@dataclass(slots=True)
class Drawing:
    """What came of all conversations.

    Attributes:
        candidates: all rules proposed, those that stand and those that were dropped or withdrawn.
        fates: what became of each provision, in the order of the text.
        pieces: each with its messages.
        stopped_by: the budget that is spent, if that is why not everything was read.
    """

    candidates: list[DrawnRule] = field(default_factory=list[DrawnRule])
    fates: dict[str, Fate] = field(default_factory=dict[str, Fate])
    pieces: list[Piece] = field(default_factory=list[Piece])
    stopped_by: BudgetSpent | None = None


@dataclass(frozen=True, slots=True)
class _Table:
    """Where the conversations are held."""

    environment: Environment
    regulation: Regulation
    casting: Casting
    context: Context
    most_rounds: int
    critic: bool
    most_trials: int


async def draw_rules(
    environment: Environment,
    regulation: Regulation,
    *,
    casting: Casting,
    context: Context,
    ledger: Ledger,
    most_rounds: int,
    critic: bool = True,
    most_trials: int = 1,
    on_provision: Callable[[], None] = lambda: None,
) -> Drawing:
    """Work through the regulation, some pieces at once. ``on_provision`` is called for each provision that is done.

    A step that breaks off over an unusable answer is held ``most_trials`` times at most, each a trial of its own, so
    that what a record holds of earlier trials is not asked again.
    """
    table = _Table(environment, regulation, casting, context, most_rounds, critic, most_trials)
    places = asyncio.Semaphore(PIECES_AT_ONCE)
    drawing = Drawing()

    async def work(number: int, provisions: Sequence[Provision]) -> tuple[Piece, list[DrawnRule], dict[str, Fate]]:
        async with places:
            listening = Listening(ledger)
            piece = _PieceOfWork(table, number, provisions, listening)
            try:
                await piece.work()
            except BudgetSpent as spent:
                # What was paid for so far is kept, and told of.
                drawing.stopped_by = spent
                piece.stop(str(spent))
            for _ in provisions:
                on_provision()
            messages = tuple(listening.messages)
            whole = Piece(piece=number, citations=tuple(p.citation for p in provisions), messages=messages)
            return whole, piece.candidates, piece.fates

    pieces = [
        regulation.provisions[start : start + PROVISIONS_AT_ONCE]
        for start in range(0, len(regulation.provisions), PROVISIONS_AT_ONCE)
    ]
    results = await asyncio.gather(*(work(number, piece) for number, piece in enumerate(pieces, 1)))
    for piece, candidates, fates in results:
        drawing.pieces.append(piece)
        drawing.candidates += candidates
        drawing.fates |= fates
    return drawing


class _PieceOfWork:
    """Some provisions that are worked on together."""

    def __init__(self, table: _Table, number: int, provisions: Sequence[Provision], ledger: Ledger) -> None:
        self._table = table
        self._number = number
        self._provisions = provisions
        self._ledger = ledger
        self.candidates: list[DrawnRule] = []
        self.fates = {p.citation: Fate(citation=p.citation, fate="unread", because="not begun") for p in provisions}

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
            lambda place: seat_scope_aligner(*self._seated(place), self._table.environment, self._part(provisions)),
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
            lambda place: seat_verifiability_refiner(*self._seated(place), part),
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
            lambda place: seat_tool_mapper(*self._seated(place), self._table.environment, obligations),
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
            self.candidates.append(DrawnRule(candidate, quote, self._number))
            if citation in part.by_citation:  # a rule that cites what nobody mapped says nothing of that provision
                dropped = candidate.because is not None
                because = f"its rule was dropped: {candidate.because}" if dropped else ""
                self._settle(citation, "no_rule", because, refined=True)

    async def _propose(
        self,
        role: RoleName,
        seat: Callable[[Context], RoleSpeaker[Answer]],
        answer: type[Answer],
        object_to: Callable[[Answer], Sequence[str]],
        opening: str,
    ) -> Proposals[Answer]:
        trial = 0
        while True:
            place = self._place(role).at(trial=trial)
            found = await propose(
                seat(place),
                answer,
                object_to,
                opening=opening,
                context=place,
                ledger=self._ledger,
                most_rounds=self._table.most_rounds,
            )
            trial += 1
            if found.proposals or not found.unusable or trial >= self._table.most_trials:
                return found

    async def _extract(self, part: Regulation, obligations: str) -> Extraction:
        trial = 0
        while True:
            extraction = await extract_rules(
                self._table.environment,
                part,
                casting=self._table.casting,
                context=self._place("policy_extractor").at(trial=trial),
                ledger=self._ledger,
                most_rounds=self._table.most_rounds,
                critic=self._table.critic,
                obligations=obligations,
            )
            trial += 1
            if not extraction.unusable or trial >= self._table.most_trials:
                return extraction

    def _settle(
        self, citation: str, fate: FateName, because: str, scope: str = "", *, refined: bool | None = None
    ) -> None:
        before = self.fates.get(citation)
        if before is not None:
            changes: dict[str, object] = {"fate": fate, "because": because, "scope": scope or before.scope}
            if refined is not None:
                changes["refined"] = refined
            self.fates[citation] = Fate.model_validate({**before.model_dump(), **changes})

    def _break_off(self, provisions: Sequence[Provision], step: str, failure: str | None) -> None:
        for provision in provisions:
            self._settle(provision.citation, "unread", f"{step} broke off: {failure or 'no answer was usable'}")

    def _part(self, provisions: Sequence[Provision]) -> Regulation:
        return self._table.regulation.with_provisions(provisions)

    def _place(self, role: RoleName) -> Context:
        return self._table.context.at(role=role, style=f"piece {self._number}", conversation=role)

    def _seated(self, place: Context) -> tuple[ChatCompletionClient, Prompt]:
        """Who plays the role, and the words it is told."""
        role = cast("RoleName", place.role)
        return self._table.casting.client(role, place), self._table.casting.prompt(role)


def _only(part: Regulation, citation: str) -> Regulation:
    """The part with that provision alone; as it is where there is none of the citation."""
    return part.with_provisions([part.by_citation[citation]]) if citation in part.by_citation else part


def _mapped_json(mapped: Sequence[tuple[Obligation, MappedObligation]]) -> str:
    told = [
        {**one.model_dump(), "first_tools": tools.first, "second_tools": tools.second, "why": tools.because}
        for one, tools in mapped
    ]
    return json.dumps(told, indent=1, ensure_ascii=False)
