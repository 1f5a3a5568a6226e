"""The conflict-driven search for traces.

    automata    propose a sequence of tools that the skeletons of all rules accept (`lawtrace.solver.planner.product`)
    samples     give it arguments, call by call in the simulator; a table or a monitor says at once whether a call fits
    Z3          gives it arguments, times and an initial state where samples do not: preconditions, sums, times and
                objects are one problem for the whole sequence (`lawtrace.solver.search.smt.sequence_encoding`)
    conflicts   where Z3 proves that there are none, the shortest impossible beginning is remembered, and all further
                sequences avoid it (`lawtrace.solver.planner.conflicts`)
    repair      where conflicts follow one another, Z3 replaces calls of the sequence by others, as few as possible

A trace counts when the simulator has executed it and the monitors say that every rule is kept.
"""

from collections.abc import Iterable, Iterator, Set
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain, islice, zip_longest
from random import Random
from typing import Final

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Row, State
from lawtrace.environments.spec.terms import texts_of
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.trace_options import ToolPair
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import is_untimed
from lawtrace.solver.planner.conflicts import Conflicts, Relevance, row_rule_sequences
from lawtrace.solver.planner.instantiation import Walk
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.search_state import SearchState
from lawtrace.solver.planner.sequence_graph import ToolSequence
from lawtrace.solver.planner.trace_spec import TraceSpec
from lawtrace.solver.search.problem import Found, Impossible, Unknown
from lawtrace.solver.search.smt.sequence_encoding import SequenceEncoding
from lawtrace.solver.traces import Trace

SMALL_TABLE = 24
"""Up to how many rows a table is encoded as it is."""
CLASS_VALUES = 4
"""Up to how many different values of a field make classes of rows."""


def encoded_rows(environment: Environment, state: State, number: int) -> State:
    """The state with `number` rows of each large table, and further ones to which the encoded rows refer by key.

    A trace of a few calls refers to a few rows, so Z3 is told of some of each class, and the trace is made in the whole
    state. All planned things stay, and what they name. A class of rows has the same values in fields of few values, and
    the same texts of those that tools name.
    """
    planned = {happening.entity.table for happening in environment.agenda}
    large = {table: rows for table, rows in state.tables.items() if len(rows) > SMALL_TABLE and table not in planned}
    if not large:
        return state
    named = _texts_named(environment)
    keys = {table: environment.entities[table].key for table in large}
    chosen = {table: set(islice(_class_by_class(rows, keys[table], named), number)) for table, rows in large.items()}
    referred = {
        value
        for table, rows in state.tables.items()
        for row in ([rows[place] for place in chosen[table]] if table in large else rows)
        for name, value in row.values.items()
        if isinstance(value, str) and name != keys.get(table)
    }
    for table, rows in large.items():
        kept = [row for place, row in enumerate(rows) if place in chosen[table] or row.values[keys[table]] in referred]
        state = state.with_table(table, tuple(kept))
    return state


def _class_by_class(rows: tuple[Row, ...], key: str, named: Set[Value]) -> chain[int]:
    """The numbers of the rows: the first of each class, then the second of each, and so on."""
    values_of = {name: {row.values[name] for row in rows} for name in rows[0].values if name != key}
    telling = [name for name, values in values_of.items() if len(values) <= CLASS_VALUES]
    naming = [name for name in rows[0].values if name == key or not named.isdisjoint(values_of[name])]
    classes: dict[tuple[Value, ...], list[int]] = {}
    for place, row in enumerate(rows):
        texts = [row.values[name] if row.values[name] in named else None for name in naming]
        classes.setdefault((*(row.values[name] for name in telling), *texts), []).append(place)
    in_turn = zip_longest(*classes.values())
    return chain.from_iterable([place for place in places if place is not None] for places in in_turn)


@lru_cache(maxsize=16)
def _texts_named(environment: Environment) -> frozenset[Value]:
    """The texts that the declarations of the tools name."""
    return frozenset(text for tool in environment.tools.values() for term in tool.terms for text in texts_of(term))


STATES_PER_SEQUENCE = 20
"""How many initial states of each kind are drawn for one sequence."""
SAMPLED_STATES = 3
"""In how many of those that fit the plan arguments are sampled before Z3 is asked. One is enough if samples broke a
rule that only an evaluation of the whole trace decides."""
MOST_STATES = 400
"""How many are drawn if from none of these a sequence can start."""

