"""The section mapper: assigns each paragraph to a part of the decision (M 4.2)."""

from collections.abc import Sequence
from functools import partial

from pydantic import Field

from lawtrace.agents.legal.role_calls import RoleCalls, as_json
from lawtrace.agents.participants import Role
from lawtrace.environments.documents.decision import Document
from lawtrace.environments.legal.document_checks import check_mapped
from lawtrace.environments.legal.document_parts import PartRange, check_order, check_refs, join_ranges
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.models import FrozenModel

_SHOWN_CHARACTERS = 300
_WINDOW_CHARACTERS = 24_000
"""Of the paragraphs in one prompt."""

_ENTRY_CHARACTERS = 50
"""Of the names of the fields and the quotation marks of a paragraph."""


class PartMapping(FrozenModel):
    """The complete mapping, in every turn."""

    parts: tuple[PartRange, ...] = Field(min_length=1)


_SECTION_MAPPER = Role("section_mapper", PartMapping)


def shown_paragraphs(document: Document) -> list[dict[str, str]]:
    """What the mapper sees of each paragraph: its number, the headings above it without titles shared by all, and its
    first words."""
    found = [(path.split(" > "), paragraph) for path, section in document.outline() for paragraph in section.paragraphs]
    titles = 0
    deepest = max((len(path) for path, _ in found), default=0)
    while titles + 1 < deepest and len({tuple(path[: titles + 1]) for path, _ in found}) == 1:
        titles += 1
    return [
        {"paragraph": one.ref, "heading": " > ".join(path[titles:]), "begins": one.text[:_SHOWN_CHARACTERS]}
        for path, one in found
    ]


async def map_sections(document: Document, calls: RoleCalls) -> list[PartRange]:
    """Map the sections of a document, in windows that the mapper sees one after the other, each with the parts before.

    An incomplete mapping is never used; one in unusual order, or in the last window without a usual part or with a
    finding among the facts, only after the last round. Raises OperationalError without a whole mapping of a window.
    """
    parts: list[PartRange] = []
    windows = _windows(shown_paragraphs(document))
    for window in windows:
        refs = [paragraph["paragraph"] for paragraph in window]
        found = await calls.propose(
            _SECTION_MAPPER,
            partial(_objections, document, refs, tuple(parts)),
            opening="Sort the paragraphs.",
            unit=f"from paragraph {refs[0]}" if len(windows) > 1 else None,
            paragraphs=as_json(window),
            before=as_json([one.model_dump(include={"first", "last", "part"}) for one in parts]) if parts else "",
        )
        whole = [proposed for proposed in found.proposals if not check_refs(refs, proposed.parts)]
        if not whole:
            why = found.failure or "; ".join(check_refs(refs, found.proposals[-1].parts))
            raise OperationalError(f"the section mapper failed ({why}); give a mapping with --parts")
        parts = join_ranges([*parts, *whole[-1].parts])
    return parts


def _objections(
    document: Document, refs: Sequence[str], before: Sequence[PartRange], proposed: PartMapping
) -> Sequence[str]:
    """Objections to the mapping of a window; what concerns the whole document is said of the last one."""
    if incomplete := check_refs(refs, proposed.parts):
        return incomplete
    joined = join_ranges([*before, *proposed.parts])
    last = refs[-1] == document.paragraphs()[-1].ref
    return [*check_order(proposed.parts), *(check_mapped(document, joined) if last else [])]


def _windows(shown: Sequence[dict[str, str]]) -> list[list[dict[str, str]]]:
    """The paragraphs in windows; one that does not fill the next ends at a change of the outermost heading."""
    windows: list[list[dict[str, str]]] = [[]]
    size = 0
    for paragraph in shown:
        cost = sum(map(len, paragraph.values())) + _ENTRY_CHARACTERS
        if size + cost > _WINDOW_CHARACTERS:
            top = [one["heading"].split(" > ")[0] for one in windows[-1]]
            cut = next((at for at in range(len(top) - 1, len(top) // 2, -1) if top[at] != top[at - 1]), len(top))
            windows.append(windows[-1][cut:])
            del windows[-2][cut:]
            size = sum(sum(map(len, one.values())) + _ENTRY_CHARACTERS for one in windows[-1])
        windows[-1].append(paragraph)
        size += cost
    return windows
