"""Conflicts: beginnings of tool sequences that no arguments, times and initial state carry.

Z3 proves a conflict for one beginning and names what stands in the way: refusals, missing knowledge, rules. Calls that
have nothing to do with these can be inserted or left out without helping, so the conflict is remembered without them:

    SearchGuests, RevokeGuestAccess, UnlockDoor, DeleteGuest, DeleteGuest
    is excluded by revoke-before-delete and "the guest does not exist", which the door does not concern:
    every beginning with SearchGuests, RevokeGuestAccess, DeleteGuest, DeleteGuest among the calls that concern guests

That a call has nothing to do with an obstacle is read off the declaration: no rule of the conflict names it, and it
writes no field that the obstacles depend on, reveals no row that is missing, and adds none. Where a rule of the
conflict counts steps, every call matters; where one is about time, calls that take a good part of its windows do.

What a rule about single rows says of tool sequences is known from the start (`RowRuleSequences`):

    forall g: G(Delete(guest == g) -> ((!Grant(guest == g)) S Revoke(guest == g)))

excludes *search, revoke, grant, delete*: the one known guest has access again. The skeleton of the rule, which knows
tools alone, does not see that, and Z3 would have to find it for each such sequence anew. But few tools are about
guests. So the abstract transition system of these tools alone is explored, with the state of the rule as part of the
class of a row. A tool sequence is followed through it by sets of states, and is excluded where no state is left.
Abstract states of all tools with this class would be several times as many.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import chain
from typing import Final, NamedTuple

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Insert, InsertEach, Result, Update
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.terms import fields_of, reads_time, tables_of
from lawtrace.environments.spec.tools import FromLookup, FromTrace, Tool
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic.syntax import Formula, subformulas, windows_of
from lawtrace.solver.logic.terms import RESULT
from lawtrace.solver.planner.abstract_state import RowRule
from lawtrace.solver.planner.sequence_graph import SequenceGraph, ToolSequence
from lawtrace.solver.planner.transition_system import TooManyStatesError, TransitionSystem
from lawtrace.solver.predicates import ObservedPredicates, fields_read
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Obstacle
from lawtrace.solver.search.smt.call_encoding import refusals_named


class RowRuleSequences:
    """The beginnings of tool sequences that a rule about single rows allows. Sets of states are numbered as they occur.

    Attributes:
        tools: those that matter.
    """

    def __init__(self, system: TransitionSystem) -> None:
        self.tools: Final = frozenset(label.tool for label in system.labels)
        self._targets: Final[list[dict[str, set[int]]]] = []
        for edges in system.transitions:
            self._targets.append({})
            for label, target in edges:
                self._targets[-1].setdefault(system.labels[label].tool, set()).add(target)
        self._sets = [frozenset(system.initial_states)]
        self._numbers = {self._sets[0]: 0}
        self._after: dict[tuple[int, str], int | None] = {}

    def after(self, number: int, tool: str) -> int | None:
        """The set after a call of one of the tools; None if it is empty."""
        key = (number, tool)
        if key not in self._after:
            reached = frozenset(chain.from_iterable(self._targets[state].get(tool, ()) for state in self._sets[number]))
            if reached not in self._numbers:
                self._numbers[reached] = len(self._sets)
                self._sets.append(reached)
            self._after[key] = self._numbers[reached] if reached else None
        return self._after[key]


ROW_RULE_STATES: Final = 400
"""How many abstract states are explored for all rules about single rows together. The later ones do without."""


def row_rule_sequences(environment: Environment, automata: Iterable[Automaton]) -> list[RowRuleSequences]:
    """The sequences that rules with one variable allow, given their automata.

    Without those whose variable does not stand for rows of one table, or that have too many abstract states; none where
    things happen without a call, which abstract states do not know.
    """
    found: list[RowRuleSequences] = []
    left = ROW_RULE_STATES
    for automaton in () if environment.agenda else automata:
        if left > 0:
            sequences, states = _row_rule_sequences(environment, automaton, left)
            left -= states
            found += [] if sequences is None else [sequences]
    return found


@lru_cache(maxsize=64)
def _row_rule_sequences(
    environment: Environment, automaton: Automaton, most: int
) -> tuple[RowRuleSequences | None, int]:
    """The sequences that one rule allows, if it has at most so many states, and how many were explored."""
    entity = _entity(environment, automaton)
    if entity is None:
        return None, 0
    tools = _tools_about(environment, automaton, entity)
    if any(isinstance(parameter.source, FromTrace) for tool in tools.values() for parameter in tool.parameters):
        return None, 0
    part = replace(environment, tools=tools, declines=None)
    try:
        row_rule = RowRule(automaton, entity)
        system = TransitionSystem(part, ObservedPredicates([]), row_rule=row_rule, most=most)
    except TooManyStatesError as error:
        return None, error.states
    return RowRuleSequences(system), len(system.transitions)


def _entity(environment: Environment, automaton: Automaton) -> Entity | None:
    """The entity whose keys are compared with the variable, as references of calls."""
    sources = [
        environment.tools[tool].parameter(str(place.path[0])).source
        for tool, fields in automaton.alphabet.bound_fields.items()
        if tool in environment.tools
        for place, _, _ in fields
        if place.path[0] != RESULT
    ]
    tables = {source.entity.table if isinstance(source, FromLookup) else None for source in sources}
    return environment.entities.get(next(iter(tables)) or "") if len(tables) == 1 else None


def _tools_about(environment: Environment, automaton: Automaton, entity: Entity) -> dict[str, Tool]:
    """The tools that the rule names, those that refer to rows of the table or show them, and all that write what these
    read.
    """
    tables, named = {entity.table}, {atom.tool for atom in automaton.atoms}
    chosen: dict[str, Tool] = {}
    while True:
        found = {
            name: tool
            for name, tool in environment.tools.items()
            if name in named or tool.written_tables & tables or entity.table in _tables_shown(tool)
        }
        if found.keys() == chosen.keys():
            return found
        chosen = found
        tables |= {table for tool in found.values() for term in tool.terms for table in tables_of(term)}
        tables |= set(chain.from_iterable(map(_tables_shown, found.values())))


def _tables_shown(tool: Tool) -> frozenset[str]:
    """The tables whose rows a call refers to or shows."""
    return tool.referred_tables | {result.entity.table for result in tool.revealing_results}


FieldOfTable = tuple[str, str]
"""A table and a field."""
Positions = tuple[int, ...]
"""Where a beginning stands in each group of conflicts."""


class AllowedMove(NamedTuple):
    """A move of a graph that no conflict excludes, and the positions among the conflicts after it."""

    tool: str
    target: int
    positions: Positions


_ELSEWHERE: Final = -1
SHORT_PART: Final = 100
"""A call of less than one part in so many of a window does not matter to it."""


class Conflicts:
    """A trie for each set of tools that some conflict is about, beside what rules about single rows exclude.

    A beginning is followed through all of them: its position in each is the node of its calls to these tools, or
    nowhere, if no conflict begins so.
    """

    def __init__(self, row_rules: Sequence[RowRuleSequences] = ()) -> None:
        """`row_rules`: what is excluded from the start, beside what is added."""
        self._tries: dict[frozenset[str], _Trie] = {}
        self._groups: list[_Trie | RowRuleSequences] = [*row_rules]
        self._about: dict[str, list[int]] = {}
        self._moves: dict[tuple[SequenceGraph, int, Positions], list[AllowedMove]] = {}
        """By graph, node and positions: which moves are allowed. Valid until the next conflict."""
        for number, sequences in enumerate(row_rules):
            self._enter(sequences.tools, number)

    @property
    def start(self) -> Positions:
        return (0,) * len(self._groups)

    def after(self, positions: Positions, tool: str) -> Positions | None:
        """The positions after one more call; None if the beginning is excluded."""
        concerned = self._about.get(tool)
        if concerned is None:
            return positions
        following = list(positions)
        for number in concerned:
            if following[number] != _ELSEWHERE:
                node = self._groups[number].after(following[number], tool)
                if node is None:
                    return None
                following[number] = node
        return tuple(following)

    def allowed_moves(self, graph: SequenceGraph, node: int, positions: Positions) -> list[AllowedMove]:
        """The moves of a node that no conflict excludes."""
        key = (graph, node, positions)
        allowed = self._moves.get(key)
        if allowed is None:
            allowed = self._moves[key] = [
                AllowedMove(tool, target, follows)
                for tool, target in graph.moves[node]
                if (follows := self.after(positions, tool)) is not None
            ]
        return allowed

    def add(self, beginning: ToolSequence, tools: frozenset[str]) -> None:
        """Exclude every beginning with the same calls to these tools."""
        self._moves.clear()
        if tools not in self._tries:
            self._tries[tools] = _Trie()
            self._groups.append(self._tries[tools])
            self._enter(tools, len(self._groups) - 1)
        self._tries[tools].add([tool for tool in beginning if tool in tools])

    def __len__(self) -> int:
        """How many beginnings were added."""
        return sum(len(trie.excluded) for trie in self._tries.values())

    def _enter(self, tools: Iterable[str], number: int) -> None:
        for tool in tools:
            self._about.setdefault(tool, []).append(number)


class _Trie:
    def __init__(self) -> None:
        self._children: list[dict[str, int]] = [{}]
        self.excluded: set[int] = set()

    def add(self, tools: Iterable[str]) -> None:
        node = 0
        for tool in tools:
            if tool not in self._children[node]:
                self._children[node][tool] = len(self._children)
                self._children.append({})
            node = self._children[node][tool]
        self.excluded.add(node)

    def after(self, node: int, tool: str) -> int | None:
        child = self._children[node].get(tool, _ELSEWHERE)
        return None if child in self.excluded else child


class Relevance:
    """Which tools and which fields of rows obstacles depend on, in one environment."""

    def __init__(self, environment: Environment, rules: Sequence[Rule]) -> None:
        self._environment = environment
        self._rules = {rule.id: rule for rule in rules}
        self._changes = {name: [*_changes(tool)] for name, tool in environment.tools.items()}
        self._inserting = {
            name: {e.entity.table for e in tool.effects if isinstance(e, Insert | InsertEach)}
            for name, tool in environment.tools.items()
        }

    def of(self, obstacles: Sequence[Obstacle]) -> tuple[frozenset[str], frozenset[str]]:
        """The tools that the obstacles are about or whose calls change that, and the tables concerned."""
        tools: set[str] = set()
        fields: set[FieldOfTable] = set()
        for obstacle in obstacles:
            tool = None if obstacle.tool is None else self._environment.tools[obstacle.tool]
            if tool is None:
                for name, place in fields_read(self._rules[obstacle.text].parsed):
                    if name in self._environment.tools and place.path[0] == RESULT:
                        fields |= _fields_of(self._environment.tools[name].results)
                tools |= self._rules[obstacle.text].tools & self._environment.tools.keys()
                continue
            tools.add(tool.name)
            if obstacle.kind == "precondition":
                fields |= {field for term in refusals_named(tool, obstacle.text) for field in fields_of(term)}
            elif any(isinstance(parameter.source, FromTrace) for parameter in tool.parameters):
                tools |= {name for name, other in self._environment.tools.items() if other.emits}
            else:
                for table in tool.referred_tables:
                    for name, other in self._environment.tools.items():
                        shown = [result for result in other.revealing_results if result.entity.table == table]
                        if shown:
                            tools.add(name)
                            fields |= {f for result in shown for term in result.terms() for f in fields_of(term)}
        tables = self._close(tools, fields)
        return frozenset(tools), frozenset(tables)

    def _close(self, tools: set[str], fields: set[FieldOfTable]) -> set[str]:
        """Add the tools that write the fields or add rows to refer to, and what their effects read. Returns tables."""
        size = -1
        while size != len(tools) + len(fields):
            size = len(tools) + len(fields)
            referred = set[str]().union(*(self._environment.tools[name].referred_tables for name in tools))
            for name, changes in self._changes.items():
                for written, read in changes:
                    if written & fields:
                        tools.add(name)
                        fields |= read
                if self._inserting[name] & referred:
                    tools.add(name)
            for happening in self._environment.agenda:
                for written, read in _changes(happening.tool):
                    if written & fields:
                        fields |= read | {(happening.entity.table, name) for name in happening.entity.fields}
        return {table for table, _ in fields}

    def concerned(self, obstacles: Sequence[Obstacle]) -> frozenset[str]:
        """The tools of which a call can help or harm; all others can be inserted without changing anything."""
        named = [self._rules[obstacle.text] for obstacle in obstacles if obstacle.kind == "rule"]
        tools, tables = self.of(obstacles)
        if any(rule.counts_steps for rule in named) or not tools or tables & self._environment.moving_tables:
            return frozenset(self._environment.tools)
        shortest = min((seconds for rule in named for seconds in _spans(rule.parsed)), default=None)
        return tools if shortest is None else tools | self._taking_time(shortest)

    def depends_on_pauses(self, obstacles: Sequence[Obstacle]) -> bool:
        """Whether time that passes, or what happens without a call, can change something about the obstacles."""
        tools, tables = self.of(obstacles)
        timed = any(self._rules[one.text].is_timed for one in obstacles if one.kind == "rule")
        told = (term for name in tools for term in self._environment.tools[name].terms)
        return timed or bool(tables & self._environment.moving_tables) or any(map(reads_time, told))

    def _taking_time(self, seconds: int) -> frozenset[str]:
        """The tools of which some calls take a good part of that time."""
        durations = {name: tool.duration for name, tool in self._environment.tools.items()}
        return frozenset(
            name
            for name, duration in durations.items()
            if not isinstance(duration, int) or duration * SHORT_PART >= seconds
        )

    def helpers(self, obstacles: Sequence[Obstacle]) -> frozenset[str]:
        """The tools that a repair may insert: those that the obstacles are about, and those that let time pass."""
        tools, tables = self.of(obstacles)
        waits = {name for name, tool in self._environment.tools.items() if not isinstance(tool.duration, int)}
        if tables & self._environment.moving_tables:
            waits |= self._taking_time(60 * SHORT_PART)
        return tools | waits


def _changes(tool: Tool) -> Iterator[tuple[set[FieldOfTable], set[FieldOfTable]]]:
    """For each effect the fields that it writes, and those that decide what it writes."""
    for effect in tool.effects:
        read = {field for term in effect.terms() for field in fields_of(term)}
        table = effect.entity.table
        written = effect.values if isinstance(effect, Update) else effect.entity.fields
        yield {(table, name) for name in written}, read


def _fields_of(results: Sequence[Result]) -> set[FieldOfTable]:
    """The fields that results read."""
    return {field for result in results for term in result.terms() for field in fields_of(term)}


def _spans(formula: Formula) -> Iterator[int]:
    """The lengths of the windows of a formula, in seconds."""
    for window in (window for node in subformulas(formula) for window in windows_of(node)):
        for bound in (window.lower, window.upper):
            if bound is not None:
                yield bound.span.seconds if bound.span.fixed else 86_400