SAMPLED_FOR_SKIPPED = 10
"""A sequence that samples do not carry is skipped, and Z3 is not asked, if samples carried so many others for each
that was skipped before."""

CONFLICTS_BEFORE_REPAIR = 8
"""After how many conflicts in a row a sequence is repaired. Another sequence costs less, if there is one."""

ENCODED_ROWS = 8
"""How many rows of a large table Z3 is told of; more, if the sequence has more calls."""


@dataclass(frozen=True, slots=True)
class _Sought:
    """A trace that is sought: its tools, some of which a repair may replace, but not the neighbours of `pair`."""

    product: Product
    tools: ToolSequence
    random: Random
    pair: ToolPair | None


class TraceSearch:
    """Searches traces of one specification. What it learns from one sequence serves all further ones.

    Attributes:
        conflicts: beginnings of sequences that nothing carries.
        hopeless: why initial states have no trace of a product at all, one conflict for each of them.
    """

    def __init__(self, spec: TraceSpec) -> None:
        quantified = [rule.automaton for rule in spec.monitored_rules if is_untimed(rule.parsed)]
        self.conflicts: Final = Conflicts(row_rule_sequences(spec.environment, quantified))
        self.hopeless: Final[dict[Product, list[Impossible]]] = {}
        self._environment: Final = spec.environment
        self._monitored: Final = spec.monitored_rules
        self._compiled: Final = {rule.id: rule.encodable for rule in spec.rules}
        self._relevance: Final = Relevance(spec.environment, spec.rules)
        self._spec: Final = spec
        self._in_a_row = 0
        self._sampled = 0
        self._skipped = 0
        self._met: Final = set[frozenset[str]]()
        """Tools that a conflict was about, in one initial state; the second time all initial states are asked."""

    def draw_initial(self, product: Product, random: Random) -> SearchState:
        """An initial state."""
        return product.system.initial_search_state(self._environment.populate(random))

    def find(
        self,
        product: Product,
        tools: ToolSequence,
        random: Random,
        *,
        pair: ToolPair | None = None,
        may_skip: bool = False,
        start: SearchState | None = None,
    ) -> Trace | None:
        """A trace with these tools, or with some of them replaced; None if none was found.

        Args:
            pair: two tools that stay neighbours.
            may_skip: whether another sequence would do as well, so that Z3 is not asked where samples nearly always
                suffice.
            start: the initial state that is tried first.
        """
        trace = self._sampled_or_solved(_Sought(product, tools, random, pair), start, may_skip=may_skip)
        if trace is not None:
            self._in_a_row = 0
        return trace

    def _sampled_or_solved(self, sought: "_Sought", start: SearchState | None, *, may_skip: bool) -> Trace | None:
        fitting: list[Walk] = []
        drawn = self._drawn(sought)
        tries = STATES_PER_SEQUENCE * len(sought.product.system.initial_states)
        for initial in chain([] if start is None else [start], islice(drawn, tries)):
            walk = self._walk(sought, initial)
            if not walk.can_start:
                continue
            trace = walk.sample()
            if trace is not None:
                self._sampled += 1
                return trace
            fitting.append(walk)
            if len(fitting) == SAMPLED_STATES or walk.broke_a_rule:
                break
        if fitting and may_skip and self._sampled >= SAMPLED_FOR_SKIPPED * self._skipped:
            self._skipped += 1
            return None
        if not fitting:
            fitting = list(islice((walk for walk in map(partial(self._walk, sought), drawn) if walk.can_start), 1))
            if not fitting:
                return None
            trace = fitting[0].sample()
            if trace is not None:
                return trace
        best = max(fitting, key=lambda walk: walk.calls_made)
        return self._solved(sought, best)

    def _drawn(self, sought: "_Sought") -> Iterator[SearchState]:
        """Initial states. Each allows only some sequences."""
        for _ in range(MOST_STATES):
            yield self.draw_initial(sought.product, sought.random)

    def _walk(self, sought: "_Sought", initial: SearchState) -> Walk:
        return Walk(sought.product, sought.tools, initial, self._monitored, sought.random)

    def _walk_from(self, sought: "_Sought", state: State) -> Walk:
        return self._walk(sought, sought.product.system.initial_search_state(state))

    def _solved(self, sought: "_Sought", walk: Walk) -> Trace | None:
        """A trace with the arguments that Z3 finds in the initial state of the walk, or in a better one."""
        tools = sought.tools
        encoding = self._encoding(walk, tools)
        match encoding.solve(tools, walk.wished):
            case Found(solved):
                trace = self._walk_from(sought, walk.initial).replay(solved)
                if trace is None:  # the encoding left something open
                    self._give_up(tools)
                return trace
            case Impossible() as conflict:
                self._in_a_row += 1
                concerned = self._relevance.concerned(conflict.core)
                if concerned not in self._met and self._in_a_row < CONFLICTS_BEFORE_REPAIR:
                    self._met.add(concerned)
                    self._give_up(tools)
                    return None
                trace = self._from_other_state(sought, walk, conflict)
                if trace is None and self._in_a_row % CONFLICTS_BEFORE_REPAIR == 0:
                    trace = self._repaired(sought, walk, conflict, encoding)
                return trace
            case Unknown():
                self._give_up(tools)
                return None

    def _from_other_state(self, sought: "_Sought", walk: Walk, conflict: Impossible) -> Trace | None:
        """A trace from another initial state. If there is none, either, the beginning is excluded."""
        tools = sought.tools
        other = next((one for one in map(partial(self._walk, sought), self._drawn(sought)) if one.can_start), walk)
        match self._encoding(other, tools).solve(tools, walk.wished):
            case Found(solved) if (trace := other.replay(solved)) is not None:
                return trace
            case Impossible(core, calls) if not self._relevance.of(core)[1] & self._environment.moving_tables:
                length = max(calls or 0, conflict.calls or 0)
                self.conflicts.add(tools[:length], self._relevance.concerned((*conflict.core, *core)))
            case _:  # nothing is decided, or more may happen in other states
                self._give_up(tools)
        return None

    def _repaired(
        self, sought: "_Sought", walk: Walk, conflict: Impossible, encoding: SequenceEncoding
    ) -> Trace | None:
        """A trace from the same initial state in which calls are replaced by others that the conflict is about."""
        tools, pair, others = sought.tools, sought.pair, self._relevance.helpers(conflict.core)
        beside_rules = self._spec.automata(len(tools))[len(self._spec.rules) :]
        demands = {f"demand {number}": automaton for number, automaton in enumerate(beside_rules)}
        if pair is not None:
            demands["the pair"] = compile_formula(parse(f"F({pair[0]} & X {pair[1]})"))
        repaired = encoding.choose(_replaceable(tools, others), demands, keep_first=True)
        if isinstance(repaired, Impossible):
            repaired = encoding.choose(_replaceable(tools, self._environment.tools), demands, keep_first=True)
            complete = self._few_rows(walk.initial, tools) is walk.initial
            if isinstance(repaired, Impossible) and pair is None and complete:
                self.hopeless.setdefault(sought.product, []).append(repaired)
        if not isinstance(repaired, Found):
            return None
        replaced = replace(sought, tools=repaired.trace.tools)
        return self._walk_from(replaced, walk.initial).replay(repaired.trace)

    def _encoding(self, walk: Walk, tools: ToolSequence) -> SequenceEncoding:
        return SequenceEncoding(self._environment, self._compiled, self._few_rows(walk.initial, tools))

    def _few_rows(self, initial: State, tools: ToolSequence) -> State:
        """The state with the rows that Z3 is told of."""
        return encoded_rows(self._environment, initial, _rows_for(tools))

    def _give_up(self, tools: ToolSequence) -> None:
        """Avoid a sequence of which Z3 or the initial states decide nothing."""
        self.conflicts.add(tools, frozenset(self._environment.tools))


def _replaceable(tools: ToolSequence, others: Iterable[str]) -> list[ToolSequence]:
    """For each call the tool itself and those that may take its place."""
    return [tuple(dict.fromkeys((tool, *sorted(others)))) for tool in tools]


def _rows_for(tools: ToolSequence) -> int:
    """How many rows of a large table Z3 is told of."""
    return max(ENCODED_ROWS, len(tools))
