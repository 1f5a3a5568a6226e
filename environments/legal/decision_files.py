"""Reads the lines of a document file, by its suffix."""

from pathlib import Path

from lawtrace.environments.errors import InputError
from lawtrace.environments.regulations.files import pdf_text, read_text
from lawtrace.environments.regulations.html import html_lines
from lawtrace.environments.regulations.lines import Line, text_lines


def read_lines(path: Path) -> list[Line]:
    """The lines of a .pdf, .html, .htm, .xhtml or .txt file. Raises InputError; OperationalError without the extra
    ``pdf``."""
    match path.suffix.lower():
        case ".pdf":
            return text_lines(pdf_text(path))
        case ".txt" | ".text":
            return text_lines(read_text(path))
        case ".html" | ".htm" | ".xhtml":
            return html_lines(read_text(path))
        case _:
            raise InputError(f"{path}: a decision is .pdf, .html or .txt")
