"""The facts of a situation: what the search remembers of the world. An abstraction, derived from the declaration.

Of a situation they keep

- which refusals, of those that depend on the state alone, would hold (the door is locked), and whether there is a new
  value left where something new is called by one;
- of each table that tools refer to, how many rows of each *class* the caller knows, up to the largest number that a
  call refers to (and one more where calls use rows up), and which classes a look-up could still add to. The class of a
  row is which refusals would name it (the guest has access already), and where quantified rules stand with its key. A
  row that every tool refuses is left out;
- for each quantified rule the state of the values that occurred, and of all others.

Where rules look at results, what they show is kept beside the refusals. Refusals that depend on amounts, texts or
dates of the call are left out. What follows from the calls so far alone is no fact of the world
(`lawtrace.solver.planner.derived_values`).
"""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Delete, ValueResult
from lawtrace.environments.spec.samplers import OneOf, UnusedValue
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import Compiled, EvaluationScope, Term, arguments_of, fields_of, tables_of
from lawtrace.environments.spec.terms.logic import PLAIN
from lawtrace.environments.spec.tools import FromLookup, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, Value
from lawtrace.solver.planner.argument_choices import RowClass
from lawtrace.solver.planner.search_state import SearchState
from lawtrace.solver.predicates import ObservedPredicates, ValueKey

MAX_ENUMERATED_VALUES = 4
"""Up to how many values of a parameter are tried one by one."""
ROW_CLASS_CACHE_SIZE = 10_000
"""The states of tables for which the classes of rows are remembered."""

AbstractState = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _StateQuery:
    """A term of the declaration to be asked of the state, or of a row: the row's key goes in for one parameter, and
    parameters with few values have one of them. A refusal of the row that depends on nothing else names its tool, with
    the parameter: it may take as a target what it refuses as a source."""

    term: Compiled
    looks_at: frozenset[str]
    refusing: tuple[str, str] | None = None
    arguments: Mapping[str, Value] = field(default_factory=dict[str, Value])
    parameter: Parameter | None = None

    def answer(self, state: State, key: Value = None) -> Value:
        arguments = self.arguments
        if self.parameter is not None:
            arguments = {**arguments, self.parameter.name: (key,) if isinstance(self.parameter.kind, ListOf) else key}
        return self.term(EvaluationScope(state, arguments))


