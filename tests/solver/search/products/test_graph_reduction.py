"""Graph reduction: bisimulation classes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.solver.search.products.graph_reduction import bisimulation_classes

Graph = tuple[list[bool], list[list[tuple[int, int]]]]


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 8))
    move = st.tuples(st.integers(0, 2), st.integers(0, size - 1))
    moves = draw(st.lists(st.lists(move, max_size=4), min_size=size, max_size=size))
    return draw(st.lists(st.booleans(), min_size=size, max_size=size)), moves


def alike(graph: Graph) -> set[tuple[int, int]]:
    """Bisimilarity by definition: the largest relation in which each move of one state is matched by the other."""
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
@settings(max_examples=300)
@given(graph=graphs())
def test_bisimilar_iff_no_path_distinguishes_the_states(graph: Graph) -> None:
    (classes, first), related = bisimulation_classes(*graph), alike(graph)
    assert {(a, b) for a, c in enumerate(classes) for b, d in enumerate(classes) if c == d} == related
    assert [classes[place] for place in first] == list(range(len(set(classes))))
    assert classes[0] == 0
