"""Quantified rules: parsing, semantics and monitoring."""

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.conditions import AndCondition, Comparison, Condition, NotCondition, OrCondition
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.scoping import instantiate
from lawtrace.solver.logic.signature import ANYTHING, ToolSignature
from lawtrace.solver.logic.templates import InstructionAdherence, match_template
from lawtrace.solver.logic.terms import BoundVariable, FieldPath, with_list_index
from lawtrace.solver.logic.type_check import check_formula
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.monitoring.instances import Instances
from lawtrace.solver.monitoring.monitor import Monitor, TriggerFinder
from tests.support.semantics import holds_on, occurring_values

ADDED = "forall g: G(Delete(g in ids) -> O Add(result.id == g))"
AUDITED = "forall a: G(Pay(account == a) -> F Audit(account == a))"


def add(guest: str) -> Event:
    return Event("Add", {}, result={"id": guest})


def delete(*guests: str) -> Event:
    return Event("Delete", {"ids": [*guests]})


def pay(account: object, outcome: str = "completed") -> Event:
    return Event("Pay", {"account": account}, outcome)  # pyright: ignore[reportArgumentType]


def audit(account: object) -> Event:
    return Event("Audit", {"account": account})  # pyright: ignore[reportArgumentType]


def watch(rule: str, *events: Event) -> Monitor:
    monitor = Monitor({"rule": compile_formula(parse(rule))})
    monitor.run(events)
    return monitor


@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (ADDED, ADDED),
        ("FORALL a: ALWAYS (P(x == a) IMPLIES EVENTUALLY(Q))", "forall a: G(P(x == a) -> F Q)"),
        ("forall U: P(U == x)", "forall U: P(U == x)"),
        ("forall a: (P(not (x == a)))", "forall a: P(not x == a)"),
    ],
)
def test_quantified_rules_print_alike(text: str, printed: str) -> None:
    assert str(parse(text)) == printed
    assert parse(printed) == parse(text)


@pytest.mark.parametrize(
    ("text", "column", "said"),
    [
        ("forall g: G P(g)", 8, "`g` stands alone"),
        ("forall g: G P(not g.name)", 8, "`g.name` stands alone"),
        ("forall g: G P(g.name == x)", 8, "has no parts"),
        ("forall g: G P(x == y)", 8, "no condition compares a field with `g`"),
        ("forall result: G P(x == result)", 8, "cannot name the variable"),
        ("forall g G P(x == g)", 10, "found `G` where `,` or `:` was expected"),
        ("forall g:", 10, "the text ends where a formula was expected"),
    ],
)
def test_invalid_variables_are_refused_with_their_position(text: str, column: int, said: str) -> None:
    with pytest.raises(FormulaError) as caught:
        parse(text)
    first, *_ = str(caught.value).split("\n")
    assert first.startswith(f"line 1, column {column}: ")
    assert said in first


def test_a_variable_is_not_an_argument() -> None:
    tools = {name: ToolSignature({"account": ANYTHING}) for name in ("Pay", "Audit")}
    check_formula(parse(AUDITED), tools)
    opening = ToolSignature({"number": ANYTHING, "account": ANYTHING})
    with pytest.raises(FormulaError, match="give the variable another name"):
        check_formula(parse("forall account: G(Pay -> Open(number == account))"), {"Open": opening, **tools})
    with pytest.raises(FormulaError, match="did you mean `account`"):
        check_formula(parse("forall a: G Pay(acount == a)"), tools)


def test_a_quantified_rule_has_the_template_of_its_body() -> None:
    assert isinstance(match_template(parse(AUDITED)), InstructionAdherence)


def test_each_value_is_judged_on_its_own() -> None:
    assert watch(ADDED, add("a"), delete("a")).final_statuses() == {"rule": "kept"}
    status = watch(ADDED, add("a"), delete("a", "b"), delete("c")).status("rule")
    assert (status.ending, status.first_irreparable, status.values) == ("broken", 1, ("b",))
    assert watch(AUDITED, pay(1), pay(2), audit(1)).status("rule").values == (2,)


def test_what_happened_before_a_value_occurs_counts() -> None:
    """Events before the first occurrence move the state of values that have not occurred."""
    closed = "forall a: G(Pay(account == a) -> !O Close)"
    assert watch(closed, Event("Close", {}), pay(1)).status("rule").values == (1,)
    assert watch(closed, pay(1), Event("Close", {})).final_statuses() == {"rule": "kept"}


def test_an_open_rule_names_its_values_and_closing_calls() -> None:
    status = watch(AUDITED, pay("x"), pay("y"), audit("x"), pay("z")).status("rule")
    assert (status.verdict, status.ending, status.first_irreparable) == ("open", "left_open", None)
    assert status.values == ("y", "z")
    assert status.closing == ("Audit(account == a)",)