class StateAbstraction:
    """Reads the facts of situations."""

    def __init__(self, environment: Environment, interest: ObservedPredicates) -> None:
        self.environment = environment
        self.interest = interest
        self._of_state: list[_StateQuery] = []
        self._of_rows: dict[str, list[_StateQuery]] = {table: [] for table in environment.entities}
        self.left_out: dict[str, list[Term]] = {}
        """For each tool the refusals that depend on the state and on what the facts leave out, such as amounts."""
        for tool in environment.tools.values():
            asked = [(term, self._ask(tool, term, refusing=True)) for term in _refusals(tool)]
            self.left_out[tool.name] = [term for term, is_asked in asked if not is_asked]
            for term in _observed_result_terms(tool, interest):
                self._ask(tool, term, refusing=False)
        sources = [parameter.source for tool in environment.tools.values() for parameter in tool.parameters]
        domains = [source.domain for source in sources if isinstance(source, FromUser)]
        self._used_up = [domain for domain in domains if isinstance(domain, UnusedValue)]
        self._referring = {table: _referring_tools(environment, table) for table in environment.entities}
        self._looked_at = {
            table: tuple(sorted(frozenset[str]().union(*(question.looks_at for question in questions))))
            for table, questions in self._of_rows.items()
        }
        self._answered: OrderedDict[tuple[str, tuple[int, ...]], tuple[object, dict[Value, RowClass]]] = OrderedDict()
        self._keys = {table: entity.key for table, entity in environment.entities.items()}
        self.row_caps = self._counted(environment)
        self._looked_up = {lookup.entity.table for tool in environment.tools.values() for lookup in tool.lookups}
        self.tells_rows_apart = bool(interest.quantified) or any(self._of_rows.values())
        """Whether there are classes of rows at all."""
        self.is_exact = not self.tells_rows_apart and not self._of_state and not self._used_up
        """Whether rows are only counted and nothing else is looked at, so that what a call leads to is sure."""
        self.touched_tables = {name: self._touched_by(tool) for name, tool in environment.tools.items()}
        """For each tool the tables of whose rows a call finds, takes or makes some, or changes the class."""

    def _ask(self, tool: Tool, term: Term, *, refusing: bool) -> bool:
        """Note what the term can be asked about; False if it does not depend on the state, one row and few other
        values alone."""
        named = [tool.parameter(name) for name in sorted(arguments_of(term))]
        rows = [parameter for parameter in named if isinstance(parameter.source, FromLookup)]
        others = [parameter for parameter in named if parameter not in rows]
        values = [_enumerable_values(parameter) for parameter in others]
        if len(rows) > 1 or not all(values):
            return False
        compiled, looks_at = term.compile(PLAIN), frozenset(tables_of(term))
        for chosen in product(*values):
            arguments = {parameter.name: value for parameter, value in zip(others, chosen, strict=True)}
            named_by = (tool.name, rows[0].name) if refusing and rows and not others else None
            question = _StateQuery(compiled, looks_at, named_by, arguments, rows[0] if rows else None)
            if not rows:
                self._of_state.append(question)
            elif isinstance(rows[0].source, FromLookup):
                entity = rows[0].source.entity
                if fields_of(term) - {(entity.table, entity.key)}:  # else it only asks whether there is such a row
                    self._of_rows[entity.table].append(question)
        return True

    def _counted(self, environment: Environment) -> dict[str, int]:
        """For each table that tools refer to, how many known rows of a class are counted."""
        counts = Counter[str]()
        for tool in environment.tools.values():
            counts |= _reference_counts(tool)
        effects = [effect for tool in environment.tools.values() for effect in tool.effects]
        written = {effect.entity.table for effect in effects}
        deleted = {effect.entity.table for effect in effects if isinstance(effect, Delete)}
        return {
            table: counts[table]
            + bool(
                self.interest.quantified
                or table in deleted
                or any(question.looks_at & written for question in self._of_rows[table])
            )
            for table in sorted(counts)
        }

    def _touched_by(self, tool: Tool) -> frozenset[str]:
        sources = [parameter.source for parameter in tool.parameters]
        written = {effect.entity.table for effect in tool.effects}
        return frozenset(
            {source.entity.table for source in sources if isinstance(source, FromLookup)}
            | {lookup.entity.table for lookup in tool.lookups}
            | written
            | {table for table, looked_at in self._looked_at.items() if written & {*looked_at}}
        )

    def facts(self, situation: SearchState) -> AbstractState:
        followed: set[ValueKey] = set()
        tables = tuple(self._table(situation, table, cap, followed) for table, cap in self.row_caps.items())
        answers = [question.answer(situation.state) for question in self._of_state]
        truths = (*answers, *(bool(domain.words(situation.state)) for domain in self._used_up))
        values = tuple(
            (
                standing.unseen,
                frozenset(
                    state
                    for key, state in standing.met.items()
                    if key not in followed and automaton.verdict(state) != "satisfied"
                ),
            )
            for automaton, standing in zip(self.interest.quantified, situation.standings, strict=True)
        )
        return tables, truths, values

    def beyond_caps(self, situation: SearchState) -> set[tuple[str, object]]:
        """What there is more of than the facts count, each by its table: rows of a class that the caller knows or could
        still look up, and new values."""
        more: set[tuple[str, object]] = {
            (domain.entity.table, number)
            for number, domain in enumerate(self._used_up)
            if len(domain.words(situation.state)) > 1
        }
        for table in (table for table, cap in self.row_caps.items() if cap > 1):
            known, counts = situation.known.get(table, {}), Counter[tuple[bool, RowClass]]()
            findable = situation.findable.get(table, ())
            for row in situation.state.rows(table):
                key = row.values[self._keys[table]]
                if key in known or key in findable or not self.tells_rows_apart:
                    counts[key in known, self._class(situation, table, key)] += 1
            enough = {True: self.row_caps[table], False: 1}
            more |= {(table, kind) for kind, count in counts.items() if count > enough[kind[0]]}
        return more

    def sort(self, situation: SearchState, table: str, keys: Sequence[Value]) -> Mapping[RowClass, Sequence[Value]]:
        """Rows by their class, for whoever chooses among them."""
        if not self._of_rows[table] and not situation.standings:
            return {(): keys} if keys else {}
        sorted_: dict[RowClass, list[Value]] = {}
        for key in keys:
            sorted_.setdefault(self._class(situation, table, key), []).append(key)
        return sorted_

    def instances_kept(self, situation: SearchState) -> bool | None:
        """Whether every value that occurred satisfies its rule; None if one never will again."""
        kept = True
        for automaton, standing in zip(self.interest.quantified, situation.standings, strict=True):
            for state in standing.met.values():
                if not automaton.can_accept(state):
                    return None
                kept = kept and state in automaton.accepting
        return kept

    def _table(self, situation: SearchState, table: str, cap: int, followed: set[ValueKey]) -> AbstractState:
        known = situation.known.get(table, {})
        if not self._of_rows[table] and not situation.standings:
            count = min(len(known), cap)
            more = count < cap and table in self._looked_up
            return count, more and len(situation.state.tables[table]) > len(known)
        counts = Counter[RowClass]()
        unknown: set[RowClass] = set()
        key_field, findable = self._keys[table], situation.findable.get(table, ())
        for key in [row.values[key_field] for row in situation.state.rows(table)]:
            if key in known or key in findable:
                class_ = self._class(situation, table, key)
                if self._is_useless(table, class_):
                    continue
                if key in known:
                    counts[class_] += 1
                    followed.add((False, key))
                else:
                    unknown.add(class_)
        capped = {class_: min(count, cap) for class_, count in counts.items()}
        more = frozenset(class_ for class_ in unknown if capped.get(class_, 0) < cap)
        return tuple(sorted(capped.items(), key=repr)), more if table in self._looked_up else frozenset[RowClass]()

    def _class(self, situation: SearchState, table: str, key: Value) -> RowClass:
        answers = self._answers(situation.state, table)
        if key not in answers:
            answers[key] = tuple(question.answer(situation.state, key) for question in self._of_rows[table])
        return (*answers[key], *(standing.of((False, key)) for standing in situation.standings))

    def _answers(self, state: State, table: str) -> dict[Value, RowClass]:
        """What is known already of the rows of a table, as long as no table that the answers depend on has changed."""
        read = tuple(state.tables[other] for other in self._looked_at[table])
        key = (table, tuple(map(id, read)))
        if key not in self._answered:
            self._answered[key] = (read, {})  # kept beside it, so that no other table gets its identity
            if len(self._answered) > ROW_CLASS_CACHE_SIZE:
                self._answered.popitem(last=False)
        return self._answered[key][1]

    def _is_useless(self, table: str, class_: RowClass) -> bool:
        """Whether every tool that could refer to such a row refuses it, in every place."""
        refusing = {
            question.refusing for question, answer in zip(self._of_rows[table], class_, strict=False) if answer is True
        }
        return self._referring[table] <= refusing


