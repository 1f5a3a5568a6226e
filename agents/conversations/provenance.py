"""What is kept of the way from provisions to rules: the rows of a trail file, so that every step can be checked."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.event_log import Entry, EventLog
from lawtrace.solver.rules import Rule

ProvisionStatusName = Literal["out_of_scope", "not_checkable", "no_rule", "rule", "unread"]
PROVISION_STATUS_LABELS: dict[ProvisionStatusName, str] = {
    "rule": "a rule",
    "no_rule": "in scope, but no rule",
    "not_checkable": "in scope, but calls cannot show it",
    "out_of_scope": "not checkable on tool calls",
    "unread": "not read",
}

RuleStatus = Literal["accepted", "merged", "dropped", "invalid"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ProvisionStatus(_Frozen):
    """What became of a provision.

    Attributes:
        because: why it ended there.
        scope: what the scope aligner said.
        refined: whether an obligation was found in it.
    """

    citation: str
    fate: ProvisionStatusName
    because: str
    scope: str = ""
    refined: bool = False


class ProvenanceMessage(_Frozen):
    """One message, whoever spoke it, with the prompt file that it was asked for with."""

    role: str
    conversation: str
    content: str
    prompt: str | None = None
    prompt_hash: str | None = None


class ProvisionBatch(_Frozen):
    """Some provisions that were worked on together, and everything that was said over them."""

    kind: Literal["piece"] = "piece"
    piece: int
    citations: tuple[str, ...]
    messages: tuple[ProvenanceMessage, ...]


class Quote(_Frozen):
    """Words of a provision. ``validate_options``: they stand in it, letter by letter."""

    citation: str
    words: str
    checked: bool


class RuleProvenance(_Frozen):
    """A rule that was proposed, and what became of it.

    Attributes:
        status: *accepted*; *merged* into another, by proof; *dropped* for what somebody held against it; *invalid*:
            code could not read it as a rule over these tools.
        because: what was held against it, or the proof.
        into: the rules that it was merged into.
        piece: where it was proposed.
        checks: what code found of it.
    """

    kind: Literal["rule"] = "rule"
    rule: Rule
    quotes: tuple[Quote, ...]
    status: RuleStatus
    because: str = ""
    into: tuple[str, ...] = ()
    piece: int
    checks: tuple[str, ...] = ()


class ProvisionProvenance(_Frozen):
    """A provision in its own words, and what became of it.

    Attributes:
        rules: the accepted rules that rest on it.
    """

    kind: Literal["provision"] = "provision"
    citation: str
    heading: str = ""
    words: str
    fate: ProvisionStatus
    rules: tuple[str, ...] = ()
    piece: int


class ExtractionFunnel(_Frozen):
    """How many were left after each step: provisions first, rules from ``candidates`` on."""

    provisions: int
    in_scope: int
    refined: int
    candidates: int
    valid: int
    distinct: int
    accepted: int


class ProvenanceHeader(_Frozen):
    """The first row: what was read, for which tools, by whom."""

    kind: Literal["head"] = "head"
    schema_version: Literal["lawtrace.trail/1"] = "lawtrace.trail/1"
    regulation: str
    title: str
    source: str
    restated: bool
    environment: str
    models: dict[str, str] = {}
    funnel: ExtractionFunnel
    stopped: str | None = None
    doubts: tuple[str, ...] = ()


ProvenanceRow = Annotated[
    ProvenanceHeader | ProvisionProvenance | RuleProvenance | ProvisionBatch, Field(discriminator="kind")
]


def measure_funnel(fates: Sequence[ProvisionStatus], rules: Sequence[RuleProvenance]) -> ExtractionFunnel:
    valid = [rule for rule in rules if rule.status != "invalid"]
    return ExtractionFunnel(
        provisions=len(fates),
        in_scope=sum(fate.fate not in {"out_of_scope", "unread"} or fate.refined or bool(fate.scope) for fate in fates),
        refined=sum(fate.refined for fate in fates),
        candidates=len(rules),
        valid=len(valid),
        distinct=sum(rule.status != "merged" for rule in valid),
        accepted=sum(rule.status == "accepted" for rule in valid),
    )


class MessageCollector:
    """A ledger that also keeps what was said, for the trail."""

    def __init__(self, event_log: EventLog) -> None:
        self._ledger = event_log
        self.messages: list[ProvenanceMessage] = []

    async def flush(self) -> None:
        await self._ledger.flush()

    def record(self, entry: Entry) -> None:
        self._ledger.record(entry)
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
