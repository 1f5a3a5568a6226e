"""The bounded encoding: declaration, caller's knowledge, rules and horizon as one question to Z3.

Every step makes exactly one call. What a call does is read from the same compiled tool that the simulator executes
(``environments/simulation.py``), against a symbolic logic: which tool is called, every amount, date, text and
reference stay open. What may forbid a call carries a *selector*, a literal that is assumed in a query, so that an
unsatisfiable query comes back with the preconditions, knowledge and rules that stand in the way.

Everything without a selector (effects, one call a step, the initial state, the domains of arguments, optional
arguments left out) is an assumption, and a certificate says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any, Literal, cast

import z3

from environments.declaration import (
    Environment,
    FromLookup,
    FromTrace,
    FromUser,
    Tool,
)
from environments.domains import Amount, FieldValue, Options, WordsOf
from environments.events import Json
from environments.kinds import TEXTS, Value
from environments.simulation import CompiledTool, Rows
from environments.state import State
from environments.terms import Scope, arguments_of, tables_of
from solver.ltlf import Automaton
from solver.symbolic import SymbolicLogic

__all__ = ["Answer", "Call", "Encoding", "Obstacle"]

SOLVER_BUDGET = 20_000_000
"""Z3's resource units for one query; what is not decided within them is reported as undecided."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Something that may forbid a call or a trace, in words that a reader understands."""

    kind: Literal["precondition", "knowledge", "rule"]
    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a trace that Z3 found: arguments in outside form."""

    tool: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Answer:
    """Z3's answer: the calls of a trace, or the obstacles that rule one out, or neither if it was not decided."""

    calls: tuple[Call, ...] | None
    obstacles: tuple[Obstacle, ...] | None

    @property
    def decided(self) -> bool:
        return self.calls is not None or self.obstacles is not None


