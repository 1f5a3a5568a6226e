"""Abstract states: a finite abstraction of search states, derived from the declaration.

An abstract state consists of

- the truth of each refusal that depends on the state alone (the door is locked), and for each parameter that needs an
  unused value whether one is left; how many are left where there are few, so that each call uses one up;
- for each table that tools refer to: how many rows of each *class* the caller knows, capped at the largest number that
  one call refers to (one more where calls use rows up), and which classes a look-up could still add. The class of a
  row consists of the refusals that name it (the guest has access already). A row that every tool refuses is left out.

Where this gives too many states, because each table multiplies them, rows have no classes, and only how many are known
is kept. Then refusals of rows are abstracted away like those that depend on amounts.

Result fields that rules observe are kept beside the refusals. Refusals that depend on amounts, texts or dates of the
call are abstracted away. Values derived from the call history are not part of the state
(`lawtrace.solver.planner.transition_system`).
"""

from collections import Counter, OrderedDict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import cast

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Delete, ValueResult
from lawtrace.environments.spec.expressions import Compiled, EvaluationScope, Term
from lawtrace.environments.spec.logic import PLAIN
from lawtrace.environments.spec.samplers import OneOf, UnusedValue
from lawtrace.environments.spec.state import Entity, State
from lawtrace.environments.spec.terms import arguments_of, fields_of, reads_time, tables_of
from lawtrace.environments.spec.tools import FromLookup, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, Value
from lawtrace.schemas.events import Event
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.logic.terms import with_list_index
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.planner.argument_choices import RowClass
from lawtrace.solver.planner.search_state import SearchState
from lawtrace.solver.predicates import ObservedPredicates

MAX_ENUMERATED_VALUES = 4
"""Parameters with at most this many values are enumerated, and so many unused values are counted."""
EXPLORED_TABLES = 10_000
"""How many table versions keep their row classes while abstract states are explored."""
WALKED_TABLES = 100
"""How many keep them along traces, which have few in common. What is kept costs every garbage collection."""

AbstractState = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class _StateQuery:
    """A term evaluated on the state, or on one row of it: the key of the row is the value of one parameter, and
    parameters with few values have one of them.

    Attributes:
        refuses_row: the tool and parameter of a refusal that depends on the row alone. A tool may refuse a row as a
            source and accept it as a target.
    """

    term: Compiled
    tables_read: frozenset[str]
    refuses_row: tuple[str, str] | None = None
    arguments: Mapping[str, Value] = field(default_factory=dict[str, Value])
    parameter: Parameter | None = None

    def answer(self, state: State, key: Value = None) -> Value:
        arguments = self.arguments
        if self.parameter is not None:
            value = (key,) if isinstance(self.parameter.type, ListOf) else key
            arguments = {**arguments, self.parameter.name: value} if arguments else {self.parameter.name: value}
        return self.term(EvaluationScope(state, arguments))


@dataclass(frozen=True, slots=True)
class RowRule:
    """A rule with one variable, for the keys of one table. Its state is part of the class of a row."""

    automaton: Automaton
    entity: Entity

    def state(self, events: Sequence[Event], key: Value) -> int:
        """The state of the automaton for a row after these calls."""
        state, value = self.automaton.initial, cast("Scalar", self.entity.fields[self.entity.key].type.encode(key))
        for event in events:
            state = self.automaton.step(state, self.automaton.alphabet.event_letter(with_list_index(event), value))
        return state

    def is_broken(self, events: Sequence[Event]) -> bool:
        """Whether the rule can no longer be kept for some row."""
        return Monitor({"rule": self.automaton}).run(events).verdicts() == ("violated",)


