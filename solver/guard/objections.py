"""What speaks against a call: the rules that no continuation keeps after it, and what to do first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final

from lawtrace.environments.logs import get_logger
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.solver.guard.decisions import Finding, Step, cite_all, steps_of
from lawtrace.solver.guard.traces import PossibleTraces
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events.component import Component
from lawtrace.solver.search.events.event_search import (
    Continuation,
    Lost,
    PendingOutcomes,
    advise,
    conflict,
    decide,
    is_allowed,
    learn,
)
from lawtrace.solver.search.events.space import Path
from lawtrace.solver.search.events.vocabulary import Representatives
from lawtrace.solver.search.problem import Answer, Budget, Found, Impossible, Unknown

MAX_ADVICE: Final = 500
"""How many events the search for what to do first, or for the rules to name, tries at most."""

_Traces = Sequence[tuple[Component, PendingOutcomes]]
"""Possible traces, each with what the calls in its queue may become."""

_logger = get_logger(__name__)


class Objector:
    """Finds what speaks against calls in the traces that are possible."""

    def __init__(
        self, tools: Mapping[str, ToolSchema], steps: int, regulation: Regulation | None, *, advice: bool
    ) -> None:
        """`tools`: that advice names. `steps`: how many events one decision tries. `regulation`: which findings cite.
        `advice`: whether they say what to do first."""
        self._tools: Final = tools
        self._steps: Final = steps
        self._regulation: Final = regulation
        self._advice: Final = advice

    def find(
        self, scope: PossibleTraces, number: int, made: Representatives, now: int
    ) -> list[tuple[Sequence[Mapping[str, str]], Finding]]:
        """The objections of the rules of a component to what a call may become, with the readings that lead to them."""
        traces = [(trace.components[number], trace.pending(number)) for trace in scope.traces]
        forced = [(whole, [*pending, made]) for whole, pending in traces]
        if not scope.too_many and all(self._keeps_all(whole, events, now) for whole, events in forced):
            return []
        found: list[tuple[Sequence[Mapping[str, str]], Finding]] = []
        total = Budget(2 * self._steps)  # what is tried for one reading, and as much again for all others
        for place, readings in enumerate(scope.compiled[number].readings):
            several = [(whole.interpretations[place], pending) for whole, pending in traces]
            advised = traces if self._advice and all(finding.undecided for _, finding in found) else ()
            if (finding := self._objection(scope, number, several, made, now, advised, total)) is not None:
                found.append((readings, finding))
        for whole, _ in traces:
            whole.unite()
        return found

    def _keeps_all(self, whole: Component, forced: PendingOutcomes, now: int) -> bool:
        """Whether a continuation that is quickly found keeps the rules of all readings."""
        if len(whole.interpretations) == 1:
            return False
        answer = decide(whole, forced, now, Budget(self._steps), thorough=False)
        if not isinstance(answer, Continuation):
            return False
        learn(whole, answer.result, answer.trace)
        for component in whole.interpretations:
            component.hint = answer.trace
        return True

    def _objection(
        self,
        scope: PossibleTraces,
        number: int,
        traces: _Traces,
        made: Representatives,
        now: int,
        advised: _Traces,
        total: Budget,
    ) -> Finding | None:
        """The objection of the rules that hold under some readings, in one of the possible traces.

        `advised`: in which advice should help under all readings; none if there is advice already. `total`: what
        the decision may try under all readings.
        """
        unanswered = tuple(
            entry.call
            for entry in scope.unanswered
            if entry.call is not None and scope.compiled[number].concerns(entry.call.tool)
        )
        undecided: Sequence[Rule] = scope.compiled[number].rules if scope.too_many else ()
        for component, pending in traces:
            answer = self._examine(component, [*pending, made], now, total)
            if isinstance(answer, Impossible):
                rules = [rule for rule in component.rules if rule.id in answer.rules]
                first = self._first(component, pending, advised, made, rules, now) if advised else ()
                return Finding(answer.rules, cite_all(rules, self._regulation), first, unanswered=unanswered)
            if isinstance(answer, Unknown):
                undecided = undecided or component.defended()
        if not undecided:
            return None
        return Finding(tuple(rule.id for rule in undecided), undecided=True, unanswered=unanswered)

    def _examine(self, component: Component, forced: PendingOutcomes, now: int, total: Budget) -> Answer[Path]:
        """Whether the rules of a component can all be met; if not, with the rules that are in conflict."""
        answer = decide(component, forced, now, Budget(self._steps, total))
        while isinstance(answer, Impossible) and self._give_up(component, forced[:-1], now):
            answer = decide(component, forced, now, Budget(self._steps, total))
        if isinstance(answer, Continuation):
            learn(component, answer.result, answer.trace)
        elif isinstance(answer, Lost) and not answer.direct:
            core = conflict(component, forced, answer.rules, now, Budget(self._steps))
            return replace(answer, core=core)
        return answer

    def _give_up(self, component: Component, forced: PendingOutcomes, now: int) -> bool:
        """Stop defending rules that are lost without the call in question; whether there were any."""
        given_up = False
        while isinstance(answer := decide(component, forced, now, Budget(self._steps)), Impossible):
            with component.log.attempt():
                component.advance_time(now)
                lost = [rule.id for rule in component.broken()]
            if not lost:
                core = conflict(component, forced, answer.rules, now, Budget(self._steps))
                lost = [obstacle.text for obstacle in core[-1:]]
            for rule in lost:
                component.give_up(rule)
                _logger.warning("guard.lost", rule=rule)
            given_up = True
        if isinstance(answer, Found):
            component.hint = answer.trace
        return given_up

    def _first(
        self,
        component: Component,
        pending: PendingOutcomes,
        others: _Traces,
        made: Representatives,
        rules: Sequence[Rule],
        now: int,
    ) -> tuple[Step, ...]:
        """What to do so that the call is allowed. ``rules``: that object to it in one trace. ``others``: all traces."""
        # What to do first depends on what the calls that have not returned become.
        if pending or all(component.always_broken(event) for event in made.events):
            return ()
        budget = Budget(min(self._steps, MAX_ADVICE))
        advice = advise(component, made.events, rules, now, budget)
        if advice is None:
            return ()
        later = replace(made, events=[replace(event, time=advice.time) for event in made.events])
        steps = [*(Representatives([event]) for event in advice.events), later]
        for whole, waiting in others:
            forced = [*waiting, *steps]
            if not (
                is_allowed(whole, forced, now, budget)  # what keeps all rules keeps those of each reading
                or all(one is component or is_allowed(one, forced, now, budget) for one in whole.interpretations)
            ):
                return ()
        return steps_of(advice.events, now, advice.time, self._tools)
