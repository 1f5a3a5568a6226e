"""Arguments for a walk: every one with an origin, chosen so that each call completes.

Said values are drawn from their domains, references from the rows that earlier look-ups made known, derived ones
computed from the calls so far. Numbers are proposed first, because most proposals fit; where one keeps failing, Z3
chooses the numbers of the whole trace so far, over the same declaration that the simulator executes.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random
from typing import cast

import z3

from environments.declaration import Environment, FromLookup, FromTrace, FromUser, KeyResult, RowsResult, Tool
from environments.domains import Amount
from environments.events import Derived, Event, FromResult, FromResults, Json, Origin, Path, Said
from environments.kinds import ListOf, Value
from environments.logic import PLAIN
from environments.simulation import call, compiled_tool
from environments.state import State
from environments.terms import Scope, Term
from solver.symbolic import SymbolicLogic
from solver.traces import PlannedCall, Trace

__all__ = ["fill_walk"]

PROPOSALS = 3
LOOKUP_TRIES = 60
CHOICES = 12
"""How often other references and values are chosen for a call that is refused with the first ones."""
LIST_LENGTHS = (1, 1, 2)
SOLVER_BUDGET = 2_000_000
"""Z3's resource units for one question; never seconds, so that a seed gives the same bytes on every machine."""


@dataclass(slots=True)
class _Chosen:
    """One call before it runs: decoded arguments, their origins, and the bounds of the numbers left to choose."""

    tool: Tool
    values: dict[str, Value]
    origins: dict[str, Origin]
    numbers: dict[str, Amount] = field(default_factory=dict[str, Amount])

    def encoded(self) -> dict[str, Json]:
        """The arguments as JSON, optional ones that are not given left out."""
        return {
            name: self.tool.parameter(name).kind.encode(value)
            for name, value in self.values.items()
            if name in self.origins
        }


