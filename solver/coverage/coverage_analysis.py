"""Coverage analysis: which pairs of adjacent tools compliant traces of one length can have, and a suite that has them.

analysis = analyse_coverage(environment, rules, mode="tasks", length=8, count=40, seed=1)
analysis.feasible, analysis.certificates    # every ordered pair of tools is in one of them
analysis.suite.atc, analysis.needed

The suite is a greedy set cover of synthesised traces and those that Z3 finds: the trace with the most new pairs is
taken first.
"""

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from random import Random

from lawtrace.environments.progress import NoProgress, StageProgress
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.findings import Coverage
from lawtrace.schemas.trace_options import ToolPair, TraceMode
from lawtrace.solver.coverage.certificates import Certificate, Certifier, Events
from lawtrace.solver.coverage.measures import count_triggers, measure_coverage
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.synthesis import feasible_product, synthesize
from lawtrace.solver.planner.trace_spec import TraceSpec, adjacent_pairs
from lawtrace.solver.planner.transition_system import INITIAL_STATE_SAMPLES
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Unknown
from lawtrace.solver.search.smt.bounded_model_checking import BoundedEncoding


def most_new_first(traces: Iterable[Events]) -> list[Events]:
    """Greedy set cover: always the trace with the most new pairs of tools; those without any last."""
    waiting = [(_pairs(events), events) for events in traces]
    covered, chosen = set[ToolPair](), list[Events]()
    while waiting:
        best = max(waiting, key=lambda one: len(one[0] - covered))
        covered |= best[0]
        waiting.remove(best)
        chosen.append(best[1])
    return chosen


def traces_needed(suite: Sequence[Events], pairs: frozenset[ToolPair]) -> int | None:
    """How many traces of the suite, in order, contain all the pairs; None if the whole suite lacks one."""
    covered: set[ToolPair] = set()
    for number, events in enumerate(suite, 1):
        covered |= _pairs(events)
        if covered >= pairs:
            return number
    return None


def _pairs(events: Events) -> set[ToolPair]:
    return adjacent_pairs([event.tool for event in events])


@dataclass(frozen=True, slots=True)
class CoverageAnalysis:
    """What compliant traces of one length and mode can cover, and what a suite of them does cover.

    Attributes:
        tools: all tools, in the order of the environment.
        feasible: the pairs that occur in some compliant trace of that length.
        certificates: one for each infeasible pair.
        undecided: pairs that no trace has and that Z3 did not decide, unless the rules alone exclude them. They count
            as feasible.
        assumptions: what the certificates assume.
        suite: the coverage of the synthesised traces.
        needed: how many traces of the suite, in order, have every feasible pair; None if the suite lacks one.
        triggered: for each rule how many traces of the suite trigger it.
    """

    mode: TraceMode
    length: int
    tools: tuple[str, ...]
    feasible: frozenset[ToolPair]
    certificates: tuple[Certificate, ...]
    undecided: tuple[ToolPair, ...]
    assumptions: tuple[str, ...]
    suite: Coverage
    needed: int | None
    triggered: Mapping[str, int]

    @property
    def missing(self) -> tuple[ToolPair, ...]:
        """Feasible pairs that the suite does not cover."""
        return tuple(sorted(self.feasible - self.suite.pairs))

    @property
    def ceiling(self) -> float:
        """The highest adjacent-tool coverage that traces of this mode and length can reach."""
        return len(self.feasible) / self.suite.all_pairs


def analyse_coverage(
    environment: Environment,
    rules: Sequence[Rule],
    *,
    mode: TraceMode,
    length: int,
    count: int,
    seed: int,
    stages: StageProgress | None = None,
) -> CoverageAnalysis:
    """Decide every ordered pair of tools, and synthesise a suite of ``count`` traces that covers as many as possible.

    A pair that occurs in a trace of the suite is feasible: the simulator has executed it. A pair that the product
    excludes is infeasible if Z3 agrees or the rules alone exclude it. Z3 decides the remaining pairs. A trace that Z3
    finds is executed and joins the suite.

    Raises SearchError if no compliant trace of that length exists.
    """
    stages = stages or NoProgress()
    spec = TraceSpec(environment, tuple(rules), mode)
    product = feasible_product(spec, length)
    planned = product.feasible_pairs(length)
    with stages.stage(f"suite, {mode}", None):
        synthesized = _synthesized(spec, length, count, seed, planned)
    shown = set[ToolPair]().union(*map(_pairs, synthesized))
    encodings = _encodings(spec, product, length, seed)
    all_pairs = [(first, second) for first in environment.tools for second in environment.tools]
    open_pairs = [pair for pair in all_pairs if pair not in shown]
    with stages.stage(f"pairs to prove, {mode}", len(open_pairs)) as step:
        certifier = Certifier(spec, encodings, length)
        answers: dict[ToolPair, Certificate | Found[Events] | Unknown] = {}
        for pair in open_pairs:
            answers[pair] = certifier.decide(pair, planned=pair in planned)
            step()
    certificates = tuple(answer for answer in answers.values() if isinstance(answer, Certificate))
    feasible = frozenset(all_pairs) - {certificate.pair for certificate in certificates}
    found = [answer.trace for answer in answers.values() if isinstance(answer, Found)]
    traces = most_new_first([*synthesized, *found])[:count]
    return CoverageAnalysis(
        mode=mode,
        length=length,
        tools=tuple(environment.tools),
        feasible=feasible,
        certificates=certificates,
        undecided=tuple(pair for pair, answer in answers.items() if isinstance(answer, Unknown)),
        assumptions=(*encodings[0].assumptions(), *_initial_state_assumption(encodings)),
        suite=measure_coverage(environment, traces),
        needed=traces_needed(traces, feasible),
        triggered=count_triggers(rules, traces),
    )


def _synthesized(spec: TraceSpec, length: int, count: int, seed: int, pairs: set[ToolPair]) -> list[Events]:
    """``count`` traces, and more while they lack some of the pairs; fewer if the search finds no further ones."""
    found, missing = list[Events](), set(pairs)
    most = max(count, len(pairs))
    with suppress(SearchError):
        for trace in synthesize(spec.environment, spec.rules, count=most, length=length, seed=seed, mode=spec.mode):
            found.append(trace.events)
            missing -= adjacent_pairs(trace.tools)
            if len(found) >= count and not missing:
                break
    return found


def _encodings(spec: TraceSpec, product: Product, length: int, seed: int) -> list[BoundedEncoding]:
    """One bounded encoding for each class of random initial states that the abstraction distinguishes."""
    random = Random(seed)
    states = [spec.environment.populate(random) for _ in range(INITIAL_STATE_SAMPLES)]
    classes: dict[int | None, State] = {}
    for state in states:
        start = product.initial_state(product.system.initial_search_state(state))
        classes.setdefault(None if start is None else start.node, state)
    rules = {requirement.name: requirement.exact for requirement in spec.requirements(length)}
    return [BoundedEncoding(spec.environment, rules, length=length, initial=state) for state in classes.values()]


def _initial_state_assumption(encodings: Sequence[BoundedEncoding]) -> tuple[str, ...]:
    if not encodings[1:]:
        return ()
    return (
        f"one initial state of each of the {len(encodings)} classes found in {INITIAL_STATE_SAMPLES} samples; the "
        "row counts are those of the first",
    )
