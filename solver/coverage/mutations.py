"""Oracle strength: spoil compliant traces, one change at a time, and see which rules notice.

A compliance call is dropped, moved to another place, exchanged with its neighbour, called twice, or called with another
list of events; and of any call, an argument that some rule looks at is another one, or a result that some rule looks at
says something else. A mutant is executed by the simulator like any calls (a result is spoilt afterwards, as if the
world had answered otherwise) and judged by the rules. One that every rule lets pass is a survivor, with why.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from lawtrace.environments.events import Event, Json
from lawtrace.environments.runtime.simulation import simulate_call
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromTrace
from lawtrace.solver.ltlf import Automaton, Monitor
from lawtrace.solver.ltlf.conditions import (
    RESULT,
    Comparison,
    Condition,
    FieldPath,
    LiteralList,
    LiteralValue,
    condition_fields,
    condition_parts,
)
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace

MutationKind = Literal["drop", "move", "swap", "duplicate", "argument", "result"]
MUTATION_KINDS: tuple[MutationKind, ...] = get_args(MutationKind)

SurvivalReason = Literal["no rule looks at it", "the rules allow it", "the call was refused", "nothing changed"]
"""*no rule looks at it*: each rule reads the same as before, as where a step moves past calls that no rule names.
*the rules allow it*: some rule reads otherwise, and is kept all the same. *the call was refused*: a tool did not accept
the spoilt calls, so less happened than was meant. *nothing changed*: the same calls as before."""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A trace with one thing spoilt.

    Attributes:
        change: what was changed, in words.
        calls: the calls to make.
        answers: for numbers of calls, the result that is put in the place of the real one.
    """

    kind: MutationKind
    change: str
    calls: tuple[tuple[str, Mapping[str, Json]], ...]
    answers: Mapping[int, Json] = field(default_factory=dict[int, Json])


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no rule noticed: of which trace, what was changed, and why it passes."""

    trace: str
    kind: MutationKind
    change: str
    reason: SurvivalReason


@dataclass(frozen=True, slots=True)
class MutationScore:
    """How much the rules notice.

    Attributes:
        mutants: how many mutants of each kind there were.
        killed: how many of them broke a rule.
        kills: for each rule how many mutants it noticed; several rules may notice the same.
        survivors: the others.
    """

    mutants: Mapping[MutationKind, int]
    killed: Mapping[MutationKind, int]
    kills_by_rule: Mapping[str, int]
    survivors: tuple[Survivor, ...]


def mutants_of(environment: Environment, rules: Sequence[Rule], trace: Trace) -> Iterator[Mutant]:
    """Every single change of a compliance step, and of the values that the rules look at."""
    calls = [(event.tool, event.arguments) for event in trace.events]
    for place, (tool, arguments) in enumerate(calls):
        if tool in environment.compliance_tools:
            yield from _order_mutants(calls, place)
        step = f"{tool} (call {place + 1})"
        spoilt = [*_list_mutations(environment, tool, arguments), *_argument_mutations(rules, tool, arguments)]
        for name, value in {str(change): change for change in spoilt}.values():
            changed = (tool, {**arguments, name: value})
            yield Mutant("argument", f"{step} with {name} = {value!r}", (*calls[:place], changed, *calls[place + 1 :]))
        for path, value, result in _result_mutations(rules, trace.events[place]):
            yield Mutant("result", f"{step} answering {path} = {value!r}", tuple(calls), {place: result})


def _order_mutants(calls: Sequence[tuple[str, Mapping[str, Json]]], place: int) -> Iterator[Mutant]:
    step = f"{calls[place][0]} (call {place + 1})"
    rest = [*calls[:place], *calls[place + 1 :]]
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


def _list_mutations(
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


def _argument_mutations(rules: Sequence[Rule], tool: str, arguments: Mapping[str, Json]) -> Iterator[tuple[str, Json]]:
    for looked_at, constants in _observed_fields(rules, tool).items():
        name = str(looked_at.path[0])
        if name in arguments and name != RESULT:
            for value in _other_values(_value_at(arguments[name], looked_at.path[1:]), constants):
                yield name, _replace_at(arguments[name], looked_at.path[1:], value)


def _result_mutations(rules: Sequence[Rule], event: Event) -> Iterator[tuple[FieldPath, Json, Json]]:
    for looked_at, constants in _observed_fields(rules, event.tool).items():
        if looked_at.path[0] == RESULT:
            for value in _other_values(_value_at(event.result, looked_at.path[1:]), constants):
                yield looked_at, value, _replace_at(event.result, looked_at.path[1:], value)


def _observed_fields(rules: Sequence[Rule], tool: str) -> dict[FieldPath, list[Json]]:
    """The fields of a call of the tool that rules look at, each with the constants it is compared with."""
    found: dict[FieldPath, list[Json]] = {}
    for rule in rules:
        for atom in rule.automaton.atoms:
            if atom.tool == tool and atom.condition is not None:
                for looked_at in sorted(condition_fields(atom.condition), key=str):
                    found.setdefault(looked_at, []).extend(_constants(atom.condition))
    return found


def _constants(condition: Condition) -> Iterator[Json]:
    if isinstance(condition, Comparison):
        for operand in (condition.left, condition.right):
            if isinstance(operand, LiteralValue):
                yield operand.value
            elif isinstance(operand, LiteralList):
                yield from (item.value for item in operand.items)
    for part in condition_parts(condition):
        yield from _constants(part)


def _other_values(value: Json, constants: Sequence[Json]) -> list[Json]:
    """Other values of the same kind: for a number those around the constants, for a list one that lacks or gains."""
    others: list[Json]
    match value:
        case bool():
            others = [not value]
        case int() | float():
            near = [number for number in constants if isinstance(number, int | float) and not isinstance(number, bool)]
            others = [other for number in near or [value] for other in (number - 1, number, number + 1)]
        case str():
            others = [*(text for text in constants if isinstance(text, str)), f"not {value}"]
        case list():
            others = [[*value[:place], *value[place + 1 :]] for place in range(len(value))]
            others.append([*value, *(constant for constant in constants[:1] if constant not in value)])
        case _:
            others = []
    return [other for place, other in enumerate(others) if other != value and other not in others[:place]]


def _value_at(value: Json, path: Sequence[str | int]) -> Json:
    """What stands at the end of the path; None where it leads nowhere."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _replace_at(whole: Json, path: Sequence[str | int], value: Json) -> Json:
    """The JSON value with another one at the end of the path, which is there."""
    if not path:
        return value
    first, *rest = path
    if isinstance(whole, dict):
        return {**whole, str(first): _replace_at(whole.get(str(first)), rest, value)}
    assert isinstance(whole, list)
    assert isinstance(first, int)
    return [*whole[:first], _replace_at(whole[first], rest, value), *whole[first + 1 :]]


