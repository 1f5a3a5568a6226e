"""Parts of a decision, and their elements in the IRAC structure of an argument (M 4.2).

    related legal framework        rules          Rule
    case background                facts          Facts
    legal nature of every entity   application    Application
    the commissioner's findings    findings       Issue and Conclusion

Introduction, final decision, penalty and annex are parts too, without an element.
"""

from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Literal, get_args

from pydantic import Field

from lawtrace.environments.documents.decision import Document, Paragraph
from lawtrace.environments.toml_file import toml_text
from lawtrace.schemas.models import StrictModel

DocumentPart = Literal["introduction", "rules", "facts", "application", "findings", "decision", "penalty", "annex"]
DOCUMENT_PARTS: tuple[DocumentPart, ...] = get_args(DocumentPart)

_PARTS: Mapping[DocumentPart, tuple[str, int, str]] = {
    "introduction": ("Introduction", 0, ""),
    "rules": ("Legal framework", 1, "Rule"),
    "facts": ("Background", 1, "Facts"),
    "application": ("Nature of entities", 1, "Application"),
    "findings": ("Infringements", 2, "Issue and Conclusion"),
    "decision": ("Decision", 3, ""),
    "penalty": ("Penalty", 3, ""),
    "annex": ("Annex", 4, ""),
}
"""The label of each part, its place in the usual order, and its element; in the order of M Table 5."""

PART_LABELS: Mapping[DocumentPart, str] = {part: label for part, (label, _, _) in _PARTS.items()}
PART_ORDER: Mapping[str, int] = {part: place for part, (_, place, _) in _PARTS.items()}
IRAC: Mapping[DocumentPart, str] = {part: element for part, (_, _, element) in _PARTS.items() if element}


class PartRange(StrictModel):
    """Consecutive paragraphs that belong to one part; both ends are included."""

    first: str = Field(min_length=1)
    last: str = Field(min_length=1)
    part: DocumentPart
    because: str = ""


class MappingFile(StrictModel):
    """What a person corrects. ``accepted``: the faults that are right as they are."""

    accepted: tuple[str, ...] = ()
    parts: tuple[PartRange, ...] = Field(min_length=1)


def check_coverage(document: Document, ranges: Sequence[PartRange]) -> list[str]:
    """Errors of the ranges: every paragraph must be in exactly one range, and ranges must follow the order of the
    text."""
    return check_refs([paragraph.ref for paragraph in document.paragraphs()], ranges)


def check_refs(refs: Sequence[str], ranges: Sequence[PartRange]) -> list[str]:
    """`check_coverage` for a part of a document: the paragraphs of these references."""
    places = {ref: place for place, ref in enumerate(refs)}
    objections: list[str] = []
    next_place = 0
    for given in ranges:
        unknown = [ref for ref in (given.first, given.last) if ref not in places]
        if unknown:
            objections.append(f"{given.first} to {given.last}: there is no paragraph {unknown[0]}")
            continue
        first, last = places[given.first], places[given.last]
        if last < first:
            objections.append(f"{given.first} to {given.last}: the last paragraph comes before the first")
        elif first > next_place:
            objections.append(f"paragraphs {refs[next_place]} to {refs[first - 1]} are in no part")
        elif first < next_place:
            objections.append(f"paragraph {given.first} is in two parts, or out of order")
        next_place = max(next_place, last + 1)
    if next_place < len(refs) and not any("no paragraph" in objection for objection in objections):
        objections.append(f"paragraphs {refs[next_place]} to {refs[-1]} are in no part")
    return objections


def join_ranges(ranges: Sequence[PartRange]) -> list[PartRange]:
    """The ranges with neighbours of one part as one."""
    joined: list[PartRange] = []
    for given in ranges:
        if joined and joined[-1].part == given.part:
            joined[-1] = joined[-1].model_copy(update={"last": given.last})
        else:
            joined.append(given)
    return joined


def check_order(ranges: Sequence[PartRange]) -> list[str]:
    """Unusual order of the parts. Usually the introduction is first, findings follow rules, facts and application,
    decision and penalty follow findings, and annexes are last. A person may decide otherwise; an agent is asked
    again."""
    return [
        f"{after.part} ({after.first} to {after.last}) comes after {before.part}"
        for before, after in pairwise(ranges)
        if PART_ORDER[after.part] < PART_ORDER[before.part]
    ]


def paragraphs_by_part(document: Document, ranges: Sequence[PartRange]) -> Iterator[tuple[DocumentPart, Paragraph]]:
    """Every paragraph with its part, in the order of the text. The ranges must cover the document."""
    remaining = iter(document.paragraphs())
    for given in ranges:
        for paragraph in remaining:
            yield given.part, paragraph
            if paragraph.ref == given.last:
                break


def format_parts(ranges: Sequence[PartRange], faults: Sequence[str] = (), accepted: Sequence[str] = ()) -> str:
    """The text of a mapping file, which a person can correct and use as input. ``faults``: those not accepted."""
    lines = [
        "# The part of the decision that each range of paragraphs belongs to. Correct it and pass it with --parts.",
        f"# Parts: {', '.join(DOCUMENT_PARTS)}",
        "",
        "# Faults that are right as they are. Remove the # before one to accept it.",
        "accepted = [",
        *(f"    {toml_text(fault)}," for fault in accepted),
        *(f"    # {toml_text(fault)}," for fault in faults),
        "]",
    ]
    for given in ranges:
        lines += ["", "[[parts]]"]
        lines += [f"{name} = {toml_text(value)}" for name, value in given.model_dump().items() if value]
    return "\n".join(lines) + "\n"
