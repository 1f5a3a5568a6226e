"""Reads the lines of a document file, by its suffix."""

from pathlib import Path

from lawtrace.environments.legal.page_layout import DecisionText, decision_text
from lawtrace.environments.legal.pdf_layout import read_pdf_layout
from lawtrace.environments.regulations.files import read_text
from lawtrace.environments.regulations.html import html_lines
from lawtrace.schemas.errors import InputError


def read_decision(path: Path) -> DecisionText:
    """Read a .pdf, .html, .htm, .xhtml or .txt file. Raises InputError; OperationalError without the extra ``pdf``."""
    match path.suffix.lower():
        case ".pdf":
            read = read_pdf_layout(path)
            plain = decision_text(read.text)
            return DecisionText(plain.lines, (*read.notes, *plain.notes))
        case ".txt" | ".text":
            return decision_text(read_text(path))
        case ".html" | ".htm" | ".xhtml":
            lines = html_lines(read_text(path))
            notes = tuple(" ".join(line.text.split()) for line in lines if line.note)
            return DecisionText([line for line in lines if not line.note], notes)
        case _:
            raise InputError(f"{path}: a decision is .pdf, .html or .txt")
