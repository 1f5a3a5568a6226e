"""What is kept of the way from provisions to rules: the rows of a trail file, so that every step can be checked."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.ledger import Entry, Ledger
from lawtrace.solver.rules import Rule

FateName = Literal["out_of_scope", "not_checkable", "no_rule", "rule", "unread"]
FATES: dict[FateName, str] = {
    "rule": "a rule",
    "no_rule": "in scope, but no rule",
    "not_checkable": "in scope, but calls cannot show it",
    "out_of_scope": "not checkable on tool calls",
    "unread": "not read",
}

RuleStatus = Literal["accepted", "merged", "dropped", "invalid"]


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Fate(_Frozen):
    """What became of a provision.

    Attributes:
        because: why it ended there.
        scope: what the scope aligner said.
        refined: whether an obligation was found in it.
    """

    citation: str
    fate: FateName
    because: str
    scope: str = ""
    refined: bool = False


class Spoken(_Frozen):
    """One message, whoever spoke it, with the prompt file that it was asked for with."""

    role: str
    conversation: str
    content: str
    prompt: str | None = None
    prompt_hash: str | None = None


class Piece(_Frozen):
    """Some provisions that were worked on together, and everything that was said over them."""

    kind: Literal["piece"] = "piece"
    piece: int
    citations: tuple[str, ...]
    messages: tuple[Spoken, ...]


class Quote(_Frozen):
    """Words of a provision. ``checked``: they stand in it, letter by letter."""

    citation: str
    words: str
    checked: bool


class RuleTrail(_Frozen):
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


class ProvisionTrail(_Frozen):
    """A provision in its own words, and what became of it.

    Attributes:
        rules: the accepted rules that rest on it.
    """

    kind: Literal["provision"] = "provision"
    citation: str
    heading: str = ""
    words: str
    fate: Fate
    rules: tuple[str, ...] = ()
    piece: int


class Funnel(_Frozen):
    """How many were left after each step: provisions first, rules from ``candidates`` on."""

    provisions: int
    in_scope: int
    refined: int
    candidates: int
    valid: int
    distinct: int
    accepted: int


class TrailHead(_Frozen):
    """The first row: what was read, for which tools, by whom."""

    kind: Literal["head"] = "head"
    schema_version: Literal["lawtrace.trail/1"] = "lawtrace.trail/1"
    regulation: str
    title: str
    source: str
    restated: bool
    environment: str
    models: dict[str, str] = {}
    funnel: Funnel
    stopped: str | None = None
    doubts: tuple[str, ...] = ()


TrailRow = Annotated[TrailHead | ProvisionTrail | RuleTrail | Piece, Field(discriminator="kind")]


def measure_funnel(fates: Sequence[Fate], rules: Sequence[RuleTrail]) -> Funnel:
    valid = [rule for rule in rules if rule.status != "invalid"]
    return Funnel(
        provisions=len(fates),
        in_scope=sum(fate.fate not in {"out_of_scope", "unread"} or fate.refined or bool(fate.scope) for fate in fates),
        refined=sum(fate.refined for fate in fates),
        candidates=len(rules),
        valid=len(valid),
        distinct=sum(rule.status != "merged" for rule in valid),
        accepted=sum(rule.status == "accepted" for rule in valid),
    )


class Listening:
    """A ledger that also keeps what was said, for the trail."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self.messages: list[Spoken] = []

    async def settle(self) -> None:
        await self._ledger.settle()

    def record(self, entry: Entry) -> None:
        self._ledger.record(entry)
        if entry.kind == "message":
            self.messages.append(
                Spoken(
                    role=entry.source,
                    conversation=entry.context.role
                    if entry.context.conversation is None
                    else entry.context.conversation,
                    content=entry.content,
                    prompt=entry.prompt_id,
                    prompt_hash=entry.prompt_hash,
                )
            )
