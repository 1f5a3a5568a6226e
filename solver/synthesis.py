"""Synthesis: compliant traces with initial states and arguments, as many as asked for, every start ending in one."""

from collections.abc import Iterator, Sequence
from random import Random

from environments.declaration import Environment
from environments.errors import SearchError
from solver.arguments import fill_walk
from solver.product import Product
from solver.profiles import Profile, profile_automata
from solver.rules import Rule
from solver.traces import Trace
from solver.walks import draw_walk, pairs_of

__all__ = ["synthesize"]

STATES_A_WALK = 20


def synthesize(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    count: int,
    length: int,
    seed: int,
    profile: Profile = "tasks",
) -> Iterator[Trace]:
    """Yield ``count`` compliant traces of ``length`` calls; the same seed gives the same traces (P 3.3).

    Raises SearchError if no compliant trace of that length exists, or if the environment's own initial states cannot
    carry a walk that its rules allow.
    """
    if length < 0:
        raise SearchError(f"a trace cannot have {length} calls")
    product = Product(environment, [*(rule.automaton for rule in rules), *profile_automata(environment, profile)])
    wanted = product.adjacent_pairs(length)
    for number in range(count):
        # One generator a trace: what happens in one never shifts the next.
        random = Random(f"{environment.name}/{profile}/{length}/{seed}/{number}")
        walk = draw_walk(product, length, random, wanted)
        trace = _fill(environment, walk, random)
        wanted -= pairs_of(walk)
        yield trace


def _fill(environment: Environment, walk: tuple[str, ...], random: Random) -> Trace:
    for _ in range(STATES_A_WALK):
        trace = fill_walk(environment, walk, environment.populate(random), random)
        if trace is not None:
            return trace
    raise SearchError(
        f"environment {environment.name!r}: none of {STATES_A_WALK} initial states could carry the calls "
        f"{', '.join(walk)}; give its initial states more rows, or its amounts a smaller domain"
    )
