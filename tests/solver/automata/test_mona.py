"""Comparison with the automata of MONA, an independent tool: the languages are equal, checked state by state."""

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import HealthCheck, given, settings

from lawtrace.environments.domains.loader import load_domain
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Atom, Formula, Next, Until, WeakNext, Yesterday, body_of
from lawtrace.solver.rules import Rule, load_rules
from tests.solver.automata.test_properties import ATOMS, free_formulas
from tests.support.mona import MONA, MonaAutomaton, ask_mona

pytestmark = pytest.mark.skipif(MONA is None, reason="mona is not installed (Debian: apt-get install mona)")

CORNERS = (
    *("a", "X a", "WX a", "!X a", "X true", "WX false", "F G a", "G F a", "G(X a)", "a U b", "a R b", "a W b", "true"),
    *("Y a", "F(a & Y b)", "G(b -> O a)", "H a", "a S b", "F(c & (a S b))", "false"),
)


def difference(ours: Automaton, theirs: MonaAutomaton) -> str | None:
    """A shortest non-empty string that only one of them accepts, by exhaustive search of the product."""
    places = range(len(ours.atoms))
    letters = {letter: "".join("1" if letter >> bit & 1 else "0" for bit in places) for letter in ours.letters}
    reached = {(ours.initial, theirs.initial): ""}
    queue = [(ours.initial, theirs.initial)]
    for mine, their in queue:  # the list grows during the loop
        for letter, text in letters.items():
            after = (ours.step(mine, letter), theirs.step(their, text))
            if after not in reached:
                reached[after] = f"{reached[mine, their]} {text}"
                queue.append(after)
                if (after[0] in ours.accepting) != (after[1] in theirs.accepting):
                    return reached[after]
    return None


def check(formula: Formula) -> None:
    ours = compile_formula(formula, "free")
    with TemporaryDirectory() as folder:
        theirs = ask_mona(formula, ours.atoms or (Atom("a"),), Path(folder))
    if not ours.atoms:  # MONA needs a variable; the formula does not use it
        theirs = MonaAutomaton(
            theirs.initial, theirs.accepting, {state: [("", edges[0][1])] for state, edges in theirs.edges.items()}
        )
    assert difference(ours, theirs) is None, str(formula)


@pytest.mark.slow
@settings(max_examples=120, suppress_health_check=[HealthCheck.too_slow])
@given(free_formulas)
def test_random_formulas(formula: Formula) -> None:
    check(formula)


@pytest.mark.parametrize("formula", CORNERS)
def test_corners(formula: str) -> None:
    check(parse(formula))


@pytest.mark.parametrize("rule", load_rules(load_domain("banking").gold_file), ids=lambda rule: rule.id)
def test_published_rules(rule: Rule) -> None:
    check(body_of(rule.parsed))


@pytest.mark.parametrize(
    ("one", "other"),
    [(Next(ATOMS[0]), WeakNext(ATOMS[0])), (Until(ATOMS[0], ATOMS[1]), Until(ATOMS[1], ATOMS[0])),
     (Yesterday(ATOMS[0]), ATOMS[0])],
)  # fmt: skip
def test_the_comparison_finds_differences(one: Formula, other: Formula, tmp_path: Path) -> None:
    ours = compile_formula(one, "free")
    assert difference(ours, ask_mona(other, ours.atoms, tmp_path)) is not None
