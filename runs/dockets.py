"""Dockets as the stages use them: drawn, as rows, and as what a user asks for."""

from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from random import Random
from typing import Final

from lawtrace.environments.logs import get_logger
from lawtrace.environments.runtime.simulation import state_at
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import encode_state, rows_about
from lawtrace.environments.spec.tools import FromLookup, Phrases
from lawtrace.runs.tasks import Task, trace_row
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.events import Event, scalars
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.recipe import DocketOptions
from lawtrace.schemas.task_rows import Docket, End, Matter, TraceRow
from lawtrace.solver.planner.dockets import DocketWriter, PlannedDocket, find_queue
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, Trace

log = get_logger(__name__)

MOST_STATES: Final = 30
"""In how many states in a row no docket may be found before the search gives up."""


def docket_traces(
    environment: Environment, rules: Sequence[Rule], name: str, numbers: range, seed: int, options: DocketOptions
) -> Iterator[TraceRow]:
    """The dockets of these numbers, as rows of traces. Raises SearchError if the environment has none of that kind."""
    writer = DocketWriter(environment, rules)
    for number in numbers:
        random, before = Random(f"{environment.name}/dockets/{seed}/{number}"), Counter(writer.reasons)
        found, why = None, ""
        for state in range(1, MOST_STATES + 1):
            found = writer.draw(options.matters, options.slack, random)
            if found is not None:
                break
            reasons = (Counter(writer.reasons) - before).most_common(3)
            why = ", ".join(f"{reason} ({times} times)" for reason, times in reasons)
            log.warning("no docket found yet", docket=number + 1, states=state, instead=why)
        else:
            raise SearchError(
                f"environment {environment.name!r}: no docket of {options.matters} matters with slack {options.slack} "
                f"in {MOST_STATES} states: {why}; try other numbers (docs/dockets.md)"
            )
        yield _row(environment, f"{name}-{number + 1:03d}", found)


def _row(environment: Environment, name: str, found: PlannedDocket) -> TraceRow:
    trace = found.schedule.trace
    opening = len(trace.calls) - len(found.schedule.matters)
    calls: dict[str, list[int]] = {matter.key: [] for matter in found.matters}
    for number, key in enumerate(found.schedule.matters, opening):
        calls[key].append(number)
    named = {
        key: {key, *(one for number in of for one in keys_in(environment, trace.calls[number].event))}
        for key, of in calls.items()
    }
    often = Counter(one for names in named.values() for one in names)
    matters: list[Matter] = []
    for matter in found.matters:
        names = frozenset(one for one in named[matter.key] if often[one] == 1)
        finals = (state_at(environment, end.trace.final, environment.clock.end(trace.initial)) for end in matter.ends)
        states = (encode_state(rows_about(state, names), environment.entities) for state in finals)
        ends = tuple(
            End(declined=end.declined, state={table: rows for table, rows in state.items() if rows})
            for end, state in zip(matter.ends, states, strict=True)
        )
        numbers = tuple(calls[matter.key])
        matters.append(Matter(table=matter.table, key=matter.key, names=tuple(sorted(names)), calls=numbers, ends=ends))
    docket = Docket(
        matters=tuple(matters),
        length=environment.clock.end(trace.initial) - environment.clock.start(trace.initial),
        shortest=found.shortest,
        order=found.excluded.order,
        obstacles=found.excluded.rules,
    )
    return trace_row(name, environment, "dockets", trace).model_copy(update={"docket": docket})


def keys_in(environment: Environment, event: Event) -> Iterator[str]:
    """The keys of rows that a call names."""
    for parameter in environment.tools[event.tool].parameters:
        if isinstance(parameter.source, FromLookup):
            yield from (one for one in scalars(event.arguments.get(parameter.name)) if isinstance(one, str))


def docket_instruction(environment: Environment, trace: Trace) -> Instruction:
    """What the user of a docket asks for: everything that is open, until the session ends. It names no matter."""
    queue = find_queue(environment)
    end = datetime.fromtimestamp(environment.clock.end(trace.initial), UTC)
    text = (
        f"{queue.phrases.step if isinstance(queue.phrases, Phrases) else queue.summary} Handle all that is open: do "
        f"what is asked where that is right, and decline it where it is not. The session ends on {end:%Y-%m-%d} at "
        f"{end:%H:%M}."
    )
    return Instruction(style="goal", text=text, variables={})


def passing_rules(environment: Environment, task: Task) -> list[str]:
    """The dispatch rules that lead to a lawful schedule of a docket."""
    if task.docket is None:
        return []
    matters = planned_matters(task.planned, task.docket)
    return DocketWriter(environment, task.rules).passing(task.initial(environment), matters)


def planned_matters(reference: Sequence[PlannedCall], docket: Docket) -> dict[str, tuple[PlannedCall, ...]]:
    """The calls of each matter after the look at the queue, in listed order, as of `ScheduleSearch`."""
    planned: dict[str, tuple[PlannedCall, ...]] = {}
    for matter in docket.matters:
        places = {0: 0, **{old: new for new, old in enumerate(matter.calls, 1)}}
        planned[matter.key] = tuple(reference[number].renumbered(places) for number in matter.calls)
    return planned
