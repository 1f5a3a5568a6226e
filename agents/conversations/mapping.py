"""Sorting a decision into parts: the section mapper proposes, code checks that nothing is lost (M 4.2)."""

from dataclasses import dataclass

from lawtrace.agents.casting import Casting
from lawtrace.agents.conversations.checked import propose
from lawtrace.agents.ledger import Context, Ledger
from lawtrace.agents.roles.section_mapper import PartMapping, seat_section_mapper
from lawtrace.environments.casebook.documents.parts import PartRange, check_coverage, check_order
from lawtrace.environments.casebook.documents.tree import Document


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

    found = await propose(
        seat_section_mapper(casting.client("section_mapper", context), casting.prompt("section_mapper"), document),
        PartMapping,
        lambda proposed: check_coverage(document, proposed.parts) or check_order(proposed.parts),
        opening="Sort the paragraphs.",
        context=context,
        ledger=ledger,
        most_rounds=most_rounds,
    )
    whole = [proposed.parts for proposed in found.proposals if not check_coverage(document, proposed.parts)]
    if whole:
        return Mapped(whole[-1], tuple(check_order(whole[-1])), None)
    if found.failure is not None:
        return Mapped((), (), found.failure)
    return Mapped((), (), "; ".join(check_coverage(document, found.proposals[-1].parts)))
