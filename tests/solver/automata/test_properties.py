"""Properties over random formulas and traces: automata agree with the equations, and values are canonical."""

from itertools import combinations
from itertools import product as product_of

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Verdict
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.automata.operations import equivalent, product
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import AndCondition, Comparison, Condition, IsTrue, NotCondition, OrCondition
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.terms import FieldPath, LiteralList, LiteralValue
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.rules import load_rules
from tests.support.semantics import fact, holds, of_facts, true_atoms

# The first example of a test may build the grammar, on a busy machine.

ATOMS = tuple(map(fact, "abc"))


def past_formulas(leaves: st.SearchStrategy[s.Formula]) -> st.SearchStrategy[s.Formula]:
    def grow(parts: st.SearchStrategy[s.Formula]) -> st.SearchStrategy[s.Formula]:
        return st.one_of(
            st.builds(s.Not, parts),
            st.builds(s.And, parts, parts),
            st.builds(s.Implies, parts, parts),
            st.builds(s.Yesterday, parts),
            st.builds(s.Once, parts),
            st.builds(s.Historically, parts),
            st.builds(s.Since, parts, parts),
        )

    return st.recursive(leaves, grow, max_leaves=4)


def formulas(leaves: st.SearchStrategy[s.Formula], *, max_leaves: int = 8) -> st.SearchStrategy[s.Formula]:
    def grow(parts: st.SearchStrategy[s.Formula]) -> st.SearchStrategy[s.Formula]:
        unary = [st.builds(node, parts) for node in (s.Not, s.Next, s.WeakNext, s.Eventually, s.Always)]
        binary = [st.builds(node, parts, parts) for node in (s.Implies, s.Iff, s.Until, s.Release, s.WeakUntil)]
        joined = [
            st.lists(parts, min_size=2, max_size=3).map(lambda fs, node=node: node(*fs)) for node in (s.And, s.Or)
        ]
        return st.one_of(*unary, *binary, *joined)

    return st.recursive(st.one_of(leaves, leaves, past_formulas(leaves)), grow, max_leaves=max_leaves)


constants: st.SearchStrategy[s.Formula] = st.sampled_from([s.Top(), s.Bottom()])
letters_as_atoms: st.SearchStrategy[s.Formula] = st.sampled_from(ATOMS)
free_formulas = formulas(st.one_of(letters_as_atoms, letters_as_atoms, letters_as_atoms, constants))
free_traces = st.lists(st.frozensets(st.sampled_from(ATOMS)), max_size=7)

literals = st.builds(
    LiteralValue,
    st.one_of(
        st.booleans(),
        st.integers(-3, 3),
        st.floats(-2, 2, allow_nan=False),
        st.text(max_size=3),
        st.just("BILL_PAYMENT"),
    ),
)
fields = st.builds(FieldPath, st.sampled_from([("x",), ("y",), ("y", 0), ("result", "ok"), ("result",), ("X", "U")]))
operands = st.one_of(fields, literals, st.builds(LiteralList, st.lists(literals, max_size=2).map(tuple)))
operators = st.sampled_from(["==", "!=", "<", "<=", ">", ">=", "in"])
comparisons: st.SearchStrategy[Condition] = st.one_of(
    st.builds(IsTrue, fields), st.builds(Comparison, operands, operators, operands)
)


def _conditions(parts: st.SearchStrategy[Condition]) -> st.SearchStrategy[Condition]:
    several = st.lists(parts, min_size=2, max_size=3).map(tuple)
    return st.one_of(st.builds(NotCondition, parts), st.builds(AndCondition, several), st.builds(OrCondition, several))


conditions = st.recursive(comparisons, _conditions, max_leaves=3)
call_atoms = st.builds(s.Atom, st.sampled_from(["Pay", "Audit"]), st.one_of(st.none(), conditions), st.booleans())
call_formulas = formulas(st.sampled_from([s.Atom("Check")]) | call_atoms, max_leaves=5)

