"""Names in the cells of terminal tables."""

import re
from collections.abc import Iterator

from rich.console import Console, ConsoleOptions
from rich.measure import Measurement
from rich.text import Text

from lawtrace.runs.report.text import visible


class Name:
    """Lines such as names of models, broken after a separator where their column is too narrow."""

    def __init__(self, text: str) -> None:
        self._lines = [visible(line) for line in text.split("\n")]

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        pieces = [piece for line in self._lines for piece in _pieces(line)]
        return Measurement(max(map(len, pieces)), max(map(len, self._lines))).with_maximum(options.max_width)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        for line in self._lines:
            yield Text("\n".join(_fitted(line, options.max_width)), overflow="fold")


def _pieces(name: str) -> list[str]:
    return re.split(r"(?<=[\w)][:/_-])|(?<= )(?=[^ ])", name)


def _fitted(name: str, width: int) -> list[str]:
    """The name in lines of at most this width, broken between words, and within a word that is longer than a line."""
    indent = " " * (len(name) - len(name.lstrip()))
    lines = [indent]
    for word in name.split():
        fits = len(indent) + len(word) <= width
        for piece in [word] if fits else _pieces(word):
            space = " " if lines[-1].strip() and word.startswith(piece) else ""
            if lines[-1].strip() and len(lines[-1]) + len(space) + len(piece) > width:
                lines.append(indent + piece)
            else:
                lines[-1] += space + piece
    return lines
