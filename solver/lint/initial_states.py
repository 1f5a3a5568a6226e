"""Checks of initial states: they match the tables, arguments can be sampled from them, and traces can start there."""

import json
from collections.abc import Callable, Iterator, Sequence
from random import Random

from lawtrace.environments.runtime.simulation import call_duration, compile_tool, simulate_call
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import RowsResult
from lawtrace.environments.spec.expressions import EvaluationScope
from lawtrace.environments.spec.state import State, decode_state, encode_state
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, Value, WrongFormat, WrongType
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.trace_options import NO_CONSTRAINTS
from lawtrace.solver.lint.findings import DeclarationIssue
from lawtrace.solver.model_checking.explanations import join_names
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.planner.search import TraceSearch
from lawtrace.solver.planner.tool_sequences import draw_tool_sequence
from lawtrace.solver.planner.trace_spec import TraceSpec
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace


class EmptyDomainError(Exception):
    """A sampler found no value in a state. Carries the parameter and the cause."""

    def __init__(self, parameter: Parameter, reason: Exception) -> None:
        super().__init__(f"{type(reason).__name__}: {reason}")
        self.parameter = parameter


def sample_arguments(tool: Tool, state: State, random: Random) -> dict[str, Value]:
    """A value for every parameter that the user states or that is looked up, in order: one may depend on those before
    it.

    Raises EmptyDomainError.
    """
    drawn: dict[str, Value] = {}
    for parameter in tool.parameters:
        match parameter.source:
            case FromUser(sampler=sampler):
                try:
                    drawn[parameter.name] = sampler.draw(random, state, drawn)
                except (LookupError, StopIteration, ValueError, TypeError) as error:
                    raise EmptyDomainError(parameter, error) from error
            case FromLookup(entity):
                keys = [row.values[entity.key] for row in state.rows(entity.table)]
                key = random.choice(keys) if keys else None
                drawn[parameter.name] = (key,) if isinstance(parameter.type, ListOf) else key
            case FromTrace():
                pass
    return drawn


SEEDS_CHECKED = 20
TRACE_LENGTHS = (6, 8, 10)
SEQUENCES_TRIED = 6


def check_initial_states(environment: Environment) -> Iterator[DeclarationIssue]:
    """Defects of the states that ``populate`` returns, with the seed of the first example."""
    for seed in range(SEEDS_CHECKED):
        issue = (
            _invalid_state(environment, seed) or _empty_domain(environment, seed) or _failing_call(environment, seed)
        )
        if issue is not None:
            yield issue
            return


STATES_ASKED = 8
"""In how many initial states a compliant trace is looked for that carries out a change."""
ADDED_CALLS = 6
"""How many calls such a trace adds to the request, at most."""


def check_traces(
    environment: Environment, rules: Sequence[Rule], progress: Callable[[], None] = lambda: None
) -> Iterator[DeclarationIssue]:
    """Missing rows: results that are always empty, and changes that no initial state allows.

    Where facts are declared, tasks are completed requests, and these are looked for. Otherwise tasks are traces of the
    product of tools and rules, and these are.
    """
    yield from _empty_results(environment)
    if environment.facts:
        yield from _impossible_changes(environment, rules, progress)
    else:
        yield from _uninstantiable_lengths(environment, rules)


def _impossible_changes(
    environment: Environment, rules: Sequence[Rule], progress: Callable[[], None]
) -> Iterator[DeclarationIssue]:
    """Changes for which no compliant trace is found in a few initial states. That there is none is not proved."""
    writer, completer = RequestWriter(environment), Completer(environment, rules)
    for tool in writer.changes:
        drawn, found, obstacles = 0, False, dict[str, None]()
        for number in range(STATES_ASKED):
            progress()
            random = Random(f"{environment.name}/{tool}/{number}")
            initial = environment.populate(random)
            request = writer.draw(initial, [tool], random)
            if request is None:
                continue
            drawn += 1
            answer = completer.complete(initial, request, ADDED_CALLS)
            if found := isinstance(answer, Trace):
                break
            if answer is not None:
                obstacles |= dict.fromkeys(obstacle.text for obstacle in answer.obstacles)
        if not found:
            yield DeclarationIssue(
                f"tool {tool!r}",
                f"no compliant trace found that calls it in {STATES_ASKED} initial states"
                + ("" if drawn else ", because no call of it completes"),
                "check its refusals and the rules named, or draw initial states that allow it more often",
                f"In the way were {join_names([*obstacles][:4])}. This is not a proof." if obstacles else "",
            )