scalars = st.one_of(st.none(), st.booleans(), st.integers(-2, 2), st.text(max_size=2), st.just("BILL_PAYMENT"))
values = st.recursive(
    scalars, lambda parts: st.lists(parts, max_size=2) | st.dictionaries(st.just("ok"), parts), max_leaves=3
)
events = st.builds(
    Event,
    tool=st.sampled_from(["Pay", "Audit", "Check", "Other"]),
    arguments=st.dictionaries(st.sampled_from(["x", "y", "X"]), values),
    outcome=st.sampled_from(["completed", "completed", "failed", "raised", "rejected"]),
    result=values,
)


@settings(max_examples=150)
@given(free_formulas, st.lists(free_traces, min_size=1, max_size=4))
def test_the_automaton_accepts_exactly_the_traces_on_which_the_formula_holds(
    formula: s.Formula, traces: list[list[frozenset[s.Atom]]]
) -> None:
    automaton = compile_formula(formula)
    for trace in [[], *traces]:
        assert automaton.accepts(trace) == holds(formula, trace)


CORNERS = (
    *("a", "X a", "WX a", "!X a", "X true", "WX false", "F G a", "G F a", "G(X a)", "a U b", "a R b", "a W b", "true"),
    *("Y a", "F(a & Y b)", "G(b -> O a)", "H a", "a S b", "F(c & (a S b))", "false"),
)
CURATED = [rule.formula for rule in load_rules(load_domain("banking").gold_file)]


@pytest.mark.parametrize("text", [*CORNERS, *CURATED])
def test_the_automaton_agrees_with_the_equations_on_all_short_traces(text: str) -> None:
    formula = of_facts(s.body_of(parse(text)))
    automaton = compile_formula(formula)
    steps = [
        frozenset(true) for size in range(len(automaton.atoms) + 1) for true in combinations(automaton.atoms, size)
    ]
    for trace in (trace for length in range(5) for trace in product_of(steps, repeat=length)):
        assert automaton.accepts(trace) == holds(formula, trace), trace


@pytest.mark.slow
@settings(max_examples=200)
@given(call_formulas, st.lists(events, max_size=6))
def test_over_calls_automaton_and_monitor_agree_with_the_equations(formula: s.Formula, trace: list[Event]) -> None:
    automaton = compile_formula(formula)
    expected = holds(formula, [true_atoms(event, automaton.atoms) for event in trace])
    assert (automaton.run(map(automaton.alphabet.event_letter, trace)) in automaton.accepting) == expected
    monitor = Monitor({"rule": automaton})
    monitor.run(trace)
    assert (monitor.final_statuses()["rule"] == "kept") == expected


@given(st.one_of(free_formulas, call_formulas))
def test_a_printed_formula_parses_back_to_the_same_value(formula: s.Formula) -> None:
    assert parse(str(formula)) == formula


@given(free_formulas)
def test_no_two_states_accept_the_same_continuations(formula: s.Formula) -> None:
    automaton = compile_formula(formula)
    if len(automaton.table) > 12:
        return
    for one, other in combinations(range(len(automaton.table)), 2):
        assert _told_apart(automaton, one, other)


def _told_apart(automaton: Automaton, one: int, other: int) -> bool:
    """Whether some word is accepted from exactly one of two states: a search over pairs, independent of Moore."""
    reached = {(one, other)}
    for left, right in (pending := [(one, other)]):
        if (left in automaton.accepting) != (right in automaton.accepting):
            return True
        fresh = set(zip(automaton.table[left], automaton.table[right], strict=True)) - reached
        reached |= fresh
        pending.extend(sorted(fresh))
    return False


