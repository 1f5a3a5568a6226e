"""Graphs: reachable states, bisimulation quotient."""

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

Node = TypeVar("Node", bound=Hashable)
Label = TypeVar("Label")


def explore(
    starts: Iterable[Node], edges: Callable[[Node], Iterable[tuple[Label, Node]]]
) -> tuple[Mapping[Node, int], list[list[tuple[Label, int]]]]:
    """The reachable nodes, numbered breadth first, and for each of them the label and target of each edge."""
    numbers = {node: number for number, node in enumerate(starts)}
    nodes = list(numbers)
    found: list[list[tuple[Label, int]]] = []
    for node in nodes:  # the list grows during the loop
        found.append([])
        for label, target in edges(node):
            if target not in numbers:
                numbers[target] = len(nodes)
                nodes.append(target)
            found[-1].append((label, numbers[target]))
    return numbers, found


def bisimulation_classes(
    marks: Sequence[Hashable], moves: Sequence[Sequence[tuple[int, int]]]
) -> tuple[list[int], list[int]]:
    """The bisimulation class of each state, numbered in the order of the states, and the first state of each class.

    Two states are bisimilar if they have the same mark and each transition of one has a counterpart of the other with
    the same label and a bisimilar target.

    Args:
        marks: the initial partition, such as acceptance.
        moves: for each state its transitions, as label and target.
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
    first: dict[int, int] = {}
    for place, class_ in enumerate(classes):
        first.setdefault(class_, place)
    return classes, [*first.values()]
