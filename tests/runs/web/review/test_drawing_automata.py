"""Drawings of automata: every state and edge is drawn and described, and formula text is escaped."""

from xml.etree import ElementTree

from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.web.review.automaton_drawing import draw_automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse

FORMULAS = (
    "!((!Check) U Pay)",
    "G(Pay -> F Log)",
    "G(Pay -> X Log)",
    'G(Pay(amount > 1000 and note == "<b>&") -> O Check)',
    "F(A & X(B & X C))",
    "true",
)


@given(st.sampled_from(FORMULAS))
def test_every_state_and_every_arrow_is_drawn(formula: str) -> None:
    automaton = compile_formula(parse(formula))
    picture = ElementTree.fromstring(draw_automaton(automaton))
    circles = [node for node in picture.iter("circle") if node.get("class") != "inner"]
    assert len(circles) == len(automaton.verdicts)
    arrows = [node for node in picture.iter("path") if node.get("class") == "edge"]
    assert len(arrows) == 1 + sum(len(set(row)) for row in automaton.table)
    words = picture.get("aria-label") or ""
    assert all(f"From state {state} ({verdict})" in words for state, verdict in enumerate(automaton.verdicts))
    inner = [node for node in picture.iter("circle") if node.get("class") == "inner"]
    assert len(inner) == len(automaton.accepting)
