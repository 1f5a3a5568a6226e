"""The rows of a provenance file: how provisions became rules, so that every step can be checked."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Literal

from pydantic import Field, RootModel

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.scripted.justification import Ground
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.schemas.findings import ExtractionFunnel
from lawtrace.schemas.log_entries import Entry
from lawtrace.schemas.models import StrictModel
from lawtrace.solver.rules import Rule

ProvisionStatusName = Literal["out_of_scope", "not_checkable", "not_understood", "no_rule", "rule", "unread"]
PROVISION_STATUS_LABELS: dict[ProvisionStatusName, str] = {
    "rule": "a rule",
    "no_rule": "in scope, but no rule",
    "not_checkable": "in scope, but calls cannot show it",
    "not_understood": "in scope, but not understood",
    "out_of_scope": "not checkable on tool calls",
    "unread": "not read",
}

RuleStatus = Literal["proposed", "accepted", "merged", "dropped", "invalid"]


class ProvisionStatus(StrictModel):
    """The status of a provision.

    Attributes:
        because: the reason for the status.
        scope: the reason that the scope aligner gave.
        refined: whether an obligation was found in it.
        not_understood: why the offline baseline does not understand some of its sentences.
    """

    citation: str
    fate: ProvisionStatusName
    because: str
    scope: str = ""
    refined: bool = False
    not_understood: tuple[str, ...] = ()


class ProvenanceMessage(StrictModel):
    """One message, with the prompt file of the role that sent it."""

    role: str
    conversation: str
    content: str
    prompt: str | None = None
    prompt_hash: str | None = None


class ProvisionBatch(StrictModel):
    """Provisions that were processed together, with the messages of their conversations."""

    kind: Literal["piece"] = "piece"
    piece: int
    citations: tuple[str, ...]
    messages: tuple[ProvenanceMessage, ...]


class Quote(StrictModel):
    """Words of a provision. ``checked``: the provision contains them."""

    citation: str
    words: str
    checked: bool


class StatusChange(StrictModel):
    """A step of a candidate's history.

    Attributes:
        because: the objection, or the proof.
        into: the rules that it was merged into.
    """

    status: RuleStatus
    because: str = ""
    into: tuple[str, ...] = ()


class RuleCandidate(StrictModel):
    """A proposed rule and its status history.

    Attributes:
        rule: the rule; if it is *invalid*, with the formula as it was written.
        quotes: the words of the provision that it rests on.
        piece: the batch of provisions in which it was proposed.
        grounds: which words of the provision justify which part, if the role that proposed it says so.
        checks: results of the checks by code.
        history: from *proposed* to *accepted*, *merged* into another rule by proof, *dropped* after an objection, or
            *invalid*: not a rule over these tools.
    """

    kind: Literal["rule"] = "rule"
    rule: Rule
    quotes: tuple[Quote, ...] = ()
    piece: int = 0
    grounds: tuple[Ground, ...] = ()
    checks: tuple[str, ...] = ()
    history: tuple[StatusChange, ...] = (StatusChange(status="proposed"),)

    @property
    def status(self) -> RuleStatus:
        return self.history[-1].status

    @property
    def because(self) -> str:
        return self.history[-1].because

    @property
    def into(self) -> tuple[str, ...]:
        return self.history[-1].into

    def becomes(self, status: RuleStatus, because: str = "", into: tuple[str, ...] = ()) -> "RuleCandidate":
        """A copy with one more step in its history."""
        return self.model_copy(
            update={"history": (*self.history, StatusChange(status=status, because=because, into=into))}
        )


class ProvisionProvenance(StrictModel):
    """A provision with its text and status.

    Attributes:
        within: the citations of the units above it, outermost first.
        rules: the accepted rules that cite it.
    """

    kind: Literal["provision"] = "provision"
    citation: str
    heading: str = ""
    within: tuple[str, ...] = ()
    words: str
    fate: ProvisionStatus
    rules: tuple[str, ...] = ()
    piece: int


class ProvenanceHeader(StrictModel):
    """The first row: the regulation, the environment and the models of the roles."""

    kind: Literal["head"] = "head"
    schema_version: Literal["lawtrace.provenance/3"] = "lawtrace.provenance/3"
    regulation: str
    title: str
    source: str
    restated: bool
    environment: str
    models: dict[str, str] = Field(default={})
    funnel: ExtractionFunnel
    stopped: str | None = None
    parse_warnings: tuple[str, ...] = ()


ProvenanceRow = Annotated[
    ProvenanceHeader | ProvisionProvenance | RuleCandidate | ProvisionBatch, Field(discriminator="kind")
]


class ProvenanceLine(RootModel[ProvenanceRow]):
    """One line of the file, of any kind."""


@dataclass(frozen=True)
class ExtractionProvenance:
    """The rows of a provenance file by kind."""

    head: ProvenanceHeader
    provisions: tuple[ProvisionProvenance, ...]
    rules: tuple[RuleCandidate, ...]
    pieces: tuple[ProvisionBatch, ...]

    @property
    def accepted(self) -> tuple[Rule, ...]:
        """The rules that were extracted."""
        return tuple(row.rule for row in self.rules if row.status == "accepted")

    @property
    def funnel(self) -> ExtractionFunnel:
        return self.head.funnel

    @cached_property
    def unread(self) -> tuple[ProvisionProvenance, ...]:
        """The unprocessed provisions, and those whose conversation failed."""
        return tuple(provision for provision in self.provisions if provision.fate.fate == "unread")

    @cached_property
    def by_batch(self) -> dict[int, ProvisionBatch]:
        return {piece.piece: piece for piece in self.pieces}

    def regulation(self) -> Regulation:
        """The regulation as far as the file contains it: the text of every provision."""
        head = self.head
        provisions = tuple(
            Provision(citation=row.citation, text=row.words, heading=row.heading or None, within=row.within)
            for row in self.provisions
        )
        return Regulation(
            id=head.regulation, title=head.title, source=head.source, restated=head.restated, provisions=provisions
        )

    def lines(self) -> list[ProvenanceLine]:
        return [ProvenanceLine(row) for row in (self.head, *self.provisions, *self.rules, *self.pieces)]


def measure_funnel(provisions: Sequence[ProvisionProvenance], rules: Sequence[RuleCandidate]) -> ExtractionFunnel:
    fates = [provision.fate for provision in provisions]
    valid = [rule for rule in rules if rule.status != "invalid"]
    return ExtractionFunnel(
        provisions=len(fates),
        in_scope=sum(fate.fate not in {"out_of_scope", "unread"} or fate.refined or bool(fate.scope) for fate in fates),
        refined=sum(fate.refined for fate in fates),
        candidates=len(rules),
        valid=len(valid),
        distinct=sum(rule.status != "merged" for rule in valid),
        accepted=sum(rule.status == "accepted" for rule in valid),
        not_understood=sum(fate.fate == "not_understood" for fate in fates),
    )


class MessageCollector:
    """An event log that also keeps the messages, for the provenance file."""

    def __init__(self, event_log: EventLog) -> None:
        self._event_log = event_log
        self.messages: list[ProvenanceMessage] = []

    async def flush(self) -> None:
        await self._event_log.flush()

    def record(self, entry: Entry) -> None:
        self._event_log.record(entry)
        if entry.kind == "message":
            self.messages.append(
                ProvenanceMessage(
                    role=entry.source,
                    conversation=entry.context.conversation_kind or entry.context.role,
                    content=entry.content,
                    prompt=entry.prompt_id,
                    prompt_hash=entry.prompt_hash,
                )
            )