class Encoding:
    """Traces of ``length`` calls from one initial state, as Z3 sees them. Built once, asked many questions."""

    def __init__(
        self, environment: Environment, automata: Mapping[str, Automaton], *, length: int, initial: State
    ) -> None:
        self.environment = environment
        self.length = length
        self._logic = SymbolicLogic()
        self._solver = z3.SimpleSolver()
        self._solver.set("rlimit", SOLVER_BUDGET)
        self._obstacles: dict[str, Obstacle] = {}
        self._selectors: dict[Obstacle, z3.BoolRef] = {}
        self._tools = _reduced(environment)
        self._compiled = {name: CompiledTool(tool, self._logic) for name, tool in self._tools.items()}
        self._acts: list[dict[str, z3.BoolRef]] = []
        self._arguments: list[dict[str, dict[str, Value]]] = []
        self._initial = initial
        self._encode(initial)
        for name, automaton in automata.items():
            self._follow(name, automaton)

    def ask_pair(self, first: str, second: str) -> Answer:
        """Is there a trace in which a call of ``second`` directly follows one of ``first``?"""
        goal = z3.Bool(f"pair {first} {second}")
        places = zip(self._acts, self._acts[1:], strict=False)
        self._solver.add(z3.Implies(goal, z3.Or([z3.And([here[first], then[second]]) for here, then in places])))
        return self._ask(goal)

    def ask(self) -> Answer:
        """Is there any trace at all?"""
        return self._ask()

    def assumptions(self) -> tuple[str, ...]:
        """What every answer takes for granted."""
        counts = ", ".join(f"{len(self._initial.tables[table])} {table}" for table in sorted(_cone(self.environment)))
        return (
            f"exactly {self.length} calls, one a step, each of which completes",
            f"an initial state with {counts}",
            "amounts within their declared domain, optional arguments left out unless a look-up finds rows by them",
            "a look-up makes a row known only if it is the only match",
        )

    def _ask(self, *goals: z3.BoolRef) -> Answer:
        selectors = list(self._selectors.values())
        result = self._solver.check(*selectors, *goals)
        if result == z3.sat:
            return Answer(self._calls(self._solver.model()), None)
        if result != z3.unsat:
            return Answer(None, None)
        # Z3's own core depends on what else the process has asked. Deletion in a fixed order depends on nothing; from
        # the end, it leaves the world's refusals rather than a row of rules.
        core = selectors
        for literal in reversed(selectors):
            without = [other for other in core if other is not literal]
            if self._solver.check(*without, *goals) == z3.unsat:
                core = without
        return Answer(None, tuple(self._obstacles[str(literal)] for literal in core))

    def _encode(self, state: State) -> None:
        logic, known, pending = self._logic, _Known(self.environment, state, self._logic), _Pending(self.environment)
        for step in range(self.length):
            acts = {name: z3.Bool(f"{name}@{step}") for name in self._tools}
            self._solver.add(z3.PbEq([(act, 1) for act in acts.values()], 1))
            arguments = {name: self._open_arguments(tool, step, state) for name, tool in self._tools.items()}
            self._acts.append(acts)
            self._arguments.append(arguments)
            following, results = state, dict[str, Mapping[str, Value | Rows]]()
            for name, compiled in self._compiled.items():
                self._forbid_refusals(compiled, acts[name], Scope(state, arguments[name], {}))
                self._demand_knowledge(compiled.tool, acts[name], arguments[name], known, pending)
                # Only one tool is called, so chaining the guarded effects of all of them is the effect of that one.
                transition = compiled.transition(following, arguments[name], succeeded=acts[name])
                following, results[name] = transition.state, transition.results
            known.learn(self._tools, acts, results)
            pending.follow(acts, logic)
            state = following

    def _open_arguments(self, tool: Tool, step: int, state: State) -> dict[str, Value]:
        values: dict[str, Value] = {}
        filters = set[str]().union(*(arguments_of(term) for lookup in tool.lookups for term in lookup.terms()))
        for parameter in tool.parameters:
            name = f"{tool.name}.{parameter.name}@{step}"
            match parameter.source:
                case FromUser() if not parameter.required and parameter.name not in filters:
                    values[parameter.name] = parameter.default
                case FromUser(Amount(lowest, highest)):
                    number = z3.Int(name)
                    self._solver.add(number >= lowest, number <= highest)
                    values[parameter.name] = number
                case FromUser(FieldValue() | WordsOf() | Options() as domain):
                    value = self._one_of(name, domain.words(self._initial))
                    values[parameter.name] = (value,) if parameter.kind is TEXTS else value
                case FromUser(domain):
                    # Texts and dates that no precondition compares: any value will do.
                    values[parameter.name] = domain.draw(Random(0), self._initial)
                case FromLookup(entity):
                    values[parameter.name] = self._one_of(
                        name, [row.values[entity.key] for row in state.tables[entity.table]]
                    )
                case FromTrace():
                    # Its length is open, its emptiness is what matters: see _Pending.
                    values[parameter.name] = ("pending",)
        return values

    def _one_of(self, name: str, values: Sequence[Value]) -> Value:
        """One of the values, left open; where there are none, a text that no row has."""
        if not values:
            return ""
        if isinstance(values[0], str):
            return self._logic.open_text(name, self._solver, values)
        if isinstance(values[0], bool):
            return values[0]
        number = z3.Int(name)
        self._solver.add(z3.Or([number == value for value in values]))
        return number

    def _forbid_refusals(self, compiled: CompiledTool, act: z3.BoolRef, scope: Scope) -> None:
        tool = compiled.tool.name
        for refusal, condition in (*compiled.raises, *compiled.fails):
            refused = condition(scope)
            if refused is not False:
                selector = self._selector("precondition", f"{tool} is refused: {refusal.description}")
                self._solver.add(z3.Implies(z3.And([selector, act]), self._logic.negate(refused)))

    def _demand_knowledge(
        self, tool: Tool, act: z3.BoolRef, arguments: Mapping[str, Value], known: "_Known", pending: "_Pending"
    ) -> None:
        used: dict[str, list[Value]] = {}
        for parameter in tool.parameters:
            value = arguments[parameter.name]
            if isinstance(parameter.source, FromLookup):
                entity = parameter.source.entity
                text = f"{tool.name} needs, as {parameter.name}, one of the {entity.table} that was looked up before"
                selector = self._selector("knowledge", text)
                self._solver.add(z3.Implies(z3.And([selector, act]), known.includes(entity.table, value)))
                for other in used.setdefault(entity.table, []):
                    text = f"{tool.name} needs two different {entity.table}"
                    self._solver.add(
                        z3.Implies(z3.And([self._selector("knowledge", text), act]), z3.Not(value == other))
                    )
                used[entity.table].append(value)
            elif isinstance(parameter.source, FromTrace):
                selector = self._selector("knowledge", f"{tool.name} needs an event that is not recorded yet")
                self._solver.add(z3.Implies(z3.And([selector, act]), pending.something))

    def _follow(self, name: str, automaton: Automaton) -> None:
        """One truth for each state and step; acceptance at the end carries the rule's selector."""
        here: list[Any] = [state == automaton.initial for state in range(len(automaton.table))]
        letters = {tool: automaton.mask_of(tool) for tool in self._tools}
        for step, acts in enumerate(self._acts):
            arrivals: list[list[Value]] = [[] for _ in automaton.table]
            for tool, letter in letters.items():
                if letter is None:
                    raise ValueError(f"rule {name!r} looks at the arguments of {tool}, which is not encoded")
                for state in range(len(automaton.table)):
                    arrivals[automaton.step(state, letter)].append(self._logic.all([here[state], acts[tool]]))
            following: list[Any] = []
            for state, ways in enumerate(arrivals):
                truth = z3.Bool(f"{name}:{state}@{step}")
                self._solver.add(truth == self._logic.any(ways))
                following.append(truth)
            here = following
        selector = self._selector("rule", name)
        self._solver.add(z3.Implies(selector, self._logic.any([here[state] for state in sorted(automaton.accepting)])))

    def _selector(self, kind: Literal["precondition", "knowledge", "rule"], text: str) -> z3.BoolRef:
        obstacle = Obstacle(kind, text)
        if obstacle not in self._selectors:
            selector = z3.Bool(f"selector {len(self._selectors)}")
            self._selectors[obstacle] = selector
            self._obstacles[str(selector)] = obstacle
        return self._selectors[obstacle]

    def _calls(self, model: z3.ModelRef) -> tuple[Call, ...]:
        calls: list[Call] = []
        for acts, arguments in zip(self._acts, self._arguments, strict=True):
            name = next(name for name, act in acts.items() if z3.is_true(model.eval(act, model_completion=True)))
            calls.append(Call(name, self._encoded(name, arguments[name], model)))
        return tuple(calls)

    def _encoded(self, name: str, arguments: Mapping[str, Value], model: z3.ModelRef) -> dict[str, Json]:
        encoded: dict[str, Json] = {}
        for parameter in self.environment.tools[name].parameters:
            value = self._closed(arguments[parameter.name], model)
            if value is not None and not isinstance(parameter.source, FromTrace):
                encoded[parameter.name] = parameter.kind.encode(value)
        return encoded

    def _closed(self, value: Value, model: z3.ModelRef) -> Value:
        if isinstance(value, tuple):
            return tuple(self._closed(item, model) for item in cast("tuple[Value, ...]", value))
        if not z3.is_expr(value):
            return value
        number = model.eval(value, model_completion=True).as_long()
        return self._logic.word(number) if self._logic.is_text(value) else number


