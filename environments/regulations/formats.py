"""Reading a legal text in any supported format. Markdown becomes lines here; the other formats have modules."""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from lawtrace.environments.regulations.files import pdf_text, read_bytes, read_text
from lawtrace.environments.regulations.formex import formex_lines
from lawtrace.environments.regulations.headings import may_head_unit
from lawtrace.environments.regulations.html import html_lines
from lawtrace.environments.regulations.labels import read_labels
from lawtrace.environments.regulations.legal_text import LegalText
from lawtrace.environments.regulations.lines import Line, split_page_furniture
from lawtrace.environments.regulations.oscal import parse_oscal
from lawtrace.environments.regulations.parser import parse_legal_text
from lawtrace.schemas.errors import InputError

if TYPE_CHECKING:
    from markdown_it.token import Token

_LISTS = {"bullet_list_open": 1, "ordered_list_open": 1, "bullet_list_close": -1, "ordered_list_close": -1}

_MARKED = re.compile(r"^#{1,6} (?:§|Article|Section|Part|Subpart|Chapter|Title) ?\w", re.M | re.I)
"""A heading of Markdown: a text drawn from a PDF is often Markdown, whatever its suffix."""

_UNMARKED = re.compile(r"^§ [\d.]*\d+[a-z]? [A-Z][^.]{2,120}\.$")
_UNMARKED_LEVEL = 2


def markdown_lines(text: str) -> list[Line]:
    """Convert Markdown to lines, without emphasis and links."""
    from markdown_it import MarkdownIt  # not at the top: a guard reads no text of a law

    lines: list[Line] = []
    depth, level, label, underlined = 0, 0, "", False
    items: list[tuple[str, int]] = []
    for token in MarkdownIt("commonmark").parse(text):
        depth += _LISTS.get(token.type, 0)
        if token.type == "ordered_list_open":
            items.append(("", 0))
        elif token.type == "ordered_list_close":
            items.pop()
        if token.type == "heading_open":
            level, underlined = int(token.tag[1:]), token.markup == "-"
        elif token.type == "list_item_open":
            if token.info:  # `1.` `1.` `1.` are shown as 1, 2, 3
                written, number = items[-1]
                items[-1] = token.info, number + 1 if token.info == written else int(token.info)
            label = f"{items[-1][1]}{token.markup} " if token.info else ""
        elif token.type == "inline":
            if underlined and "\n" in _words(token):  # a paragraph above a rule
                level = 0
            for line in _words(token).split("\n"):
                words = line.strip()
                if words and not level and words[0].islower() and lines and _is_broken(lines[-1]):
                    lines[-1] = Line(
                        f"{lines[-1].text} {words}", level=0, depth=depth
                    )  # a paragraph taken for a heading
                elif words:
                    lines.append(Line(label + words, level=_level(words, level), depth=depth))
                    label = ""
            level, underlined = 0, False
        elif token.type in {"code_block", "fence", "html_block"}:
            lines += [Line(line.strip(), level=0, depth=depth) for line in token.content.split("\n") if line.strip()]
    return lines


def _is_broken(line: Line) -> bool:
    """Whether the line is marked as a heading but has no number, so that a sentence may go on below it."""
    return bool(line.level) and not may_head_unit(line.text)


def _level(text: str, level: int) -> int:
    """The level of a line: a point that is marked as a heading is none, and an unmarked ``§ 7 Care.`` is one."""
    if level:
        return 0 if read_labels(text)[0] else level
    return _UNMARKED_LEVEL if _UNMARKED.match(text) else 0


def _words(token: "Token") -> str:
    """The text of an inline token, with line breaks."""
    return "".join(
        "\n" if child.type in {"softbreak", "hardbreak"} else child.content for child in token.children or ()
    )


SUFFIXES = frozenset({".txt", ".text", ".md", ".markdown", ".html", ".htm", ".xhtml", ".xml", ".json", ".pdf"})
"""Of the files that `read_legal_text` reads, in lower case."""
FORMATS = ".txt, .md, .html, .xhtml, .xml (Formex), .json (OSCAL) or .pdf"


def read_legal_text(path: Path) -> LegalText:
    """Read a regulation. Raises InputError naming the file and the remedy; OperationalError for a PDF without the extra
    ``pdf``."""
    try:
        text = _parse(path)
    except InputError as error:
        raise error if str(path) in str(error) else InputError(f"{path}: {error}") from error
    if not any(char.isalpha() for provision in text.provisions() for char in provision.text):
        raise InputError(f"{path}: contains no provision: nothing citable has text")
    return text


def _parse(path: Path) -> LegalText:
    match path.suffix.lower():
        case ".json":
            return parse_oscal(read_text(path))
        case ".txt" | ".text" if _MARKED.search(text := read_text(path)):
            return parse_legal_text(markdown_lines(text))
        case ".pdf" | ".txt" | ".text" as suffix:
            lines, left_out = split_page_furniture(pdf_text(path) if suffix == ".pdf" else read_text(path))
            return parse_legal_text(lines).model_copy(update={"left_out": tuple(left_out)})
        case ".md" | ".markdown":
            return parse_legal_text(markdown_lines(read_text(path)))
        case ".html" | ".htm" | ".xhtml":
            return parse_legal_text(html_lines(read_text(path)))
        case ".xml":
            data = read_bytes(path)
            return parse_legal_text(html_lines(read_text(path)) if b"<html" in data[:2000] else formex_lines(data))
        case _:
            raise InputError(f"{path}: a regulation is {FORMATS}; a restated one is .toml")
