"""Synthesis of compliant traces with initial states and arguments, and explanations if there is none.

Explanations come from `lawtrace.solver.search.products.prover`, which adds rules lazily, so forty rules do not make a
forty-fold product. The goal there is that every call completes, and the number of calls.
"""

from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from dataclasses import replace
from random import Random

from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.trace_options import NO_CONSTRAINTS, ToolPair, TraceConstraints, TraceMode
from lawtrace.solver.planner.product import Product, environment_scope
from lawtrace.solver.planner.search import STATES_PER_SEQUENCE, TraceSearch
from lawtrace.solver.planner.search_state import SearchState
from lawtrace.solver.planner.sequence_graph import ToolSequence
from lawtrace.solver.planner.tool_sequences import NoArgumentsError, draw_tool_sequence
from lawtrace.solver.planner.trace_spec import TraceSpec, adjacent_pairs, completed_calls_automaton
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.explanations import join_names
from lawtrace.solver.search.problem import Impossible, Proof
from lawtrace.solver.search.products.call_scopes import AbstractTrace, free_scope
from lawtrace.solver.search.products.product_search import Component
from lawtrace.solver.search.products.prover import Prover
from lawtrace.solver.traces import Trace

MAX_EXTRA_CALLS = 100
"""How many longer lengths are tried in order to suggest one that works."""


def explain_infeasibility(spec: TraceSpec, length: int) -> SearchError:
    """The error for a search without a trace of that length, with the causes."""
    environment = spec.environment
    prover = Prover(free_scope(environment), environment_scope(environment))
    start = f"environment {environment.name!r}: no compliant trace of {length} calls exists"
    any_length = prover.prove(
        Component(completed_calls_automaton(environment)),
        _requirement_components(_without_share_constraint(spec), length),
    )
    if isinstance(any_length, Proof):
        causes = _core_names(any_length)
        remedy = "loosen one of them" if causes[1:] else "change it"
        return SearchError(f"{start}, nor of any other length: {_exclusion_text(causes)}; {remedy}")
    if environment.agenda:
        return SearchError(
            f"environment {environment.name!r}: no compliant trace of {length} calls was found, and whether one exists "
            "is not decided: the search does not follow what happens without a call; search contrast pairs instead"
        )
    this_length = prover.prove(
        Component(completed_calls_automaton(environment, length)), _requirement_components(spec, length)
    )
    causes = _core_names(this_length) if isinstance(this_length, Proof) else ["all requirements together"]
    longer = nearest_feasible_length(spec, range(length, length + MAX_EXTRA_CALLS))
    if longer is not None:
        why = f"{join_names(causes)} need more calls"
        return SearchError(f"{start}: {why}; ask for {longer}, the shortest from there on")
    shorter = nearest_feasible_length(spec, range(length - 1, 0, -1))
    remedy = "" if shorter is None else f"; there are some of {shorter} calls"
    return SearchError(f"{start}: {_exclusion_text(causes)} at that length{remedy}")


def nearest_feasible_length(spec: TraceSpec, lengths: Iterable[int]) -> int | None:
    """The first of these lengths that some accepted sequence has; None if none has."""
    product = None
    for length in lengths:
        if product is None or spec.constraints.compliance is not None:
            try:
                product = Product(spec.environment, spec.automata(length), overapproximate=True)
            except SearchError:  # no whole number of calls gives such a share
                continue
        if product.can_finish(0, length):
            return length
    return None


def _without_share_constraint(spec: TraceSpec) -> TraceSpec:
    """The spec for traces of any length: the number of calls of a share depends on the length."""
    return replace(spec, constraints=spec.constraints.model_copy(update={"compliance": None}))


def _requirement_components(spec: TraceSpec, length: int) -> dict[str, Component]:
    return {requirement.name: requirement.component for requirement in spec.requirements(length)}


def _core_names(answer: Proof[AbstractTrace]) -> list[str]:
    world = [] if answer.scope == "free" and answer.rules else ["the environment's preconditions"]
    return [*answer.rules, *world]


def _exclusion_text(causes: Sequence[str]) -> str:
    return f"{join_names(causes)} exclude each other" if causes[1:] else f"{causes[0]} excludes every one"


SEQUENCES_PER_TRACE = 5
"""How many sequences are tried for one trace without learning anything."""
SKIPS_PER_TRACE = 2
"""How many of these may be skipped without asking Z3."""
HOPELESS_STATES = 3
"""For how many initial states Z3 proves that there is no trace before the search gives up."""
MAX_SEQUENCES_PER_TRACE = 200
"""How many sequences are tried for one trace if each teaches a conflict."""


