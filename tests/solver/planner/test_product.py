"""The product of abstract states and rules: all feasible pairs, no dead ends, agreement with brute force."""

from itertools import product as all_words
from random import Random

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.events import Event
from lawtrace.schemas.trace_options import TraceMode
from lawtrace.solver.coverage.measures import measure_coverage
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner import product as product_module
from lawtrace.solver.planner.argument_choices import ArgumentChooser
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.search_state import SearchState, apply_call, initial_search_state
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.tool_sequences import draw_tool_sequence
from lawtrace.solver.planner.trace_spec import TraceSpec, adjacent_pairs, mode_formulas
from lawtrace.solver.predicates import ObservedPredicates
from lawtrace.solver.rules import Rule, load_rules
from tests.support.bare_environment import bare_environment
from tests.support.trace_checks import keeps

RULES = load_rules(load_domain("banking").gold_file)
NOTHING = ObservedPredicates(())


def product_of(mode: TraceMode) -> Product:
    return Product(ENVIRONMENT, TraceSpec(ENVIRONMENT, tuple(RULES), mode).automata(8))


PRODUCTS: dict[TraceMode, Product] = {"tasks": product_of("tasks"), "coverage": product_of("coverage")}


def accepts(product: Product, walk: tuple[str, ...]) -> bool:
    """Whether the sequence leads to an accepting node."""
    node = 0
    for number, tool in enumerate(walk):
        moves = [move for move in product.completable_moves(node, len(walk) - number) if move.tool == tool]
        if not moves:
            return False
        node = moves[0].target
    return product.can_finish(node, 0)


def can_happen(walk: tuple[str, ...], formulas: tuple[str, ...]) -> bool:
    """By brute force: the sequence can be instantiated in some initial state, and its events satisfy the formulas."""
    for seed in range(3):
        events = run_walk(walk, Random(seed))
        if events is not None:
            return all(keeps(formula, events) for formula in formulas)
    return False


def run_walk(walk: tuple[str, ...], random: Random) -> tuple[Event, ...] | None:
    """Calls with arguments known to the caller, without a plan; None if one of them does not complete."""
    chooser = ArgumentChooser(ENVIRONMENT, NOTHING, lambda search_state, table, keys: {(): keys} if keys else {})
    search_state: SearchState | None = initial_search_state(ENVIRONMENT, ENVIRONMENT.populate(random))
    for name in walk:
        choice = chooser.sample(search_state, ENVIRONMENT.tools[name], random)
        search_state = apply_call(ENVIRONMENT, search_state, choice) if choice is not None else None
        if search_state is None:
            return None
    return search_state.events


@pytest.mark.parametrize("length", [1, 2, 3])
def test_every_short_sequence_by_brute_force(length: int) -> None:
    formulas = tuple(rule.formula for rule in RULES)
    possible = {walk for walk in all_words(ENVIRONMENT.tools, repeat=length) if can_happen(walk, formulas)}
    planned = {walk for walk in all_words(ENVIRONMENT.tools, repeat=length) if accepts(PRODUCTS["coverage"], walk)}
    assert planned == possible
    pairs = {pair for walk in possible for pair in adjacent_pairs(walk)}
    assert PRODUCTS["coverage"].feasible_pairs(length) == pairs


def test_a_sample_of_longer_sequences_by_brute_force() -> None:
    """A sample of the 4,096 sequences of four calls, and of those that differ from accepted ones in one call."""
    product = PRODUCTS["tasks"]
    formulas = (*(rule.formula for rule in RULES), *mode_formulas(ENVIRONMENT, "tasks").values())
    random, tools = Random(7), list(ENVIRONMENT.tools)
    walks = [tuple(random.choices(tools, k=4)) for _ in range(60)]
    for _ in range(60):
        walk = list(draw_tool_sequence(product, 6, random, set()))
        walks.append(tuple(walk))
        walk[random.randrange(6)] = random.choice(tools)
        walks.append(tuple(walk))
    answers = [(accepts(product, walk), can_happen(walk, formulas)) for walk in walks]
    assert [walk for walk, (planned, possible) in zip(walks, answers, strict=True) if planned is not possible] == []
    assert {planned for planned, _ in answers} == {True, False}


@pytest.mark.parametrize(
    ("mode", "length", "pairs"),
    [
        ("coverage", 1, 0),
        ("coverage", 2, 10),
        ("coverage", 3, 16),
        ("coverage", 4, 19),
        ("coverage", 5, 41),
        ("coverage", 6, 59),
        ("coverage", 8, 63),
        ("coverage", 20, 63),
        ("tasks", 4, 0),
        ("tasks", 8, 54),
        ("tasks", 20, 54),
    ],
)
def test_feasible_pairs(mode: TraceMode, length: int, pairs: int) -> None:
    assert len(PRODUCTS[mode].feasible_pairs(length)) == pairs


def test_the_infeasible_pair_of_the_mode_coverage() -> None:
    everything = set(all_words(ENVIRONMENT.tools, repeat=2))
    assert everything - PRODUCTS["coverage"].feasible_pairs(8) == {("RecordAuditEvent", "RecordAuditEvent")}


