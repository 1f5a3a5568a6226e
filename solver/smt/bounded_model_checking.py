"""Bounded model checking with Z3: all traces of one length from one initial state as one query.

Every step is exactly one open call. Its effect comes from the same compiled tool that the simulator executes
(``environments/runtime/simulation.py``), over a symbolic logic: the tool, every amount, date, text and reference stay
open. Every obstacle to a call has a *selector*, a literal that is assumed in a query, so an unsat core names the
preconditions, missing knowledge and rules that exclude a trace. A trace that Z3 finds counts only if the simulator
executes it and every rule is kept.

Everything without a selector (effects, one call a step, the initial state, the ranges of arguments, optional arguments
left out) is an assumption, and a certificate says so.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Literal, cast

import z3

from lawtrace.environments.events import Event, Json
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import CandidateRows, CompiledTool
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import KeyResult
from lawtrace.environments.spec.expressions import EvaluationScope, Term
from lawtrace.environments.spec.logic import PLAIN
from lawtrace.environments.spec.samplers import Amount, FiniteSampler
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import arguments_of
from lawtrace.environments.spec.tools import FromLookup, FromTrace, FromUser, Tool
from lawtrace.environments.spec.types import ListOf, Value
from lawtrace.solver.ltlf import Monitor
from lawtrace.solver.smt.environment_encoding import (
    KnowledgeEncoding,
    PendingEventsEncoding,
    cone_of_influence,
    observed_results,
    tools_in_cone,
)
from lawtrace.solver.smt.rule_encoding import Rule, RuleEncoding
from lawtrace.solver.smt.symbolic_logic import SymbolicLogic
from lawtrace.solver.smt.symbolic_steps import SymbolicStep
from lawtrace.solver.smt.symbolic_windows import TimeBounds

QUERY_RLIMIT = 20_000_000
"""Z3's resource units for one query. Queries beyond them are reported as undecided."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """A precondition, missing knowledge or rule that may exclude a call or trace, in words. A rule has no tool."""

    kind: Literal["precondition", "knowledge", "rule"]
    text: str
    tool: str | None = None


@dataclass(frozen=True, slots=True)
class _ModelCall:
    """One call of a trace in Z3's model: arguments in external form, without derived ones."""

    tool: str
    arguments: Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class BoundedAnswer:
    """Z3's answer: a trace, confirmed by the simulator and the rules; or the obstacles that exclude one; or neither if
    it was not decided.
    """

    trace: tuple[Event, ...] | None
    obstacles: tuple[Obstacle, ...] | None

    @property
    def decided(self) -> bool:
        return self.trace is not None or self.obstacles is not None