def test_a_rule_is_triggered_if_it_is_for_some_value() -> None:
    assert not watch(AUDITED, audit(1)).status("rule").triggered
    assert watch(AUDITED, audit(1), pay(2), audit(2)).status("rule").triggered
    events = [audit(1), pay(2), audit(2), pay(3, "failed"), pay(3)]
    assert TriggerFinder(compile_formula(parse(AUDITED))).find(events) == [1, 4]


@pytest.mark.parametrize(
    ("formula", "occasions"),
    [
        ("forall a: G(Pay(account == a) | Audit(account == a) -> O[<= 5min] Check(account == a))", 3),
        ("forall a: G((Pay(account == a) | Pay(account == a, large == true)) -> O[<= 5min] Check(account == a))", 2),
        ("forall a: G(Pay(account > a) & O Limit(max == a) -> O[<= 5min] Check)", 2),
    ],
)
def test_occasions_are_counted_for_alternatives_and_for_values_found_elsewhere(formula: str, occasions: int) -> None:
    watch = FirstOrderMonitor(FirstOrderRule(parse(formula)))
    for time, event in enumerate((pay(1), audit(1), Event("Pay", {"account": 2, "large": True}))):
        watch.feed(replace(event, time=time))
    assert watch.triggered == occasions


def test_values_are_distinguished_as_in_json() -> None:
    assert watch(AUDITED, pay(1), audit(1.0)).final_statuses() == {"rule": "kept"}
    assert watch(AUDITED, pay(1), audit(True)).status("rule").values == (1,)
    assert watch(AUDITED, pay(1), audit("1")).status("rule").values == (1,)
    for nothing in (None, [1], {"account": 1}):
        assert watch(AUDITED, pay(nothing)).final_statuses() == {"rule": "kept"}


def test_values_of_refused_calls_count_only_if_attempts_do() -> None:
    assert watch("forall a: G !Pay(account == a)", pay(1, "raised")).final_statuses() == {"rule": "kept"}
    assert watch("forall a: F Audit(account == a) | G !Pay(account == a)", pay(1, "raised")).final_statuses() == {
        "rule": "kept"
    }
    assert watch("forall a: G !attempted(Pay(account == a))", pay(1, "raised")).status("rule").values == (1,)


def test_the_verdict_after_each_event() -> None:
    trace = [pay(1), audit(1), pay(2)]
    assert [watch(AUDITED, *trace[:number]).verdicts() for number in (1, 2, 3)] == [("open",), ("holding",), ("open",)]
    assert watch("forall a: F Audit(account == a)", audit(1)).verdicts() == ("holding",)


def test_merged_values_keep_the_order_of_violations() -> None:
    rule = "forall a: G(Pay(account == a) -> X Audit(account == a))"
    status = watch(rule, pay(1), pay(2), Event("Other", {}), Event("Other", {})).status("rule")
    assert (status.first_irreparable, status.values) == (1, (1,))


# Against the equations.

V = BoundVariable("v")
FIELDS = st.sampled_from([FieldPath(("x",)), FieldPath(("y",)), FieldPath(("result",))])


def equal_to(field: FieldPath) -> Condition:
    return Comparison(field, "==", V)


def equal_from(field: FieldPath) -> Condition:
    return Comparison(V, "==", field)


def among(field: FieldPath) -> Condition:
    return Comparison(V, "in", field)


def both(one: Condition, other: Condition) -> Condition:
    return AndCondition((one, other))


def either(one: Condition, field: FieldPath) -> Condition:
    return OrCondition((one, Comparison(field, "==", FieldPath(("x",)))))


def about_both(atom: s.Atom, body: s.Formula) -> s.ForAll:
    return s.ForAll(("v",), s.And(body, s.Implies(atom, body)))


meeting: st.SearchStrategy[Condition] = st.one_of(
    st.builds(equal_to, FIELDS), st.builds(among, FIELDS), st.builds(equal_from, FIELDS)
)
conditions: st.SearchStrategy[Condition] = st.one_of(
    meeting,
    meeting,
    st.builds(NotCondition, meeting),
    st.builds(both, meeting, meeting),
    st.builds(either, meeting, FIELDS),
)
tools = st.sampled_from(["A", "B"])
meeting_atoms = st.builds(s.Atom, tools, conditions, st.booleans())
atoms: st.SearchStrategy[s.Formula] = st.one_of(meeting_atoms, meeting_atoms, st.builds(s.Atom, tools))


def past(parts: st.SearchStrategy[s.Formula]) -> st.SearchStrategy[s.Formula]:
    unary = [st.builds(node, parts) for node in (s.Not, s.Yesterday, s.Once)]
    return st.one_of(*unary, st.builds(s.Since, parts, parts))


