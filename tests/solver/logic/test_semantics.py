"""Corner cases of finite-trace semantics, for the equations and the automaton."""

import pytest

from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Atom
from tests.support.semantics import fact, holds, of_facts

EMPTY: list[str] = []


def both(text: str, trace: list[str]) -> bool:
    """The verdict of evaluator and automaton, which must agree. A step is written as its atoms: "ab", ""."""
    formula = parse(text)
    steps = [frozenset(map(Atom, step)) for step in trace]
    verdict = holds(formula, steps)
    assert compile_formula(of_facts(formula)).accepts([set(map(fact, step)) for step in trace]) is verdict
    return verdict


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("true", True),
        ("false", False),
        ("a", False),
        ("!a", True),
        ("X true", False),
        ("WX false", True),
        ("WX a", True),
        ("F true", False),
        ("G false", True),
        ("G a", True),
        ("G X a", True),
        ("X G a", False),
        ("a U true", False),
        ("a R false", True),
        ("a W b", True),
        ("Y true", False),
        ("O true", False),
        ("H false", True),
        ("a S true", False),
        ("!O a", True),
    ],
)
def test_the_empty_trace_satisfies_formulas_without_a_witness(text: str, expected: bool) -> None:
    assert both(text, EMPTY) is expected


@pytest.mark.parametrize(
    ("text", "trace", "expected"),
    [
        ("X true", ["a"], False),
        ("X true", ["a", ""], True),
        ("WX false", ["a"], True),
        ("WX false", ["a", ""], False),
        ("a & WX false", ["a"], True),
        ("X a", ["", "a"], True),
        ("!X a <-> WX !a", ["a"], True),
        ("!X a <-> WX !a", ["a", "a"], True),
        ("G X a", ["a", "a"], False),
        ("F G a", ["", "a"], True),
        ("G F a", ["", "a"], True),
        ("F G a", ["a", ""], False),
        ("G F a", ["a", ""], False),
        ("a U b", ["b"], True),
        ("a U b", ["a", "a", "b"], True),
        ("a U b", ["a", "a"], False),
        ("a U b", ["a", "", "b"], False),
        ("a W b", ["a", "a"], True),
        ("a W b", ["a", "", "b"], False),
        ("a R b", ["b", "b"], True),
        ("a R b", ["b", "ab", ""], True),
        ("a R b", ["b", "a"], False),
        ("!(!a U b)", ["ab"], False),
        ("(!b) W a", ["ab"], True),
        ("!(!a U b)", ["", ""], True),
        ("G(a -> F b)", ["a", "ab"], True),
        ("G(a -> F b)", ["b", "a"], False),
        ("F(b & Y a)", ["a", "b"], True),
        ("F(b & Y a)", ["ab"], False),
        ("X Y a", ["a", ""], True),
        ("G(b -> O a)", ["ab"], True),
        ("G(b -> Y O a)", ["ab"], False),
        ("F(c & H a)", ["a", "ac"], True),
        ("F(c & H a)", ["", "ac"], False),
        ("F(c & (a S b))", ["b", "a", "ac"], True),
        ("F(c & (a S b))", ["b", "", "ac"], False),
        ("F(c & (a S b))", ["bc"], True),
        ("F(Y Y Y a)", ["a", "", ""], False),
        ("F(Y Y Y a)", ["a", "", "", ""], True),
        ("G(c -> (!a S b))", ["b", "", "c", "a", "b", "c"], True),
        ("G(c -> (!a S b))", ["b", "a", "c"], False),
        ("O a U b", ["a", "", "b"], True),
    ],
)
def test_verdicts(text: str, trace: list[str], expected: bool) -> None:
    assert both(text, trace) is expected


def test_globally_next_is_satisfied_by_the_empty_trace_only() -> None:
    automaton = compile_formula(of_facts(parse("G X a")))
    assert automaton.initial in automaton.accepting
    assert all(automaton.verdicts[state] == "violated" for state in automaton.table[automaton.initial])


def test_past_and_future_forms_of_precedence_are_equivalent() -> None:
    future, past = parse("!(!a U b)"), parse("G(b -> Y O a)")
    assert compile_formula(of_facts(future)) == compile_formula(of_facts(past))
