"""Shortcuts: answers to twin questions without law or facts, and the choice of pairs that leaves them near chance."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median

from lawtrace.environments.legal.case import Case, Question
from lawtrace.runs.legal.twins.pairs import Twins, facts_told

MOST_RIGHT = 0.55
"""The highest share of questions that a shortcut may answer."""

_NEGATION = re.compile(r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without)\b|n[’']t\b", re.IGNORECASE)
_FAILURE = re.compile(r"\b(?:un\w+ed|left|lack\w*|omit\w*|fail\w*|refus\w*|ignor\w*|miss\w*)\b", re.IGNORECASE)

_FEATURES: Mapping[str, Callable[[Question], int]] = {
    "negations": lambda question: len(_NEGATION.findall(facts_told(question))),
    "negations and words of failure": lambda question: sum(
        len(words.findall(facts_told(question))) for words in (_NEGATION, _FAILURE)
    ),
    "length": lambda question: len(facts_told(question)),
    "changed facts": lambda question: question.text.count("(changed "),
}


def twins_in(cases: Iterable[Case]) -> list[Twins]:
    """The pairs of twin questions of cases; a question without its twin is in none."""
    pairs: dict[str, list[Question]] = {}
    for question in (question for case in cases for question in case.questions):
        if question.twin is not None:
            pairs.setdefault(question.twin.pair, []).append(question)
    return [(twins[0], twins[1]) for twins in pairs.values() if len(twins) == 2]


def measure_shortcuts(pairs: Sequence[Twins]) -> dict[str, float]:
    """The share of questions that each shortcut answers right, in the best of its forms.

    It says Yes, No, infringed or not infringed where a feature exceeds its median, or that of the other twin.
    """
    if not pairs:
        return {}
    yes = fmean(one.answer == "Yes" for twins in pairs for one in twins)
    shares = [max(share, 1 - share) for share in map(fmean, zip(*_right(pairs, [*map(_features, pairs)]), strict=True))]
    best = (max(shares[place : place + _FORMS]) for place in range(0, len(shares), _FORMS))
    return {"always Yes": yes, "always No": 1 - yes, **dict(zip(_FEATURES, best, strict=True))}


def balance(pairs: Sequence[Twins]) -> list[Twins]:
    """The pairs that remain when those that shortcuts answer best are left out one by one, until no shortcut answers
    more than `MOST_RIGHT` of the questions, or half of the pairs are left."""
    kept = [(twins, _features(twins)) for twins in pairs]
    while 2 * len(kept) > len(pairs) + 1:
        right = _right([twins for twins, _ in kept], [features for _, features in kept])
        sums = [sum(column) for column in zip(*right, strict=True)]
        if all(abs(total / len(kept) - 0.5) <= MOST_RIGHT - 0.5 for total in sums):
            break
        rest = [[total - one for total, one in zip(sums, row, strict=True)] for row in right]
        bias = [sum((total / (len(kept) - 1) - 0.5) ** 2 for total in totals) for totals in rest]
        kept.pop(bias.index(min(bias)))
    return [twins for twins, _ in kept]


_FORMS = 4
"""Of each shortcut: compared with the median and with the other twin, each for Yes and for infringed."""

_Features = tuple[tuple[int, ...], tuple[int, ...]]


def _features(twins: Twins) -> _Features:
    first, second = (tuple(feature(one) for feature in _FEATURES.values()) for one in twins)
    return first, second


def _right(pairs: Sequence[Twins], features: Sequence[_Features]) -> list[list[float]]:
    """For each pair and form of a shortcut the share of the two questions that it answers right."""
    middle = [median(column) for column in zip(*(one for of in features for one in of), strict=True)]
    rows: list[list[float]] = []
    for twins, (first, second) in zip(pairs, features, strict=True):
        yes = [one.answer == "Yes" for one in twins]
        infringed = [
            said == (one.twin is None or one.twin.asks == "infringed") for said, one in zip(yes, twins, strict=True)
        ]
        row: list[float] = []
        for place, limit in enumerate(middle):
            more, by = [first[place] > limit, second[place] > limit], first[place] - second[place]
            for says in (yes, infringed):
                row.append(fmean(one == said for one, said in zip(more, says, strict=True)))
                row.append(float((by > 0) == says[0]) if by else 0.5)
        rows.append(row)
    return rows
