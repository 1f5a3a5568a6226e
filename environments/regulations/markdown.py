"""Markdown to lines: headings with their level, list items with the number they were given, paragraphs."""

from markdown_it import MarkdownIt
from markdown_it.token import Token

from lawtrace.environments.documents.lines import Line

_LISTS = {"bullet_list_open": 1, "ordered_list_open": 1, "bullet_list_close": -1, "ordered_list_close": -1}


def markdown_lines(text: str) -> list[Line]:
    """The blocks of the text, each line of a paragraph as one line, without emphasis and links."""
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
    """What an inline token says, with the breaks between its lines."""
    return "".join(
        "\n" if child.type in {"softbreak", "hardbreak"} else child.content for child in token.children or ()
    )