def _refusals(tool: Tool) -> list[Term]:
    """The terms that decide whether a tool refuses, those that look at the state."""
    return [term for term in tool.refusals if tables_of(term)]


def _observed_result_terms(tool: Tool, interest: ObservedPredicates) -> list[Term]:
    """The terms of the state that results show and rules look at."""
    results = tool.results if interest.observes_result(tool.name) else ()
    terms = [result.term for result in results if isinstance(result, ValueResult)]
    return [term for term in terms if tables_of(term)]


def _referring_tools(environment: Environment, table: str) -> set[tuple[str, str]]:
    """The tools that refer to rows of a table, with the parameters."""
    return {
        (tool.name, parameter.name)
        for tool in environment.tools.values()
        for parameter in tool.parameters
        if isinstance(parameter.source, FromLookup) and parameter.source.entity.table == table
    }


def _enumerable_values(parameter: Parameter) -> tuple[Value, ...]:
    """The values that a parameter can have, if they are few; empty if they are not."""
    source = parameter.source
    if not isinstance(source, FromUser) or not isinstance(source.domain, OneOf):
        return ()
    given = tuple(dict.fromkeys(source.domain.values))
    values = given if parameter.required else (*given, parameter.default)
    return values if len(values) <= MAX_ENUMERATED_VALUES else ()


def _reference_counts(tool: Tool) -> Counter[str]:
    """How many different rows of each table a call of the tool must refer to."""
    return Counter(
        parameter.source.entity.table for parameter in tool.parameters if isinstance(parameter.source, FromLookup)
    )
