"""Synthesis: compliant traces with initial states and arguments, as many as asked for, every start ending in one."""

from collections.abc import Iterator, Sequence
from random import Random

from lawtrace.environments.declaration import Environment
from lawtrace.environments.errors import SearchError
from lawtrace.solver.arguments import fill_walk
from lawtrace.solver.conflicts import explain_impossible
from lawtrace.solver.demands import NO_WISHES, Asked, Wishes
from lawtrace.solver.ltlf import compile_formula, parse
from lawtrace.solver.product import Product
from lawtrace.solver.profiles import Profile
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace
from lawtrace.solver.walks import Pair, Walk, draw_walk, pairs_of

STATES_A_WALK = 20
WALKS = 5
"""How many walks are tried for one trace. Facts leave numbers out, so the world may refuse what the product allows."""


def synthesize(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    count: int,
    length: int,
    seed: int,
    profile: Profile = "tasks",
    wishes: Wishes = NO_WISHES,
) -> Iterator[Trace]:
    """Yield ``count`` compliant traces of ``length`` calls; the same seed gives the same traces (P 3.3).

    Raises SearchError if no such trace exists, naming the rules and wishes that exclude each other or the shortest
    length that works; if no further one is at the wished distance; or if the environment's own initial states cannot
    carry a walk that its rules allow.
    """
    if length < 0:
        raise SearchError(f"a trace cannot have {length} calls")
    asked = Asked(environment, tuple(rules), profile, wishes)
    product = plan(asked, length)
    wanted = product.adjacent_pairs(length)
    targets = [pair for pair in dict.fromkeys(wishes.pairs) if pair in wanted]
    walks: list[Walk] = []
    for number in range(count):
        # One generator a trace: what happens in one never shifts the next.
        random = Random(f"{environment.name}/{profile}/{length}/{seed}/{number}")
        trace = None
        tried: list[Walk] = []
        while trace is None:
            if len(tried) == WALKS:
                raise _unfillable(environment, tried)
            walk, here = _walk(asked, product, length, random, wanted, targets, walks)
            trace = try_to_fill(here, walk, random)
            tried.append(walk)
        wanted -= pairs_of(trace.tools)
        walks.append(trace.tools)
        yield trace


def _unfillable(environment: Environment, walks: Sequence[Walk]) -> SearchError:
    others = f", nor those of {len(walks) - 1} other walks" if walks[1:] else ""
    return SearchError(
        f"environment {environment.name!r}: none of {STATES_A_WALK} initial states could carry the calls "
        f"{', '.join(walks[0])}{others}; give its initial states more rows, or its amounts a smaller domain"
    )


def _walk(
    asked: Asked,
    product: Product,
    length: int,
    random: Random,
    wanted: set[Pair],
    targets: Sequence[Pair],
    earlier: Sequence[Walk],
) -> tuple[Walk, Product]:
    """A walk that brings something that is still wanted, and the product that it was drawn from."""
    missing = next((pair for pair in targets if pair in wanted), None)
    here = product if missing is None else product_through(asked, missing, length, generous=product.generous)
    walk = draw_walk(here, length, random, wanted, earlier=earlier, distance=asked.wishes.distance)
    if wanted and not pairs_of(walk) & wanted:
        # The beam has lost sight of what is missing: go there straight.
        here = product_through(asked, min(wanted), length, generous=product.generous)
        walk = draw_walk(here, length, random, wanted, earlier=earlier, distance=asked.wishes.distance)
    return walk, here


def plan(asked: Asked, length: int) -> Product:
    """The product of what is asked for, with a walk of that length in it: the generous one where the other has none.

    Raises SearchError where neither has, with what stands in the way.
    """
    for generous in (False, True):
        product = Product(asked.environment, asked.automata(length), generous=generous)
        if product.can_finish(0, length):
            return product
    raise explain_impossible(asked, length)


def product_through(asked: Asked, pair: Pair, length: int, *, generous: bool = False) -> Product:
    """The product whose walks have that pair: one more automaton."""
    through = compile_formula(parse(f"F({pair[0]} & X {pair[1]})"))
    return Product(asked.environment, [*asked.automata(length), through], generous=generous)


def try_to_fill(product: Product, walk: Walk, random: Random, states: int = STATES_A_WALK) -> Trace | None:
    """The walk, drawn from that product, as a trace from some initial state; None if none of a few can carry it."""
    for _ in range(states * len(product.graph.starts)):  # each start carries only the walks that begin there
        trace = fill_walk(product, walk, product.environment.populate(random), random)
        if trace is not None:
            return trace
    return None
