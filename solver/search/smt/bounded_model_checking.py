"""Bounded model checking with Z3: all traces of one length from one initial state as one query.

Every step is exactly one open call. Its effect comes from the same compiled tool that the simulator executes
(``environments/runtime/simulation.py``), over a symbolic logic: the tool, every amount, date, text and reference stay
open. Every obstacle to a call has a *selector*, a literal that is assumed in a query, so an unsat core names the
preconditions, missing knowledge and rules that exclude a trace. A trace that Z3 finds counts only if the simulator
executes it and every rule is kept.

Everything without a selector (effects, one call a step, the initial state, the ranges of arguments, optional arguments
left out) is an assumption, and a certificate says so.
"""

from collections.abc import Mapping
from typing import cast

import z3

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromTrace
from lawtrace.environments.spec.types import Value
from lawtrace.schemas.events import Event, Json
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.search.problem import Answer, Found, Impossible, Unknown
from lawtrace.solver.search.smt.call_encoding import CallEncoding, rename
from lawtrace.solver.search.smt.environment_encoding import cone_of_influence
from lawtrace.solver.search.smt.rule_encoding import Rule

QUERY_RLIMIT = 20_000_000
"""Z3's resource units for one query. Queries beyond them are reported as undecided."""


class BoundedEncoding:
    """Traces of ``length`` calls from one initial state. Built once, queried many times."""

    def __init__(self, environment: Environment, rules: Mapping[str, Rule], *, length: int, initial: State) -> None:
        self.environment = environment
        self.length = length
        self._rules = rules
        self._initial = initial
        self._calls = CallEncoding(environment, rules, initial, rlimit=QUERY_RLIMIT)
        for _ in range(length):
            self._calls.push(tuple(environment.tools))
        for name, rule in rules.items():
            kept = z3.Implies(self._calls.selector("rule", name), self._calls.rules.kept_at_end(rule))
            self._calls.solver.add(kept)
        self.unsupported = tuple(self._calls.rules.unsupported)
        """Parts of rules that were left unconstrained, a sentence each."""

    def ask_pair(self, first: str, second: str) -> Answer[tuple[Event, ...]]:
        """Whether a trace has a call of ``second`` directly after one of ``first``."""
        goal = self._calls.logic.open_truth(f"pair {first} {second}")
        places = zip(self._calls.steps, self._calls.steps[1:], strict=False)
        alternatives = [z3.And([here.calls[first], then.calls[second]]) for here, then in places]
        self._calls.solver.add(z3.Implies(goal, z3.Or(alternatives)))
        return self._ask(goal)

    def ask(self) -> Answer[tuple[Event, ...]]:
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
            "of a sampler that neither has bounds nor lists its values, one value",
            "a look-up makes a row known only if it is the only match",
        )

    def _ask(self, *goals: z3.BoolRef) -> Answer[tuple[Event, ...]]:
        result = self._calls.solver.check(*self._calls.selectors, *goals)
        if result == z3.unsat:
            return Impossible(self._calls.obstacles(*goals), self.length)
        if result != z3.sat:
            return Unknown("Z3 did not decide it within its limit")
        found = self._simulated(self._calls.solver.model())
        return Unknown("the trace that Z3 found does not run, or breaks a rule") if found is None else Found(found)

    def _simulated(self, model: z3.ModelRef) -> tuple[Event, ...] | None:
        """The calls of a model executed by the simulator; None unless each completes and they keep every rule.

        Keys of created rows differ there: the encoding reserves a row for every call that could create one.
        """
        session, monitor = Session(self.environment, self._initial), Monitor(self._rules)
        renamed: dict[Value, Value] = {}
        for number, step in enumerate(self._calls.steps):
            name = next(name for name, act in step.calls.items() if self._calls.closed(act, model))
            tool, said = self.environment.tools[name], self._calls.closed_arguments(number, name, model)
            said = {key: rename(value, renamed) for key, value in said.items()}
            for parameter in tool.parameters:
                if isinstance(parameter.source, FromTrace):
                    said[parameter.name] = parameter.source.function(self.environment.tools, tuple(session.events))
            event = session.call(name, {key: tool.parameter(key).type.encode(v) for key, v in said.items()}).event
            if not event.completed:
                return None
            result = cast("Mapping[str, Json]", event.result)
            renamed |= {key: result[field] for field, key in self._calls.created_keys(number, name).items()}
        monitor.run(session.events)
        return tuple(session.events) if monitor.all_kept() else None
