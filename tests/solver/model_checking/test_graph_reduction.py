"""Graphs made smaller: places of one class carry the same walks, and places that can be told apart are."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.solver.model_checking.graph_reduction import bisimulation_classes, class_representatives, coreachable

Graph = tuple[list[bool], list[list[tuple[int, int]]]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 8))
    move = st.tuples(st.integers(0, 2), st.integers(0, size - 1))
    moves = draw(st.lists(st.lists(move, max_size=4), min_size=size, max_size=size))
    return draw(st.lists(st.booleans(), min_size=size, max_size=size)), moves


def alike(graph: Graph) -> set[tuple[int, int]]:
    """By definition: the largest relation in which each move of one can be answered by the other."""
    marks, moves = graph
    places = range(len(marks))
    related = {(one, other) for one in places for other in places if marks[one] == marks[other]}

    def answered(one: int, other: int) -> bool:
        return all(
            any(same == label and (to, target) in related for same, target in moves[other]) for label, to in moves[one]
        )

    while True:
        kept = {(one, other) for one, other in related if answered(one, other) and answered(other, one)}
        if kept == related:
            return related
        related = kept


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(graph=graphs())
def test_one_class_exactly_if_no_walk_tells_them_apart(graph: Graph) -> None:
    classes, related = bisimulation_classes(*graph), alike(graph)
    assert {(a, b) for a, c in enumerate(classes) for b, d in enumerate(classes) if c == d} == related
    assert [classes[place] for place in class_representatives(classes)] == list(range(len(set(classes))))
    assert classes[0] == 0


@given(graph=graphs())
def test_hope_is_to_have_a_way_to_an_end(graph: Graph) -> None:
    accepting, moves = graph
    reach = {place: {place} for place in range(len(moves))}
    for _ in moves:
        reach = {place: {place}.union(*(reach[target] for _, target in moves[place])) for place in reach}
    targets = [[target for _, target in out] for out in moves]
    assert coreachable(accepting, targets) == [any(accepting[end] for end in reach[place]) for place in reach]