def _invalid_state(environment: Environment, seed: int) -> DeclarationIssue | None:
    def issue(what: str, remedy: str) -> DeclarationIssue:
        return DeclarationIssue("populate", what, remedy, f"For example populate(Random({seed})).")

    try:
        state = environment.populate(Random(seed))
    except InputError as error:  # the loader made it of any exception; it names file and line
        return issue(f"it fails: {error}", "let it return a State for every seed")
    if set(state.tables) != set(environment.entities):
        differing = sorted(set(state.tables) ^ set(environment.entities))[0]
        return issue(
            f"the table {differing!r} is in the state or among the entities, not in both",
            "start from dict.fromkeys(ENTITIES, ()) and fill in the rows",
        )
    for table, entity in environment.entities.items():
        keys = [row.values.get(entity.key) for row in state.rows(table)]
        if twice := sorted({str(key) for key in keys if keys.count(key) > 1}):
            return issue(
                f"two rows of {table!r} have the key {twice[0]!r}", "sample keys without repeats (random.sample)"
            )
    try:
        again = decode_state(encode_state(state, environment.entities), environment.entities)
    except InputError as error:
        return issue(f"it does not match the tables: {error}", "sample values of the declared types")
    except (WrongFormat, WrongType, TypeError, KeyError, ValueError) as error:
        return issue(f"it cannot be written: {type(error).__name__}: {error}", "sample values of the declared types")
    if not _same(again, state):
        return issue("it changes when written and read back", "sample values in internal form (cents, day numbers)")
    if not _same(environment.populate(Random(seed)), state):
        return issue("the same seed gives another state", "take all randomness from the `random` argument")
    return None


def _empty_domain(environment: Environment, seed: int) -> DeclarationIssue | None:
    """A user parameter whose sampler finds no value, or one that does not fit its type."""
    state = environment.populate(Random(seed))
    for tool in environment.tools.values():
        try:
            drawn = sample_arguments(tool, state, Random(seed))
            for parameter in tool.parameters:
                value = drawn.get(parameter.name)
                if value is not None and (why := _misfit(parameter, value)):
                    return DeclarationIssue(
                        f"tool {tool.name!r}, parameter {parameter.name!r}",
                        f"a value that is drawn for it does not fit its type: {why}",
                        "let the sampler draw values of the type in internal form",
                        f"For example {value!r} in populate(Random({seed})).",
                    )
        except EmptyDomainError as nothing:
            return DeclarationIssue(
                f"tool {tool.name!r}, parameter {nothing.parameter.name!r}",
                f"its sampler finds no value in an initial state ({nothing})",
                "add rows to the table that it samples from",
                f"For example populate(Random({seed})).",
            )
    return None


def _misfit(parameter: Parameter, value: Value) -> str | None:
    """Why a value in internal form is not one of the parameter's type."""
    try:
        again = parameter.type.decode(parameter.type.encode(value))
    except (WrongFormat, WrongType, TypeError, AttributeError, ValueError) as error:
        return str(error)
    return None if again == value else f"read back it is {again!r}"