class BoundedEncoding:
    """Traces of ``length`` calls from one initial state. Built once, queried many times."""

    def __init__(self, environment: Environment, rules: Mapping[str, Rule], *, length: int, initial: State) -> None:
        self.environment = environment
        self.length = length
        self._logic = SymbolicLogic()
        self._solver = z3.SimpleSolver()
        self._solver.set("rlimit", QUERY_RLIMIT)
        self._obstacles: dict[str, Obstacle] = {}
        self._selectors: dict[Obstacle, z3.BoolRef] = {}
        self._rules = rules
        self._tools = tools_in_cone(environment, observed_results(rules.values()))
        self._compiled = {name: CompiledTool(tool, self._logic) for name, tool in self._tools.items()}
        self._steps: list[SymbolicStep] = []
        self._initial = initial
        self._encode(initial)
        self.unsupported: tuple[str, ...] = ()
        """Parts of rules that were left unconstrained, a sentence each."""
        self._encode_rules()

    def ask_pair(self, first: str, second: str) -> BoundedAnswer:
        """Whether a trace has a call of ``second`` directly after one of ``first``."""
        goal = z3.Bool(f"pair {first} {second}")
        places = zip(self._steps, self._steps[1:], strict=False)
        alternatives = [z3.And([here.calls[first], then.calls[second]]) for here, then in places]
        self._solver.add(z3.Implies(goal, z3.Or(alternatives)))
        return self._ask(goal)

    def ask(self) -> BoundedAnswer:
        """Whether there is any trace."""
        return self._ask()

    def assumptions(self) -> tuple[str, ...]:
        """The assumptions of every answer."""
        counts = ", ".join(
            f"{len(self._initial.tables[table])} {table}" for table in sorted(cone_of_influence(self.environment))
        )
        return (
            f"exactly {self.length} calls, one a step, each of which completes",
            f"an initial state with {counts}",
            f"each call begins when the one before has ended, within {self.environment.clock.length} s",
            "amounts within their declared domain, optional arguments left out unless a look-up finds rows by them",
            "a look-up makes a row known only if it is the only match",
        )

    def _ask(self, *goals: z3.BoolRef) -> BoundedAnswer:
        selectors = list(self._selectors.values())
        result = self._solver.check(*selectors, *goals)
        if result == z3.sat:
            # Where a condition was left unconstrained, Z3's trace may break a rule; the simulator decides.
            return BoundedAnswer(self._simulated(self._model_calls(self._solver.model())), None)
        if result != z3.unsat:
            return BoundedAnswer(None, None)
        # Z3's own core depends on earlier queries of the process. Deletion in a fixed order is deterministic; from
        # the end, it prefers refusals of the environment to many rules.
        core = selectors
        for literal in reversed(selectors):
            without = [other for other in core if other is not literal]
            if self._solver.check(*without, *goals) == z3.unsat:
                core = without
        return BoundedAnswer(None, tuple(self._obstacles[str(literal)] for literal in core))

    def _simulated(self, planned: Sequence[_ModelCall]) -> tuple[Event, ...] | None:
        """The calls executed by the simulator; None unless each completes and together they keep every rule.

        Keys of created rows differ there: the encoding reserves a row for every call that could create one.
        """
        session, monitor = Session(self.environment, self._initial), Monitor(self._rules)
        names: dict[Json, Json] = {}
        for step, planned_call in enumerate(planned):
            tool = self.environment.tools[planned_call.tool]
            said = {name: _rename_values(value, names) for name, value in planned_call.arguments.items()}
            derived = {
                parameter.name: parameter.type.encode(
                    parameter.source.function(self.environment.tools, tuple(session.events))
                )
                for parameter in tool.parameters
                if isinstance(parameter.source, FromTrace)
            }
            event = session.call(tool.name, {**said, **derived}).event
            if not event.completed:
                return None
            result = cast("Mapping[str, Json]", event.result)
            for made in tool.results:
                if isinstance(made, KeyResult) and made.name in self._steps[step].results[tool.name]:
                    names[cast("str", self._steps[step].results[tool.name][made.name])] = result[made.name]
        monitor.run(session.events)
        return tuple(session.events) if set(monitor.final_statuses().values()) <= {"kept"} else None

    def _encode(self, state: State) -> None:
        logic, known, pending = (
            self._logic,
            KnowledgeEncoding(self.environment, state, self._logic),
            PendingEventsEncoding(self.environment),
        )
        now: Value = self.environment.clock.start(state)
        for step in range(self.length):
            acts = {name: z3.Bool(f"{name}@{step}") for name in self._tools}
            self._solver.add(z3.PbEq([(act, 1) for act in acts.values()], 1))
            arguments = {name: self._open_arguments(tool, step, state, now) for name, tool in self._tools.items()}
            following, results = state, dict[str, Mapping[str, Value | CandidateRows]]()
            for name, compiled in self._compiled.items():
                self._forbid_refusals(compiled, acts[name], EvaluationScope(state, arguments[name], {}, now))
                self._demand_knowledge(compiled.tool, acts[name], arguments[name], known, pending)
                # Only one tool is called, so chaining the guarded effects of all of them is the effect of that one.
                transition = compiled.transition(following, arguments[name], now, succeeded=acts[name])
                following, results[name] = transition.state, transition.results
            self._steps.append(SymbolicStep(acts, arguments, results, dict(pending.pending), now))
            now = self._time_after(step, now)
            known.learn(self._tools, acts, results)
            pending.update(acts, logic)
            state = following

    def _time_after(self, step: int, now: Value) -> Value:
        """When the call after that step begins: a number where the durations do not depend on the calls."""
        acts, arguments = self._steps[step].calls, self._steps[step].arguments
        durations = {name: tool.duration(arguments[name], now) for name, tool in self._compiled.items()}
        if (
            isinstance(now, int)
            and all(isinstance(d, int) for d in durations.values())
            and len({*durations.values()}) == 1
        ):
            following: Value = now + next(iter(durations.values()))
        else:
            following = z3.Int(f"time@{step + 1}")
            for name, seconds in durations.items():
                self._solver.add(z3.Implies(acts[name], following == now + seconds))
        if step + 1 < self.length and (inside := following < self.environment.clock.end(self._initial)) is not True:
            self._solver.add(inside)
        return following

    def _open_arguments(self, tool: Tool, step: int, state: State, now: Value) -> dict[str, Value]:
        values: dict[str, Value] = {}
        filters = set[str]().union(*(arguments_of(term) for lookup in tool.lookups for term in lookup.terms()))
        for parameter in tool.parameters:
            name = f"{tool.name}.{parameter.name}@{step}"
            match parameter.source:
                case FromUser(when=when) if when is not None and self._is_left_out(
                    when, EvaluationScope(state, values, {}, now)
                ):
                    values[parameter.name] = parameter.default
                case FromUser(when=None) if not parameter.required and parameter.name not in filters:
                    values[parameter.name] = parameter.default
                case FromUser(Amount(lowest, highest)):
                    number = z3.Int(name)
                    self._solver.add(number >= lowest, number <= highest)
                    values[parameter.name] = number
                case FromUser(FiniteSampler() as domain):
                    value = self._one_of(name, domain.candidates(self._initial))
                    values[parameter.name] = (value,) if isinstance(parameter.type, ListOf) else value
                case FromUser(domain):
                    # No precondition compares these texts and dates: any value will do.
                    values[parameter.name] = domain.draw(Random(0), self._initial)
                case FromLookup(entity):
                    key = self._one_of(name, [row.values[entity.key] for row in state.tables[entity.table]])
                    values[parameter.name] = (key,) if isinstance(parameter.type, ListOf) else key
                case FromTrace():
                    # Only its emptiness matters: see PendingEventsEncoding.
                    values[parameter.name] = ("pending",)
        return values

    def _is_left_out(self, when: Term, scope: EvaluationScope) -> bool:
        # If that depends on an open argument, it is given: tools ignore arguments that they do not need (see _encoded).
        return when.compile(self._logic)(scope) is False

    def _one_of(self, name: str, values: Sequence[Value]) -> Value:
        """One of the values, left open; if there are none, a text that no row has."""
        if not values:
            return ""
        if isinstance(values[0], str):
            return self._logic.open_text(name, self._solver, values)
        if isinstance(values[0], bool):
            return z3.Bool(name) if len(set(values)) > 1 else values[0]
        number = z3.Int(name)
        self._solver.add(z3.Or([number == value for value in values]))
        return number

    def _forbid_refusals(self, compiled: CompiledTool, act: z3.BoolRef, scope: EvaluationScope) -> None:
        tool = compiled.tool.name
        for refusal, condition in (*compiled.raises, *compiled.fails):
            refused = condition(scope)
            if refused is not False:
                selector = self._selector("precondition", f"{tool} is refused: {refusal.description}", tool)
                self._solver.add(z3.Implies(z3.And([selector, act]), self._logic.negate(refused)))

    def _demand_knowledge(
        self,
        tool: Tool,
        act: z3.BoolRef,
        arguments: Mapping[str, Value],
        known: KnowledgeEncoding,
        pending: PendingEventsEncoding,
    ) -> None:
        used: dict[str, list[Value]] = {}
        for parameter in tool.parameters:
            value = arguments[parameter.name]
            if isinstance(parameter.type, ListOf) and isinstance(parameter.source, FromLookup):
                (value,) = value  # a list of one item, see _open_arguments
            if isinstance(parameter.source, FromLookup):
                entity = parameter.source.entity
                text = f"{tool.name} needs, as {parameter.name}, one of the {entity.table} that was looked up before"
                selector = self._selector("knowledge", text, tool.name)
                self._solver.add(z3.Implies(z3.And([selector, act]), known.is_known(entity.table, value)))
                for other in used.setdefault(entity.table, []):
                    text = f"{tool.name} needs two different {entity.table}"
                    selector = self._selector("knowledge", text, tool.name)
                    self._solver.add(z3.Implies(z3.And([selector, act]), z3.Not(value == other)))
                used[entity.table].append(value)
            elif isinstance(parameter.source, FromTrace):
                text = f"{tool.name} needs an event that is not recorded yet"
                selector = self._selector("knowledge", text, tool.name)
                self._solver.add(z3.Implies(z3.And([selector, act]), pending.any_pending))

    def _encode_rules(self) -> None:
        """Assert that each rule whose selector is assumed is kept at the end."""
        clock = self.environment.clock
        bounds = TimeBounds(clock.start(self._initial), clock.end(self._initial))
        encoding = RuleEncoding(self.environment, self._logic, self._steps, bounds)
        for name, rule in self._rules.items():
            selector = self._selector("rule", name)
            self._solver.add(z3.Implies(selector, encoding.kept_at_end(rule)))
        self.unsupported = tuple(encoding.unsupported)

    def _selector(
        self, kind: Literal["precondition", "knowledge", "rule"], text: str, tool: str | None = None
    ) -> z3.BoolRef:
        """The Boolean that switches an obstacle on; the unsat core names the switches."""
        obstacle = Obstacle(kind, text, tool)
        if obstacle not in self._selectors:
            selector = z3.Bool(f"selector {len(self._selectors)}")
            self._selectors[obstacle] = selector
            self._obstacles[str(selector)] = obstacle
        return self._selectors[obstacle]

    def _model_calls(self, model: z3.ModelRef) -> tuple[_ModelCall, ...]:
        constraints: list[_ModelCall] = []
        for step in self._steps:
            name = next(name for name, act in step.calls.items() if z3.is_true(model.eval(act, model_completion=True)))
            constraints.append(_ModelCall(name, self._encoded(name, step, model)))
        return tuple(constraints)

    def _encoded(self, name: str, step: SymbolicStep, model: z3.ModelRef) -> dict[str, Json]:
        encoded: dict[str, Json] = {}
        values: dict[str, Value] = {}
        for parameter in self.environment.tools[name].parameters:
            values[parameter.name] = value = self._closed(step.arguments[name][parameter.name], model)
            when = parameter.source.when if isinstance(parameter.source, FromUser) else None
            # An argument without meaning here is left out, such as the end of permanent access.
            scope = EvaluationScope(self._initial, values, {}, self._closed(step.time, model))
            needless = when is not None and not when.compile(PLAIN)(scope)
            if value is not None and not needless and not isinstance(parameter.source, FromTrace):
                encoded[parameter.name] = parameter.type.encode(value)
        return encoded

    def _closed(self, value: Value, model: z3.ModelRef) -> Value:
        if isinstance(value, tuple):
            return tuple(self._closed(item, model) for item in cast("tuple[Value, ...]", value))
        if not z3.is_expr(value):
            return value
        if isinstance(value, z3.BoolRef):
            return z3.is_true(model.eval(value, model_completion=True))
        number = model.eval(value, model_completion=True).as_long()
        return self._logic.word(number) if self._logic.is_text(value) else number


def _rename_values(value: Json, names: Mapping[Json, Json]) -> Json:
    if isinstance(value, list):
        return [_rename_values(item, names) for item in value]
    return names.get(value, value) if isinstance(value, str) else value
