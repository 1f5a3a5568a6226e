"""Initial states: are they what the tables say, can what is in them be told apart, do they carry traces?"""

import json
import traceback
from collections.abc import Iterator, Sequence
from random import Random
from typing import cast

from lawtrace.environments.declaration import Environment
from lawtrace.environments.errors import InputError
from lawtrace.environments.kinds import WrongFormat, WrongType
from lawtrace.environments.simulation import call, compiled_tool
from lawtrace.environments.state import State, decode_state, encode_state
from lawtrace.environments.terms import Scope
from lawtrace.environments.tool import FromTrace, Tool
from lawtrace.solver.demands import NO_WISHES, Asked
from lawtrace.solver.inspection.drawing import NothingToDraw, draw_arguments
from lawtrace.solver.inspection.flaws import Flaw
from lawtrace.solver.product import Product
from lawtrace.solver.rules import Rule
from lawtrace.solver.synthesis import try_to_fill
from lawtrace.solver.walks import draw_walk

STATES = 20
LENGTHS = (6, 8, 10)
WALKS = 6


def inspect_states(environment: Environment) -> Iterator[Flaw]:
    """What is wrong with the states that ``populate`` draws, with the seed of the first one that shows it."""
    for seed in range(STATES):
        flaw = _state(environment, seed) or _drawing(environment, seed) or _calling(environment, seed)
        if flaw is not None:
            yield flaw
            return


def inspect_traces(environment: Environment, rules: Sequence[Rule]) -> Iterator[Flaw]:
    """What sound states lack: rows for a result to list, or what a trace needs."""
    yield from _nothing_there(environment)
    yield from _walks(environment, rules)


def _state(environment: Environment, seed: int) -> Flaw | None:
    def flaw(what: str, remedy: str) -> Flaw:
        return Flaw(
            kind="initial state",
            place="populate",
            what=what,
            remedy=remedy,
            proof=f"For example populate(Random({seed})).",
        )

    try:
        state = cast("object", environment.populate(Random(seed)))
    except InputError as error:  # the loader of folders has named file and line
        return flaw(f"it fails: {error}", "let it return a State for every seed")
    except Exception as error:  # noqa: BLE001 (the user's own code; whatever it raises is the finding)
        raised = traceback.extract_tb(error.__traceback__)[-1]
        return flaw(
            f"it raises {type(error).__name__}: {error} ({raised.filename}, line {raised.lineno})",
            "let it return a State for every seed",
        )
    if not isinstance(state, State):
        return flaw(f"it returns a {type(state).__name__}", "let it return a State, as environments/state.py has it")
    if set(state.tables) != set(environment.entities):
        differing = sorted(set(state.tables) ^ set(environment.entities))[0]
        return flaw(
            f"the table {differing!r} is in the state or among the entities, not in both",
            "start from dict.fromkeys(ENTITIES, ()) and fill in the rows",
        )
    for table, entity in environment.entities.items():
        keys = [row.values.get(entity.key) for row in state.rows(table)]
        if twice := sorted({str(key) for key in keys if keys.count(key) > 1}):
            return flaw(f"two rows of {table!r} have the key {twice[0]!r}", "draw keys without repeats (random.sample)")
    try:
        again = decode_state(encode_state(state, environment.entities), environment.entities)
    except InputError as error:
        return flaw(f"it is not what the tables say: {error}", "draw values of the declared kinds")
    except (WrongFormat, WrongType, TypeError, KeyError, ValueError) as error:
        return flaw(f"it cannot be written: {type(error).__name__}: {error}", "draw values of the declared kinds")
    if not _same(again, state):
        return flaw(
            "it reads back differently from how it was written", "draw values in inside form (cents, day numbers)"
        )
    if not _same(environment.populate(Random(seed)), state):
        return flaw("the same seed gives another state", "take all chance from the `random` that is given")
    return None


def _drawing(environment: Environment, seed: int) -> Flaw | None:
    """Whether there is something to say for every parameter that a user gives."""
    state = environment.populate(Random(seed))
    for tool in environment.tools.values():
        try:
            draw_arguments(tool, state, Random(seed))
        except NothingToDraw as nothing:
            return Flaw(
                kind="initial state",
                place=f"tool {tool.name!r}, parameter {nothing.parameter.name!r}",
                what=f"its domain finds nothing to draw in an initial state ({nothing})",
                remedy="put rows into the table that it draws from",
                proof=f"For example populate(Random({seed})).",
            )
    return None