@given(free_formulas, free_traces, free_traces)
def test_permanent_verdicts_hold_for_all_continuations(
    formula: s.Formula, trace: list[frozenset[s.Atom]], more: list[frozenset[s.Atom]]
) -> None:
    automaton = compile_formula(formula)
    state = automaton.run(map(automaton.alphabet.letter, trace))
    verdict = automaton.verdicts[state]
    assert (verdict in ("satisfied", "holding")) == holds(formula, trace)
    assert automaton.can_accept(state) == (verdict != "violated")
    if verdict in ("satisfied", "violated"):
        assert holds(formula, trace + more) == (verdict == "satisfied")
    distance = automaton.distances[state]
    if distance is not None:
        ahead = [
            further for successor in automaton.table[state] if (further := automaton.distances[successor]) is not None
        ]
        assert distance == (1 + min(ahead) if verdict == "open" else 0)
    else:
        assert not holds(formula, trace + more)


def words(automaton: Automaton, letters: tuple[int, ...]) -> list[frozenset[s.Atom]]:
    return [automaton.alphabet.true_atoms(letter) for letter in letters]


@given(free_formulas, free_formulas)
def test_a_witness_of_the_difference_is_one(one: s.Formula, other: s.Formula) -> None:
    left, right = compile_formula(one), compile_formula(other)
    difference = product(left, right, lambda a, b: a != b)
    assert equivalent(left, right) == difference.is_empty
    if not difference.is_empty:
        witness = words(difference, difference.shortest_completion(difference.initial))
        assert holds(one, witness) != holds(other, witness)


@given(free_formulas, free_traces)
def test_a_shortest_completion_is_accepted(formula: s.Formula, trace: list[frozenset[s.Atom]]) -> None:
    automaton = compile_formula(formula)
    assert not automaton.is_empty or not holds(formula, trace)
    state = automaton.run(map(automaton.alphabet.letter, trace))
    if automaton.can_accept(state):
        assert holds(formula, [*trace, *words(automaton, automaton.shortest_completion(state))])


@given(free_formulas, free_formulas)
def test_equal_automata_are_equal_values(one: s.Formula, other: s.Formula) -> None:
    left = product(compile_formula(one), compile_formula(other), lambda a, b: a and b)
    right = product(compile_formula(other), compile_formula(one), lambda a, b: a and b)
    assert left == right == compile_formula(s.And(one, other))


@given(free_formulas)
def test_negation_moves_through_the_duals(formula: s.Formula) -> None:
    def same(one: s.Formula, other: s.Formula) -> bool:
        return equivalent(compile_formula(one), compile_formula(other))

    a = fact("a")
    assert same(s.Not(s.Next(formula)), s.WeakNext(s.Not(formula)))
    assert same(s.Not(s.Until(a, formula)), s.Release(s.Not(a), s.Not(formula)))
    assert same(s.WeakUntil(a, formula), s.Or(s.Until(a, formula), s.Always(a)))
    assert same(s.Not(s.Eventually(formula)), s.Always(s.Not(formula)))


@given(conditions, events)
def test_conditions_are_total_and_negation_is_complement(condition: Condition, event: Event) -> None:
    assert condition.holds(event) is not NotCondition(condition).holds(event)


@given(st.lists(events, max_size=12))
def test_feeding_one_by_one_is_running(trace: list[Event]) -> None:
    rules = {
        text: compile_formula(parse(text))
        for text in (
            "!(!Check U Pay)",
            "G(Pay(x > 0) -> F Audit)",
            "G(Check -> WX Pay)",
            "G(Pay -> O attempted(Audit))",
        )
    }
    one, other = Monitor(rules), Monitor(rules)
    one.run(trace)
    history: list[tuple[Verdict, ...]] = []
    for event in trace:
        other.feed(event)
        history.append(other.verdicts())
    assert one.statuses() == other.statuses()
    for place, automaton in enumerate(rules.values()):
        states = [
            automaton.run(map(automaton.alphabet.event_letter, trace[: index + 1])) for index in range(len(trace))
        ]
        assert [after[place] for after in history] == [automaton.verdicts[state] for state in states]
