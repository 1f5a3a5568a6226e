"""Calls with open arguments from one initial state: what they need, what they change, and what their caller knows.

Steps are appended and taken back, so that a search can follow one sequence of calls and leave it for another: the
encoding is one incremental Z3 context. A step is a call of one of the given tools. Where there is only one, most of the
step folds to constants, and what is left open are its arguments and what follows from them.

Each refusal and each demand on knowledge has a *selector*, a Boolean that switches it on, so that an unsatisfiable core
names what stands in the way.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from random import Random
from types import MappingProxyType
from typing import Final, cast

import z3

from lawtrace.environments.runtime.simulation import CandidateRows, CompiledAgenda, CompiledTool, compile_tool
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult
from lawtrace.environments.spec.expressions import EvaluationScope, Term
from lawtrace.environments.spec.logic import Cases
from lawtrace.environments.spec.samplers import Amount, EachField, FiniteSampler, Sampler, Several
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import arguments_of
from lawtrace.environments.spec.tools import Fails, FromLookup, FromTrace, FromUser, Raises, Tool
from lawtrace.environments.spec.types import ListOf, Record, Value, has_objects, usual_internal
from lawtrace.solver.search.core import minimal_core
from lawtrace.solver.search.problem import Obstacle, ObstacleKind
from lawtrace.solver.search.smt.environment_encoding import (
    Knowledge,
    agenda_in_cone,
    initial_knowledge,
    is_known,
    knowledge_after,
    observed_results,
    pending_after,
    tools_in_cone,
)
from lawtrace.solver.search.smt.rule_encoding import Rule, RuleEncoding
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.search.smt.symbolic_trace import SymbolicStep
from lawtrace.solver.search.smt.symbolic_windows import TimeBounds

NO_WISHES: Final[Mapping[str, Value]] = MappingProxyType({})


def _refusal_text(tool: str, refusal: Raises | Fails) -> str:
    return f"{tool} is refused: {refusal.description}"


def refusals_named(tool: Tool, text: str) -> list[Term]:
    """The conditions of the refusals that an obstacle names."""
    named = (refusal for refusal in (*tool.raises, *tool.fails) if _refusal_text(tool.name, refusal) == text)
    return [refusal.when for refusal in named if refusal.when is not None]


@dataclass(frozen=True, slots=True, eq=False)
class OpenChoice(Cases):
    """One of several lists or objects. ``number``: the open number of it among them."""

    number: z3.ArithRef


@dataclass(frozen=True, slots=True, eq=False)
class OpenLength(Cases):
    """The beginnings of a list of open items. ``number``: the open number of items."""

    number: z3.ArithRef


def open_parts(value: Value, wish: Value) -> Iterator[tuple[z3.ExprRef, Value]]:
    """What is open in an argument, each with what is wished for it, if anything is."""
    match value:
        case OpenChoice(cases, number):
            yield number, next((place for place, (_, one) in enumerate(cases) if one == wish), None)
        case OpenLength(cases, number):
            wanted: Sequence[Value] = cast("Sequence[Value]", wish) if isinstance(wish, tuple) else ()
            yield number, len(wanted) if isinstance(wish, tuple) else None
            items = cast("Sequence[Value]", cases[-1][1])
            for item, other in zip_longest(items, wanted[: len(items)]):
                yield from open_parts(item, other)
        case Record(values=fields):
            for name, part in fields.items():
                yield from open_parts(part, wish[name] if isinstance(wish, Record) else None)
        case tuple():
            listed = cast("Sequence[Value]", value)
            each = cast("Sequence[Value]", wish if isinstance(wish, tuple) else (wish,) * len(listed))
            for item, other in zip_longest(listed, each[: len(listed)]):
                yield from open_parts(item, other)
        case z3.ExprRef():
            yield value, wish
        case _:
            pass


def rename(value: Value, names: Mapping[Value, Value]) -> Value:
    """The value, or each of its items, under its new name if it has one."""
    if isinstance(value, tuple):
        return tuple(names.get(item, item) for item in cast("tuple[Value, ...]", value))
    return names.get(value, value)


@dataclass(frozen=True, slots=True)
class _Position:
    """What holds before the next step. ``between``: times that ``now`` is not before and not after."""

    state: State
    now: Value
    between: tuple[int, int]
    known: Knowledge
    pending: Mapping[str, Value]


class CallEncoding:
    """The steps so far, in Z3 and for the rules.

    Attributes:
        solver: holds what the steps demand. Each step has a scope of its own.
        rules: the encoding of rules over the steps.
        steps: the steps so far.
    """

    def __init__(
        self,
        environment: Environment,
        rules: Mapping[str, Rule],
        initial: State,
        *,
        rlimit: int,
        list_items: int = 1,
        pauses: bool = False,
    ) -> None:
        """
        Args:
            rlimit: Z3's resource units for one query. Never seconds: a seed gives the same bytes on every machine.
            list_items: how many items a list of references has; items that turn out equal count once.
            pauses: whether time may pass between the calls.
        """
        self.environment: Final = environment
        # How far Z3 gets within its limit depends on what a context has seen, and may not depend on earlier searches.
        self.logic: Final = SymbolicLogic(context=z3.Context())
        self.solver: Final = self.logic.solver()
        self.solver.set("rlimit", rlimit)
        self.solver.set("ctrl_c", False)  # Z3 forgets a Ctrl-C that comes when it nearly has its answer
        observed = observed_results(rules.values())
        self.tools: Final = tools_in_cone(environment, observed)
        self.steps: Final[list[SymbolicStep]] = []
        self._initial = initial
        self._list_items = list_items
        self._pauses = pauses
        self._end = environment.clock.end(initial)
        start = environment.clock.start(initial)
        self.rules: Final = RuleEncoding(environment, self.logic, TimeBounds(start, self._end))
        self._compiled: Final = {name: CompiledTool(tool, self.logic) for name, tool in self.tools.items()}
        self._agenda: Final = CompiledAgenda(agenda_in_cone(environment, observed), self.logic)
        pending: dict[str, Value] = dict.fromkeys(environment.event_names, False)
        self._positions: Final = [
            _Position(initial, start, (start, start), initial_knowledge(environment, initial), pending)
        ]
        self._domains: Final[dict[str, Amount | Sequence[Value]]] = {}
        self._selectors: Final[dict[Obstacle, z3.BoolRef]] = {}

    def push(self, tools: Collection[str], wished: Mapping[str, Value] = NO_WISHES) -> SymbolicStep:
        """Append a call of one of the tools that completes.

        `wished`: arguments for texts and dates that no precondition compares, and which optional ones are given.
        """
        self.solver.push()
        before, number = self._positions[-1], len(self.steps)
        if len(tools) == 1:
            acts: dict[str, Value] = dict.fromkeys(tools, True)
        else:
            acts = {name: self.logic.open_truth(f"{name}@{number}") for name in tools}
            self.solver.add(z3.PbEq([(act, 1) for act in acts.values()], 1))
        now, state = before.now, self._agenda.state_at(before.state, before.now, before.between)
        if (inside := now < self._end) is not True:
            self.solver.add(inside)
        arguments = {name: self._open_arguments(self.tools[name], number, state, now, wished) for name in acts}
        following, results = state, dict[str, Mapping[str, Value | CandidateRows]]()
        for name, act in acts.items():
            compiled = self._compiled[name]
            self._forbid_refusals(compiled, act, EvaluationScope(state, arguments[name], now))
            self._demand_knowledge(compiled.tool, act, arguments[name], before)
            # Only one tool is called, so chaining the guarded effects of all of them is the effect of that one.
            transition = compiled.transition(following, arguments[name], now, succeeded=act)
            following, results[name] = transition.state, transition.results
        step = SymbolicStep(acts, arguments, results, before.pending, now)
        known = knowledge_after(self.logic, before.known, [self.tools[name] for name in acts], acts, results)
        pending = pending_after(self.environment, self.logic, before.pending, acts)
        self.steps.append(step)
        self.rules.push(step)
        between = self._between(before.between, [self.tools[name].duration for name in acts])
        self._positions.append(_Position(following, self._time_after(step, number), between, known, pending))
        return step

    def pop(self) -> None:
        """Take the last step back."""
        self.solver.pop()
        self.rules.pop()
        del self.steps[-1], self._positions[-1]

    def selector(self, kind: ObstacleKind, text: str, tool: str | None = None) -> z3.BoolRef:
        """The Boolean that switches an obstacle on; the unsat core names the switches."""
        obstacle = Obstacle(kind, text, tool)
        if obstacle not in self._selectors:
            self._selectors[obstacle] = self.logic.open_truth(f"selector {len(self._selectors)}")
        return self._selectors[obstacle]

    @property
    def selectors(self) -> list[z3.BoolRef]:
        return list(self._selectors.values())

    def obstacles(self, *goals: z3.BoolRef) -> tuple[Obstacle, ...]:
        """A minimal set of obstacles that excludes every trace, after an unsatisfiable query with these goals."""
        # Deletion starts from Z3's own core. From the end, it prefers refusals of the environment to many rules.
        named = {literal.get_id() for literal in self.solver.unsat_core()}
        core = [one for one, selector in self._selectors.items() if selector.get_id() in named]

        def excludes(_: Obstacle, others: Sequence[Obstacle]) -> bool:
            # Z3 is told of the others in the order in which they were made.
            return self.solver.check(*(self._selectors[other] for other in reversed(others)), *goals) == z3.unsat

        return minimal_core(reversed(core), excludes)[::-1]

    def domain_of(self, variable: z3.ExprRef) -> Amount | Sequence[Value]:
        """The values of an open argument."""
        return self._domains[variable.decl().name()]

    def closed_arguments(self, number: int, name: str, model: z3.ModelRef) -> dict[str, Value]:
        """The arguments of a step in a model, in internal form; without derived ones and those without meaning."""
        step = self.steps[number]
        values: dict[str, Value] = {}
        given: dict[str, Value] = {}
        for parameter in self.environment.tools[name].parameters:
            values[parameter.name] = value = self.closed(step.arguments[name][parameter.name], model)
            when = compile_tool(self.environment.tools[name]).stated_when.get(parameter.name)
            # An argument without meaning here is left out, such as the end of permanent access.
            scope = EvaluationScope(self._initial, values, self.closed(step.time, model))
            needless = when is not None and not when(scope)
            if value is not None and not needless and not isinstance(parameter.source, FromTrace):
                given[parameter.name] = value
        return given

    def created_keys(self, number: int, name: str) -> dict[str, Value]:
        """The keys of the rows that a step creates in the encoding, by the name of the result."""
        results = self.steps[number].results[name]
        declared = [result for result in self.environment.tools[name].results if isinstance(result, KeyResult)]
        return {result.name: results[result.name] for result in declared if result.name in results}

    def closed(self, value: Value, model: z3.ModelRef) -> Value:
        """A value in a model; a list without repetitions."""
        if isinstance(value, Cases):
            chosen = (one for truth, one in value.cases if z3.is_true(model.eval(truth, model_completion=True)))
            return self.closed(next(chosen), model)
        if isinstance(value, Record):
            return Record({name: self.closed(part, model) for name, part in value.values.items()})
        if isinstance(value, tuple):
            return tuple(dict.fromkeys(self.closed(item, model) for item in cast("tuple[Value, ...]", value)))
        if not z3.is_expr(value):
            return value
        if isinstance(value, z3.BoolRef):
            return z3.is_true(model.eval(value, model_completion=True))
        number = model.eval(value, model_completion=True).as_long()
        return self.logic.word(number) if self.logic.is_text(value) else number

    def _between(self, before: tuple[int, int], durations: Sequence[int | Term]) -> tuple[int, int]:
        """Between which times the call after one that begins between such times, and lasts so long, begins."""
        known = [seconds for seconds in durations if isinstance(seconds, int)]
        all_known = len(known) == len(durations)
        latest = before[1] + max(known) if all_known and not self._pauses else self._end
        return before[0] + (min(known) if all_known else 0), min(latest, self._end)

    def _time_after(self, step: SymbolicStep, number: int) -> Value:
        """When the call after that step begins: a number where the durations do not depend on the calls."""
        ended = self._ended(step, number)
        if not self._pauses:
            return ended
        following = self.logic.open_number(f"pause@{number + 1}")
        self.solver.add(following >= ended)
        return following

    def _ended(self, step: SymbolicStep, number: int) -> Value:
        """When the call of that step has ended."""
        durations = {name: self._compiled[name].duration(step.arguments[name], step.time) for name in step.calls}
        if len(durations) == 1:
            return step.time + next(iter(durations.values()))
        known = {seconds for seconds in durations.values() if isinstance(seconds, int)}
        if isinstance(step.time, int) and len(known) == 1 and all(isinstance(d, int) for d in durations.values()):
            return step.time + known.pop()
        following = self.logic.open_number(f"time@{number + 1}")
        for name, seconds in durations.items():
            self.solver.add(z3.Implies(step.calls[name], following == step.time + seconds))
        return following

    def _open_arguments(
        self, tool: Tool, number: int, state: State, now: Value, wished: Mapping[str, Value]
    ) -> dict[str, Value]:
        values: dict[str, Value] = {}
        stated_when = self._compiled[tool.name].stated_when
        filters = set[str]().union(*(arguments_of(term) for lookup in tool.lookups for term in lookup.terms()))
        for parameter in tool.parameters:
            name = f"{tool.name}.{parameter.name}@{number}"
            match parameter.source:
                # If that depends on an open argument, it is given: tools ignore arguments that they do not need.
                case FromUser() if (when := stated_when.get(parameter.name)) is not None and when(
                    EvaluationScope(state, values, now)
                ) is False:
                    values[parameter.name] = parameter.default
                case FromUser(when=None) if not parameter.required and not {parameter.name} & (filters | {*wished}):
                    values[parameter.name] = parameter.default
                case FromUser(FiniteSampler() as domain):
                    candidates = domain.candidates(self._initial)
                    value = self._one_of(name, candidates)
                    is_item = isinstance(parameter.type, ListOf) and not isinstance(next(iter(candidates), ""), tuple)
                    values[parameter.name] = (value,) if is_item else value
                case FromUser(sampler):
                    earlier = {one: self._some(values[one]) for one in sampler.depends_on}
                    values[parameter.name] = self._open_value(name, sampler, earlier, wished.get(parameter.name))
                case FromLookup(entity):
                    keys = [row.values[entity.key] for row in state.tables[entity.table]]
                    items = self._list_items if isinstance(parameter.type, ListOf) else 1
                    chosen = tuple(self._one_of(f"{name}{'*' * item}", keys) for item in range(items))
                    values[parameter.name] = chosen if isinstance(parameter.type, ListOf) else chosen[0]
                case FromTrace():
                    # Only its emptiness matters: see `pending_after`. Objects have fixed values.
                    values[parameter.name] = (
                        usual_internal(parameter.type) if has_objects(parameter.type) else ("pending",)
                    )
        return values

    def _open_value(self, name: str, sampler: Sampler, earlier: Mapping[str, Value], wish: Value) -> Value:
        """A value that users state. Of objects the fields are open, of a list the length, too."""
        match sampler:
            case Amount(lowest, highest):
                amount = self.logic.open_number(name)
                self.solver.add(amount >= lowest, amount <= highest)
                self._domains[name] = sampler
                return amount
            case FiniteSampler():
                return self._one_of(name, sampler.candidates(self._initial))
            case EachField(fields):
                return Record(
                    {
                        field: self._open_value(
                            f"{name}.{field}", inner, earlier, wish[field] if isinstance(wish, Record) else None
                        )
                        for field, inner in fields.items()
                    }
                )
            case Several(inner, fewest, most):
                return self._open_list(name, inner, range(fewest, most + 1), earlier)
            case _:
                # One given value, as a sample has it: no precondition compares texts and dates of these samplers.
                return wish or sampler.draw(Random(0), self._initial, earlier)

    def _open_list(self, name: str, sampler: Sampler, lengths: range, earlier: Mapping[str, Value]) -> Value:
        """A list of different items, of an open length."""
        items = tuple(self._open_value(f"{name}[{n}]", sampler, earlier, None) for n in range(lengths.stop - 1))
        number = self.logic.open_number(f"{name} length")
        self._domains[f"{name} length"] = lengths
        self.solver.add(number >= lengths.start, number < lengths.stop)
        for place, item in enumerate(items):
            for other in items[:place]:
                same = self.logic.equal(item, other)
                if same is not False:
                    self.solver.add(z3.Implies(number > place, self.logic.negate(same)))
        return OpenLength(tuple((number == length, items[:length]) for length in lengths), number)

    def _one_of(self, name: str, values: Sequence[Value]) -> Value:
        """One of the values, left open; if there are none, a text that no row has."""
        if not values:
            return ""
        self._domains[name] = tuple(dict.fromkeys(values))
        if isinstance(values[0], str):
            return self.logic.open_text(name, self.solver, values)
        if isinstance(values[0], tuple | Record):
            return self._one_of_parts(name, tuple(dict.fromkeys(values)))
        if isinstance(values[0], bool):
            return self.logic.open_truth(name) if len(set(values)) > 1 else values[0]
        number = self.logic.open_number(name)
        self.solver.add(z3.Or([number == value for value in values]))
        return number

    def _one_of_parts(self, name: str, values: Sequence[Value]) -> Value:
        """One of several lists or objects, by an open number."""
        if len(values) == 1:
            return values[0]
        number = self.logic.open_number(name)
        self._domains[name] = range(len(values))
        self.solver.add(number >= 0, number < len(values))
        return OpenChoice(tuple((number == place, value) for place, value in enumerate(values)), number)

    def _some(self, value: Value) -> Value:
        """One of the values that an argument can have."""
        if isinstance(value, Cases):
            return self._some(value.cases[0][1])
        if isinstance(value, Record):
            return Record({name: self._some(part) for name, part in value.values.items()})
        if isinstance(value, tuple):
            return tuple(map(self._some, cast("tuple[Value, ...]", value)))
        if not z3.is_expr(value):
            return value
        domain = self._domains[value.decl().name()]
        return domain.lowest if isinstance(domain, Amount) else domain[0]

    def _forbid_refusals(self, compiled: CompiledTool, act: Value, scope: EvaluationScope) -> None:
        tool = compiled.tool.name
        for refusal, condition in (*compiled.raises, *compiled.fails):
            refused = condition(scope)
            if refused is not False:
                self._demand("precondition", _refusal_text(tool, refusal), tool, act, self.logic.negate(refused))

    def _demand_knowledge(self, tool: Tool, act: Value, arguments: Mapping[str, Value], before: _Position) -> None:
        used: dict[str, list[Value]] = {}
        for parameter in tool.parameters:
            value = arguments[parameter.name]
            if isinstance(parameter.source, FromLookup):
                table = parameter.source.entity.table
                items: Sequence[Value] = value if isinstance(parameter.type, ListOf) else (value,)
                text = f"{tool.name} needs, as {parameter.name}, one of the {table} that was looked up before"
                known = self.logic.all([is_known(self.logic, before.known[table], item) for item in items])
                self._demand("knowledge", text, tool.name, act, known)
                for other in used.setdefault(table, []):
                    differs = self.logic.all([self.logic.negate(self.logic.equal(item, other)) for item in items])
                    self._demand("knowledge", f"{tool.name} needs two different {table}", tool.name, act, differs)
                used[table] += items
            elif isinstance(parameter.source, FromTrace):
                text = f"{tool.name} needs an event that is not recorded yet"
                self._demand("knowledge", text, tool.name, act, self.logic.any([*before.pending.values()]))

    def _demand(self, kind: ObstacleKind, text: str, tool: str, act: Value, truth: Value) -> None:
        """Assert the truth of what a call needs, if the call is made and the obstacle is switched on."""
        self.solver.add(z3.Implies(z3.And([self.selector(kind, text, tool), act]), truth))