def _calling(environment: Environment, seed: int) -> Flaw | None:
    """Whether each tool can be called at all: a term over values of two kinds raises where it is first looked at."""
    state = environment.populate(Random(seed))
    for tool in environment.tools.values():
        drawn = {parameter.name: parameter.default for parameter in tool.parameters}
        drawn |= {p.name: environment.event_names for p in tool.parameters if isinstance(p.source, FromTrace)}
        drawn |= draw_arguments(tool, state, Random(seed))
        said = {name: tool.parameter(name).kind.encode(value) for name, value in drawn.items() if value is not None}
        try:
            call(environment, state, tool.name, said)
        except Exception as error:  # noqa: BLE001 (the user's own terms: whatever they raise is the finding)
            return Flaw(
                kind="refusal",
                place=f"tool {tool.name!r}, {_raising(tool, Scope(state, drawn))}",
                what=f"a call raises {type(error).__name__}: {error}",
                remedy="compare values of one kind: inside, money is cents, a day and a minute are numbers",
                proof=f"For example {tool.name}({json.dumps(said)}) in populate(Random({seed})).",
            )
    return None


def _raising(tool: Tool, scope: Scope) -> str:
    """The first condition that cannot be looked at."""
    compiled = compiled_tool(tool)
    conditions = [(f"exception {raised.exception}", condition) for raised, condition in compiled.raises]
    conditions += [(f"failure: {failure.description}", condition) for failure, condition in compiled.fails]
    for place, condition in conditions:
        try:
            condition(scope)
        except Exception:  # noqa: BLE001 (told by the caller)
            return place
    return "effects and results"


def _same(one: State, other: State) -> bool:
    return all([*one.rows(table)] == [*other.rows(table)] for table in one.tables)


def _nothing_there(environment: Environment) -> Iterator[Flaw]:
    """Look-ups of what is never there, and fields that nothing ever fills."""
    states = [environment.populate(Random(seed)) for seed in range(STATES)]
    written = frozenset[str]().union(*(tool.written_tables for tool in environment.tools.values()))
    for tool in environment.tools.values():
        for result in tool.results:
            entity = getattr(result, "entity", None)
            fields: tuple[str, ...] = getattr(result, "fields", ())
            if entity is None or entity.table in written:
                continue
            rows = [row for state in states for row in state.rows(entity.table)]
            place = f"tool {tool.name!r}, result {result.name!r}"
            if not rows:
                yield Flaw(
                    kind="result",
                    place=place,
                    what=f"it never lists anything: no initial state has {entity.table} and no tool makes any",
                    remedy="put some into the initial states, or take the result out",
                    proof=f"Seen in {STATES} initial states.",
                )
                continue
            for name in fields:
                if all(row.values[name] is None for row in rows):
                    yield Flaw(
                        kind="result",
                        place=place,
                        what=f"it documents the field {name!r}, which no row has and no tool sets",
                        remedy="fill it in the initial states, or leave it out of the result",
                        proof=f"Seen in {STATES} initial states.",
                    )


def _walks(environment: Environment, rules: Sequence[Rule]) -> Iterator[Flaw]:
    """Can the initial states carry what tasks are made from: compliant traces that change something?"""
    if not environment.changing_tools:
        return
    asked = Asked(environment, tuple(rules), "tasks", NO_WISHES)
    product = Product(environment, asked.automata(LENGTHS[-1]))
    lengths = [length for length in LENGTHS if product.can_finish(0, length)]
    if not lengths:
        yield Flaw(
            kind="initial state",
            place="rules and tools",
            what=f"no compliant trace of {LENGTHS[0]} to {LENGTHS[-1]} calls changes anything, so no task can be made",
            remedy="see which rule or which missing look-up stands in the way: `lawtrace traces coverage`",
        )
    for length in lengths:
        random = Random(f"{environment.name}/{length}")
        walks = [draw_walk(product, length, random, frozenset()) for _ in range(WALKS)]
        if all(try_to_fill(product, walk, random) is None for walk in walks):
            yield Flaw(
                kind="initial state",
                place="populate",
                what=f"no initial state carries a trace of {length} calls that changes something",
                remedy="give the initial states more rows, or the tools fewer refusals that no planner can foresee",
                proof=f"{WALKS} were tried, among them {', '.join(walks[0])}.",
            )
            return
