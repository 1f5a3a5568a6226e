"""Choice of numbers for a whole sequence of calls: Z3 solves for values with which every call completes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import z3

from lawtrace.environments.runtime.simulation import compile_tool
from lawtrace.environments.spec.expressions import EvaluationScope
from lawtrace.environments.spec.samplers import Amount
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import Value
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic

NUMBERS_RLIMIT = 2_000_000
"""Z3's resource units for one query. Never seconds: a seed gives the same bytes on every machine."""


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call with some numbers left open.

    Attributes:
        values: all arguments in internal form; those of open numbers are upper bounds that Z3 keeps if it can.
        numbers: the range of each open number.
    """

    tool: Tool
    values: Mapping[str, Value]
    numbers: Mapping[str, Amount]


def solve_amounts(initial: State, calls: Sequence[OpenCall], start: int) -> list[dict[str, int]] | None:
    """Numbers for each call with which all calls complete, the first at ``start``; None if Z3 finds none within its
    budget."""
    logic = SymbolicLogic()
    solver = z3.SimpleSolver()
    solver.set("rlimit", NUMBERS_RLIMIT)
    state, now, preferences = initial, cast("Value", start), list[z3.BoolRef]()
    variables: list[dict[str, z3.ArithRef]] = []
    for index, call in enumerate(calls):
        opened: dict[str, z3.ArithRef] = {}
        for name, region in call.numbers.items():
            variable = z3.Int(f"{name}@{index}")
            solver.add(variable >= region.lowest, variable <= region.highest)
            preferences.append(variable <= call.values[name])
            opened[name] = variable
        values = {**call.values, **opened}
        state = _assert_completed(solver, logic, call.tool, state, values, now)
        now = now + compile_tool(call.tool, logic).duration(values, now)
        variables.append(opened)
    if solver.check(*preferences) != z3.sat and solver.check() != z3.sat:
        return None
    model = solver.model()
    return [
        {name: model.eval(variable, model_completion=True).as_long() for name, variable in opened.items()}
        for opened in variables
    ]


def _assert_completed(
    solver: z3.Solver, logic: SymbolicLogic, tool: Tool, state: State, values: Mapping[str, Value], now: Value
) -> State:
    """Assert that the call neither raises nor fails. Returns the state after it."""
    compiled = compile_tool(tool, logic)
    scope = EvaluationScope(state, values, {}, now)
    for _, refused in (*compiled.raises, *compiled.fails):
        solver.add(logic.negate(refused(scope)))
    return compiled.transition(state, values, now, succeeded=True).state
