"""Scripted section mapper: classifies paragraphs by words of headings and of the text, then enforces the usual order.

Each paragraph has a weight for each part. The result is the sequence of parts with the greatest total weight among
those in the usual order.
"""

import json
import re
from collections.abc import Mapping, Sequence

from autogen_core.models import LLMMessage

from lawtrace.agents.scripted.prompt_blocks import labelled_json

_STAGES: tuple[tuple[str, ...], ...] = (
    ("introduction",),
    ("rules", "facts", "application"),
    ("findings",),
    ("decision", "penalty"),
    ("annex",),
)
_HEADING_WEIGHT = 6.0
_HEADINGS: Mapping[str, re.Pattern[str]] = {
    "annex": re.compile(r"\b(?:annex|appendix|schedule)\b", re.I),
    "decision": re.compile(r"\b(?:decision|conclusion|appeal|next steps|further action|enforcement)\b", re.I),
    "penalty": re.compile(
        r"\b(?:amount|calculat\w+|aggravating|mitigating|remedial|financial|fining|(?:the|a) penalty$)", re.I
    ),
    "rules": re.compile(r"\b(?:legal|regulatory|statutory) framework\b|\blegislation\b|\bthe law\b", re.I),
    "facts": re.compile(r"\b(?:background|facts|circumstances|chronology|incident|investigation)\b", re.I),
    "application": re.compile(r"\b(?:nature of|controller|processor|status of|role of)\b", re.I),
    "findings": re.compile(
        r"\b(?:infring\w+|contraven\w+|findings?|breach of|failings?|failures?|serious\w*|deliberate|negligent)\b", re.I
    ),
    "introduction": re.compile(r"\b(?:introduction|summary|overview)\b", re.I),
}
_TEXTS: Mapping[str, re.Pattern[str]] = {
    "introduction": re.compile(r"\bthis (?:notice|reprimand)\b|\bissues? (?:a|this) (?:reprimand|penalty)\b", re.I),
    "rules": re.compile(r"\b(?:states|provides|defines?|is defined|requires) (?:that|as)\b|\bstates[:,]", re.I),
    "facts": re.compile(
        r"\b(?:19|20)\d\d\b|\bprovided to\b|\bcontained\b|\bconfirmed\b|\badvised\b|\bresponded\b", re.I
    ),
    "findings": re.compile(
        r"\b(?:infring\w+|contraven\w+|fail(?:ed|ure)s?|lack of|concern|satisfied that|finds that|cause of)\b", re.I
    ),
    "decision": re.compile(r"\b(?:has decided|appeal|must be paid|recommends?)\b", re.I),
    "penalty": re.compile(r"\b(?:aggravating|mitigating|remedial|£\s?\d)", re.I),
}


def map_parts(messages: Sequence[LLMMessage]) -> str:
    paragraphs: list[dict[str, str]] = labelled_json(messages, "paragraphs")
    headings = _below_titles([paragraph["heading"].split(" > ") for paragraph in paragraphs])
    weights = [
        _weigh(paragraph["paragraph"], paragraph["begins"], heading, place)
        for place, (paragraph, heading) in enumerate(zip(paragraphs, headings, strict=True))
    ]
    parts = _best_sequence(weights)
    ranges: list[dict[str, str]] = []
    for paragraph, part in zip(paragraphs, parts, strict=True):
        if ranges and ranges[-1]["part"] == part:
            ranges[-1]["last"] = paragraph["paragraph"]
        else:
            because = f"heading {paragraph['heading']!r}" if paragraph["heading"] else "no heading"
            first = paragraph["paragraph"]
            ranges.append({"first": first, "last": first, "part": part, "because": because})
    return json.dumps({"parts": ranges})


def _below_titles(paths: Sequence[Sequence[str]]) -> list[str]:
    """The outermost heading of each paragraph, without titles shared by all paragraphs, which do not distinguish
    them."""
    titles = 0
    while len({tuple(path[: titles + 1]) for path in paths}) == 1 and any(len(path) > titles + 1 for path in paths):
        titles += 1
    return [path[titles] if len(path) > titles else "" for path in paths]


def _weigh(ref: str, begins: str, heading: str, place: int) -> dict[str, float]:
    weights = {part: 0.0 for stage in _STAGES for part in stage}
    named = next((part for part, pattern in _HEADINGS.items() if pattern.search(heading)), None)
    if "/" in ref:  # paragraph numbers in an annex begin with the annex
        weights["annex"] += 2 * _HEADING_WEIGHT
    if named:
        weights[named] += _HEADING_WEIGHT
    elif not heading:
        weights["introduction"] += _HEADING_WEIGHT / 2
    if place == 0:
        weights["introduction"] += 2
    for part, pattern in _TEXTS.items():
        weights[part] += min(2, len(pattern.findall(begins)))
    weights["facts"] += 0.5  # facts are the default
    return weights


def _best_sequence(weights: Sequence[Mapping[str, float]]) -> list[str]:
    """The part of each paragraph; stages never go back."""
    best = [(0.0, list[str]())] * len(_STAGES)
    for weight in weights:
        choices = [max(stage, key=lambda part: weight[part]) for stage in _STAGES]
        extended: list[tuple[float, list[str]]] = []
        for number, part in enumerate(choices):
            score, before = max(best[: number + 1], key=lambda found: found[0])
            extended.append((score + weight[part], [*before, part]))
        best = extended
    return max(best, key=lambda found: found[0])[1]
