"""Arguments for a call in a search state: sampled, or one representative of each kind.

Values stated by the user come from the sampler of the parameter, references are rows that the caller knows, and derived
values follow from the history. Where rules or the environment distinguish values, the kind is sampled first: a number
from one of the regions into which rules cut its range, a row from one of the row classes of
`lawtrace.solver.planner.abstract_state`. So rare kinds are as frequent as common ones.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import combinations_with_replacement
from random import Random

from lawtrace.environments.runtime.simulation import compile_tool
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.expressions import EvaluationScope
from lawtrace.environments.spec.samplers import Amount, FiniteSampler, OneOf
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, Value
from lawtrace.schemas.events import Derived, FromResults, SaidByUser
from lawtrace.solver.planner.search_state import ArgumentValue, CallChoice, SearchState
from lawtrace.solver.predicates import ObservedPredicates

LOOKUP_TRIES = 60
SAMPLES = 24
"""How many samples stand for an open-ended domain whose values matter."""

RowClass = tuple[object, ...]
RowClassifier = Callable[[SearchState, str, Sequence[Value]], Mapping[RowClass, Sequence[Value]]]
"""Groups known rows of a table by class."""


class ArgumentChooser:
    """Chooses arguments in one environment, for given observed predicates."""

    def __init__(self, environment: Environment, predicates: ObservedPredicates, classify: RowClassifier) -> None:
        self._environment = environment
        self._predicates = predicates
        self._classify = classify
        self._regions: dict[tuple[str, str], tuple[Amount, ...]] = {}
        self._lookups = {name: tool.lookups for name, tool in environment.tools.items()}

    def sample(self, search_state: SearchState, tool: Tool, random: Random) -> CallChoice | None:
        """Random arguments; None if a reference has no known row. A look-up finds exactly one row, a new one if
        possible.
        """
        chosen = self._sample_once(search_state, tool, random)
        if not self._lookups[tool.name] or chosen is None:
            return chosen
        fallback: CallChoice | None = None
        seen: dict[str, bool | None] = {}  # small domains repeat samples
        for _ in range(LOOKUP_TRIES):
            repr_key = repr(chosen.values)
            if repr_key not in seen:
                seen[repr_key] = self._is_new(search_state, chosen)
            is_new = seen[repr_key]
            if is_new or (is_new is not None and tool.name in self._predicates.conditions):
                return chosen
            if is_new is not None:
                fallback = fallback or chosen
            chosen = self._sample_once(search_state, tool, random)
            if chosen is None:
                return None
        return fallback

    def with_values(self, search_state: SearchState, tool: Tool, values: Mapping[str, Value]) -> CallChoice | None:
        """A call with these arguments and derived ones; None if the caller does not know a row, or there is no value
        to derive.
        """
        chosen = CallChoice(tool)
        for parameter in tool.parameters:
            match parameter.source:
                case FromTrace():
                    drawn = next(iter(self._derived_value(search_state, parameter)), None)
                case _ if parameter.name not in values:
                    drawn = ArgumentValue(parameter.default, None)
                case FromUser():
                    drawn = ArgumentValue(values[parameter.name], SaidByUser())
                case FromLookup(entity):
                    value = values[parameter.name]
                    keys: Sequence[Value] = value if isinstance(parameter.type, ListOf) else (value,)
                    known = search_state.known.get(entity.table, {})
                    is_known = all(key in known for key in keys)
                    drawn = self._reference(search_state, parameter, entity.table, keys) if is_known else None
            if drawn is None:
                return None
            chosen = chosen.plus(parameter, drawn)
        return chosen

    def sample_blindly(self, tool: Tool, state: State, random: Random) -> dict[str, Value]:
        """Arguments without regard to what the caller knows. Derived ones are left out, and those without a value."""
        drawn: dict[str, Value] = {}
        for parameter in tool.parameters:
            match parameter.source:
                case FromUser(domain):
                    with suppress(LookupError):  # a value may depend on an argument that has none
                        drawn[parameter.name] = domain.draw(random, state, drawn)
                case FromLookup(entity):
                    if keys := [row.values[entity.key] for row in state.rows(entity.table)]:
                        key = random.choice(keys)
                        drawn[parameter.name] = (key,) if isinstance(parameter.type, ListOf) else key
                case FromTrace():
                    pass
        return {name: value for name, value in drawn.items() if value is not None}

    def representatives(
        self, search_state: SearchState, tool: Tool, random: Random, *, any_row: bool = False
    ) -> list[CallChoice]:
        """One call of each kind, with the lowest number of each region. Some of the calls may be refused.

        A look-up finds exactly one row, but for ``any_row``.
        """
        choices = list(self._assignments(search_state, CallChoice(tool), random))
        if any_row or not self._lookups[tool.name]:
            return choices
        found = [(self._is_new(search_state, choice), choice) for choice in choices]
        new = [choice for is_new, choice in found if is_new]
        again = [choice for is_new, choice in found if is_new is False]
        return [*new, *again] if tool.name in self._predicates.conditions or not new else new

    def findable_rows(self, search_state: SearchState, random: Random) -> dict[str, frozenset[Value]]:
        """For each table the keys of rows that some look-up finds alone, as far as a few samples show."""
        found: dict[str, set[Value]] = {}
        for name, lookups in self._lookups.items():
            if not lookups or lookups[0].after:
                continue
            keys = found.setdefault(lookups[0].entity.table, set())
            rows = sum(1 for _ in search_state.state.rows(lookups[0].entity.table))
            for choice in self._different_lookups(search_state, self._environment.tools[name], random):
                if len(keys) == rows:
                    break
                keys |= {choice.only_match(lookups[0], search_state)} - {None}
        return {table: frozenset(keys) for table, keys in found.items()}

    def _different_lookups(self, search_state: SearchState, tool: Tool, random: Random) -> Iterator[CallChoice]:
        """Different arguments: all, if a look-up has one that is finite, else some samples."""
        match tool.parameters:
            case [Parameter(name=name, required=True, source=FromUser(FiniteSampler() as sampler))]:
                for value in sampler.candidates(search_state.state)[:LOOKUP_TRIES]:
                    yield CallChoice(tool, {name: value}, {name: SaidByUser()})
            case _:
                seen = set[str]()
                for _ in range(LOOKUP_TRIES):
                    choice = self._sample_once(search_state, tool, random)
                    if choice is not None and (repr_key := repr(choice.values)) not in seen:
                        seen.add(repr_key)
                        yield choice

    def _is_new(self, search_state: SearchState, choice: CallChoice) -> bool | None:
        """Whether a look-up reveals an unknown row; None if it does not find exactly one."""
        lookup = self._lookups[choice.tool.name][0]
        if lookup.after:
            return True
        key = choice.only_match(lookup, search_state)
        return None if key is None else key not in search_state.known.get(lookup.entity.table, {})

    def _sample_once(self, search_state: SearchState, tool: Tool, random: Random) -> CallChoice | None:
        chosen = CallChoice(tool)
        for parameter in tool.parameters:
            drawn = self._sample_argument(search_state, parameter, chosen, random)
            if drawn is None:
                return None
            chosen = chosen.plus(parameter, drawn)
        return chosen

    def _sample_argument(
        self, search_state: SearchState, parameter: Parameter, chosen: CallChoice, random: Random
    ) -> ArgumentValue | None:
        match parameter.source:
            case FromUser(when=when, share=share):
                given = parameter.required or (
                    random.random() < share if when is None else _is_stated(search_state, parameter, chosen)
                )
                if not given:
                    return ArgumentValue(parameter.default, None)
                return self._sample_stated(search_state, parameter, chosen, random)
            case FromLookup(entity):
                classes = list(self._classes(search_state, entity.table, chosen).values())
                if not classes:
                    return None
                keys = [random.choice(random.choice(classes))]
                if isinstance(parameter.type, ListOf) and random.random() < 1 / 3:
                    others = [key for rows in classes for key in rows if key != keys[0]]
                    keys += random.sample(others, min(1, len(others)))
                return self._reference(search_state, parameter, entity.table, keys)
            case FromTrace():
                return next(iter(self._derived_value(search_state, parameter)), None)

    def _assignments(
        self, search_state: SearchState, chosen: CallChoice, random: Random, number: int = 0
    ) -> Iterator[CallChoice]:
        if number == len(chosen.tool.parameters):
            yield chosen
            return
        parameter = chosen.tool.parameters[number]
        for value in self._argument_representatives(search_state, parameter, chosen, random):
            yield from self._assignments(search_state, chosen.plus(parameter, value), random, number + 1)

    def _argument_representatives(
        self, search_state: SearchState, parameter: Parameter, chosen: CallChoice, random: Random
    ) -> list[ArgumentValue]:
        """One value of each kind for a parameter."""
        match parameter.source:
            case FromUser() as source:
                return self._stated_representatives(search_state, parameter, source, chosen, random)
            case FromLookup(entity):
                classes = self._classes(search_state, entity.table, chosen)
                groups = [[rows[0]] for rows in classes.values()]
                if isinstance(parameter.type, ListOf):
                    for one, other in combinations_with_replacement(list(classes.values()), 2):
                        pair = [one[0], (other if other is not one else one[1:] or [None])[0]]
                        groups += [pair] if pair[1] is not None else []
                return [self._reference(search_state, parameter, entity.table, keys) for keys in groups]
            case FromTrace():
                return self._derived_value(search_state, parameter)

    def _stated_representatives(
        self, search_state: SearchState, parameter: Parameter, source: FromUser, chosen: CallChoice, random: Random
    ) -> list[ArgumentValue]:
        # The value of an open-ended domain matters if rows are found by it or a rule observes it.
        tool = chosen.tool
        matters = bool(self._lookups[tool.name]) or self._predicates.observes_argument(tool.name, parameter.name)
        kinds: list[ArgumentValue] = []
        if not parameter.required:
            given = matters if source.when is None else _is_stated(search_state, parameter, chosen)
            if not given or (source.when is None and matters):
                kinds.append(ArgumentValue(parameter.default, None))
            if not given:
                return kinds
        if regions := self._regions_of(tool, parameter):
            values: Sequence[Value] = [region.lowest for region in regions]
        elif isinstance(source.sampler, OneOf):
            values = list(dict.fromkeys(source.sampler.values))
        else:
            samples = SAMPLES if matters else 1
            drawn = [self._sample_stated(search_state, parameter, chosen, random) for _ in range(samples)]
            return [*kinds, *{repr(value.value): value for value in drawn if value is not None}.values()]
        return [*kinds, *(ArgumentValue(value, SaidByUser()) for value in values)]

    def _sample_stated(
        self, search_state: SearchState, parameter: Parameter, chosen: CallChoice, random: Random
    ) -> ArgumentValue | None:
        assert isinstance(parameter.source, FromUser)
        if regions := self._regions_of(chosen.tool, parameter):
            region = regions[0] if len(regions) == 1 else random.choice(regions)
            return ArgumentValue(region.draw(random, search_state.state), SaidByUser())
        value = parameter.source.sampler.draw(random, search_state.state, chosen.values)
        if value is None:
            return None if parameter.required else ArgumentValue(parameter.default, None)
        return ArgumentValue(value, SaidByUser())

    def _regions_of(self, tool: Tool, parameter: Parameter) -> tuple[Amount, ...]:
        """The regions of an amount; none for another value."""
        key = (tool.name, parameter.name)
        if key not in self._regions:
            domain = parameter.source.sampler if isinstance(parameter.source, FromUser) else None
            is_amount = isinstance(domain, Amount)
            self._regions[key] = self._predicates.regions(tool, parameter.name, domain) if is_amount else ()
        return self._regions[key]

    def _classes(self, search_state: SearchState, table: str, chosen: CallChoice) -> Mapping[RowClass, Sequence[Value]]:
        known = [key for key in search_state.known.get(table, ()) if key not in chosen.rows]
        return self._classify(search_state, table, known)

    def _reference(
        self, search_state: SearchState, parameter: Parameter, table: str, keys: Sequence[Value]
    ) -> ArgumentValue:
        places = tuple(search_state.known[table][key] for key in keys)
        if isinstance(parameter.type, ListOf):
            return ArgumentValue(tuple(keys), FromResults(places))
        return ArgumentValue(keys[0], places[0])

    def _derived_value(self, search_state: SearchState, parameter: Parameter) -> list[ArgumentValue]:
        """The value derived from the history; nothing if it is empty."""
        assert isinstance(parameter.source, FromTrace)
        value = parameter.source.function(self._environment.tools, search_state.events)
        return [ArgumentValue(value, Derived(parameter.source.name))] if value else []


def plain_chooser(environment: Environment) -> ArgumentChooser:
    """A chooser to which all rows and all values are of one kind."""
    return ArgumentChooser(environment, ObservedPredicates([]), lambda _, __, known: {(): known} if known else {})


def _is_stated(search_state: SearchState, parameter: Parameter, chosen: CallChoice) -> bool:
    """Whether the condition holds under which the user states the argument."""
    condition = compile_tool(chosen.tool).stated_when[parameter.name]
    return bool(condition(EvaluationScope(search_state.state, chosen.values, search_state.now)))
