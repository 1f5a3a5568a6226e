"""Arguments for a tool sequence: each with an origin, so that every call completes and stays on the plan.

The product says which product states can still accept. Arguments are sampled
(`lawtrace.solver.planner.argument_choices`), the simulator runs the call, and the product state afterwards must accept
the rest of the sequence. If it does not, other arguments are sampled. Numbers are sampled first, because most samples
fit. Where they keep failing, Z3 chooses the numbers of all calls so far, each within the region in which rules do not
distinguish numbers (`lawtrace.solver.smt.amounts`).
"""

from dataclasses import replace
from random import Random

from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import Tool
from lawtrace.solver.planner.product import Product, ProductState
from lawtrace.solver.planner.search_state import CallChoice, SearchState, apply_call
from lawtrace.solver.smt.amounts import OpenCall, solve_amounts
from lawtrace.solver.traces import PlannedCall, Trace

NUMBER_REDRAWS = 3
"""How often the numbers of one call are sampled."""
ARGUMENT_REDRAWS = 24
"""How often the arguments of a call are sampled if it is refused or leaves the plan."""
SOLVER_QUERIES = 2
"""How often Z3 is asked for the numbers of one call."""


def instantiate_sequence(product: Product, tools: tuple[str, ...], initial: State, random: Random) -> Trace | None:
    """A trace with these tools from the initial state; None if its rows do not allow one (sample another state)."""
    instantiation = _Instantiation(product, tools, initial, random)
    if not all(instantiation.add(product.environment.tools[name]) for name in tools):
        return None
    return instantiation.trace()


class _Instantiation:
    """A tool sequence whose first calls have arguments."""

    def __init__(self, product: Product, tools: tuple[str, ...], initial: State, random: Random) -> None:
        self._product = product
        self._environment = product.environment
        self._random = random
        self._search_states: list[SearchState] = [product.system.initial_search_state(initial)]
        self._choices: list[CallChoice] = []
        self._tools = tools
        self._acceptable: dict[tuple[int, int], bool] = {}
        start = product.initial_state(self._search_states[0])
        self._product_states: list[ProductState | None] = [
            start if start is not None and self._can_complete(start, 0) else None
        ]
        """For each search state its product state, which accepts the rest of the sequence; None if none does."""

    def add(self, tool: Tool) -> bool:
        """Choose the arguments of the next call and run it. False if none make it complete as planned."""
        if self._product_states[-1] is None:
            return False
        queries = 0
        for _ in range(ARGUMENT_REDRAWS):
            choice = self._product.system.argument_chooser.sample(self._search_states[-1], tool, self._random)
            if choice is None:
                return False
            self._choices.append(choice)
            if self._run_last_call():
                return True
            if choice.numbers and queries < SOLVER_QUERIES:
                queries += 1
                if self._run_with_solved_numbers():
                    return True
            self._choices.pop()
        return False

    def trace(self) -> Trace:
        """The trace of all calls added so far."""
        last = self._search_states[-1]
        calls = zip(last.events, self._choices, strict=True)
        planned = tuple(PlannedCall(event, dict(choice.origins)) for event, choice in calls)
        return Trace(self._search_states[0].state, planned, last.state)

    def _run_last_call(self) -> bool:
        """Run the last chosen call, with other numbers if it fails."""
        *_, choice = self._choices
        for attempt in range(NUMBER_REDRAWS if choice.numbers else 1):
            if attempt:
                state = self._search_states[-1].state
                drawn = {name: region.draw(self._random, state) for name, region in choice.numbers.items()}
                self._choices[-1] = replace(choice, values={**choice.values, **drawn})
            if self._run_from(len(self._choices) - 1):
                return True
        return False

    def _run_from(self, first: int) -> bool:
        """Run the calls from number ``first`` on. If one leaves the plan, nothing changes."""
        search_states, product_states = self._search_states[: first + 1], self._product_states[: first + 1]
        for number, choice in enumerate(self._choices[first:], first):
            after = apply_call(self._environment, search_states[-1], choice, self._product.predicates)
            before = product_states[-1]
            reached = None if after is None or before is None else self._product.next_state(before, after)
            if after is None or reached is None or not self._can_complete(reached, number + 1):
                return False
            search_states.append(after)
            product_states.append(reached)
        self._search_states, self._product_states = search_states, product_states
        return True

    def _can_complete(self, state: ProductState, calls_made: int) -> bool:
        """Whether the product state accepts the rest of the sequence."""
        key = (state.node, calls_made)
        if key not in self._acceptable:
            self._acceptable[key] = self._product.accepts_sequence(state.node, self._tools[calls_made:])
        return self._acceptable[key]

    def _run_with_solved_numbers(self) -> bool:
        """Let Z3 choose the numbers of all calls so far, and run them again."""
        calls = [OpenCall(choice.tool, choice.values, choice.numbers) for choice in self._choices]
        solved = solve_amounts(self._search_states[0].state, calls, self._search_states[0].now)
        if solved is None:
            return False
        before = self._choices
        self._choices = [
            replace(choice, values={**choice.values, **numbers}) for choice, numbers in zip(before, solved, strict=True)
        ]
        if self._run_from(0):
            return True
        self._choices = before
        return False
