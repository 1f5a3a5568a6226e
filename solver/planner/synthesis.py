"""Why no trace meets what was asked: the smallest set of demands and rules found that excludes each other, or a length.

The questions go to the prover of `lawtrace.solver.lint.rule_sets`, which draws rules in only when they matter, so that
forty rules are no forty-fold product. The goal is that every call completes, and how many there are.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from random import Random

from lawtrace.environments.errors import SearchError
from lawtrace.environments.spec.declaration import Environment
from lawtrace.solver.lint.findings import join_names
from lawtrace.solver.ltlf import compile_formula, parse
from lawtrace.solver.model_checking.call_scopes import free_scope
from lawtrace.solver.model_checking.product_search import NODE_LIMIT, Component, keeping_component
from lawtrace.solver.model_checking.prover import Infeasible, Prover
from lawtrace.solver.planner.instantiation import instantiate_sequence
from lawtrace.solver.planner.product import Product, environment_scope
from lawtrace.solver.planner.tool_sequences import ToolPair, ToolSequence, adjacent_pairs, draw_tool_sequence
from lawtrace.solver.planner.trace_spec import (
    NO_CONSTRAINTS,
    TraceConstraints,
    TraceProfile,
    TraceSpec,
    completed_calls_automaton,
)
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace

MAX_EXTRA_CALLS = 100
"""How many calls beyond the length asked for are tried, to name one that works."""


def explain_infeasibility(spec: TraceSpec, length: int) -> SearchError:
    """The error for a search that has no trace of that length, with what stands in the way."""
    environment = spec.environment
    prover = Prover(free_scope(environment), environment_scope(environment), NODE_LIMIT)
    start = f"environment {environment.name!r}: no compliant trace of {length} calls exists"
    at_all = prover.prove(
        Component(completed_calls_automaton(environment)),
        _requirement_components(_without_share_constraint(spec), length),
    )
    if isinstance(at_all, Infeasible):
        causes = _core_names(at_all)
        remedy = "loosen one of them" if causes[1:] else "change it"
        return SearchError(f"{start}, nor of any other length: {_exclusion_text(causes)}; {remedy}")
    exactly = prover.prove(
        Component(completed_calls_automaton(environment, length)), _requirement_components(spec, length)
    )
    causes = _core_names(exactly) if isinstance(exactly, Infeasible) else ["all that is asked for together"]
    longer = nearest_feasible_length(spec, range(length, length + MAX_EXTRA_CALLS))
    if longer is not None:
        why = f"{join_names(causes)} need more calls"
        return SearchError(f"{start}: {why}; ask for {longer}, the shortest from there on")
    shorter = nearest_feasible_length(spec, range(length - 1, 0, -1))
    remedy = "" if shorter is None else f"; there are some of {shorter} calls"
    return SearchError(f"{start}: {_exclusion_text(causes)} at that length{remedy}")


def nearest_feasible_length(spec: TraceSpec, lengths: Iterable[int]) -> int | None:
    """The first of these numbers of calls that some trace has, by what plans go by; None if none has."""
    product = None
    for length in lengths:
        if product is None or spec.constraints.compliance is not None:
            try:
                product = Product(spec.environment, spec.automata(length), overapproximate=True)
            except SearchError:  # no whole number of that many calls is such a share
                continue
        if product.can_finish(0, length):
            return length
    return None


def _without_share_constraint(spec: TraceSpec) -> TraceSpec:
    """What is asked of traces whatever their length: how many calls a share comes to depends on that."""
    return replace(spec, constraints=spec.constraints.model_copy(update={"compliance": None}))


def _requirement_components(spec: TraceSpec, length: int) -> dict[str, Component]:
    return {requirement.name: keeping_component(requirement.automaton) for requirement in spec.requirements(length)}


def _core_names(answer: Infeasible) -> list[str]:
    world = [] if answer.scope == "free" and answer.core else ["the environment's preconditions"]
    return [*answer.core, *world]


def _exclusion_text(causes: Sequence[str]) -> str:
    return f"{join_names(causes)} exclude each other" if causes[1:] else f"{causes[0]} excludes every one"


INITIAL_STATES_PER_SEQUENCE = 20
SEQUENCES_PER_TRACE = 5
"""How many walks are tried for one trace. Facts leave numbers out, so the world may refuse what the product allows."""


def synthesize(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    count: int,
    length: int,
    seed: int,
    profile: TraceProfile = "tasks",
    constraints: TraceConstraints = NO_CONSTRAINTS,
) -> Iterator[Trace]:
    """Yield ``count`` compliant traces of ``length`` calls; the same seed gives the same traces (P 3.3).

    Raises SearchError if no such trace exists, naming the rules and wishes that exclude each other or the shortest
    length that works; if no further one is at the wished distance; or if the environment's own initial states cannot
    carry a walk that its rules allow.
    """
    if length < 0:
        raise SearchError(f"a trace cannot have {length} calls")
    spec = TraceSpec(environment, tuple(rules), profile, constraints)
    product = feasible_product(spec, length)
    wanted = product.feasible_pairs(length)
    targets = [pair for pair in dict.fromkeys(constraints.pairs) if pair in wanted]
    walks: list[ToolSequence] = []
    for number in range(count):
        # One generator a trace: what happens in one never shifts the next.
        random = Random(f"{environment.name}/{profile}/{length}/{seed}/{number}")
        trace = None
        tried: list[ToolSequence] = []
        while trace is None:
            if len(tried) == SEQUENCES_PER_TRACE:
                raise _instantiation_error(environment, tried)
            walk, here = _next_sequence(spec, product, length, random, wanted, targets, walks)
            trace = instantiate_from_initial_states(here, walk, random)
            tried.append(walk)
        wanted -= adjacent_pairs(trace.tools)
        walks.append(trace.tools)
        yield trace


def _instantiation_error(environment: Environment, walks: Sequence[ToolSequence]) -> SearchError:
    others = f", nor those of {len(walks) - 1} other walks" if walks[1:] else ""
    return SearchError(
        f"environment {environment.name!r}: none of {INITIAL_STATES_PER_SEQUENCE} initial states could carry the calls "
        f"{', '.join(walks[0])}{others}; give its initial states more rows, or its amounts a smaller domain"
    )


def _next_sequence(
    spec: TraceSpec,
    product: Product,
    length: int,
    random: Random,
    wanted: set[ToolPair],
    targets: Sequence[ToolPair],
    earlier: Sequence[ToolSequence],
) -> tuple[ToolSequence, Product]:
    """A walk that brings something that is still wanted, and the product that it was drawn from."""
    missing = next((pair for pair in targets if pair in wanted), None)
    here = (
        product
        if missing is None
        else product_with_pair(spec, missing, length, overapproximate=product.overapproximate)
    )
    walk = draw_tool_sequence(here, length, random, wanted, earlier=earlier, distance=spec.constraints.distance)
    if wanted and not adjacent_pairs(walk) & wanted:
        # The beam has lost sight of what is missing: go there straight.
        here = product_with_pair(spec, min(wanted), length, overapproximate=product.overapproximate)
        walk = draw_tool_sequence(here, length, random, wanted, earlier=earlier, distance=spec.constraints.distance)
    return walk, here


def feasible_product(spec: TraceSpec, length: int) -> Product:
    """The product of what is asked for, with a walk of that length in it: the generous one where the other has none.

    Raises SearchError where neither has, with what stands in the way.
    """
    for overapproximate in (False, True):
        product = Product(spec.environment, spec.automata(length), overapproximate=overapproximate)
        if product.can_finish(0, length):
            return product
    raise explain_infeasibility(spec, length)


def product_with_pair(spec: TraceSpec, pair: ToolPair, length: int, *, overapproximate: bool = False) -> Product:
    """The product whose walks have that pair: one more automaton."""
    through = compile_formula(parse(f"F({pair[0]} & X {pair[1]})"))
    return Product(spec.environment, [*spec.automata(length), through], overapproximate=overapproximate)


def instantiate_from_initial_states(
    product: Product, walk: ToolSequence, random: Random, states: int = INITIAL_STATES_PER_SEQUENCE
) -> Trace | None:
    """The walk, drawn from that product, as a trace from some initial state; None if none of a few can carry it."""
    for _ in range(states * len(product.system.initial_states)):  # each start carries only the walks that begin there
        trace = instantiate_sequence(product, walk, product.environment.populate(random), random)
        if trace is not None:
            return trace
    return None
