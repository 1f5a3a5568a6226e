"""A provision's words cut where somebody quoted them, so that what was quoted can be seen in its place."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

_ALIKE = {
    "'": "['‘’]",
    "‘": "['‘’]",
    "’": "['‘’]",
    '"': '["“”]',
    "“": '["“”]',
    "”": '["“”]',
    "-": "[-–—]",
    "–": "[-–—]",
}


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of the words; together the pieces are all of them."""

    words: str
    quoted: bool


def cut_at_quotes(words: str, quotes: Sequence[str]) -> tuple[Piece, ...]:
    """The words in pieces. A quote is found whatever its spaces, capitals and quotation marks; one that is not there
    cuts nothing."""
    spans = sorted(span for quote in quotes if (span := _find(words, quote)) is not None)
    pieces: list[Piece] = []
    place = 0
    for start, end in spans:
        if end > place:
            pieces += [Piece(words[place:start], False), Piece(words[max(start, place) : end], True)]
            place = end
    pieces.append(Piece(words[place:], False))
    return tuple(piece for piece in pieces if piece.words)


def _find(words: str, quote: str) -> tuple[int, int] | None:
    pieces = ("".join(_ALIKE.get(letter, re.escape(letter)) for letter in piece) for piece in quote.split())
    pattern = r"\s+".join(pieces)
    found = re.search(pattern, words, re.IGNORECASE) if pattern else None
    return found.span() if found else None
