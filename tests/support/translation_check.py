"""Translation check: simulator and solver must interpret a declaration in the same way.

Each call is evaluated three times: by the simulator (``lawtrace.environments.runtime.simulation.simulate_call``), by
the compiled tool over plain values, and by the compiled tool over a symbolic logic. There, some values of state and
arguments are variables that the solver constrains to their values. Refusals, results and the next state must agree.
Results matter as much as states: a wrong look-up does not change the state.

Always concrete, because the declaration requires it: generated keys (a fresh key must differ from all others), absent
values, and the rows of the tables in ``Opening.settled``.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any, Literal, cast

import z3

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import (
    CandidateRows,
    CompiledTool,
    call_duration,
    compile_agenda,
    compile_tool,
    simulate_call,
)
from lawtrace.environments.spec.clock import DEFAULT_START, OTHER_CALL_DURATION
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult, NestedRows, Result, RowsResult, ValueResult
from lawtrace.environments.spec.expressions import EvaluationScope
from lawtrace.environments.spec.logic import PLAIN, Logic
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import (
    BOOLEAN,
    DATE,
    INTEGER,
    MOMENT,
    TIME,
    Choice,
    Pattern,
    Value,
    ValueType,
    WrongFormat,
    is_text_type,
)
from lawtrace.schemas.events import CallOutcome, Event
from lawtrace.solver.search.smt.symbolic_logic import OpenPresence, SymbolicLogic

Openness = Literal["concrete", "mixed", "symbolic"]
SHARES: Mapping[Openness, float] = {"concrete": 0.0, "mixed": 0.4, "symbolic": 1.0}
"""Share of the values that become variables."""

Compiler = Callable[[Tool, Logic], CompiledTool]


@dataclass(frozen=True, slots=True)
class Case:
    """One call in one concrete state at one time, with arguments in internal form."""

    state: State
    tool: Tool
    arguments: Mapping[str, Value]
    now: Value = DEFAULT_START


@dataclass(frozen=True, slots=True)
class Reading:
    """A call evaluated in one logic. ``before``: the state in which it begins."""

    before: State
    refusals: tuple[Value, ...]
    succeeded: Value
    results: Mapping[str, Value | CandidateRows]
    after: State
    duration: Value


def read_call(environment: Environment, case: Case, logic: Logic, compiler: Compiler = compile_tool) -> Reading:
    state = compile_agenda(environment.agenda, logic).state_at(case.state, case.now)
    compiled = compiler(case.tool, logic)
    scope = EvaluationScope(state, case.arguments, case.now)
    refusals = tuple(refused(scope) for _, refused in (*compiled.raises, *compiled.fails))
    succeeded = _negation(refusals)
    transition = compiled.transition(state, case.arguments, case.now, succeeded=succeeded)
    duration = compiled.duration(case.arguments, case.now)
    return Reading(state, refusals, succeeded, transition.results, transition.state, duration)


def _negation(refusals: Sequence[Value]) -> Value:
    """Uses Z3 directly, so that a planted bug in a logic does not affect it."""
    if not any(z3.is_expr(refusal) for refusal in refusals):
        return not any(refusals)
    return z3.Not(z3.Or([refusal if z3.is_expr(refusal) else z3.BoolVal(refusal) for refusal in refusals]))


class Opening:
    """Replaces values by variables and constrains them to the values."""

    def __init__(self, logic: SymbolicLogic, share: float, random: Random, settled: frozenset[str]) -> None:
        self.solver = z3.SimpleSolver()
        self.logic = logic
        self.settled = settled
        self._share = share
        self._random = random
        self._names = 0

    def case(self, environment: Environment, case: Case) -> Case:
        tables = {
            table: tuple(self._row(entity, row) for row in case.state.tables[table])
            for table, entity in environment.entities.items()
        }
        types = {parameter.name: parameter.type for parameter in case.tool.parameters}
        arguments = {name: self._value(types[name], value) for name, value in case.arguments.items()}
        return Case(State(tables), case.tool, arguments, self._value(INTEGER, case.now))

    def _row(self, entity: Entity, row: Row) -> Row:
        if entity.table in self.settled:
            return row
        values = {
            name: row.values[name]
            if name == entity.key and entity.generates_keys
            else self._value(declared.type, row.values[name])
            for name, declared in entity.fields.items()
        }
        return Row(values, self._truth(row.present))

    def _value(self, value_type: ValueType, value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(self._text(item) for item in cast("tuple[str, ...]", value))
        if isinstance(value, bool):
            return self._truth(value)
        if isinstance(value, str):
            return self._text(value)
        if value is None or not self._opens():
            return value
        variable = z3.Int(self._name())
        self.solver.add(variable == z3.IntVal(value))
        return variable

    def _text(self, text: str) -> Value:
        index = self.logic.index(text)
        if not self._opens():
            return text
        variable = self.logic.open_text(self._name(), self.solver)
        self.solver.add(variable == z3.IntVal(index))
        return variable

    def _truth(self, truth: bool) -> Value:
        if not self._opens():
            return truth
        variable = z3.Bool(self._name())
        self.solver.add(variable if truth else z3.Not(variable))
        return variable

    def _opens(self) -> bool:
        return self._random.random() < self._share

    def _name(self) -> str:
        self._names += 1
        return f"open{self._names}"


@dataclass(frozen=True, slots=True)
class Closing:
    """Reads concrete values from a model.

    Attributes:
        keys: the simulator's keys of new rows, by the encoding's.
    """

    model: z3.ModelRef
    logic: SymbolicLogic
    keys: Mapping[str, str | int] = field(default_factory=dict[str, str])

    def truth(self, value: Value) -> bool:
        return bool(self.model.eval(value, model_completion=True) if z3.is_expr(value) else value)

    def value(self, value_type: ValueType, value: Value) -> Value:
        if isinstance(value, tuple):
            return tuple(self.value(value_type, item) for item in cast("tuple[Value, ...]", value))
        if isinstance(value, OpenPresence):
            value = next(one for truth, one in value.cases if self.truth(truth))
        if not z3.is_expr(value):
            return value
        found: Any = self.model.eval(value, model_completion=True)
        if value_type.schema()["type"] == "boolean":
            return bool(found)
        return self.logic.word(found.as_long()) if is_text_type(value_type) else found.as_long()

    def row(self, entity: Entity, row: Row) -> dict[str, Value]:
        closed = {name: self.value(entity.fields[name].type, value) for name, value in row.values.items()}
        return {**closed, entity.key: self.keys.get(closed[entity.key], closed[entity.key])}

    def with_keys(self, environment: Environment, before: State, after: State) -> "Closing":
        """With the keys that the simulator generates. An item that turns out equal to an earlier one leaves an absent
        row in the encoding, which takes a number.
        """
        keys: dict[str, str | int] = {}
        for table, entity in environment.entities.items():
            rows = before.tables[table]
            for row in after.tables[table][len(rows) :]:
                if self.truth(row.present):
                    keys[row.values[entity.key]] = made = entity.generated_key(rows)
                    rows = (*rows, Row({entity.key: made}))
        return replace(self, keys=keys)

    def table(self, entity: Entity, state: State) -> list[dict[str, Value]]:
        return [self.row(entity, row) for row in state.tables[entity.table] if self.truth(row.present)]

    def result(self, declared: Result, value: Value | CandidateRows) -> Value:
        match declared:
            case RowsResult():
                return self.rows(declared, value)
            case KeyResult():
                return value
            case ValueResult():
                return self.value(declared.type, value)

    def rows(self, declared: RowsResult | NestedRows, found: CandidateRows) -> list[Value]:
        return [
            {name: self.row(declared.entity, row)[name] for name in declared.fields}
            | {part.name: self.rows(part, inside[part.name]) for part in declared.parts}
            for (listed, row), inside in zip(found.listed, found.parts, strict=True)
            if self.truth(listed)
        ]


def disagreements(
    environment: Environment,
    case: Case,
    openness: Openness,
    random: Random,
    *,
    logic: SymbolicLogic | None = None,
    compiler: Compiler = compile_tool,
    settled: frozenset[str] = frozenset(),
) -> list[str]:
    """The differences of the three readings of a call; empty if they agree."""
    logic = logic or SymbolicLogic()
    plain = read_call(environment, case, PLAIN)
    found = _against_simulator(environment, case, plain)
    opening = Opening(logic, SHARES[openness], random, settled)
    opened = opening.case(environment, case)
    symbolic = read_call(environment, opened, logic, compiler)
    if openness == "concrete" and any(z3.is_expr(refusal) for refusal in symbolic.refusals):
        found.append("nothing is open, but a refusal is")
    if opening.solver.check() != z3.sat:
        return [*found, "the values held open contradict each other"]
    closing = Closing(opening.solver.model(), logic).with_keys(environment, case.state, symbolic.after)
    if plain.duration != closing.value(INTEGER, symbolic.duration):
        found.append(f"duration: {plain.duration} and {closing.value(INTEGER, symbolic.duration)}")
    for number, (here, there) in enumerate(zip(plain.refusals, symbolic.refusals, strict=True)):
        if bool(here) is not closing.truth(there):
            found.append(f"refusal {number}: {here} and {there}")
    for declared in case.tool.results:
        if environment.agenda and isinstance(declared, KeyResult):
            continue
        here = _plain_result(declared, plain.results[declared.name])
        there = closing.result(declared, symbolic.results[declared.name])
        if environment.agenda:
            here, there = _unnumbered(declared, here), _unnumbered(declared, there)
        if here != there:
            found.append(f"result {declared.name!r}: {here} and {there}")
    for table, entity in environment.entities.items():
        here = [dict(row.values) for row in plain.after.rows(table)]
        there = closing.table(entity, symbolic.after)
        if environment.agenda:  # what does not happen leaves an absent row in the encoding, which takes a number
            here, there = ([_without_generated_key(entity, row) for row in rows] for rows in (here, there))
        if here != there:
            found.append(f"table {table!r}: {here} and {there}")
    return found


def _against_simulator(environment: Environment, case: Case, plain: Reading) -> list[str]:
    """The differences of the simulator's event and state from the compiled tool's reading over plain values."""
    event, after = simulate_call(environment, case.state, case.tool.name, _encoded(case.tool, case.arguments), case.now)
    raised = any(plain.refusals[: sum(raised.when is not None for raised in case.tool.raises)])
    expected = "raised" if raised else "completed" if plain.succeeded else "failed"
    if event.outcome != expected:
        return [f"the simulator says {event.outcome} ({event.error}), the declaration {expected}"]
    tables = plain.before.tables if expected != "completed" else plain.after.tables
    if event.completed and call_duration(environment, event) != plain.duration:
        return ["the simulator says another duration than the declaration"]
    if any(list(after.tables[table]) != list(rows) for table, rows in tables.items()):
        return ["the simulator goes to another state than the declaration"]
    return []


def sequence_disagreements(
    environment: Environment, initial: State, wanted: Sequence[tuple[Tool, CallOutcome]], random: Random
) -> tuple[list[str], list[Event]]:
    """Make every argument of some calls a variable, solve for the wanted outcomes, and simulate the model found.

    Outcomes that are not satisfiable together are dropped one by one. Returns the differences between the encoding and
    the simulator, and the simulator's events.
    """
    logic = SymbolicLogic(sorted(_texts_of(initial)))
    solver = z3.SimpleSolver()
    state, now = initial, cast("Value", environment.clock.start(initial))
    steps, wishes = list[tuple[Tool, Mapping[str, Value], Reading]](), list[z3.BoolRef]()
    for number, (tool, outcome) in enumerate(wanted):
        arguments = {
            parameter.name: _opened_argument(
                parameter.type, f"{parameter.name}@{number}", logic, solver, initial, random
            )
            for parameter in tool.parameters
        }
        reading = read_call(environment, Case(state, tool, arguments, now), logic)
        steps.append((tool, arguments, reading))
        wishes.append(z3.Bool(f"wish@{number}"))
        solver.add(z3.Or([z3.Not(wishes[-1]), _outcome_is(tool, reading, outcome)]))
        state = reading.after
        now = now + logic.choose(reading.succeeded, reading.duration, OTHER_CALL_DURATION)
    while solver.check(*wishes) != z3.sat:
        wishes.pop(random.randrange(len(wishes)))
    closing = Closing(solver.model(), logic)

    session, found = Session(environment, initial), list[str]()
    types = {tool.name: {parameter.name: parameter.type for parameter in tool.parameters} for tool, _ in wanted}
    for number, (tool, arguments, reading) in enumerate(steps):
        values = {name: closing.value(types[tool.name][name], value) for name, value in arguments.items()}
        case = Case(session.state, tool, values, session.now)
        plain = read_call(environment, case, PLAIN)
        found += [f"step {number}: {what}" for what in _against_simulator(environment, case, plain)]
        event = session.call(tool.name, _encoded(tool, values)).event
        if event.completed is not closing.truth(reading.succeeded):
            found.append(f"step {number}: {event.outcome}, planned {closing.truth(reading.succeeded)}")
        for declared in tool.results if event.outcome in {"completed", "failed"} else ():
            # The encoding also numbers generated keys, and texts made of them, in refused calls.
            if isinstance(declared, RowsResult) or (isinstance(declared, ValueResult) and declared.type is BOOLEAN):
                here = _unnumbered(declared, _plain_result(declared, plain.results[declared.name]))
                there = _unnumbered(declared, closing.result(declared, reading.results[declared.name]))
                if here != there:
                    found.append(f"step {number}, result {declared.name!r}: {here} and {there}")
    end = environment.clock.end(initial)
    state = compile_agenda(environment.agenda, logic).state_at(state, logic.choose(now < end, now, end))
    for table, entity in environment.entities.items():
        # In the encoding a refused call leaves an absent row, so the generated numbers increase only there.
        here = [_without_generated_key(entity, row.values) for row in session.state.rows(table)]
        there = [_without_generated_key(entity, row) for row in closing.table(entity, state)]
        if here != there:
            found.append(f"final {table!r}: {here} and {there}")
    return found, session.events


def _outcome_is(tool: Tool, reading: Reading, outcome: CallOutcome) -> z3.BoolRef:
    raises = sum(raised.when is not None for raised in tool.raises)
    raised, failed = (
        z3.Or([refusal if z3.is_expr(refusal) else z3.BoolVal(refusal) for refusal in refusals])
        for refusals in (reading.refusals[:raises], reading.refusals[raises:])
    )
    if outcome == "raised":
        return raised
    return z3.And([z3.Not(raised), failed if outcome == "failed" else z3.Not(failed)])


def _without_generated_key(entity: Entity, values: Mapping[str, Value]) -> dict[str, Value]:
    return {name: value for name, value in values.items() if name != entity.key or not entity.generates_keys}


def _unnumbered(declared: Result | NestedRows, value: Value) -> Value:
    """A result without generated keys."""
    if not isinstance(declared, RowsResult | NestedRows):
        return value
    parts = {part.name: part for part in declared.parts}
    numbered = {declared.entity.key} if declared.entity.generates_keys else set[str]()
    return [
        {
            name: _unnumbered(parts[name], field) if name in parts else field
            for name, field in row.items()
            if name not in numbered
        }
        for row in value
    ]


def _opened_argument(
    value_type: ValueType, name: str, logic: SymbolicLogic, solver: z3.Solver, state: State, random: Random
) -> Value:
    """A variable of the type: any number within its bounds, any boolean, or a fitting string of the state."""
    match value_type.schema():
        case {"type": "boolean"}:
            return z3.Bool(name)
        case {"type": "array"}:
            return tuple(logic.open_text(f"{name}[{item}]", solver) for item in range(random.randint(0, 2)))
        case _ if is_text_type(value_type):
            fitting = sorted({text for text in _texts_of(state) if _fits(value_type, text)})
            if not fitting:  # such as the identifier of a row that only a call creates
                return _stranger(value_type, random) if isinstance(value_type, Pattern | Choice) else ""
            variable = logic.open_text(name, solver)
            solver.add(z3.Or([variable == z3.IntVal(logic.index(text)) for text in fitting]))
            return variable
        case _:
            variable = z3.Int(name)
            lowest, highest = BOUNDS.get(value_type, (-50_000, 1_500_000))
            solver.add(variable >= lowest, variable <= highest)
            return variable


# Random cases. Most values come from the state, since unknown values reach only one branch of a condition.


def draw_case(environment: Environment, tool: Tool, random: Random, settled: frozenset[str] = frozenset()) -> Case:
    """A random call of the tool in a random state, with some rows of it absent."""
    state = environment.populate(random)
    for table, rows in state.tables.items():
        if table not in settled:
            state = state.with_table(table, tuple(Row(row.values, random.random() < 0.85) for row in rows))
    texts = sorted(_texts_of(state))
    numbers = sorted({value for value in _values_of(state) if isinstance(value, int) and not isinstance(value, bool)})
    arguments: dict[str, Value] = {}
    for parameter in tool.parameters:
        given = parameter.required or random.random() < 0.6
        value = _draw_value(parameter.type, texts, numbers, random) if given else parameter.default
        arguments[parameter.name] = value
    return Case(state, tool, arguments, DEFAULT_START + random.randint(-120, 120))


def _draw_value(value_type: ValueType, texts: Sequence[str], numbers: Sequence[int], random: Random) -> Value:
    match value_type.schema():
        case {"type": "boolean"}:
            return random.random() < 0.5
        case {"type": "array"}:
            return tuple(_draw_text(texts, random) for _ in range(random.randint(0, 3)))
        case _ if value_type in BOUNDS:
            lowest, highest = BOUNDS[value_type]
            near = [number for number in numbers if lowest < number < highest]
            return _near(random, near) if near and random.random() < 0.7 else random.randint(lowest, highest)
        case _ if is_text_type(value_type):
            fitting = [text for text in texts if _fits(value_type, text)]
            if isinstance(value_type, Pattern | Choice):
                return random.choice(fitting) if fitting and random.random() < 0.8 else _stranger(value_type, random)
            return _draw_text(texts, random)
        case _:
            return _near(random, numbers) if random.random() < 0.6 else random.randint(-100, 1_000_00)


def _near(random: Random, numbers: Sequence[int]) -> int:
    return random.choice(numbers) + random.randint(-1, 1)


def _draw_text(texts: Sequence[str], random: Random) -> str:
    """A text, a substring, a substring in swapped case, or blank."""
    text = random.choice(texts)
    start = random.randrange(len(text) or 1)
    piece = text[start : start + random.randint(1, 6)]
    return random.choice([text, piece, piece.swapcase(), random.choice(text.split() or [""]), "", " "])


def _stranger(value_type: Pattern | Choice, random: Random) -> str:
    if isinstance(value_type, Choice):
        return random.choice(value_type.options)
    return "".join(random.choice("0123456789") if letter == "X" else letter for letter in value_type.format)


def _fits(value_type: ValueType, text: str) -> bool:
    try:
        value_type.decode(text)
    except WrongFormat:
        return False
    return True


BOUNDS: Mapping[ValueType, tuple[int, int]] = {
    DATE: (700_000, 800_000),
    TIME: (0, 24 * 60 - 1),
    MOMENT: (700_000 * 24 * 60, 800_000 * 24 * 60),
}
"""Bounds of the number types that do not allow every integer."""


def _values_of(state: State) -> Iterator[Value]:
    return (value for rows in state.tables.values() for row in rows for value in row.values.values())


def _texts_of(state: State) -> set[str]:
    return {value for value in _values_of(state) if isinstance(value, str)}


def _plain_result(declared: Result, value: Value | CandidateRows) -> Value:
    return _plain_rows(declared, value) if isinstance(declared, RowsResult) else value


def _plain_rows(declared: RowsResult | NestedRows, found: CandidateRows) -> list[Value]:
    return [
        {name: row.values[name] for name in declared.fields}
        | {part.name: _plain_rows(part, inside[part.name]) for part in declared.parts}
        for (listed, row), inside in zip(found.listed, found.parts, strict=True)
        if listed
    ]


def _encoded(tool: Tool, arguments: Mapping[str, Value]) -> dict[str, Any]:
    return {name: tool.parameter(name).type.encode(value) for name, value in arguments.items() if value is not None}
