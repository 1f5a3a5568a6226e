"""Sorting a decision into parts: the section mapper proposes, code checks that nothing is lost (M 4.2)."""

from collections.abc import Sequence
from dataclasses import dataclass

from pydantic import BaseModel

from agents.casting import Casting
from agents.conversations.hold import Said, hold_conversation
from agents.ledger import Context, Ledger
from agents.roles.instruction_generator import Objections
from agents.roles.section_mapper import PartMapping, seat_section_mapper
from agents.speaker import CodeCheck, RoleFailure
from environments.casebook.documents.parts import PartRange, check_coverage, check_order
from environments.casebook.documents.tree import Document

__all__ = ["Mapped", "map_sections"]


@dataclass(frozen=True, slots=True)
class Mapped:
    """What came of the conversation.

    Attributes:
        parts: the last mapping that covers the document; empty if none did.
        doubts: what is unusual about its order.
        failure: why there is no mapping, or None.
    """

    parts: tuple[PartRange, ...]
    doubts: tuple[str, ...]
    failure: str | None


async def map_sections(
    document: Document, *, casting: Casting, context: Context, ledger: Ledger, most_rounds: int
) -> Mapped:
    """Hold the conversation. A mapping that loses a paragraph is never used; one of unusual order, only at the end."""

    def check(content: BaseModel | str) -> Objections:
        parts = content.parts if isinstance(content, PartMapping) else ()
        return Objections(objections=tuple(check_coverage(document, parts) or check_order(parts)))

    said = await hold_conversation(
        [
            seat_section_mapper(casting.client("section_mapper", context), document),
            CodeCheck("mapping_check", Objections, check),
        ],
        opening="Sort the paragraphs.",
        next_speaker=lambda said: _next_speaker(said, most_rounds),
        context=context,
        ledger=ledger,
    )
    proposals = [content.parts for _, content in said if isinstance(content, PartMapping)]
    whole = [parts for parts in proposals if not check_coverage(document, parts)]
    if whole:
        return Mapped(whole[-1], tuple(check_order(whole[-1])), None)
    last = said[-1][1]
    if isinstance(last, RoleFailure):
        return Mapped((), (), last.reason)
    return Mapped((), (), "; ".join(check_coverage(document, proposals[-1])) if proposals else "nothing was proposed")


def _next_speaker(said: Sequence[Said], most_rounds: int) -> str | None:
    content = said[-1][1]
    if isinstance(content, PartMapping):
        return "mapping_check"
    rounds = sum(isinstance(content, PartMapping) for _, content in said)
    if isinstance(content, Objections) and (not content.objections or rounds >= most_rounds):
        return None
    return "section_mapper"
