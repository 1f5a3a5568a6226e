"""Arguments and times for a sequence of tools from one initial state, all rules included.

The tools are given, and what is open are arguments, and the times that follow from them. Sequences that begin alike
share the context. Where no arguments exist, the answer says for which shortest beginning this is so, and what stands in
the way: a *conflict*. A search goes back as far and avoids that beginning from then on.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

import z3

from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import Amount
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.types import Value
from lawtrace.solver.logic.syntax import atoms_of
from lawtrace.solver.search.problem import Answer, Found, Impossible, Obstacle, Unknown
from lawtrace.solver.search.smt.call_encoding import CallEncoding, open_parts
from lawtrace.solver.search.smt.rule_encoding import Rule

SEQUENCE_RLIMIT = 4_000_000
"""Z3's resource units for one query."""


LIST_ITEMS = 2
"""How many items a list of references has; equal ones count once."""
_UNDECIDED = Unknown("Z3 did not decide it within its limit")


@dataclass(frozen=True, slots=True)
class SolvedSequence:
    """Arguments with which all calls complete and all rules are kept.

    Attributes:
        tools: of the calls.
        arguments: of each call, in internal form, without derived ones.
        created: for each call the keys of the rows that it creates in the encoding, by the name of the result.
    """

    tools: tuple[str, ...]
    arguments: tuple[Mapping[str, Value], ...]
    created: tuple[Mapping[str, Value], ...]


