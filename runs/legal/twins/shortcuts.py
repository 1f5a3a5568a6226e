"""Shortcuts: answers to twin questions without law or facts, and the choice of pairs that leaves them near chance.

Each shortcut is given the best of its four forms: it says Yes, No, infringed or not infringed where a feature is large.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean, median

from lawtrace.environments.legal.case import Case, Question

MOST_RIGHT = 0.55
"""The highest share of questions that a shortcut may answer."""

_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|un\w+ed|left|lack\w*|omit\w*|fail\w*|refus\w*)\b", re.I
)
_REMARK = re.compile(r" \((?:paragraph [^()]*|changed[^()]*|assumed)\)")

Twins = tuple[Question, Question]


def _facts(question: Question) -> str:
    """The sentences that state facts, without their remarks in brackets and without what is asked."""
    return _REMARK.sub("", question.text.rpartition("On these facts,")[0])


_FEATURES: Mapping[str, Callable[[Question], float]] = {
    "polarity of the words": lambda question: len(_NEGATION.findall(_facts(question))),
    "length": lambda question: len(_facts(question)),
    "number of changed facts": lambda question: (
        sum(fact.basis == "changed" for fact in question.twin.facts) if question.twin else 0
    ),
}


def twins_in(cases: Iterable[Case]) -> list[Twins]:
    """The pairs of twin questions of cases; a question without its twin is in none."""
    pairs: dict[str, list[Question]] = {}
    for question in (question for case in cases for question in case.questions):
        if question.twin is not None:
            pairs.setdefault(question.twin.pair, []).append(question)
    return [(twins[0], twins[1]) for twins in pairs.values() if len(twins) == 2]


def measure_shortcuts(pairs: Sequence[Twins]) -> dict[str, float]:
    """The share of questions that each shortcut answers, the better of Yes and No, and of both for what is infringed.

    A feature is compared with its median over all questions, and with that of the other twin.
    """
    return _scores([_row(twins) for twins in pairs])


def balance(pairs: Sequence[Twins]) -> list[Twins]:
    """The pairs that remain when those that shortcuts answer best are left out one by one, until no shortcut answers
    more than `MOST_RIGHT` of the questions, or half of the pairs are left."""
    kept = [(twins, _row(twins)) for twins in pairs]
    while 2 * len(kept) > len(pairs) + 1 and max(_scores([row for _, row in kept]).values()) > MOST_RIGHT:
        without = [_excess([row for place, (_, row) in enumerate(kept) if place != left]) for left in range(len(kept))]
        kept.pop(min(range(len(kept)), key=without.__getitem__))
    return [twins for twins, _ in kept]


_Row = tuple[tuple[tuple[float, ...], bool, bool], ...]
"""For both twins: the features, whether the answer is Yes, and whether the provision was infringed."""


def _row(twins: Twins) -> _Row:
    return tuple(
        (
            tuple(feature(one) for feature in _FEATURES.values()),
            one.answer == "Yes",
            one.twin is not None and (one.answer == "Yes") == (one.twin.asks == "infringed"),
        )
        for one in twins
    )


def _excess(rows: Sequence[_Row]) -> float:
    return sum(max(0.0, score - 0.5) ** 2 for score in _scores(rows).values())


def _scores(rows: Sequence[_Row]) -> dict[str, float]:
    if not rows:
        return {}
    yes = fmean(one[1] for row in rows for one in row)
    found = {"always Yes": yes, "always No": 1 - yes}
    for place, name in enumerate(_FEATURES):
        middle = median(one[0][place] for row in rows for one in row)
        forms = [fmean((one[0][place] > middle) == one[target] for row in rows for one in row) for target in (1, 2)]
        for target in (1, 2):
            signs = [_compared(first[0][place], second[0][place], bool(first[target])) for first, second in rows]
            forms.append(fmean(signs))
        found[name] = max(max(form, 1 - form) for form in forms)
    return found


def _compared(first: float, second: float, holds_of_first: bool) -> float:
    """How often the larger feature marks the twin of which something holds: 0, 1, or one half if they are equal."""
    return 0.5 if first == second else float((first > second) == holds_of_first)