def future(parts: st.SearchStrategy[s.Formula]) -> st.SearchStrategy[s.Formula]:
    unary = [st.builds(node, parts) for node in (s.Not, s.Next, s.Eventually, s.Always)]
    binary = [st.builds(node, parts, parts) for node in (s.Implies, s.Until, s.And, s.Or)]
    return st.one_of(*unary, *binary)


bodies: st.SearchStrategy[s.Formula] = st.recursive(
    st.one_of(atoms, st.recursive(atoms, past, max_leaves=3)), future, max_leaves=5
)
rules = st.builds(about_both, meeting_atoms, bodies)
scalars = st.sampled_from([0, 1, 1.0, True, "a", "b"])
values = st.one_of(scalars, st.lists(scalars, max_size=3), st.none())
events = st.builds(
    Event,
    tool=st.sampled_from(["A", "A", "B", "C"]),
    arguments=st.dictionaries(st.sampled_from(["x", "y"]), values),
    outcome=st.sampled_from(["completed", "completed", "completed", "raised"]),
    result=values,
)


@pytest.mark.slow
@settings(max_examples=400)
@given(rules, st.lists(events, max_size=7))
def test_the_monitor_agrees_with_the_equations(rule: s.ForAll, trace: list[Event]) -> None:
    monitor = Monitor({"rule": compile_formula(rule)})
    for number, event in enumerate(trace, 1):
        monitor.feed(event)
        assert (monitor.verdicts()[0] in ("satisfied", "holding")) == holds_on(rule, trace[:number])
    status = monitor.status("rule")
    assert (status.ending == "kept") == holds_on(rule, trace)
    met = [value for event in trace for value in occurring_values(rule, event)]
    broken = [value for value in met if not holds_on(instantiate(rule, {"v": value}), trace)]
    assert set(map(json.dumps, status.values)) <= set(map(json.dumps, broken))
    if status.first_irreparable is None:
        assert {(type(v) is bool, v) for v in status.values} == {(type(v) is bool, v) for v in broken}


@given(rules, st.lists(events, max_size=6))
def test_the_first_irreparable_event_is_that_of_an_instance(rule: s.ForAll, trace: list[Event]) -> None:
    """Compares with the automaton of each instance."""
    lost: list[int] = []
    known: list[tuple[bool, object]] = []
    for number, event in enumerate(trace):
        known += [(isinstance(value, bool), value) for value in occurring_values(rule, event)]
        for _, value in known:
            assert isinstance(value, bool | int | float | str)
            alone: Automaton = compile_formula(rule.body)
            state = alone.run(alone.alphabet.event_letter(past_event, value) for past_event in trace[: number + 1])
            lost += [number] if alone.verdicts[state] == "violated" else []
    monitor = Monitor({"rule": compile_formula(rule)})
    monitor.run(trace)
    assert monitor.first_irreparable["rule"] == min(lost, default=None)


@given(rules)
def test_a_printed_rule_parses_back(rule: s.ForAll) -> None:
    assert parse(str(rule)) == rule


ELEMENTS = st.sampled_from([True, False, 0, 1, 1.0, 0.5, 2**60, float(2**60), "", "1", "true", None, [], [1], {"a": 1}])


@given(elements=st.lists(ELEMENTS, max_size=25), other=ELEMENTS)
def test_an_indexed_list_has_the_same_elements(elements: list[Json], other: Json) -> None:
    event = Event("Delete", {"ids": elements, "id": other})
    member = Comparison(FieldPath(("id",)), "in", FieldPath(("ids",)))
    anyone = Comparison(BoundVariable("g"), "in", FieldPath(("ids",)))
    assert with_list_index(event) == event
    assert member.holds(with_list_index(event)) == member.holds(event)
    for value in (True, False, 0, 1, 1.0, "1", 2**60):
        assert anyone.holds(with_list_index(event), {"g": value}) == anyone.holds(event, {"g": value})


def test_an_event_with_thousands_of_values_is_read_once() -> None:
    """Scanning the whole list for each value would take minutes."""
    guests = [f"guest_{number}" for number in range(20_000)]
    status = watch(ADDED, add(guests[0]), delete(*guests)).status("rule")
    assert status.values == tuple(guests[1:])


def test_the_cost_of_an_event_does_not_grow_with_the_number_of_values() -> None:
    """Measured in groups, not seconds: there are at most as many groups as state numbers."""
    automaton = compile_formula(parse("forall a: G(Pay(account == a) -> X (Audit | Pay))"))
    states = len(automaton.table)
    columns: dict[int, tuple[int, ...]] = {}
    for place, letter in enumerate(automaton.letters):
        column = [row[place] for row in automaton.table]
        columns[letter] = (*column, *(state + states for state in column))
    instances = Instances(automaton, [automaton.initial], 0, columns)
    for number in range(2_000):
        instances.feed(pay(number), number)
        assert instances.groups <= 2 * states
    assert instances.unsatisfied_values() == (1_999,)
