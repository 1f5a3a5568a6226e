"""Judging a docket by its matters: which of them an attempt handles, lawfully and in time.

What an attempt does about one matter is a *part* of its events: those whose arguments name no other matter, with
results that list no row of another. A rule that is broken in the attempt concerns a matter if it is broken in its part.
One that is broken in no part, such as a limit on calls of all matters, concerns the matters whose calls are its
evidence.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final, cast

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import state_at
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State, decode_state, rows_about
from lawtrace.runs.tasks import Task
from lawtrace.schemas.events import SPEAKERS, Event, Json, event_labels, scalars
from lawtrace.schemas.task_rows import Docket, Matter
from lawtrace.schemas.verdict_rows import MatterVerdict, RuleVerdict, StateDifference
from lawtrace.schemas.violations import format_time

JudgeEvents = Callable[[Sequence[Event], int], Mapping[str, bool]]
"""Of some events and the time at which the session ends: whether each rule is kept."""


class MatterJudge:
    """Judges the matters of one attempt."""

    def __init__(self, environment: Environment, task: Task, docket: Docket) -> None:
        self._environment: Final = environment
        self._task: Final = task
        self._docket: Final = docket
        self._every: Final = frozenset(name for matter in docket.matters for name in matter.names)

    def differences(self, final: State) -> dict[str, tuple[StateDifference, ...]]:
        """What the final state has that no end of a matter has, by key; under the empty key what is of no matter."""
        initial, target = self._task.initial(self._environment), self._task.target(self._environment)
        end = self._environment.clock.end(initial)
        target, final = (state_at(self._environment, state, end) for state in (target, final))
        found: dict[str, tuple[StateDifference, ...]] = {}
        for matter in self._docket.matters:
            names = frozenset(matter.names)
            before, after = rows_about(initial, names), rows_about(final, names)
            ends = (decode_state(end.state or {}, self._environment.entities) for end in matter.ends)
            found[matter.key] = min((compare_states(self._environment, before, end, after) for end in ends), key=len)
        rest = (rows_about(state, self._every, others=True) for state in (initial, target, final))
        found[""] = compare_states(self._environment, *rest)
        return found

    def judge(
        self,
        events: Sequence[Event],
        end: int,
        rules: Sequence[RuleVerdict],
        differences: Mapping[str, Sequence[StateDifference]],
        judge: JudgeEvents,
    ) -> tuple[MatterVerdict, ...]:
        """The verdict on each matter. ``rules``: those of the law that the attempt does not keep."""
        blamed: dict[str, dict[str, str]] = {matter.key: {} for matter in self._docket.matters}
        broken = {rule.rule: rule for rule in rules}
        if broken:
            for matter in self._docket.matters:
                kept = judge(self._part(matter, events), end)
                for name, rule in broken.items():
                    if not kept[name]:
                        blamed[matter.key][name] = self._sentence(matter, events, end, rule, judge)
        for name, rule in broken.items():
            if not any(name in of for of in blamed.values()):
                for key in self._involved(events, rule):
                    blamed[key][name] = f"{name} ({', '.join(rule.provisions)}), with other matters: {rule.explanation}"
        return tuple(
            MatterVerdict(
                key=matter.key,
                handled=not differences[matter.key],
                broken=tuple(blamed[matter.key]),
                reasons=(*(str(one) for one in differences[matter.key][:1]), *blamed[matter.key].values()),
            )
            for matter in self._docket.matters
        )

    def _part(self, matter: Matter, events: Sequence[Event]) -> list[Event]:
        """What an attempt does about a matter."""
        others = self._every - {*matter.names}

        def kept(value: Json) -> Json:
            match value:
                case dict():
                    return {name: kept(inside) for name, inside in value.items()}
                case list():
                    return [kept(inside) for inside in value if others.isdisjoint(_texts(inside))]
                case _:
                    return value

        return [
            Event(one.tool, one.arguments, one.outcome, kept(one.result), one.error, one.time, one.message)
            for one in events
            if others.isdisjoint(_texts(cast("Json", dict(one.arguments))))
        ]

    def _involved(self, events: Sequence[Event], rule: RuleVerdict) -> list[str]:
        """The matters whose calls are the evidence of a violation; all if there is none."""
        steps = {step for one in rule.violations for evidence in one.evidence for step in evidence.steps}
        steps |= {one.step for one in rule.violations} | ({rule.broken_at} if rule.broken_at is not None else set())
        arguments = [cast("Json", dict(events[step].arguments)) for step in steps if step < len(events)]
        named = {text for of in arguments for text in _texts(of)}
        found = [matter.key for matter in self._docket.matters if not named.isdisjoint(matter.names)]
        return found or [matter.key for matter in self._docket.matters]

    def _sentence(
        self, matter: Matter, events: Sequence[Event], end: int, rule: RuleVerdict, judge: JudgeEvents
    ) -> str:
        """Which rule a matter breaks, and the first call after which it could not be kept any more."""
        told = f"{rule.rule} ({', '.join(rule.provisions)})"

        def can_be_kept(made: int) -> bool:
            done = self._continued(matter, events[:made])
            return judge(self._part(matter, done.events), done.end)[rule.rule]

        if not can_be_kept(0):
            return f"{told}; since which call is not known"
        least, most = 0, len(events)  # it can be kept after so many calls, and not after so many
        if can_be_kept(most):
            return f"{told} was open when the session ended; it could still be kept then"
        while least < most - 1:
            middle = (least + most) // 2
            least, most = (middle, most) if can_be_kept(middle) else (least, middle)
        last, label = events[most - 1], event_labels(events)[most - 1]
        over = events[most].time if most < len(events) else end
        over = "" if over is None else f", which ended at {format_time(over)}"
        return f"{told} could not be kept any more after call {label}, {last.tool}{over}: it was too late even at once"

    def _continued(self, matter: Matter, events: Sequence[Event]) -> Session:
        """The session in which, after some calls, the rest of the reference handles the matter at once."""
        session = Session(self._environment, self._task.initial(self._environment))
        made = list[tuple[str, Mapping[str, Json]]]()
        for event in events:
            if event.tool in SPEAKERS:
                continue
            session.now = max(session.now, event.time or 0)
            if session.call(event.tool, event.arguments).event.completed:
                made.append((event.tool, event.arguments))
        queue = self._task.asked_calls[:1] if not events else ()
        for call in (*queue, *(self._task.calls[number] for number in matter.calls)):
            if (call.event.tool, call.event.arguments) not in made:
                session.call(call.event.tool, call.event.arguments)
        return session


def _texts(value: Json) -> set[str]:
    return {one for one in scalars(value) if isinstance(one, str)}