def _failing_call(environment: Environment, seed: int) -> DeclarationIssue | None:
    """A tool whose terms raise when a call is simulated, for example by comparing values of two types."""
    state = environment.populate(Random(seed))
    for tool in environment.tools.values():
        drawn = {parameter.name: parameter.default for parameter in tool.parameters}
        drawn |= {p.name: environment.event_names for p in tool.parameters if isinstance(p.source, FromTrace)}
        drawn |= sample_arguments(tool, state, Random(seed))
        said = {name: tool.parameter(name).type.encode(value) for name, value in drawn.items() if value is not None}
        now = environment.clock.start(state)
        try:
            call_duration(environment, simulate_call(environment, state, tool.name, said, now)[0])
        except Exception as error:  # noqa: BLE001 (user terms; the exception is the finding)
            return DeclarationIssue(
                f"tool {tool.name!r}, {_failing_condition(tool, EvaluationScope(state, drawn, now))}",
                f"a call raises {type(error).__name__}: {error}",
                "compare values of one type: internally, money is cents, days and minutes are numbers",
                f"For example {tool.name}({json.dumps(said)}) in populate(Random({seed})).",
            )
    return None


def _failing_condition(tool: Tool, scope: EvaluationScope) -> str:
    """The first condition that cannot be evaluated."""
    compiled = compile_tool(tool)
    conditions = [(f"exception {raised.exception}", condition) for raised, condition in compiled.raises]
    conditions += [(f"failure: {failure.description}", condition) for failure, condition in compiled.fails]
    for place, condition in conditions:
        try:
            condition(scope)
        except Exception:  # noqa: BLE001 (reported by the caller)
            return place
    return "effects, results and duration"


def _same(one: State, other: State) -> bool:
    return all([*one.rows(table)] == [*other.rows(table)] for table in one.tables)


def _empty_results(environment: Environment) -> Iterator[DeclarationIssue]:
    """Look-ups that never find anything, and fields that are always absent."""
    states = [environment.populate(Random(seed)) for seed in range(SEEDS_CHECKED)]
    written = frozenset[str]().union(*(tool.written_tables for tool in environment.tools.values()))
    for tool in environment.tools.values():
        for result in tool.results:
            if not isinstance(result, RowsResult) or result.entity.table in written:
                continue
            table = result.entity.table
            rows = [row for state in states for row in state.rows(table)]
            place, proof = f"tool {tool.name!r}, result {result.name!r}", f"Seen in {SEEDS_CHECKED} initial states."
            if not rows:
                what = f"it never lists anything: no initial state has {table} and no tool makes any"
                yield DeclarationIssue(place, what, "add some to the initial states, or remove the result", proof)
                continue
            for name in result.fields:
                if all(row.values[name] is None for row in rows):
                    what = f"it documents the field {name!r}, but no row has it and no tool sets it"
                    remedy = "fill it in the initial states, or leave it out of the result"
                    yield DeclarationIssue(place, what, remedy, proof)


def _uninstantiable_lengths(environment: Environment, rules: Sequence[Rule]) -> Iterator[DeclarationIssue]:
    """The first length for which no initial state allows a compliant trace with a change. Tasks need such traces."""
    if not environment.changing_tools:
        return
    spec = TraceSpec(environment, tuple(rules), "tasks", NO_CONSTRAINTS)
    product = Product(environment, spec.automata(TRACE_LENGTHS[-1]))
    lengths = [length for length in TRACE_LENGTHS if product.can_finish(0, length)]
    if not lengths:
        yield DeclarationIssue(
            "rules and tools",
            f"no compliant trace of {TRACE_LENGTHS[0]} to {TRACE_LENGTHS[-1]} calls changes anything, so no task "
            "can be made",
            "find the rule or missing look-up that excludes them: `lawtrace traces coverage`",
        )
    search = TraceSearch(spec)
    for length in lengths:
        random = Random(f"{environment.name}/{length}")
        sequences = [draw_tool_sequence(product, length, random, frozenset()) for _ in range(SEQUENCES_TRIED)]
        if all(search.find(product, sequence, random) is None for sequence in sequences):
            yield DeclarationIssue(
                "populate",
                f"no initial state carries a trace of {length} calls that changes something",
                "give the initial states more rows, or the tools fewer refusals that depend on amounts",
                f"{SEQUENCES_TRIED} were tried, among them {', '.join(sequences[0])}.",
            )
            return
