"""Text of a PDF by its layout: columns in order, without footnotes and what stands in the margin of most pages.

A footnote is small print below the text of its column. A running head has the same words, but for numbers, at the same
height of most pages. Positions and sizes are those of pdfplumber (pdfminer.six).
"""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from itertools import pairwise
from pathlib import Path
from typing import Any

from lawtrace.environments.literals import fields_of
from lawtrace.schemas.errors import InputError, OperationalError

MAX_PAGES = 2_000
MAX_CONTENT_BYTES = 40 * 1024 * 1024
"""Of all pages, unpacked. Reading takes some seconds for each MB, and pages may share one packed content."""

_SMALL = 0.85
"""Size of footnotes, at most, in sizes of the text."""

_GAP = 1.35
"""Height of a line with the blank space above it, in usual ones, from which it begins a new paragraph."""

_USUAL = 12
"""The height of one of so many lines, or less, is usual."""

_MARGIN = 0.12
"""Share of the height of a page, at the top and at the bottom, that may hold running heads."""

MAX_FORM_DEPTH = 30
_SHOWN = re.compile(rb"/([^\s/<>\[\](){}%]+)(?:\s|%[^\r\n]*[\r\n])+Do(?![^\s/<>\[\](){}%])")
"""A form or picture that a page shows, by its name."""

_MOST = 0.5
"""Share of the pages on which a running head occurs, at least."""


_Word = Mapping[str, Any]
"""Of pdfplumber: text, x0, x1, bottom and size."""


@dataclass(frozen=True, slots=True)
class _Row:
    """A printed line. ``place``: its bottom as a share of the height of the page."""

    text: str
    place: float
    bottom: float
    size: float

    @property
    def head(self) -> tuple[str, int]:
        """Its words without numbers, and its height on the page in steps."""
        return re.sub(r"\d+", "", self.text).strip(), round(self.place * 50)


@dataclass(frozen=True, slots=True)
class PdfText:
    """The text with form feeds between pages, without running heads, and the footnotes."""

    text: str
    notes: tuple[str, ...]


