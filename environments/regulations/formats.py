"""Markdown to lines: headings with their level, list items with the number they were given, paragraphs."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from markdown_it import MarkdownIt
from markdown_it.token import Token

from lawtrace.environments.errors import InputError
from lawtrace.environments.regulations.files import pdf_text, read_bytes, read_text
from lawtrace.environments.regulations.formex import formex_lines
from lawtrace.environments.regulations.html import html_lines
from lawtrace.environments.regulations.legal_text import LegalText
from lawtrace.environments.regulations.lines import Line, headers_and_footers, text_lines
from lawtrace.environments.regulations.oscal import parse_oscal
from lawtrace.environments.regulations.parser import parse_legal_text

_LISTS = {"bullet_list_open": 1, "ordered_list_open": 1, "bullet_list_close": -1, "ordered_list_close": -1}


def markdown_lines(text: str) -> list[Line]:
    """Convert Markdown to lines, without emphasis and links."""
    lines: list[Line] = []
    depth, level, label = 0, 0, ""
    for token in MarkdownIt("commonmark").parse(text):
        depth += _LISTS.get(token.type, 0)
        if token.type == "heading_open":
            level = int(token.tag[1:])
        elif token.type == "list_item_open":
            label = f"{token.info}{token.markup} " if token.info else ""
        elif token.type == "inline":
            for line in _words(token).split("\n"):
                if line.strip():
                    lines.append(Line(label + line.strip(), level=level, depth=depth))
                    label = ""
            level = 0
        elif token.type in {"code_block", "fence", "html_block"}:
            lines += [Line(line.strip(), level=0, depth=depth) for line in token.content.split("\n") if line.strip()]
    return lines


def _words(token: Token) -> str:
    """The text of an inline token, with line breaks."""
    return "".join(
        "\n" if child.type in {"softbreak", "hardbreak"} else child.content for child in token.children or ()
    )


FORMATS = ".txt, .md, .html, .xhtml, .xml (Formex), .json (OSCAL) or .pdf"

_EURLEX_HEADINGS: Mapping[str, int] = {
    **dict.fromkeys(("doc-ti", "oj-doc-ti"), 1),
    **dict.fromkeys(("ti-section-1", "oj-ti-section-1", "ti-section-2", "oj-ti-section-2", "title-division-1"), 2),
    **dict.fromkeys(("ti-art", "oj-ti-art", "sti-art", "oj-sti-art", "title-article-norm", "stitle-article-norm"), 4),
    **dict.fromkeys(("ti-grseq-1", "oj-ti-grseq-1"), 5),
}
"""Classes of headings on EUR-Lex: current, before 2023, and in consolidated texts."""
_EURLEX_NOTES = frozenset({"oj-note", "note"})


def read_legal_text(path: Path) -> LegalText:
    """Read a regulation. Raises InputError naming the file and the remedy; OperationalError for a PDF without the extra
    ``pdf``."""
    text = _read(path)
    if not any(char.isalpha() for provision in text.provisions() for char in provision.text):
        raise InputError(f"{path}: contains no provision: nothing citable has text")
    return text


def _read(path: Path) -> LegalText:
    match path.suffix.lower():
        case ".json":
            return _named(path, lambda: parse_oscal(read_text(path)))
        case ".pdf":
            return _plain(path, pdf_text(path))
        case ".txt" | ".text":
            return _plain(path, read_text(path))
        case ".md" | ".markdown":
            return _tree(path, markdown_lines(read_text(path)))
        case ".html" | ".htm" | ".xhtml":
            return _tree(path, html_lines(read_text(path), headings=_EURLEX_HEADINGS, notes=_EURLEX_NOTES))
        case ".xml":
            data = read_bytes(path)
            if b"<html" in data[:2000]:
                return _tree(path, html_lines(read_text(path), headings=_EURLEX_HEADINGS, notes=_EURLEX_NOTES))
            return _named(path, lambda: parse_legal_text(formex_lines(data)))
        case _:
            raise InputError(f"{path}: a regulation is {FORMATS}; a restated one is .toml")


def _plain(path: Path, text: str) -> LegalText:
    return _tree(path, text_lines(text)).model_copy(update={"left_out": headers_and_footers(text)})


def _tree(path: Path, lines: Sequence[Line]) -> LegalText:
    return _named(path, lambda: parse_legal_text(lines))


def _named(path: Path, read: Callable[[], LegalText]) -> LegalText:
    """Add the name of the document to errors."""
    try:
        return read()
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error
