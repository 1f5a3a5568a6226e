"""Oracle strength: spoil the compliance steps of compliant traces, and see which rules notice.

Each mutant changes one thing: a compliance call is dropped, moved to another place, exchanged with its neighbour,
called twice, or called with another argument. A mutant is executed by the simulator like any calls and judged by the
rules. One that every rule lets pass is a survivor: either it does no harm, or the rules are too weak to see it. Which
of the two is for people to say, so survivors are listed with what was changed.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from environments.declaration import Environment, FromTrace
from environments.events import Event, Json
from environments.simulation import call
from environments.state import State
from solver.ltlf import Monitor
from solver.rules import Rule
from solver.traces import Trace

__all__ = ["Mutant", "MutationKind", "Strength", "measure_strength", "mutants_of"]

MutationKind = Literal["drop", "move", "swap", "duplicate", "argument"]


@dataclass(frozen=True, slots=True)
class Mutant:
    """A trace with one compliance step spoilt: the calls to make, and what was changed, in words."""

    kind: MutationKind
    change: str
    calls: tuple[tuple[str, Mapping[str, Json]], ...]


@dataclass(frozen=True, slots=True)
class Strength:
    """How many mutants of each kind there were, how many broke a rule, and what was changed in those that did not."""

    mutants: Mapping[MutationKind, int]
    killed: Mapping[MutationKind, int]
    survivors: tuple[str, ...]


def mutants_of(environment: Environment, trace: Trace) -> Iterator[Mutant]:
    """Every single change of a compliance step of the trace."""
    calls = [(event.tool, event.arguments) for event in trace.events]
    for place, (tool, arguments) in enumerate(calls):
        if tool not in environment.compliance_tools:
            continue
        rest = [*calls[:place], *calls[place + 1 :]]
        step = f"{tool} (call {place + 1})"
        yield Mutant("drop", f"{step} dropped", tuple(rest))
        yield Mutant("duplicate", f"{step} called twice", (*calls[: place + 1], *calls[place:]))
        for target in range(len(calls)):
            if abs(target - place) == 1:
                kind: MutationKind = "swap"
                change = f"{step} exchanged with call {target + 1}"
            elif target != place:
                kind, change = "move", f"{step} moved to place {target + 1}"
            else:
                continue
            yield Mutant(kind, change, (*rest[:target], calls[place], *rest[target:]))
        for name, value in _other_arguments(environment, tool, arguments):
            spoilt = (tool, {**arguments, name: value})
            change = f"{step} with {name} = {value}"
            yield Mutant("argument", change, (*calls[:place], spoilt, *calls[place + 1 :]))


def _other_arguments(
    environment: Environment, tool: str, arguments: Mapping[str, Json]
) -> Iterator[tuple[str, list[Json]]]:
    """Wrong lists of events: each event left out where others remain, and one that never happened."""
    for parameter in environment.tools[tool].parameters:
        value = arguments.get(parameter.name)
        if not isinstance(parameter.source, FromTrace) or not isinstance(value, list):
            continue
        for place in range(len(value)):
            if len(value) > 1:
                yield parameter.name, [*value[:place], *value[place + 1 :]]
        strangers = [name for name in environment.event_names if name not in value]
        yield parameter.name, [strangers[0] if strangers else "SOMETHING_ELSE"]


def measure_strength(environment: Environment, rules: Sequence[Rule], traces: Sequence[tuple[str, Trace]]) -> Strength:
    """Mutate every trace (given with a name) and count what the rules notice."""
    mutants: dict[MutationKind, int] = {"drop": 0, "move": 0, "swap": 0, "duplicate": 0, "argument": 0}
    killed = dict(mutants)
    survivors: list[str] = []
    for name, trace in traces:
        for mutant in mutants_of(environment, trace):
            mutants[mutant.kind] += 1
            if _is_noticed(rules, _executed(environment, trace.initial, mutant)):
                killed[mutant.kind] += 1
            else:
                survivors.append(f"{name}: {mutant.change}")
    return Strength(mutants, killed, tuple(survivors))


def _executed(environment: Environment, state: State, mutant: Mutant) -> list[Event]:
    events: list[Event] = []
    for tool, arguments in mutant.calls:
        event, state = call(environment, state, tool, arguments)
        events.append(event)
    return events


def _is_noticed(rules: Sequence[Rule], events: Sequence[Event]) -> bool:
    monitor = Monitor({rule.id: rule.automaton for rule in rules})
    monitor.run(events)
    return any(ending != "kept" for ending in monitor.at_end().values())
