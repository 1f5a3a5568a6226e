"""The search on every built-in environment with its rules: no initial state fails, and every feasible pair occurs."""

from itertools import product as all_pairs
from random import Random

import pytest

from lawtrace.schemas.trace_options import TraceMode
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.declarations.loader import PAPER_DOMAINS, load_domain
from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.search import TraceSearch
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.tool_sequences import draw_tool_sequence
from lawtrace.solver.planner.trace_spec import TraceSpec, mode_formulas
from lawtrace.solver.predicates import ObservedPredicates
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.search.problem import Found, Unknown
from lawtrace.solver.search.smt.bounded_model_checking import BoundedEncoding
from tests.support.trace_checks import check_trace
from tests.support.z3_use import counted_z3_use

LENGTH = 8
WORLDS = [pytest.param(name, marks=[] if name == "banking" else pytest.mark.slow) for name in PAPER_DOMAINS]


@pytest.mark.parametrize("mode", ["tasks", pytest.param("coverage", marks=pytest.mark.slow)])
@pytest.mark.parametrize("where", WORLDS)
def test_synthesized_traces_are_valid_and_have_every_pair(where: str, mode: TraceMode) -> None:
    domain = load_domain(where)
    rules = load_rules(domain.rules_file)
    environment = domain.environment
    feasible = Product(environment, TraceSpec(environment, rules, mode).automata(LENGTH)).feasible_pairs(LENGTH)
    shown: set[tuple[str, str]] = set()
    for trace in synthesize(environment, rules, count=60, length=LENGTH, seed=3, mode=mode):
        check_trace(environment, trace, rules, mode_formulas(environment, mode).values(), LENGTH)
        shown.update(zip(trace.tools, trace.tools[1:], strict=False))
    assert shown <= feasible
    assert len(feasible - shown) <= len(feasible) // 50


@pytest.mark.parametrize("where", WORLDS)
def test_abstract_sequences_can_be_instantiated(where: str) -> None:
    """Without rules, random sequences of the abstract transition system can be instantiated."""
    environment = load_domain(where).environment
    product = Product(environment, ())
    assert product.predicates == ObservedPredicates(())
    search = TraceSearch(TraceSpec(environment, (), "coverage"))
    with counted_z3_use() as use:
        carried = [
            search.find(product, draw_tool_sequence(product, LENGTH, Random(seed), set()), Random(seed)) is not None
            and not use.queries
            for seed in range(40)
        ]
    assert sum(carried) >= 38


@pytest.mark.slow
def test_capped_counts_exclude_no_pair() -> None:
    """The abstraction counts two guests without access; three can be added and given access one by one."""
    environment = load_domain("smart_home").environment
    rule = Rule(id="three", formula="F(GrantGuestAccess & X(GrantGuestAccess & X GrantGuestAccess))")
    assert analyse_rules(environment, [rule]).findings == ()
    spec = TraceSpec(environment, (rule,), "coverage")
    assert not Product(environment, spec.automata(LENGTH)).can_finish(0, LENGTH)
    (trace,) = synthesize(environment, [rule], count=1, length=LENGTH, seed=1, mode="coverage")
    check_trace(environment, trace, [rule], (), LENGTH)


@pytest.mark.parametrize(("mode", "length"), [("coverage", 4), pytest.param("tasks", 6, marks=pytest.mark.slow)])
@pytest.mark.parametrize("where", WORLDS)
def test_z3_and_the_product_have_the_same_pairs(where: str, mode: TraceMode, length: int) -> None:
    """Z3 covers one initial state and the product all, so Z3 is queried for one of each initial abstract state."""
    domain = load_domain(where)
    environment = domain.environment
    spec = TraceSpec(environment, load_rules(domain.rules_file), mode)
    product = Product(environment, spec.automata(length))
    automata = {requirement.name: requirement.automaton for requirement in spec.requirements(length)}
    states = [environment.populate(Random(seed)) for seed in range(8)]
    beginnings = {product.initial_state(product.system.initial_search_state(state)): state for state in states}
    found: set[tuple[str, str]] = set()
    for state in beginnings.values():
        encoding = BoundedEncoding(environment, automata, length=length, initial=state)
        for first, second in all_pairs(environment.tools, repeat=2):
            answer = encoding.ask_pair(first, second)
            assert not isinstance(answer, Unknown), (first, second)
            if isinstance(answer, Found):
                found.add((first, second))
    assert found == product.feasible_pairs(length)


def test_z3_finds_permanent_and_temporary_access() -> None:
    environment = load_domain("smart_home").environment
    given: list[object] = []
    for rule in ("F GrantGuestAccess(permanent)", "F GrantGuestAccess(not permanent)"):
        encoding = BoundedEncoding(
            environment, {rule: compile_formula(parse(rule))}, length=2, initial=environment.populate(Random(0))
        )
        answer = encoding.ask()
        assert isinstance(answer, Found)
        given.append(sorted(set(answer.trace[1].arguments)))
    assert given == [["guest_ids", "permanent"], ["end_time", "guest_ids", "permanent", "start_time"]]


@pytest.mark.slow
def test_a_walk_goes_back_to_the_call_whose_object_a_rule_compares() -> None:
    """Both guests who are deleted must be among those whose access was revoked three calls earlier."""
    domain = load_domain("smart_home")
    rules = load_rules(domain.rules_file)
    product = Product(domain.environment, TraceSpec(domain.environment, rules, "tasks").automata(LENGTH))
    search = TraceSearch(TraceSpec(domain.environment, rules, "tasks"))
    tools = ("CheckAuthorization", "SearchGuests", "SearchGuests", "RevokeGuestAccess", "CheckLockStatus")
    tools = (*tools, "DeleteGuest", "DeleteGuest", "RecordAuditEvent")
    without_solver = 0
    for seed in range(10):
        with counted_z3_use() as use:
            trace = search.find(product, tools, Random(seed))
        assert trace is not None
        without_solver += not use.queries
        check_trace(domain.environment, trace, rules, mode_formulas(domain.environment, "tasks").values(), LENGTH)
    assert without_solver >= 4  # from the first initial states; the solver is asked about the others