def measure_mutation_score(
    environment: Environment, rules: Sequence[Rule], traces: Sequence[tuple[str, Trace]]
) -> MutationScore:
    """Mutate every trace (given with a name) and count what the rules notice."""
    mutants: dict[MutationKind, int] = dict.fromkeys(MUTATION_KINDS, 0)
    killed = dict(mutants)
    kills = {rule.id: 0 for rule in rules}
    survivors: list[Survivor] = []
    for name, trace in traces:
        for mutant in mutants_of(environment, rules, trace):
            events = _execute(environment, trace.initial, mutant)
            noticing = _violated_rules(rules, events)
            mutants[mutant.kind] += 1
            killed[mutant.kind] += bool(noticing)
            for rule in noticing:
                kills[rule] += 1
            if not noticing:
                why = _survival_reason(rules, trace.events, events)
                survivors.append(Survivor(name, mutant.kind, mutant.change, why))
    return MutationScore(mutants, killed, kills, tuple(survivors))


def _execute(environment: Environment, state: State, mutant: Mutant) -> list[Event]:
    events: list[Event] = []
    for number, (tool, arguments) in enumerate(mutant.calls):
        event, state = simulate_call(environment, state, tool, arguments)
        events.append(replace(event, result=mutant.answers[number]) if number in mutant.answers else event)
    return events


def _violated_rules(rules: Sequence[Rule], events: Sequence[Event]) -> list[str]:
    monitor = Monitor({rule.id: rule.automaton for rule in rules})
    monitor.run(events)
    return [rule for rule, ending in monitor.final_statuses().items() if ending != "kept"]


def _survival_reason(rules: Sequence[Rule], before: Sequence[Event], after: Sequence[Event]) -> SurvivalReason:
    if [(event.tool, event.arguments, event.result) for event in before] == [
        (event.tool, event.arguments, event.result) for event in after
    ]:
        return "nothing changed"
    if not all(event.completed for event in after):
        return "the call was refused"
    if all(_observed_letters(rule.automaton, before) == _observed_letters(rule.automaton, after) for rule in rules):
        return "no rule looks at it"
    return "the rules allow it"


def _observed_letters(automaton: Automaton, events: Sequence[Event]) -> list[object]:
    """What a rule reads of a trace: the letters that can move it, for each value of its variable if it has one."""
    idle = all(automaton.step(state, 0) == state for state in range(len(automaton.table)))
    values = dict.fromkeys(value for event in events for value in automaton.alphabet.occurring_values(event))
    readings: list[object] = []
    for value in (None, *values):
        letters = [automaton.event_letter(event, value) for event in events]
        readings.append((value, [letter for letter in letters if letter or not idle]))
    return readings