def read_pdf(path: Path) -> PdfText:
    """The text of a PDF. Raises InputError; OperationalError without the extra ``pdf``."""
    # An untyped optional library.
    try:
        pdfplumber: Any = import_module("pdfplumber")
        errors: Any = import_module("pdfplumber.utils.exceptions")
    except ImportError as error:
        raise OperationalError(f"{path}: reading PDF needs the extra: pip install 'lawtrace[pdf]'") from error
    try:
        with pdfplumber.open(path) as pdf:
            _check_limits(path, pdf.pages)
            pages = [_read_page(page) for page in pdf.pages]
    except errors.PdfminerException as error:
        if "Password" in repr(error):
            raise InputError(f"{path}: is encrypted; save it without a password") from error
        raise InputError(f"{path}: not a readable PDF: {error}") from error
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise InputError(f"{path}: not a readable PDF: {error}") from error
    sizes = Counter[float]()
    for row in (row for page in pages for column in page for row in column):
        sizes[row.size] += len(row.text.split())
    if not sizes:
        raise InputError(f"{path}: contains no text, only images; run OCR first")
    usual = max(sizes, key=sizes.__getitem__)
    between = (below.bottom - above.bottom for page in pages for column in page for above, below in pairwise(column))
    heights = sorted(height for height in between if height > _SMALL * usual)
    gap = _GAP * heights[len(heights) // _USUAL] if heights else 0.0
    heads = _running_heads(pages)
    texts, notes = list[str](), list[str]()
    for page in pages:
        lines: list[str] = []
        for column in page:
            rows = [row for row in column if row.head not in heads]
            last = max((place for place, row in enumerate(rows) if row.size > _SMALL * usual), default=-1)
            lines += _lines(rows[: last + 1], gap)
            notes += [row.text for row in rows[last + 1 :]]
        texts.append("\n".join(lines))
    return PdfText("\f".join(texts), _joined_notes(notes))


def _check_limits(path: Path, pages: Sequence[Any]) -> None:
    if len(pages) > MAX_PAGES:
        raise InputError(f"{path}: has {len(pages)} pages, the limit is {MAX_PAGES}")
    size, content = 0, _Content(import_module("pdfminer.pdftypes").resolve1)
    for page in pages:
        size += content.size(page.page_obj.contents, page.page_obj.resources)
        if size > MAX_CONTENT_BYTES:
            raise InputError(f"{path}: has more than {MAX_CONTENT_BYTES // 2**20} MB of page content, unpacked")


class _Content:
    """The size of what pages show. A form counts as often as it is shown: a few forms that show each other stand for
    any length."""

    def __init__(self, resolve: Any) -> None:  # noqa: ANN401 (an untyped optional library)
        self._resolve = resolve
        self._known: dict[tuple[int, int], int] = {}

    def size(self, streams: Sequence[Any], resources: Any, depth: int = 0) -> int:  # noqa: ANN401
        """Bytes, unpacked, of streams with their resources. Raises ValueError for forms within too many others."""
        if depth > MAX_FORM_DEPTH:
            raise ValueError(f"forms are nested more than {MAX_FORM_DEPTH} deep")
        data = b"\n".join(self._resolve(one).get_data() for one in streams)
        objects = self._fields(self._fields(resources).get("XObject"))
        size = len(data)
        for name, times in Counter(_SHOWN.findall(data)).items():
            plain = re.sub(rb"#([0-9a-fA-F]{2})", lambda found: bytes.fromhex(found[1].decode()), name)
            form = self._resolve(objects.get(plain.decode("utf-8", "ignore")))
            fields = self._fields(getattr(form, "attrs", None))
            if getattr(self._resolve(fields.get("Subtype")), "name", "") != "Form":
                continue
            own = fields.get("Resources") or resources
            key = id(form), id(own)
            if key not in self._known:
                self._known[key] = self.size([form], own, depth + 1)
            size += times * self._known[key]
        return size

    def _fields(self, value: object) -> dict[str, Any]:
        return fields_of(self._resolve(value))


def _read_page(page: Any) -> list[list[_Row]]:  # noqa: ANN401 (an untyped optional library)
    """The rows of each column."""
    words: list[_Word] = page.extract_words(extra_attrs=["size"])
    height, middle = float(page.height) or 1.0, float(page.width) / 2
    return [_rows(column, height) for column in _columns(words, middle, height)]


def _columns(words: Sequence[_Word], middle: float, height: float) -> list[list[_Word]]:
    """Two columns if hardly a word of the text crosses the middle of the page, else one."""
    inner = [word for word in words if _MARGIN < word["bottom"] / height < 1 - _MARGIN]
    crossing = sum(word["x0"] < middle + 4 and word["x1"] > middle - 4 for word in inner)
    right = sum(word["x0"] > middle for word in inner)
    if crossing > 0.01 * len(inner) or right < 0.2 * len(inner):
        return [[*words]]
    return [[word for word in words if word["x1"] <= middle + 4], [word for word in words if word["x1"] > middle + 4]]


def _rows(words: Sequence[_Word], height: float) -> list[_Row]:
    """Words of about the same height as rows, from the top."""
    rows: list[list[_Word]] = []
    for word in sorted(words, key=lambda word: word["bottom"]):
        if rows and word["bottom"] - rows[-1][0]["bottom"] < 0.3 * word["size"]:
            rows[-1].append(word)
        else:
            rows.append([word])
    return [
        _Row(
            " ".join(word["text"] for word in sorted(row, key=lambda word: word["x0"])),
            row[0]["bottom"] / height,
            row[0]["bottom"],
            round(max(word["size"] for word in row), 1),
        )
        for row in rows
    ]


def _running_heads(pages: Sequence[Sequence[Sequence[_Row]]]) -> set[tuple[str, int]]:
    seen = Counter[tuple[str, int]]()
    for page in pages:
        margin = [row for column in page for row in column if not _MARGIN < row.place < 1 - _MARGIN]
        seen.update({row.head for row in margin if row.head[0]})
    return {head for head, count in seen.items() if count > 2 and count >= _MOST * len(pages)}


def _lines(rows: Sequence[_Row], gap: float) -> list[str]:
    """The rows as lines, with an empty one where there is blank space."""
    lines = [row.text for row in rows[:1]]
    for above, row in pairwise(rows):
        lines += ["", row.text] if row.bottom - above.bottom > gap else [row.text]
    return lines


def _joined_notes(rows: Sequence[str]) -> tuple[str, ...]:
    """Footnotes begin with a number. Numbers of pages are none."""
    notes: list[str] = []
    for row in rows:
        if re.match(r"\d{1,3}\b\s*\S*[^\W\d]", row) or (not notes and not row.isdigit()):
            notes.append(row)
        elif not row.isdigit():
            notes[-1] += f" {row}"
    return tuple(notes)
