"""Arguments for a walk: every one with an origin, chosen so that each call completes and rules see what was planned.

The product says where a walk may lead, call by call. Arguments are chosen
(`lawtrace.solver.planner.argument_choices`), the simulator runs the
call, and what came of it is compared with the plan: is the place where it leads one from which the rest of the walk
ends well? If not, other arguments are chosen. Numbers are proposed first, because most proposals fit; where one keeps
failing, Z3 chooses the numbers of the whole trace so far, over the same declaration that the simulator executes, each
within the region in which rules do not tell numbers apart.
"""

from collections.abc import Mapping
from dataclasses import replace
from random import Random

import z3

from lawtrace.environments.runtime.simulation import compile_tool
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import EvaluationScope
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import Value
from lawtrace.solver.planner.product import Product, ProductState
from lawtrace.solver.planner.search_state import CallChoice, SearchState, apply_call
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.traces import PlannedCall, Trace

NUMBER_REDRAWS = 3
"""How often other numbers are drawn for a call that is refused with the first ones."""
ARGUMENT_REDRAWS = 24
"""How often other references and values are chosen for a call that is refused or leads elsewhere than planned."""
SOLVER_QUERIES = 2
"""How often Z3 is asked for the numbers of one call."""
NUMBERS_RLIMIT = 2_000_000
"""Z3's resource units for one question; never seconds, so that a seed gives the same bytes on every machine."""


def instantiate_sequence(product: Product, walk: tuple[str, ...], initial: State, random: Random) -> Trace | None:
    """The walk as a trace from the initial state, or None if these rows cannot carry it (draw another state)."""
    filling = _Instantiation(product, walk, initial, random)
    if not all(filling.add(product.environment.tools[name]) for name in walk):
        return None
    return filling.trace()


class _Instantiation:
    """A walk that is being given its arguments."""

    def __init__(self, product: Product, walk: tuple[str, ...], initial: State, random: Random) -> None:
        self._product = product
        self._environment: Environment = product.environment
        self._random = random
        self._situations: list[SearchState] = [product.graph.start(initial)]
        self._choices: list[CallChoice] = []
        self._walk = walk
        self._carried: dict[tuple[int, int], bool] = {}
        start = product.start(self._situations[0])
        self._places: list[ProductState | None] = [start if start is not None and self._is_carried(start, 0) else None]
        """For each situation its place, from which the rest of the walk ends well; None if there is no way."""

    def add(self, tool: Tool) -> bool:
        """Choose the arguments of the next call and run it. False if none make it complete as planned."""
        if self._places[-1] is None:
            return False
        solutions = 0
        for _ in range(ARGUMENT_REDRAWS):
            choice = self._product.graph.argument_chooser.draw(self._situations[-1], tool, self._random)
            if choice is None:
                return False
            self._choices.append(choice)
            if self._proposed():
                return True
            if choice.numbers and solutions < SOLVER_QUERIES:
                solutions += 1
                if self._solved():
                    return True
            self._choices.pop()
        return False

    def trace(self) -> Trace:
        last = self._situations[-1]
        calls = zip(last.events, self._choices, strict=True)
        planned = tuple(PlannedCall(event, dict(choice.origins)) for event, choice in calls)
        return Trace(self._situations[0].state, planned, last.state)

    def _proposed(self) -> bool:
        """Run the call just chosen, with other numbers if need be."""
        *_, choice = self._choices
        for proposal in range(NUMBER_REDRAWS if choice.numbers else 1):
            if proposal:
                state = self._situations[-1].state
                drawn = {name: region.draw(self._random, state) for name, region in choice.numbers.items()}
                self._choices[-1] = replace(choice, values={**choice.values, **drawn})
            if self._run(len(self._choices) - 1):
                return True
        return False

    def _run(self, first: int) -> bool:
        """Run the calls from number ``first`` on. If not all end as planned, everything stays as it was."""
        situations, places = self._situations[: first + 1], self._places[: first + 1]
        for number, choice in enumerate(self._choices[first:], first):
            after = apply_call(self._environment, situations[-1], choice, self._product.interest)
            place = None if after is None or places[-1] is None else self._product.after(places[-1], after)
            if after is None or place is None or not self._is_carried(place, number + 1):
                return False
            situations.append(after)
            places.append(place)
        self._situations, self._places = situations, places
        return True

    def _is_carried(self, place: ProductState, calls: int) -> bool:
        """Whether the walk can be completed from a place, when that many of its calls have been made."""
        key = (place.node, calls)
        if key not in self._carried:
            self._carried[key] = self._product.carries(place.node, self._walk[calls:])
        return self._carried[key]

    def _solved(self) -> bool:
        """Let Z3 choose every number of the calls so far, keeping each proposal that it can, and run them again."""
        logic = SymbolicLogic()
        solver = z3.SimpleSolver()
        solver.set("rlimit", NUMBERS_RLIMIT)
        state, wishes = self._situations[0].state, list[z3.BoolRef]()
        variables: list[dict[str, z3.ArithRef]] = []
        for number, choice in enumerate(self._choices):
            opened: dict[str, z3.ArithRef] = {}
            for name, region in choice.numbers.items():
                variable = z3.Int(f"{name}@{number}")
                solver.add(variable >= region.lowest, variable <= region.highest)
                wishes.append(variable <= choice.values[name])
                opened[name] = variable
            state = _assert_completed(solver, logic, choice.tool, state, {**choice.values, **opened})
            variables.append(opened)
        if solver.check(*wishes) != z3.sat and solver.check() != z3.sat:
            return False
        model = solver.model()
        before = self._choices
        self._choices = [
            replace(choice, values={**choice.values, **{n: _model_integer(model, v) for n, v in opened.items()}})
            for choice, opened in zip(before, variables, strict=True)
        ]
        if self._run(0):
            return True
        self._choices = before
        return False


def _model_integer(model: z3.ModelRef, variable: z3.ArithRef) -> int:
    return model.eval(variable, model_completion=True).as_long()


def _assert_completed(
    solver: z3.Solver, logic: SymbolicLogic, tool: Tool, state: State, values: Mapping[str, Value]
) -> State:
    """Assert that the call neither raises nor fails; its new state."""
    compiled = compile_tool(tool, logic)
    scope = EvaluationScope(state, values, {})
    for _, refused in (*compiled.raises, *compiled.fails):
        solver.add(logic.negate(refused(scope)))
    return compiled.transition(state, values, succeeded=True).state