def synthesize(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    count: int,
    length: int,
    seed: int,
    first: int = 0,
    mode: TraceMode = "tasks",
    constraints: TraceConstraints = NO_CONSTRAINTS,
) -> Iterator[Trace]:
    """Yield ``count`` compliant traces of ``length`` calls; the same seed gives the same traces (P 3.3).

    Args:
        first: the number of the first trace; traces of other numbers are other traces.

    Raises SearchError if no such trace exists, naming the conflicting rules and constraints or the shortest feasible
    length; if no further trace has the required distance; or if no initial state allows a compliant sequence.
    """
    if length < 0:
        raise SearchError(f"a trace cannot have {length} calls")
    spec = TraceSpec(environment, tuple(rules), mode, constraints)
    product = feasible_product(spec, length)
    search = TraceSearch(spec)
    wanted = product.feasible_pairs(length)
    targets = [pair for pair in dict.fromkeys(constraints.pairs) if pair in wanted]
    sequences: list[ToolSequence] = []
    for number in range(first, first + count):
        # One generator per trace, so that no trace depends on the samples of another.
        random = Random(f"{environment.name}/{mode}/{length}/{seed}/{number}")
        trace, demanded = None, None
        tried: list[ToolSequence] = []
        learned = len(search.conflicts)
        while trace is None:
            taught = len(search.conflicts) - learned
            if len(why := search.hopeless.get(product, ())) == HOPELESS_STATES:
                raise _no_arguments_error(environment, length, why)
            if len(tried) == min(SEQUENCES_PER_TRACE + taught, MAX_SEQUENCES_PER_TRACE):
                if not (given_up := {demanded} if demanded else _common_pairs(tried) & wanted):
                    raise _instantiation_error(environment, tried)
                wanted -= given_up
                tried, learned = [], len(search.conflicts)
            start = search.draw_initial(product, random)
            sequence, demanded = _next_sequence(
                spec, product, length, random, wanted, targets, sequences, search, start
            )
            trace = search.find(
                product, sequence, random, pair=demanded, may_skip=len(tried) < SKIPS_PER_TRACE, start=start
            )
            tried.append(sequence)
        wanted -= adjacent_pairs(trace.tools)
        sequences.append(trace.tools)
        yield trace


def _no_arguments_error(environment: Environment, length: int, why: Sequence[Impossible]) -> SearchError:
    causes = list(dict.fromkeys(obstacle.text for conflict in why for obstacle in conflict.core))
    return SearchError(
        f"environment {environment.name!r}: no compliant trace of {length} calls exists from any of {len(why)} initial "
        f"states tried: {_exclusion_text(causes)} for all arguments and times; loosen one of them"
    )


def _instantiation_error(environment: Environment, sequences: Sequence[ToolSequence]) -> SearchError:
    others = f", nor those of {len(sequences) - 1} other tool sequences" if sequences[1:] else ""
    return SearchError(
        f"environment {environment.name!r}: none of {STATES_PER_SEQUENCE} initial states could carry the calls "
        f"{', '.join(sequences[0])}{others}; give its initial states more rows, or its amounts a smaller domain"
    )


def _common_pairs(sequences: Sequence[ToolSequence]) -> set[ToolPair]:
    """The pairs that all of the sequences have."""
    first, *others = map(adjacent_pairs, sequences)
    return first.intersection(*others)


def _next_sequence(
    spec: TraceSpec,
    product: Product,
    length: int,
    random: Random,
    wanted: set[ToolPair],
    targets: Sequence[ToolPair],
    earlier: Sequence[ToolSequence],
    search: TraceSearch,
    start: SearchState,
) -> tuple[ToolSequence, ToolPair | None]:
    """A sequence with a pair that is still wanted, and the pair that was demanded of it.

    Without demands it begins in the initial state, if that has a sequence of this length, with a wanted pair if there
    are any. A pair of which conflicts exclude every sequence is no longer wanted.
    """
    missing = next((pair for pair in targets if pair in wanted), None)
    distance = spec.constraints.distance
    begins = None if missing is not None or distance else product.initial_state(start)

    def drawn(pairs: Set[ToolPair], node: int = 0) -> ToolSequence:
        return draw_tool_sequence(
            product, length, random, pairs, earlier=earlier, distance=distance, conflicts=search.conflicts, start=node
        )

    def offers(node: int) -> bool:
        return bool(product.pairs_ahead(length).inside[node] & product.pair_bits(wanted))

    sequence = None
    if begins is not None and product.can_finish(begins.node, length) and (not wanted or offers(begins.node)):
        with suppress(NoArgumentsError):
            sequence = drawn(wanted, begins.node)
    sequence = sequence or drawn(wanted if missing is None else {missing})
    if missing in adjacent_pairs(sequence):
        return sequence, missing
    while wanted and not adjacent_pairs(sequence) & wanted:
        # The beam finds no wanted pair: look for one alone.
        missing = missing or min(wanted)
        sequence = drawn({missing})
        if missing in adjacent_pairs(sequence):
            return sequence, missing
        wanted.discard(missing)
        missing = None
    return sequence, None


def feasible_product(spec: TraceSpec, length: int) -> Product:
    """The product with an accepted sequence of that length; the over-approximation only if the exact one has none.

    Raises SearchError with the causes if neither has one.
    """
    for overapproximate in (False, True):
        product = Product(spec.environment, spec.automata(length), overapproximate=overapproximate)
        if product.can_finish(0, length):
            return product
    raise explain_infeasibility(spec, length)
