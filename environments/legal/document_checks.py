"""Signs that a decision was not parsed: what a reader of the result would have to correct."""

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from lawtrace.environments.documents.decision import Document
from lawtrace.environments.legal.document_parts import PART_LABELS, DocumentPart, PartRange, paragraphs_by_part

_COUNTED = re.compile(r"(\d{1,2})[.)] ")
_LARGEST_SHARE = 0.05
_LARGE = 3000
"""Characters that a paragraph may have in any document: in short ones many have over 5 % of the text."""

_LARGEST_ASIDE, _LARGEST_ASIDE_SHARE = 1200, 0.1
"""Characters, and share of those in paragraphs, of title and address, and of date and signature."""

_MOST_RETURNS = 2
"""Times that the text may come back to a part that it had left."""

_BREACH = re.compile(
    r"\b(?:did not comply|failed to (?:comply|meet))\b[^.]{0,80}"
    r"\b(?:articles?|regulations?|sections?|principles?|requirements?|obligations?|gdpr|pecr|dpa|act)\b",
    re.IGNORECASE,
)
"""In the law these words are conditions, and in the facts a finding."""

_OUTCOME: tuple[DocumentPart, ...] = ("decision", "penalty")
_FINDING = re.compile(
    r"(?<!\bif the )(?<!\bwhether the )"
    r"\b(?:commissioner|commission|authority|office|agency|board|chamber|committee|oag|ocr)(?:’s|'s)? "
    r"(?:therefore |also |accordingly )?"
    r"(?:finds|has found|concludes|has concluded|is satisfied|view is|conclusion is)\b"
    r"(?! that (?:a|any) (?:person|controller|processor)\b)[^.]{0,160}\b(?:infring|contraven|breach|failed|fails)",
    re.IGNORECASE,
)


def states_finding(text: str, *, law: bool) -> bool:
    """Whether a paragraph, of the law or another part, says that the law was infringed: it must not be shown to who has
    to find that."""
    return bool(_FINDING.search(text) or (not law and _BREACH.search(text)))


def check_parsed(document: Document) -> list[str]:
    """Paragraphs that hold too much of the text, since the numbers or headings in them may not have been found, and
    numbers of sections that jump back."""
    paragraphs = document.paragraphs()
    whole = sum(len(paragraph.text) for paragraph in paragraphs)
    headings = [section.heading for section in document.sections]
    counted = [(int(found[1]), heading) for heading in headings if (found := _COUNTED.match(heading))]
    asides = (("before", document.front), ("after", document.closing))
    return [
        *(
            f"section {later!r} comes after {earlier!r}"
            for (before, earlier), (after, later) in pairwise(counted)
            if after <= before
        ),
        *(
            f"the text {where} the numbered paragraphs has {len(text)} characters: it may hold some"
            for where, text in asides
            if len(text) > max(_LARGEST_ASIDE, _LARGEST_ASIDE_SHARE * whole)
        ),
        *(
            f"paragraph {paragraph.ref} holds {len(paragraph.text) / whole:.0%} of the text: it may hold several"
            for paragraph in paragraphs
            if len(paragraph.text) > max(_LARGE, _LARGEST_SHARE * whole)
        ),
    ]


def check_mapped(document: Document, ranges: Sequence[PartRange]) -> list[str]:
    """Parts that are missing or that alternate, and findings in the part of the facts or of the rules."""
    found: list[str] = []
    parts = {given.part for given in ranges}
    found += [f"no paragraph is in the part {part}" for part in ("rules", "facts", "findings") if part not in parts]
    if not parts & {*_OUTCOME}:
        found.append("no paragraph is in the part decision or penalty")
    # A decision may come back to the outcome: appeal after payment.
    places = {given.part: place for place, given in reversed([*enumerate(ranges)])}
    if places.get("penalty", len(ranges)) < places.get("facts", 0):
        found.append("the part penalty comes before the part facts")
    order = [("outcome" if given.part in _OUTCOME else given.part) for given in ranges]
    order = [order[0], *(after for before, after in pairwise(order) if after != before)]
    returns = sum(count - 1 for count in Counter(order).values())
    if returns > _MOST_RETURNS:
        found.append(f"the parts alternate: {', '.join(order)}")
    for part, paragraph in paragraphs_by_part(document, ranges):
        if part in {"facts", "rules"} and states_finding(paragraph.text, law=part == "rules"):
            found.append(
                f"paragraph {paragraph.ref} is in {PART_LABELS[part]}, but states a finding: it becomes no passage"
            )
    return found
