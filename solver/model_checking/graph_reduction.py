"""Graphs made smaller: places from which nothing good can be reached, and places that no walk can tell apart."""

from collections.abc import Hashable, Iterable, Sequence


def bisimulation_classes(marks: Sequence[Hashable], moves: Sequence[Sequence[tuple[int, int]]]) -> list[int]:
    """For each place its class, numbered in the order of the places.

    Two places are alike if they are marked alike and to each move of one there is a move of the other, of the same
    label and to a place alike (bisimilar). So the same walks lead on from them.

    Args:
        marks: what tells places apart at once, such as whether a walk may end there.
        moves: for each place its moves, as a label and a target.
    """
    numbers: dict[Hashable, int] = {}
    classes = [numbers.setdefault(mark, len(numbers)) for mark in marks]
    count = 0
    while len(numbers) != count:
        count = len(numbers)
        numbers = {}
        classes = [
            numbers.setdefault(
                (classes[place], frozenset([label * count + classes[target] for label, target in out])), len(numbers)
            )
            for place, out in enumerate(moves)
        ]
    return classes


def class_representatives(classes: Sequence[int]) -> list[int]:
    """For each class of places the first that is in it."""
    first: dict[int, int] = {}
    for place, class_ in enumerate(classes):
        first.setdefault(class_, place)
    return [first[class_] for class_ in range(len(first))]


def coreachable(accepting: Sequence[bool], targets: Sequence[Iterable[int]]) -> list[bool]:
    """For each place whether moves lead from there, or from where they lead to, to a place that accepts."""
    before: list[list[int]] = [[] for _ in accepting]
    for place, out in enumerate(targets):
        for target in out:
            before[target].append(place)
    hope = list(accepting)
    waiting = [place for place, accepts in enumerate(accepting) if accepts]
    for place in waiting:  # grows while it is read
        for earlier in before[place]:
            if not hope[earlier]:
                hope[earlier] = True
                waiting.append(earlier)
    return hope
