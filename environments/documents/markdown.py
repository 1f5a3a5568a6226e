"""Markdown to lines, by way of HTML: without emphasis and links."""

import re
from dataclasses import replace

from lawtrace.environments.documents.headings import may_head_unit
from lawtrace.environments.documents.html import html_lines
from lawtrace.environments.documents.labels import read_labels
from lawtrace.environments.documents.lines import Line

_UNMARKED = re.compile(r"^§ [\d.]*\d+[a-z]? [A-Z][^.]{2,120}\.$")
_UNMARKED_LEVEL = 2


def markdown_lines(text: str, *, breaks: bool) -> list[Line]:
    """Convert Markdown to lines. What was marked as a heading by mistake is none: a point of a list, a paragraph above
    a rule, and the beginning of a sentence that goes on below. ``breaks``: lines of a paragraph stay apart."""
    from markdown_it import MarkdownIt  # not at the top: a guard reads no text of a law

    parser = MarkdownIt("commonmark", {"breaks": breaks})
    tokens = parser.parse(text)
    for opened, words, closed in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if opened.type == "heading_open" and opened.markup == "-" and "\n" in words.content:
            opened.tag = closed.tag = "p"
    lines: list[Line] = []
    for line in html_lines(parser.renderer.render(tokens, parser.options, {})):
        point = read_labels(line.text)[0] and (line.text.startswith("(") or line.text.endswith((".", ";", ":", ",")))
        level = 0 if point else line.level
        if not level and line.text[0].islower() and lines and lines[-1].level and not may_head_unit(lines[-1].text):
            lines[-1] = replace(lines[-1], text=f"{lines[-1].text} {line.text}", level=0)
        else:
            lines.append(replace(line, level=level or (_UNMARKED_LEVEL if _UNMARKED.match(line.text) else 0)))
    return lines