@pytest.mark.parametrize(("mode", "pairs"), [("coverage", 63), ("tasks", 54)])
def test_forty_traces_cover_every_feasible_pair(mode: TraceMode, pairs: int) -> None:
    traces = [trace.events for trace in synthesize(ENVIRONMENT, RULES, count=40, length=8, seed=0, mode=mode)]
    coverage = measure_coverage(ENVIRONMENT, traces)
    assert (coverage.traces, coverage.all_pairs, coverage.all_critical) == (40, 64, ENVIRONMENT.critical_tools)
    assert coverage.pairs == PRODUCTS[mode].feasible_pairs(8)
    assert coverage.atc == pairs / 64
    assert coverage.critical_share == 1.0


def test_coverage_counts_completed_calls_only() -> None:
    trace = next(synthesize(ENVIRONMENT, RULES, count=1, length=8, seed=0)).events
    with_failures = [event for event in trace for event in (event, type(event)("PayBill", {}, "failed"))]
    assert measure_coverage(ENVIRONMENT, [with_failures]).pairs == measure_coverage(ENVIRONMENT, [trace]).pairs
    nothing = measure_coverage(ENVIRONMENT, [])
    assert (nothing.atc, nothing.critical_share, nothing.pairs) == (0.0, 0.0, frozenset())


@pytest.mark.parametrize("mode", PRODUCTS)
def test_no_completable_move_is_a_dead_end(mode: TraceMode) -> None:
    product = PRODUCTS[mode]
    for node in range(len(product.moves)):
        for remaining in range(1, 9):
            assert bool(product.completable_moves(node, remaining)) is product.can_finish(node, remaining)


def test_every_tool_is_reachable_and_every_reference_has_rows() -> None:
    assert {tool for pair in PRODUCTS["tasks"].feasible_pairs(8) for tool in pair} == set(ENVIRONMENT.tools)
    required = PRODUCTS["tasks"].system.abstraction.row_caps
    assert required == {"accounts": 2, "payees": 1}
    for seed in range(20):
        state = ENVIRONMENT.populate(Random(seed))
        assert all(len(list(state.rows(table))) >= count for table, count in required.items())


def test_an_infeasible_length_is_refused() -> None:
    with pytest.raises(SearchError, match="no compliant trace of 3 calls exists"):
        draw_tool_sequence(PRODUCTS["tasks"], 3, Random(0), set())
    assert draw_tool_sequence(PRODUCTS["coverage"], 0, Random(0), set()) == ()


def test_sequences_prefer_wanted_pairs() -> None:
    product, random = PRODUCTS["coverage"], Random(1)
    first = draw_tool_sequence(product, 8, random, set())
    second = draw_tool_sequence(product, 8, random, product.feasible_pairs(8) - adjacent_pairs(first))
    assert len(adjacent_pairs(second) - adjacent_pairs(first)) >= 5


@pytest.mark.parametrize("mode", PRODUCTS)
def test_a_sequence_has_the_only_wanted_pair(mode: TraceMode) -> None:
    """However rare the pair is, even a single prefix is led to it."""
    product = PRODUCTS[mode]
    for pair in sorted(product.feasible_pairs(8)):
        assert pair in adjacent_pairs(draw_tool_sequence(product, 8, Random(0), {pair}))


@pytest.mark.parametrize("mode", PRODUCTS)
def test_a_divided_product_has_the_same_sequences(mode: TraceMode, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(product_module, "MAX_JOINED", (1, 1))
    monkeypatch.setattr(product_module, "MAX_OF_GROUP", (1, 1))
    joined, divided = PRODUCTS[mode], product_of(mode)
    for length in range(5, 9):
        assert divided.can_finish(0, length)
        assert joined.feasible_pairs(length) <= divided.feasible_pairs(length)
    random = Random(0)
    for _ in range(20):
        for one, other in ((joined, divided), (divided, joined)):
            assert other.accepts_sequence(0, draw_tool_sequence(one, 6, random, set()))
    for pair in sorted(joined.feasible_pairs(6))[::9]:
        sequence = draw_tool_sequence(divided, 6, random, {pair})
        assert pair in adjacent_pairs(sequence)
        assert joined.accepts_sequence(0, sequence)
    for walk in all_words(ENVIRONMENT.tools, repeat=3):
        assert joined.accepts_sequence(0, walk) is divided.accepts_sequence(0, walk)


@pytest.mark.parametrize("duties", [4, 15])
def test_independent_duties_do_not_multiply(duties: int) -> None:
    """Each of them can be open or not; the demands need two calls each, which a lower bound nearly finds."""
    rules = [f"G(Ask{number} -> F Answer{number})" for number in range(duties)]
    environment = bare_environment(rules)
    demands = [f"F Ask{number}" for number in range(4)]
    spec = TraceSpec(environment, tuple(Rule(id=text, formula=text) for text in (*rules, *demands)), "coverage")
    product = Product(environment, spec.automata(8))
    assert not product.can_finish(0, 6)
    with pytest.raises(SearchError, match="no compliant trace of 7 calls"):
        draw_tool_sequence(product, 7, Random(0), set())
    tools = draw_tool_sequence(product, 8, Random(0), set())
    assert {f"Ask{number}" for number in range(4)} < {*tools}
    assert len(next(synthesize(environment, spec.rules, count=1, length=12, seed=1, mode="coverage")).calls) == 12
