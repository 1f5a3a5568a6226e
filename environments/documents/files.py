"""Document files to lines, by their suffix and within limits."""

import re
from pathlib import Path
from typing import Literal

from lawtrace.environments.documents.formex import formex_lines
from lawtrace.environments.documents.html import html_lines, preformatted_text
from lawtrace.environments.documents.lines import DocumentLines, Line
from lawtrace.environments.documents.markdown import markdown_lines
from lawtrace.environments.documents.pages import text_lines
from lawtrace.environments.documents.pdf import read_pdf
from lawtrace.schemas.errors import InputError, input_errors

Profile = Literal["law", "decision"]

MAX_BYTES = 20 * 1024 * 1024
"""The longest directives, with markup, have a twentieth of that."""

_MARKDOWN = re.compile(r"^#{1,6} \S", re.M)
"""A heading of Markdown: a text drawn from a PDF is often Markdown, whatever its suffix."""

_LEAST_HEADINGS = 2


def read_bytes(path: Path) -> bytes:
    """Read the file. Raises InputError if it is missing, empty or larger than `MAX_BYTES`."""
    with input_errors(path):
        size = path.stat().st_size
        if size > MAX_BYTES:
            raise InputError(
                f"{path}: has {size / 2**20:.0f} MB; the limit is {MAX_BYTES // 2**20} MB. "
                "Give the relevant articles as a separate file"
            )
        data = path.read_bytes()
    if not data.strip():
        raise InputError(f"{path}: the document is empty")
    return data


def read_text(path: Path) -> str:
    """Read the file as UTF-8 text, with or without a byte order mark. Raises InputError as `read_bytes` does."""
    data = read_bytes(path)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text: {error}; save it as UTF-8") from error


def read_lines(path: Path, profile: Profile) -> DocumentLines:
    """Read a .pdf, .html, .htm, .xhtml, .md, .txt or .xml (Formex or XHTML) file.

    Raises InputError naming the file; OperationalError for a PDF without the extra ``pdf``.
    """
    match path.suffix.lower():
        case ".pdf":
            read_bytes(path)  # checks the limits
            printed = read_pdf(path)
            found = text_lines(printed.text, profile)
            return DocumentLines(found.lines, (*printed.notes, *found.notes))
        case ".txt" | ".text" if len(_MARKDOWN.findall(text := read_text(path))) < _LEAST_HEADINGS:
            return text_lines(text, profile)
        case ".txt" | ".text" | ".md" | ".markdown":
            return _without_notes(markdown_lines(read_text(path), breaks=profile == "law"))
        case ".html" | ".htm" | ".xhtml":
            return _read_html(read_text(path), profile)
        case ".xml":
            data = read_bytes(path)
            if b"<html" in data[:2000]:
                return _read_html(read_text(path), profile)
            return _without_notes(formex_lines(data))
        case _:
            raise InputError(f"{path}: a decision is .pdf, .html, .md or .txt")


def _read_html(text: str, profile: Profile) -> DocumentLines:
    plain = preformatted_text(text)
    return text_lines(plain, profile) if plain else _without_notes(html_lines(text))


def _without_notes(lines: list[Line]) -> DocumentLines:
    notes = tuple(" ".join(line.text.split()) for line in lines if line.note)
    return DocumentLines([line for line in lines if not line.note], notes)
