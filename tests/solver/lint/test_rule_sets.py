"""Rule-set analysis: each kind of finding on its own rule set, and all of them against brute force.

The cost of an analysis is tested by the number of nodes that its searches create, never by time.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.domains.banking import ENVIRONMENT as BANKING
from lawtrace.environments.spec.compliance import pending_events
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import RowsResult
from lawtrace.environments.spec.expressions import RowVariable, Term
from lawtrace.environments.spec.state import Entity, Field, Row, State
from lawtrace.environments.spec.terms import constant
from lawtrace.environments.spec.tools import FromLookup, FromTrace, Parameter, Phrases, Tool
from lawtrace.environments.spec.types import TEXT, TEXTS
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.lint.findings import RuleFinding, RuleSetAnalysis
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import And, Atom, Eventually, Formula, Or, Top, atoms_of, body_of
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.planner.product import Product, environment_scope
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.search.problem import Budget, Found
from lawtrace.solver.search.products import product_search
from lawtrace.solver.search.products.call_scopes import AbstractCall
from lawtrace.solver.search.products.product_search import NODE_LIMIT, Component, search
from tests.support.semantics import holds


def environment(*tools: Tool | str) -> Environment:
    """An environment with these tools. A tool given by name has neither parameters nor results."""
    declared = [Tool(tool, "-", phrases=Phrases("-")) if isinstance(tool, str) else tool for tool in tools]
    entities = {BOX.table: BOX}
    return Environment("test", "Test", "Test", "-", entities, {tool.name: tool for tool in declared}, lambda _: ONE_BOX)


def every(row: RowVariable) -> Term:
    return constant(True)


BOX = Entity("boxes", "box", "id", {"id": Field(TEXT)}, key_prefix="B-")
ONE_BOX = State({"boxes": (Row({"id": "B-00001"}),)})
FIND = Tool("Find", "-", results=(RowsResult("boxes", "-", BOX, every, ("id",)),), phrases=Phrases("-"))
OPEN = Tool(
    "Open",
    "-",
    parameters=(Parameter("id", TEXT, "-", FromLookup(BOX)),),
    emits="OPENED",
    critical=True,
    phrases=Phrases("-"),
)
RECORD = Tool(
    "Record", "-", parameters=(Parameter("events", TEXTS, "-", FromTrace("pending", pending_events)),), compliance=True
)
BOXES = environment(FIND, OPEN, RECORD, "Wait")
LETTERS = environment("a", "b", "c", "d")


def rules_of(*formulas: str, **named: str) -> list[Rule]:
    """Rules r0, r1, ... and named rules."""
    numbered = {f"r{number}": formula for number, formula in enumerate(formulas)}
    return [Rule(id=name, formula=formula) for name, formula in {**numbered, **named}.items()]


def of_kind(analysis: RuleSetAnalysis, kind: str) -> list[RuleFinding]:
    return [finding for finding in analysis.findings if finding.kind == kind]


def test_curated_rules_have_no_findings_and_are_all_needed() -> None:
    rules = load_rules(load_domain("banking").rules_file)
    analysis = analyse_rules(BANKING, rules)
    assert analysis.findings == ()
    assert analysis.breaking.keys() == {rule.id for rule in rules}
    assert all(witness.shortest for witness in analysis.breaking.values())
    assert analysis.breaking["record-bill"].steps == ("CheckAuthorization(result.authorized)", "PayBill")
    assert analysis.calling.keys() == BANKING.tools.keys()
    assert analysis.nodes < 1_000


def test_a_rule_that_the_preconditions_do_not_allow_to_be_kept() -> None:
    (finding,) = of_kind(analyse_rules(BOXES, rules_of("Open")), "conflict")
    assert (finding.rules, finding.scope) == (("r0",), "environment")
    assert "preconditions" in finding.message
    assert "Open refers to a box, which Find must have looked up." in finding.proof


def test_every_contradictory_pair_is_named() -> None:
    found = of_kind(analyse_rules(LETTERS, rules_of("F a", "G !a", "F b", "!F a", "G(a -> F b)")), "conflict")
    assert [finding.rules for finding in found] == [("r0", "r1"), ("r0", "r3")]
    assert found[0].message == "r0 and r1 cannot be kept together"
    assert found[0].without.keys() == {"r0", "r1"}


def test_a_conflict_of_three_is_minimal_and_shows_the_need_for_each_rule() -> None:
    analysis = analyse_rules(LETTERS, rules_of("G(c -> F d)", first="F a", then="G(a -> F b)", never="G !b"))
    (finding,) = of_kind(analysis, "conflict")
    assert set(finding.rules) == {"first", "then", "never"}
    assert finding.without["then"] == ("a",)
    assert finding.without["never"] == ("a", "b")
    assert not of_kind(analysis, "unreachable")  # no trace keeps all rules, so every tool would be listed


def test_a_tool_that_one_rule_forbids_and_another_that_two_forbid() -> None:
    analysis = analyse_rules(BANKING, rules_of("!((!PayBill) U CheckAuthorization)", "G !PayBill"))
    found = {finding.tool: finding for finding in of_kind(analysis, "unreachable")}
    assert found.keys() == {"PayBill", "CheckAuthorization"}
    assert found["PayBill"].message == "no compliant trace can call PayBill, a critical tool: r1 forbids it"
    assert found["CheckAuthorization"].reasons == ("r0", "r1")
    assert {finding.scope for finding in found.values()} == {"free"}


def test_a_caller_may_take_any_row_of_a_list() -> None:
    def two_boxes(_: Random) -> State:
        return State({"boxes": tuple(Row({"id": key}) for key in ("B-00001", "B-00002"))})

    analysis = analyse_rules(replace(BOXES, populate=two_boxes), rules_of("(!Open) W Find"))
    assert analysis.findings == ()
    assert analysis.calling.keys() == BOXES.tools.keys()


def test_recording_is_unreachable_if_nothing_is_pending() -> None:
    (finding,) = of_kind(analyse_rules(environment(RECORD, "Wait"), []), "unreachable")
    assert finding.proof.endswith("Record records what is pending, and no tool leaves anything pending.")
    (finding,) = of_kind(analyse_rules(BOXES, rules_of("G !Open")), "unreachable")[1:]
    assert (finding.tool, finding.reasons, finding.scope) == ("Record", ("r0",), "environment")
    assert finding.proof.endswith("Record records what is pending, after Open.")


def test_a_redundant_rule_names_a_small_set_that_implies_it() -> None:
    analysis = analyse_rules(LETTERS, rules_of("G(c -> F d)", one="G(a -> F b)", two="G(b -> F c)", far="G(a -> F c)"))
    (finding,) = of_kind(analysis, "redundant")
    assert (finding.rules, finding.reasons) == (("far",), ("one", "two"))
    assert finding.without == {"one": ("a",), "two": ("a", "b")}
    assert "of any length" in finding.proof
    assert analysis.breaking["one"].steps == ("a", "c", "d")


def test_redundancy_is_decided_over_free_calls() -> None:
    analysis = analyse_rules(BOXES, rules_of("!((!Find) U Open)"))
    assert not of_kind(analysis, "redundant")  # although no caller with look-ups could break it
    assert analysis.breaking["r0"].steps == ("Open",)


def test_equivalent_rules_are_not_also_redundant() -> None:
    analysis = analyse_rules(LETTERS, rules_of("G(a -> F b)", "!F(a & !F b)", "!((!a) U b)", "ALWAYS((NOT a) OR F b)"))
    (finding,) = analysis.findings
    assert (finding.kind, finding.rules) == ("equivalent", ("r0", "r1", "r3"))
    assert analysis.breaking.keys() == {"r0", "r2"}


def test_a_rule_that_no_trace_triggers() -> None:
    analysis = analyse_rules(LETTERS, rules_of("G((a & b) -> F c)"))
    (finding,) = analysis.findings  # not listed as redundant as well
    assert (finding.kind, finding.reasons, finding.scope) == ("vacuous", (), "free")
    assert finding.message == "r0 is never triggered: no trace has `a & b` in it"


def test_a_rule_that_other_rules_keep_from_triggering() -> None:
    analysis = analyse_rules(LETTERS, rules_of(ban="G !a", idle="G(a -> F b)"))
    (finding,) = of_kind(analysis, "vacuous")  # not the prohibition: without it, a could happen
    assert (finding.rules, finding.reasons, finding.scope) == (("idle",), ("ban",), "free")
    assert not of_kind(analysis, "redundant")


def test_conditions_are_unconstrained_and_listed_as_an_assumption() -> None:
    large, huge = "G(a(amount > 10) -> F b)", "G(a(amount > 99) -> F b)"
    analysis = analyse_rules(LETTERS, rules_of(large, huge, plain="G(a -> F b)"))
    assert [(finding.rules, finding.reasons) for finding in analysis.findings] == [
        (("r0",), ("plain",)),
        (("r1",), ("plain",)),
    ]
    assert analyse_rules(LETTERS, rules_of(large, huge)).breaking["r0"].steps == ("a(amount > 10)",)
    assert any("values that do not go together" in sentence for sentence in analysis.assumptions)
    assert len(analyse_rules(LETTERS, rules_of("G(a -> F b)")).assumptions) < len(analysis.assumptions)


def test_undecided_questions_are_reported_without_a_claim(monkeypatch: pytest.MonkeyPatch) -> None:
    rules = rules_of(*(f"!((!{one}) U {other})" for one, other in pairwise("abcd")), "G(a -> F b)", "G(a -> F b) & F d")
    claimed = {(finding.kind, finding.rules, finding.tool) for finding in analyse_rules(LETTERS, rules).findings}
    for limit in ("BREADTH_FIRST_LIMIT", "NODE_LIMIT"):
        monkeypatch.setattr(product_search, limit, 2)
    bounded = analyse_rules(LETTERS, rules)
    assert of_kind(bounded, "undecided")
    assert all("more than 2 states" in finding.message for finding in of_kind(bounded, "undecided"))
    claims = {(finding.kind, finding.rules, finding.tool) for finding in bounded.findings if finding.scope}
    assert claims <= claimed


# Cost.


def disjoint(shape: str, count: int) -> tuple[Environment, list[Rule]]:
    names = [(f"p{number}", f"q{number}") for number in range(count)]
    tools = environment(*(tool for pair in names for tool in pair))
    return tools, rules_of(*(shape.format(p=p, q=q) for p, q in names))


def test_disjoint_rules_are_never_multiplied() -> None:
    for shape in ("G({p} -> F {q})", "!((!{p}) U {q})"):
        analysis = analyse_rules(*disjoint(shape, 12))  # 4,096 states as one automaton
        assert analysis.findings == ()
        assert len(analysis.breaking) == 12
        assert analysis.nodes < 500


@pytest.mark.slow
def test_twenty_checks_before_one_action_are_found_one_after_the_other() -> None:
    checks = [f"check{number}" for number in range(20)]
    rules = rules_of(*(f"!((!{check}) U act)" for check in checks))
    analysis = analyse_rules(environment(*checks, "act"), rules)
    assert analysis.findings == ()
    assert set(analysis.calling["act"].steps) == {*checks, "act"}
    assert not analysis.calling["act"].shortest  # that proof needs 2**20 sets of checks
    assert set(analysis.breaking["r3"].steps) == {*checks, "act"} - {"check3"}
    assert analysis.nodes < 100_000


# Scopes.


def sequences(moves: Sequence[Iterable[tuple[str, int]]], length: int) -> set[str]:
    """All sequences of that many calls, as text, through a graph that begins at 0."""
    ends = {("", 0)}
    for _ in range(length):
        ends = {(f"{path} {tool}", target) for path, place in ends for tool, target in moves[place]}
    return {path for path, _ in ends}


def test_merged_states_allow_the_same_sequences() -> None:
    for domain in (BANKING, BOXES):
        product = Product(domain, (), overapproximate=True)
        facts = [[(move.tool, move.target) for move in moves] for moves in product.moves]
        merged = [moves.items() for moves in environment_scope(domain).moves]
        assert len(merged) <= len(facts)
        for length in range(5):
            assert sequences(merged, length) == sequences(facts, length)


def test_a_refused_call_is_possible_anywhere_and_changes_nothing() -> None:
    scope = environment_scope(BOXES)
    assert scope.successor(0, AbstractCall("Open")) is None
    assert scope.successor(0, AbstractCall("Open", completed=False)) == 0
    found = search(scope, [Component(compile_formula(parse("attempted(Open)")))], Budget(NODE_LIMIT))
    assert isinstance(found, Found)
    assert [str(step) for step in found.trace] == ["Open refused"]


# Against brute force: all traces of up to four steps over the letters a, b and anything else.

SMALL = environment("a", "b")
A, B = Atom("a"), Atom("b")
TRACES = [
    trace
    for length in range(5)
    for trace in product((frozenset({A}), frozenset({B}), frozenset[Atom]()), repeat=length)
]
FORMULAS = [
    *("G(a -> F b)", "G(b -> F a)", "!((!a) U b)", "!((!b) U a)", "F a", "F b", "G !a", "G !b", "G(a -> X b)"),
    *("G(a -> WX !a)", "F(a & X F a)", "a", "!b", "(!b) W a", "G(a | b)", "true", "F(a | b)", "G((a & b) -> F a)"),
    *("G(b -> O a)", "(F a) -> (F b)", "F(b & WX false)", "G(a -> F(b | a))", "X X true", "!(X true)"),
]  # fmt: skip
COMBINED = st.one_of(
    st.sampled_from(FORMULAS),
    st.sampled_from(FORMULAS).map("!({})".format),
    st.tuples(st.sampled_from(FORMULAS), st.sampled_from(FORMULAS)).map(lambda pair: f"({pair[0]}) | ({pair[1]})"),
)
Trace = tuple[frozenset[Atom], ...]


def kept(names: Iterable[str], formulas: dict[str, Formula], trace: Trace) -> bool:
    return all(holds(formulas[name], trace) for name in names)


def read(steps: Iterable[str]) -> Trace:
    return tuple(frozenset({Atom(step)}) if step in ("a", "b") else frozenset[Atom]() for step in steps)


def trigger_of(formula: Formula) -> Formula | None:
    match match_template(formula):
        case OperationalRestriction(action=trigger) | InstructionAdherence(trigger=trigger):
            return trigger
        case None:
            atoms = atoms_of([formula])
            return Or(*atoms) if len(atoms) > 1 else atoms[0] if atoms else None


@pytest.mark.slow
@settings(max_examples=80)
@given(st.lists(COMBINED, min_size=1, max_size=4))
def test_every_answer_agrees_with_brute_force(texts: list[str]) -> None:
    rules = rules_of(*texts)
    formulas = {rule.id: body_of(rule.parsed) for rule in rules}
    analysis = analyse_rules(SMALL, rules)
    duplicates = {rule for finding in of_kind(analysis, "equivalent") for rule in finding.rules[1:]}
    distinct = formulas.keys() - duplicates

    for finding in analysis.findings:
        about = [*finding.rules, *finding.reasons]
        match finding.kind:
            case "conflict":
                assert not any(kept(about, formulas, trace) for trace in TRACES if trace)
            case "equivalent":
                assert all(len({holds(formulas[rule], trace) for rule in about}) == 1 for trace in TRACES)
            case "unreachable":
                assert not any(
                    kept(finding.reasons, formulas, t) and any(Atom(finding.tool or "") in s for s in t) for t in TRACES
                )
            case "vacuous":
                trigger = trigger_of(formulas[finding.rules[0]])
                keeping = [trace for trace in TRACES if kept(finding.reasons, formulas, trace)]
                assert trigger is None or not any(holds(trigger, [step]) for trace in keeping for step in trace)
            case "redundant":
                assert all(kept(finding.rules, formulas, t) for t in TRACES if kept(finding.reasons, formulas, t))
            case "undecided" | "unseparated" | "undeclared":
                raise AssertionError(finding.message)

    if of_kind(analysis, "conflict"):
        return
    together = compile_formula(And(*formulas.values(), Eventually(Top())))  # the empty trace does not count
    assert not together.is_empty
    assert len(together.shortest_completion(together.initial)) > 4 or any(
        kept(formulas, formulas, trace) for trace in TRACES if trace
    )
    for rule, witness in analysis.breaking.items():
        trace = read(witness.steps)
        assert kept(distinct - {rule}, formulas, trace)
        assert not holds(formulas[rule], trace)
        shorter = [t for t in TRACES if len(t) < len(trace) and kept(distinct - {rule}, formulas, t)]
        assert all(holds(formulas[rule], trace) for trace in shorter)
    judged = {rule for kind in ("redundant", "vacuous") for f in of_kind(analysis, kind) for rule in f.rules}
    assert analysis.breaking.keys() | judged == distinct
    for tool, witness in analysis.calling.items():
        assert tool in witness.steps
        assert kept(formulas, formulas, read(witness.steps))