class _Filling:
    """A walk that is being given its arguments."""

    def __init__(self, environment: Environment, initial: State, random: Random) -> None:
        self.environment = environment
        self.initial = initial
        self.random = random
        self.states = [initial]
        self.chosen: list[_Chosen] = []
        self.events: list[Event] = []
        self.known: dict[str, dict[Value, tuple[int, Path]]] = {}
        """For each table, each known key with the look-up (number, path) that first taught it."""

    def add(self, name: str) -> bool:
        """Choose the arguments of the next call and run it. False if none make it complete."""
        for _ in range(CHOICES):
            chosen = self._choose(self.environment.tools[name])
            if chosen is None:
                return False
            self.chosen.append(chosen)
            if self._completes(chosen):
                return True
            self.chosen.pop()
        return False

    def _completes(self, chosen: _Chosen) -> bool:
        """Run the call just chosen, with other numbers if need be."""
        for _ in range(PROPOSALS if chosen.numbers else 1):
            if self._run_from(len(self.chosen) - 1):
                return True
            for parameter, amount in chosen.numbers.items():
                chosen.values[parameter] = amount.draw(self.random, self.states[-1])
        return bool(chosen.numbers) and self._solve_numbers() and self._run_from(0)

    def trace(self) -> Trace:
        calls = zip(self.events, self.chosen, strict=True)
        return Trace(
            self.initial, tuple(PlannedCall(event, dict(chosen.origins)) for event, chosen in calls), self.states[-1]
        )

    def _choose(self, tool: Tool) -> _Chosen | None:
        taught = next(iter(tool.lookups), None)
        chosen = self._choose_once(tool)
        if taught is None or chosen is None:
            return chosen
        # A look-up that teaches a row must find exactly one; prefer one that is not known yet.
        fallback: _Chosen | None = None
        for _ in range(LOOKUP_TRIES):
            key = self._only_match(taught, chosen)
            if key is not None:
                if key not in self.known.get(taught.entity.table, {}):
                    return chosen
                fallback = fallback or chosen
            chosen = self._choose_once(tool)
            if chosen is None:
                return None
        return fallback

    def _choose_once(self, tool: Tool) -> _Chosen | None:
        chosen = _Chosen(tool, {}, {})
        used: set[Value] = set()
        for parameter in tool.parameters:
            match parameter.source:
                case FromUser(domain, share, when):
                    given = parameter.required or self._is_given(share, when, chosen.values)
                    value = domain.draw(self.random, self.states[-1], chosen.values) if given else None
                    if value is None:
                        if parameter.required:
                            return None
                        chosen.values[parameter.name] = parameter.default
                        continue
                    chosen.values[parameter.name] = value
                    chosen.origins[parameter.name] = Said()
                    if isinstance(domain, Amount) and parameter.required:
                        chosen.numbers[parameter.name] = domain
                case FromLookup(entity):
                    known = [key for key in self.known.get(entity.table, {}) if key not in used]
                    if not known:
                        return None
                    keys = [self.random.choice(known)]
                    is_list = isinstance(parameter.kind, ListOf)
                    if is_list:
                        keys = self.random.sample(known, min(len(known), self.random.choice(LIST_LENGTHS)))
                    used.update(keys)
                    places = tuple(FromResult(*self.known[entity.table][key]) for key in keys)
                    chosen.values[parameter.name] = tuple(keys) if is_list else keys[0]
                    chosen.origins[parameter.name] = FromResults(places) if is_list else places[0]
                case FromTrace(name, function):
                    chosen.values[parameter.name] = function(self.environment, tuple(self.events))
                    chosen.origins[parameter.name] = Derived(name)
        return chosen

    def _is_given(self, share: float, when: Term | None, values: Mapping[str, Value]) -> bool:
        if when is None:
            return self.random.random() < share
        return bool(when.compile(PLAIN)(Scope(self.states[-1], values)))

    def _only_match(self, taught: RowsResult, chosen: _Chosen) -> Value:
        listed = compiled_tool(chosen.tool).listed(taught.name, self.states[-1], chosen.values).listed
        keys = [row.values[taught.entity.key] for there, row in listed if there]
        return keys[0] if len(keys) == 1 else None

    def _run_from(self, number: int) -> bool:
        """Run the calls from ``number`` on. Leaves events and states as far as calls complete."""
        del self.states[number + 1 :], self.events[number:]
        for chosen in self.chosen[number:]:
            event, state = call(self.environment, self.states[-1], chosen.tool.name, chosen.encoded())
            if not event.completed:
                return False
            self.states.append(state)
            self.events.append(event)
        self._learn(self.chosen[-1], self.events[-1])
        return True

    def _learn(self, chosen: _Chosen, event: Event) -> None:
        """Note the rows that the last call made known, and where in its result their keys stand."""
        for taught in chosen.tool.teaching:
            if isinstance(taught, KeyResult):
                key, path = cast("Mapping[str, Json]", event.result)[taught.name], (taught.name,)
            else:
                key, path = self._only_match(taught, chosen), (taught.name, 0, taught.entity.key)
            if key is not None:
                self.known.setdefault(taught.entity.table, {}).setdefault(key, (len(self.chosen) - 1, path))

    def _solve_numbers(self) -> bool:
        """Let Z3 choose every number of the calls so far, keeping each proposal that it can."""
        logic = SymbolicLogic()
        solver = z3.SimpleSolver()
        solver.set("rlimit", SOLVER_BUDGET)
        state, wishes = self.initial, list[z3.BoolRef]()
        variables: list[tuple[_Chosen, str, z3.ArithRef]] = []
        for number, chosen in enumerate(self.chosen):
            values = dict(chosen.values)
            for name, amount in chosen.numbers.items():
                variable = z3.Int(f"{name}@{number}")
                solver.add(variable >= amount.lowest, variable <= amount.highest)
                wishes.append(variable <= chosen.values[name])
                variables.append((chosen, name, variable))
                values[name] = variable
            state = _assert_completed(solver, logic, chosen.tool, state, values)
        if solver.check(*wishes) != z3.sat and solver.check() != z3.sat:
            return False
        model = solver.model()
        for chosen, name, variable in variables:
            chosen.values[name] = model.eval(variable, model_completion=True).as_long()
        return True


def _assert_completed(
    solver: z3.Solver, logic: SymbolicLogic, tool: Tool, state: State, values: Mapping[str, Value]
) -> State:
    """Assert that the call neither raises nor fails; its new state."""
    compiled = compiled_tool(tool, logic)
    scope = Scope(state, values, {})
    for _, refused in (*compiled.raises, *compiled.fails):
        solver.add(logic.negate(refused(scope)))
    return compiled.transition(state, values, succeeded=True).state


def fill_walk(environment: Environment, walk: tuple[str, ...], initial: State, random: Random) -> Trace | None:
    """The walk as a trace from the initial state, or None if these rows cannot carry it (draw another state)."""
    filling = _Filling(environment, initial, random)
    if not all(filling.add(name) for name in walk):
        return None
    return filling.trace()
