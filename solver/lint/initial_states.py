"""Checks of initial states: they match the tables, arguments can be sampled from them, and calls can be simulated."""

import json
from collections.abc import Iterator
from random import Random

from lawtrace.environments.runtime.simulation import call_duration, compile_agenda, compile_tool, simulate_call
from lawtrace.environments.spec.clock import LAST_TIME
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.expressions import EvaluationScope
from lawtrace.environments.spec.state import State, decode_state, encode_state
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, Value, WrongFormat, WrongType
from lawtrace.schemas.errors import InputError, near_names
from lawtrace.solver.lint.findings import DeclarationIssue


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


def check_initial_states(environment: Environment) -> Iterator[DeclarationIssue]:
    """Defects of the states that ``populate`` returns, with the seed of the first example."""
    for seed in range(SEEDS_CHECKED):
        issue = _invalid_state(environment, seed)
        issue = issue or _failing_agenda(environment, environment.populate(Random(seed)), f"populate(Random({seed}))")
        issue = issue or _unusable_tool(environment, seed)
        if issue is not None:
            yield issue
            return


def _invalid_state(environment: Environment, seed: int) -> DeclarationIssue | None:
    def issue(what: str, remedy: str) -> DeclarationIssue:
        return DeclarationIssue("populate", what, remedy, f"For example populate(Random({seed})).")

    try:
        state = environment.populate(Random(seed))
    except InputError as error:  # the loader made it of any exception; it names file and line
        return issue(f"it fails: {error}", "let it return a State for every seed")
    if unknown := sorted(set(state.tables) - set(environment.entities)):
        known = near_names(unknown[0], environment.entities)
        return issue(f"it has a table {unknown[0]!r}, which is not among the entities{known}", "use the declared names")
    if missing := sorted(set(environment.entities) - set(state.tables)):
        remedy = "start from dict.fromkeys(ENTITIES, ()) and fill in the rows"
        return issue(f"it has no table {missing[0]!r}, which is among the entities", remedy)
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
    except (WrongFormat, WrongType, TypeError, KeyError, ValueError, AttributeError) as error:
        return issue(_wrong_value(environment, state, error), "sample values in internal form (cents, day numbers)")
    if not _same(again, state):
        return issue("it changes when written and read back", "sample values in internal form (cents, day numbers)")
    if not _same(environment.populate(Random(seed)), state):
        return issue("the same seed gives another state", "take all randomness from the `random` argument")
    return None


def _wrong_value(environment: Environment, state: State, error: Exception) -> str:
    """The first value of a state that is none of its declared type; without one, why the state cannot be written."""
    for table, entity in environment.entities.items():
        for row in state.rows(table):
            for name, value in row.values.items():
                if name not in entity.fields:
                    return f"a row of {table!r} has a field {name!r}, which is not declared"
                try:
                    if value is not None:
                        entity.fields[name].type.decode(entity.fields[name].type.encode(value))
                except (InputError, WrongFormat, WrongType, TypeError, KeyError, ValueError, AttributeError):
                    kind = entity.fields[name].type.format or entity.fields[name].type.name
                    return f"{table}.{name} is {value!r}, which is no internal form of a {kind}"
    return f"it does not match the tables: {error}"


def _unusable_tool(environment: Environment, seed: int) -> DeclarationIssue | None:
    """A tool with a sampler that finds no value, or none of its type, or whose terms raise when a call is simulated,
    for example by comparing values of two types.
    """
    state, example = environment.populate(Random(seed)), f"populate(Random({seed}))"
    for tool in environment.tools.values():
        try:
            drawn = sample_arguments(tool, state, Random(seed))
        except EmptyDomainError as nothing:
            return DeclarationIssue(
                f"tool {tool.name!r}, parameter {nothing.parameter.name!r}",
                f"its sampler finds no value in an initial state ({nothing})",
                "add rows to the table that it samples from",
                f"For example {example}.",
            )
        for name, value in drawn.items():
            if value is not None and (why := _misfit(tool.parameter(name), value)):
                return DeclarationIssue(
                    f"tool {tool.name!r}, parameter {name!r}",
                    f"a value that is drawn for it does not fit its type: {why}",
                    "let the sampler draw values of the type in internal form",
                    f"For example {value!r} in {example}.",
                )
        drawn = {parameter.name: parameter.default for parameter in tool.parameters} | drawn
        drawn |= {p.name: environment.event_names for p in tool.parameters if isinstance(p.source, FromTrace)}
        said = {name: tool.parameter(name).type.encode(value) for name, value in drawn.items() if value is not None}
        now = environment.clock.start(state)
        try:
            event, after = simulate_call(environment, state, tool.name, said, now)
            call_duration(environment, event)
        except Exception as error:  # noqa: BLE001 (user terms; the exception is the finding)
            return DeclarationIssue(
                f"tool {tool.name!r}, {_failing_condition(tool, EvaluationScope(state, drawn, now))}",
                f"a call raises {type(error).__name__}: {error}",
                "compare values of one type: internally, money is cents, days and minutes are numbers",
                f"For example {tool.name}({json.dumps(said)}) in {example}.",
            )
        if issue := _failing_agenda(environment, after, f"{tool.name}({json.dumps(said)}) in {example}"):
            return issue
    return None


def _failing_agenda(environment: Environment, state: State, example: str) -> DeclarationIssue | None:
    """Something planned in the state whose effects raise."""
    for happening in environment.agenda:
        try:
            compile_agenda((happening,)).state_at(state, LAST_TIME)
        except Exception as error:  # noqa: BLE001 (user terms; the exception is the finding)
            return DeclarationIssue(
                f"what happens to {happening.entity.table!r}",
                f"its effects raise {type(error).__name__}: {error}",
                "compare values of one type: internally, money is cents, days and minutes are numbers",
                f"For example after {example}.",
            )
    return None


def _misfit(parameter: Parameter, value: Value) -> str | None:
    """Why a value in internal form is not one of the parameter's type."""
    try:
        again = parameter.type.decode(parameter.type.encode(value))
    except (WrongFormat, WrongType, TypeError, AttributeError, ValueError) as error:
        return str(error)
    return None if again == value else f"read back it is {again!r}"


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