class StateAbstraction:
    """Computes abstract states."""

    def __init__(
        self,
        environment: Environment,
        predicates: ObservedPredicates,
        *,
        classes: bool = True,
        row_rule: RowRule | None = None,
    ) -> None:
        """
        Args:
            classes: whether rows have classes; if not, known rows are counted.
            row_rule: a rule whose states are distinguished.
        """
        self.row_rule = row_rule
        self.environment = environment
        self.predicates = predicates
        self._classes = classes
        self.effort = 0
        """How many rows were looked at in order to classify rows."""
        self._state_queries: list[_StateQuery] = []
        self._row_queries: dict[str, list[_StateQuery]] = {table: [] for table in environment.entities}
        self.abstracted_refusals: dict[str, list[Term]] = {}
        """For each tool the refusals that depend on abstracted data: on the time, or on the state and amounts."""
        for tool in environment.tools.values():
            asked = [(term, self._add_queries(tool, term, is_refusal=True)) for term in _refusals(tool)]
            self.abstracted_refusals[tool.name] = [term for term, is_asked in asked if not is_asked]
            for term in _observed_result_terms(tool, predicates):
                self._add_queries(tool, term, is_refusal=False)
        sources = [parameter.source for tool in environment.tools.values() for parameter in tool.parameters]
        domains = [source.sampler for source in sources if isinstance(source, FromUser)]
        unused = [domain for domain in domains if isinstance(domain, UnusedValue)]
        self._unused_values = [(d, len(d.values) if len(d.values) <= MAX_ENUMERATED_VALUES else 1) for d in unused]
        """Each with the number up to which the values left are counted."""
        self._referring = {table: _referring_tools(environment, table) for table in environment.entities}
        self._tables_read = {
            table: tuple(sorted(frozenset[str]().union(*(query.tables_read for query in queries))))
            for table, queries in self._row_queries.items()
        }
        self._tables_kept = EXPLORED_TABLES
        self._answer_cache: OrderedDict[tuple[str, tuple[int, ...]], tuple[object, dict[Value, RowClass]]] = (
            OrderedDict()
        )
        self._refused: dict[tuple[str, RowClass], bool] = {}
        self.row_caps = self._row_caps(environment)
        self._lookup_tables = {lookup.entity.table for tool in environment.tools.values() for lookup in tool.lookups}
        self.classifies_rows = any(map(self._has_classes, environment.entities))
        """Whether rows have classes at all."""
        self.touched_tables = {name: self._tables_touched(tool) for name, tool in environment.tools.items()}
        """For each tool the tables whose rows a call finds, refers to, creates or reclassifies."""

    def _add_queries(self, tool: Tool, term: Term, *, is_refusal: bool) -> bool:
        """Add the queries for a term. False if it depends on more than the state, one row and parameters with few
        values, such as the time.
        """
        if self.environment.depends_on_time(term):
            return False
        named = [tool.parameter(name) for name in sorted(arguments_of(term))]
        rows = [parameter for parameter in named if isinstance(parameter.source, FromLookup)]
        others = [parameter for parameter in named if parameter not in rows]
        values = [_enumerable_values(parameter) for parameter in others]
        if len(rows) > 1 or not all(values) or (rows and not self._classes):
            return False
        compiled, tables_read = term.compile(PLAIN), frozenset(tables_of(term))
        for chosen in product(*values):
            arguments = {parameter.name: value for parameter, value in zip(others, chosen, strict=True)}
            named_by = (tool.name, rows[0].name) if is_refusal and rows and not others else None
            query = _StateQuery(compiled, tables_read, named_by, arguments, rows[0] if rows else None)
            if not rows:
                self._state_queries.append(query)
            elif isinstance(rows[0].source, FromLookup):
                entity = rows[0].source.entity
                if fields_of(term) - {(entity.table, entity.key)}:  # otherwise the term only tests existence
                    self._row_queries[entity.table].append(query)
        return True

    def _row_caps(self, environment: Environment) -> dict[str, int]:
        """For each table that tools refer to, how many known rows of a class are counted."""
        counts = Counter[str]()
        for tool in environment.tools.values():
            counts |= _reference_counts(tool)
        if not self._classes:
            return {table: counts[table] for table in sorted(counts)}
        effects = [effect for tool in environment.tools.values() for effect in tool.effects]
        written = {effect.entity.table for effect in effects}
        deleted = {effect.entity.table for effect in effects if isinstance(effect, Delete)}
        return {
            table: counts[table]
            + bool(table in deleted or any(query.tables_read & written for query in self._row_queries[table]))
            for table in sorted(counts)
        }

    def _tables_touched(self, tool: Tool) -> frozenset[str]:
        written = tool.written_tables
        found = {lookup.entity.table for lookup in tool.lookups}
        reclassified = {table for table, read in self._tables_read.items() if not written.isdisjoint(read)}
        return tool.referred_tables | found | written | reclassified

    def abstract(self, search_state: SearchState) -> AbstractState:
        tables = tuple(self._table(search_state, table, cap) for table, cap in self.row_caps.items())
        return tables, self._state_truths(search_state.state)

    def _state_truths(self, state: State) -> AbstractState:
        """The answers on the state alone."""
        answers = [query.answer(state) for query in self._state_queries]
        return (*answers, *(min(len(domain.candidates(state)), cap) for domain, cap in self._unused_values))

    def beyond_caps(self, search_state: SearchState) -> set[tuple[str, object]]:
        """Rows and unused values beyond the counted number, each with its table."""
        more: set[tuple[str, object]] = {
            (domain.entity.table, number)
            for number, (domain, cap) in enumerate(self._unused_values)
            if len(domain.candidates(search_state.state)) > cap
        }
        for table in (table for table, cap in self.row_caps.items() if cap > 1):
            known, counts = search_state.known.get(table, {}), Counter[tuple[bool, RowClass]]()
            findable = search_state.findable.get(table, ())
            answers = self._answers(search_state.state, table)
            for row in search_state.state.rows(table):
                key = row.values[self.environment.entities[table].key]
                if key in known or key in findable or not self.classifies_rows:
                    counts[key in known, self._class(search_state, table, key, answers)] += 1
            enough = {True: self.row_caps[table], False: 1}
            more |= {(table, kind) for kind, count in counts.items() if count > enough[kind[0]]}
        return more

    def classify_rows(
        self, search_state: SearchState, table: str, keys: Sequence[Value]
    ) -> Mapping[RowClass, Sequence[Value]]:
        """Rows by their class."""
        if not self._has_classes(table):
            return {(): keys} if keys else {}
        sorted_: dict[RowClass, list[Value]] = {}
        answers = self._answers(search_state.state, table)
        for key in keys:
            sorted_.setdefault(self._class(search_state, table, key, answers), []).append(key)
        return sorted_

    def _table(self, search_state: SearchState, table: str, cap: int) -> AbstractState:
        known = search_state.known.get(table, {})
        if not self._has_classes(table):
            count = min(len(known), cap)
            if not self._classes:
                return (count,)
            more = count < cap and table in self._lookup_tables
            return count, more and len(search_state.state.tables[table]) > len(known)
        findable = search_state.findable.get(table, ())
        counts: dict[RowClass, int] = {}
        unknown: set[RowClass] = set()
        key_field, answers = self.environment.entities[table].key, self._answers(search_state.state, table)
        for row in search_state.state.tables[table]:
            key = row.values[key_field]
            is_known = key in known
            if not row.present or not (is_known or key in findable):
                continue
            class_ = self._class(search_state, table, key, answers)
            if self._is_refused_everywhere(table, class_):
                continue
            if is_known:
                counts[class_] = min(counts.get(class_, 0) + 1, cap)
            else:
                unknown.add(class_)
        more = frozenset(class_ for class_ in unknown if counts.get(class_, 0) < cap)
        return frozenset(counts.items()), more if table in self._lookup_tables else frozenset[RowClass]()

    def _has_classes(self, table: str) -> bool:
        return bool(self._row_queries[table]) or (self.row_rule is not None and self.row_rule.entity.table == table)

    def _class(self, search_state: SearchState, table: str, key: Value, answers: dict[Value, RowClass]) -> RowClass:
        """The class of a row. `answers`: those that are cached for the table."""
        class_ = answers.get(key)
        if class_ is None:
            self.effort += len(self._row_queries[table]) * len(search_state.state.tables[table])
            class_ = tuple([query.answer(search_state.state, key) for query in self._row_queries[table]])
            answers[key] = class_
        if self.row_rule is not None and self.row_rule.entity.table == table:
            return *class_, self.row_rule.state(search_state.events, key)
        return class_

    def _answers(self, state: State, table: str) -> dict[Value, RowClass]:
        """The cached answers for the rows of a table, valid until a table that the queries read changes."""
        read = tuple([state.tables[other] for other in self._tables_read[table]])
        key = (table, tuple(map(id, read)))
        cached = self._answer_cache.get(key)
        if cached is None:
            cached = self._answer_cache[key] = (read, {})  # keeps the tables alive, so that no id is reused
            if len(self._answer_cache) > self._tables_kept:
                self._answer_cache.popitem(last=False)
        return cached[1]

    def end_exploration(self) -> None:
        """Keep the row classes of few tables from here on."""
        self._tables_kept = WALKED_TABLES
        self._answer_cache.clear()

    def _is_refused_everywhere(self, table: str, class_: RowClass) -> bool:
        """Whether every tool that could refer to such a row refuses it, in every parameter."""
        refused = self._refused.get((table, class_))
        if refused is None:
            answered = zip(self._row_queries[table], class_, strict=False)
            refusing = {query.refuses_row for query, answer in answered if answer is True}
            refused = self._refused[table, class_] = self._referring[table] <= refusing
        return refused


def _refusals(tool: Tool) -> list[Term]:
    """The refusal terms that read the state or the time."""
    return [term for term in tool.refusals if tables_of(term) or reads_time(term)]


def _observed_result_terms(tool: Tool, predicates: ObservedPredicates) -> list[Term]:
    """The result terms that read the state and that rules observe."""
    results = tool.results if predicates.observes_result(tool.name) else ()
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
    """The values of a parameter if they are few, else nothing."""
    source = parameter.source
    if not isinstance(source, FromUser) or not isinstance(source.sampler, OneOf):
        return ()
    given = tuple(dict.fromkeys(source.sampler.values))
    values = given if parameter.required else (*given, parameter.default)
    return values if len(values) <= MAX_ENUMERATED_VALUES else ()


def _reference_counts(tool: Tool) -> Counter[str]:
    """How many different rows of each table a call of the tool refers to."""
    return Counter(
        parameter.source.entity.table for parameter in tool.parameters if isinstance(parameter.source, FromLookup)
    )
