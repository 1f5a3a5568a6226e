"""Single changes of references, and what catches them.

A deletion leaves out a compliance call, a delay makes a call one second after a bound of a rule, and an exchanged
object is another value that a rule compares between calls. The simulator carries each out. What breaks no rule and
reaches the goal is missed if the change leaves a duty of the reference unfulfilled; else it is lawful, and the answer
says why.
"""

from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.findings import ChangeAnswer, MutationKind
from lawtrace.solver.coverage.mutants import Mutant, calls_of, step_name
from lawtrace.solver.coverage.mutations import broken_rules, session_of
from lawtrace.solver.coverage.timed_mutants import has_deadline, timed_mutants
from lawtrace.solver.coverage.value_mutants import value_mutants
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace


@dataclass(frozen=True, slots=True)
class JudgedChange:
    """A change of a call of a reference, in words, and what catches it, or why nothing does."""

    kind: MutationKind
    change: str
    answer: ChangeAnswer


def judge_changes(
    environment: Environment,
    rules: Sequence[Rule],
    trace: Trace,
    tools: Collection[str],
    reaches_goal: Callable[[Session], bool] = lambda _: True,
) -> Iterator[JudgedChange]:
    """The changes of the calls of these tools."""
    judge = _ChangeJudge(environment, rules, trace, reaches_goal)
    delays = _late(environment, rules, trace)
    objects = [one for one in value_mutants(environment, rules, trace) if one.kind == "other object"]
    for number, event in enumerate(trace.events):
        if event.tool in tools:
            yield from judge.changes(number, [one for one in delays if number in one.pauses], objects)


def undetected_changes(environment: Environment, rules: Sequence[Rule], trace: Trace) -> Iterator[str]:
    """The changes of compliance calls, in words, that leave a duty unfulfilled and break no rule."""
    for one in judge_changes(environment, rules, trace, environment.compliance_tools):
        if one.answer == "missed" and one.kind != "drop":
            yield one.change


class _ChangeJudge:
    """Judges the changes of one reference."""

    def __init__(
        self, environment: Environment, rules: Sequence[Rule], trace: Trace, reaches_goal: Callable[[Session], bool]
    ) -> None:
        self._environment: Final = environment
        self._rules: Final = rules
        self._trace: Final = trace
        self._reaches_goal: Final = reaches_goal

    def changes(self, number: int, delays: Sequence[Mutant], objects: Sequence[Mutant]) -> Iterator[JudgedChange]:
        """The changes of the call of this number. `delays`: of it; `objects`: of all calls."""
        calls, tool = calls_of(self._trace), self._trace.events[number].tool
        deletion = Mutant("drop", f"{step_name(self._trace, number)} dropped", (*calls[:number], *calls[number + 1 :]))
        lost, without = self._judge(deletion)
        if tool in self._environment.compliance_tools:
            yield JudgedChange("drop", deletion.change, without or "missed")
        due = [rule for rule in self._rules if rule.id in lost and has_deadline(rule.parsed, tool)]
        ending = {one.change for one in _late(self._environment, due, self._trace)}
        judged: list[tuple[Mutant, ChangeAnswer | None]] = [(one, self._judge(one)[1]) for one in delays]
        last = max((one.pauses[number] for one, answer in judged if answer and one.change in ending), default=0)
        for one, answer in judged:
            is_late = one.change in ending and one.pauses[number] > last
            lawful: ChangeAnswer = "missed" if is_late else "no deadline for it ends there"
            yield JudgedChange("late", one.change, answer or lawful)
        for one in objects:
            if number in one.answers:
                yield JudgedChange("other object", one.change, "a result, which no session can change")
            elif one.calls[number] != calls[number]:
                answer = self._judge(one)[1] or ("missed" if without else "no duty needs the call")
                yield JudgedChange("other object", one.change, answer)

    def _judge(self, mutant: Mutant) -> tuple[Collection[str], ChangeAnswer | None]:
        """The rules that a change breaks, and what catches it; None if nothing does."""
        session = session_of(self._environment, self._trace.initial, mutant)
        broken = broken_rules(self._rules, session.events, session.end)
        if broken:
            return broken, "rule"
        if (*session.events,) == self._trace.events:
            return (), "it changes nothing"
        if not all(event.completed for event in session.events):
            return (), "a tool refuses it"
        return (), None if self._reaches_goal(session) else "goal"


def _late(environment: Environment, rules: Sequence[Rule], trace: Trace) -> list[Mutant]:
    return [one for one in timed_mutants(environment, rules, trace) if one.kind == "late"]
