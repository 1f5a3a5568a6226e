"""Joins lines that were broken for width into paragraphs, one per line.

A line with room left for the first word of the next line ends its paragraph. If a paragraph fills its last line, only a
label or a heading after a finished clause shows the next one.
"""

import re
from collections.abc import Sequence
from dataclasses import replace

from lawtrace.environments.documents.headings import (
    may_head_provision,
    may_head_unit,
    names_division,
    read_decimal,
    unit_heading,
)
from lawtrace.environments.documents.labels import read_labels
from lawtrace.environments.documents.lines import Line

DEFINITION = re.compile(
    r"(?P<term>(?!(?:The|This|These|A|An|If|For|As|In|It|Any|Each|Such)\b)[A-Z][\w’'/-]*(?: [\w’'/-]+){0,5}?)"
    r"(?:: \(1\)| (?:means?|is|are|includes?|has the (?:same )?meaning)\b)"
)
"""The beginning of a paragraph that defines a term, in a unit of unnumbered definitions: *Breach means ...*."""
_WRAPPED = 0.15
"""Share of lines that begin with a lower-case letter (not ``a)``) above which the text counts as broken for width."""
_FULL = 0.85
"""Share of the 90th percentile of line length from which a line counts as full."""
_LONGEST_TITLE = 4
"""Lines."""
_FINISHED = re.compile(r"(?:[.;:,—–\]]|\b(?:and|or))[”’\"')\]]*$")
_REFERRING = re.compile(r"\([0-9A-Za-z]{1,5}\)(?:,|,? (?:and|or))$")
"""Ends of lines after which a label is a reference: *points (a), (b) and*."""


def unwrap_lines(lines: Sequence[Line]) -> list[Line]:
    """One line per paragraph if the lines were broken for width; else the lines. Each without superfluous spaces."""
    texts = [" ".join(line.text.split()) for line in lines]
    marked = any(line.level is not None or line.depth is not None for line in lines)
    going_on = sum(text[0].islower() and not read_labels(text)[0] for text in texts)
    if marked or going_on <= _WRAPPED * len(texts):
        return [replace(line, text=text) for line, text in zip(lines, texts, strict=True)]
    width = _FULL * sorted(map(len, texts))[len(texts) * 9 // 10]
    paragraphs: list[list[str]] = []
    begun: list[Line] = []
    defining = False
    for line, text in zip(lines, texts, strict=True):
        if may_head_unit(text):
            defining = "definitions" in text.lower()
        defines = defining and DEFINITION.match(text) is not None and paragraphs[-1][-1].endswith((".", ":", ")"))
        if paragraphs and not defines and not _begins(text, paragraphs, width):
            paragraphs[-1].append(text)
        else:
            paragraphs.append([text])
            begun.append(line)
    return [replace(line, text=" ".join(of)) for line, of in zip(begun, paragraphs, strict=True)]


def _begins(text: str, paragraphs: Sequence[Sequence[str]], width: float) -> bool:
    """Whether the line begins a new paragraph."""
    before = paragraphs[-1][-1]
    numbered = bool(read_labels(text)[0]) or read_decimal(text) is not None
    if text[0].islower() and not numbered:
        return False
    if len(before) + 1 + len(text.split(" ", 1)[0]) < width:
        return True
    headed = may_head_provision(text) or text.startswith("[")
    if (numbered or headed) and _FINISHED.search(before) and not _REFERRING.search(before):
        return True
    return numbered and _is_title(paragraphs)


def _is_title(paragraphs: Sequence[Sequence[str]]) -> bool:
    """Whether the last paragraph is a title of a division or article, which has no final punctuation."""
    if len(paragraphs[-1]) > _LONGEST_TITLE:
        return False
    above, last = (" ".join(of[: _LONGEST_TITLE + 1]) for of in ([[""], *paragraphs[-2:]])[-2:])
    named = unit_heading(Line(above, level=1), has_units=True)
    return names_division(last) or (named is not None and not named.text and not read_labels(last)[0])