class SequenceEncoding:
    """Tool sequences from one initial state."""

    def __init__(
        self,
        environment: Environment,
        rules: Mapping[str, Rule],
        initial: State,
        *,
        demanded: Iterable[str] | None = None,
        pauses: bool = False,
    ) -> None:
        """
        Args:
            demanded: the rules that are demanded, before `demand_rules`; all by default. A greedy choice that keeps the
                others, too, is the one that would be made if they were demanded: what is not possible without them is
                not possible with them.
            pauses: whether time may pass between the calls.
        """
        self._environment = environment
        self._rules = rules
        self._named = {
            name: frozenset(atom.tool for atom in atoms_of([rule.formula]))
            for name, rule in rules.items()
            if rule.formula is not None
        }
        self._calls = CallEncoding(
            environment, rules, initial, rlimit=SEQUENCE_RLIMIT, list_items=LIST_ITEMS, pauses=pauses
        )
        self._choices: tuple[tuple[str, ...], ...] = ()
        self._demanded: Final = {*(rules if demanded is None else demanded)}

    def demand_rules(self, names: Iterable[str]) -> bool:
        """Demand these rules, too. Returns whether one of them was not yet demanded."""
        before = len(self._demanded)
        self._demanded.update(names)
        return len(self._demanded) > before

    def solve(self, tools: Sequence[str], wished: Sequence[Mapping[str, Value]]) -> Answer[SolvedSequence]:
        """Arguments for the tools, as near to the wished ones as a greedy choice gets."""
        with self._kept([(tool,) for tool in tools], wished):
            result = self._check()
            if result == z3.sat:
                return Found(self._solution(tools, wished))
            if result != z3.unsat:
                return _UNDECIDED
            obstacles = self._calls.obstacles()
        return self._shortest(len(tools), obstacles)

    def choose(
        self, choices: Sequence[tuple[str, ...]], demands: Mapping[str, Rule], *, keep_first: bool = False
    ) -> Answer[SolvedSequence]:
        """A sequence with arguments; at each step the first of some tools that is possible.

        Args:
            demands: requirements on the sequence beside the rules.
            keep_first: as many calls as possible are the first choice, not only those at the beginning.
        """
        with self._demanding(choices, demands) as answer:
            if not isinstance(answer, Found):
                return answer
            if keep_first:
                wanted = [step.calls[tools[0]] for tools, step in zip(choices, self._calls.steps, strict=True)]
                self._assert(*self._largest([act for act in wanted if z3.is_expr(act)]))
            found = self._first_possible()
            return Found(self._solution(found, [{} for _ in found]))

    def is_possible(self, choices: Sequence[tuple[str, ...]], demands: Mapping[str, Rule]) -> Answer[None]:
        """Whether there is a sequence, as `choose` looks for it."""
        with self._demanding(choices, demands) as answer:
            return answer

    @contextmanager
    def _demanding(self, choices: Sequence[tuple[str, ...]], demands: Mapping[str, Rule]) -> Generator[Answer[None]]:
        """A scope of `_kept` with further requirements, and whether there is a sequence."""
        with self._kept(choices, [{} for _ in choices]):
            for name, demand in demands.items():
                truth = self._calls.rules.kept_at_end(demand)
                self._calls.solver.add(z3.Implies(self._calls.selector("rule", name), truth))
            result = self._check()
            if result == z3.unsat:
                yield Impossible(self._calls.obstacles(), len(choices))
            else:
                yield Found(None) if result == z3.sat else _UNDECIDED

    def _first_possible(self) -> tuple[str, ...]:
        """At each step the first tool that leaves a solution. It is asserted."""
        found: list[str] = []
        for step in self._calls.steps:
            for tool, act in step.calls.items():
                if self._is_possible(act):
                    self._assert(act)
                    found.append(tool)
                    break
        return tuple(found)

    def _is_possible(self, *truths: Value) -> bool:
        with _scope(self._calls.solver):
            self._assert(*truths)
            return self._check() == z3.sat

    def _assert(self, *truths: Value) -> None:
        self._calls.solver.add(*(truth for truth in truths if truth is not True))

    @contextmanager
    def _kept(self, choices: Sequence[tuple[str, ...]], wished: Sequence[Mapping[str, Value]]) -> Generator[None]:
        """A scope in which each call is one of some tools, and all rules are kept at the end."""
        self._move_to(choices, wished)
        with _scope(self._calls.solver):
            self._demand(self._calls.rules.kept_at_end)
            yield

    def _move_to(self, choices: Sequence[tuple[str, ...]], wished: Sequence[Mapping[str, Value]]) -> None:
        """Take steps back to the common beginning, then append the others, each a call of one of some tools."""
        common = next((n for n, (a, b) in enumerate(zip(self._choices, choices, strict=False)) if a != b), None)
        shared = min(len(self._choices), len(choices)) if common is None else common
        for _ in self._choices[shared:]:
            self._calls.pop()
        for number, tools in enumerate(choices[shared:], shared):
            self._calls.push(tools, wished[number])
        self._choices = tuple(choices)

    def _demand(self, truth: Callable[[Rule], Value]) -> None:
        """Assert the rules that name a tool of the sequence, each with its selector.

        The others say nothing of its arguments, and the skeletons have been met.
        """
        called = {tool for step in self._calls.steps for tool in step.calls}
        for name, rule in self._rules.items():
            if name not in self._demanded or not called & self._named[name]:
                continue
            kept = truth(rule)
            if kept is not True:
                self._calls.solver.add(z3.Implies(self._calls.selector("rule", name), kept))

    def _check(self, *assumed: z3.BoolRef) -> z3.CheckSatResult:
        return self._calls.solver.check(*self._calls.selectors, *assumed)

    def _shortest(self, length: int, obstacles: tuple[Obstacle, ...]) -> Impossible:
        """The shortest beginning that no continuation helps. Steps are taken back to it."""
        found = Impossible(obstacles, length)
        while self._choices:
            with _scope(self._calls.solver):
                self._demand(self._calls.rules.may_still_be_kept)
                if self._check() != z3.unsat:
                    return found
                found = Impossible(self._calls.obstacles(), len(self._choices))
            self._calls.pop()
            self._choices = self._choices[:-1]
        return found

    def _solution(self, tools: Sequence[str], wished: Sequence[Mapping[str, Value]]) -> SolvedSequence:
        """The arguments of one solution. They depend on answers only, not on the model that Z3 happens to have."""
        calls, wishes = self._calls, list[tuple[z3.ExprRef, Value]]()
        for number, (tool, step) in enumerate(zip(tools, calls.steps, strict=True)):
            for name, value in step.arguments[tool].items():
                wishes += open_parts(value, wished[number].get(name))
        literals: dict[str, z3.ExprRef] = {}
        for number, (variable, wish) in enumerate(wishes):
            if wish is not None:
                literals[f"wish {number}"] = variable
                self._assert(z3.Implies(calls.logic.open_truth(f"wish {number}"), calls.logic.equal(variable, wish)))
        granted = self._largest([calls.logic.open_truth(name) for name in literals])
        self._assert(*granted)
        fixed = {literals[str(literal)].get_id() for literal in granted}
        for variable, wish in wishes:
            if variable.get_id() not in fixed:
                self._pin(variable, wish)
        assert self._check() == z3.sat
        model = calls.solver.model()
        places = list(enumerate(tools))
        return SolvedSequence(
            tuple(tools),
            tuple(calls.closed_arguments(number, tool, model) for number, tool in places),
            tuple(calls.created_keys(number, tool) for number, tool in places),
        )

    def _pin(self, variable: z3.ExprRef, wish: Value) -> None:
        """Give a variable a value that leaves a solution."""
        domain = self._calls.domain_of(variable)
        if not isinstance(domain, Amount):
            equations = (self._calls.logic.equal(variable, value) for value in domain)
            self._assert(next(filter(self._is_possible, equations), True))
            return
        low, high = domain.lowest, domain.highest
        near = wish if isinstance(wish, int) else low
        while low < high:
            middle = (low + high) // 2
            halves = ((low, middle), (middle + 1, high))
            nearer, farther = halves if near <= middle else halves[::-1]
            low, high = nearer if self._is_possible(variable >= nearer[0], variable <= nearer[1]) else farther
        self._assert(variable == low)

    def _largest(self, literals: Sequence[z3.BoolRef]) -> list[z3.BoolRef]:
        """A set of literals that can be true together, to which none can be added; earlier ones have precedence."""
        # By bisection and not by cores: Z3's cores depend on earlier queries of the process.
        kept: list[z3.BoolRef] = []

        def add(group: Sequence[z3.BoolRef]) -> None:
            if not group:
                return
            if self._check(*kept, *group) == z3.sat:
                kept.extend(group)
            elif len(group) > 1:
                add(group[: len(group) // 2])
                add(group[len(group) // 2 :])

        add(literals)
        return kept


@contextmanager
def _scope(solver: z3.Solver) -> Generator[None]:
    """A scope of a solver: what is asserted in it is taken back at its end."""
    solver.push()
    try:
        yield
    finally:
        solver.pop()