class _Known:
    """Which rows the caller knows: one truth for each key, of the initial state or made since, growing step by step."""

    def __init__(self, environment: Environment, initial: State, logic: SymbolicLogic) -> None:
        self._logic = logic
        self._truths: dict[str, dict[str, Value]] = {
            table: {str(row.values[entity.key]): False for row in initial.rows(table)}
            for table, entity in environment.entities.items()
        }

    def includes(self, table: str, key: Value) -> Value:
        truths = self._truths[table].items()
        return self._logic.any([self._logic.all([known, self._logic.equal(key, word)]) for word, known in truths])

    def learn(
        self,
        tools: Mapping[str, Tool],
        acts: Mapping[str, z3.BoolRef],
        results: Mapping[str, Mapping[str, Value | Rows]],
    ) -> None:
        for name, tool in tools.items():
            for result in tool.teaching:
                found, truths = results[name][result.name], self._truths[result.entity.table]
                if not isinstance(found, Rows):  # the key of a new row
                    truths[found] = acts[name]
                    continue
                for place, (listed, row) in enumerate(found.listed):
                    key = str(row.values[result.entity.key])
                    others = [other for number, (other, _) in enumerate(found.listed) if number != place]
                    alone = self._logic.all([acts[name], listed, *map(self._logic.negate, others)])
                    truths[key] = self._logic.any([truths.get(key, False), alone])


class _Pending:
    """Whether some event still waits to be recorded."""

    def __init__(self, environment: Environment) -> None:
        tools = environment.tools.items()
        self._emitting = [name for name, tool in tools if tool.emits]
        self._recording = [
            name for name, tool in tools if any(isinstance(p.source, FromTrace) for p in tool.parameters)
        ]
        self.something: Value = False

    def follow(self, acts: Mapping[str, z3.BoolRef], logic: SymbolicLogic) -> None:
        emitted = logic.any([self.something, *(acts[name] for name in self._emitting)])
        self.something = logic.all([emitted, *(logic.negate(acts[name]) for name in self._recording)])


def _reduced(environment: Environment) -> dict[str, Tool]:
    """The tools without what no precondition and no knowledge depends on (cone of influence)."""
    cone = _cone(environment)
    return {
        name: replace(
            tool,
            effects=tuple(effect for effect in tool.effects if effect.entity.table in cone),
            results=tool.teaching,
        )
        for name, tool in environment.tools.items()
    }


def _cone(environment: Environment) -> frozenset[str]:
    """The tables that decide, directly or through effects, what can be called and what is known."""
    cone: set[str] = set()
    for tool in environment.tools.values():
        conditions = [raised.when for raised in tool.raises if raised.when is not None]
        conditions += [failure.when for failure in tool.fails]
        for result in tool.teaching:
            cone.add(result.entity.table)
            conditions += result.terms()
        cone = cone.union(*map(tables_of, conditions))
    before: set[str] = set()
    while before != cone:
        before = set(cone)
        for tool in environment.tools.values():
            for effect in tool.effects:
                if effect.entity.table in cone:
                    cone = cone.union(*map(tables_of, effect.terms()))
    return frozenset(cone)
