"""Mutation testing of a rule set: change compliant traces, one change at a time, and count which changes rules detect.

A compliance call is dropped, moved, exchanged with its neighbour, called twice, or called with another list of events.
For any call, an argument or a result that some rule observes is changed. The simulator executes the mutant (a changed
result is substituted afterwards), and the rules judge it. A mutant that keeps every rule is a survivor, reported with
the reason.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, get_args

from lawtrace.environments.events import Event, Json
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.tools import FromTrace
from lawtrace.solver.ltlf import Automaton, Monitor
from lawtrace.solver.ltlf.conditions import Comparison, Condition, condition_fields, condition_parts
from lawtrace.solver.ltlf.terms import RESULT, FieldPath, LiteralList, LiteralValue
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace

MutationKind = Literal["drop", "move", "swap", "duplicate", "argument", "result"]
MUTATION_KINDS: tuple[MutationKind, ...] = get_args(MutationKind)

SurvivalReason = Literal["no rule looks at it", "the rules allow it", "the call was refused", "nothing changed"]
"""*no rule looks at it*: each rule reads the same letters as before. *the rules allow it*: some rule reads other
letters and is still kept. *the call was refused*: a tool refused a mutated call. *nothing changed*: the calls are the
same as before.
"""


@dataclass(frozen=True, slots=True)
class Mutant:
    """A trace with one change.

    Attributes:
        change: the change in words.
        calls: the calls to make.
        answers: by index of call, the result to substitute.
    """

    kind: MutationKind
    change: str
    calls: tuple[tuple[str, Mapping[str, Json]], ...]
    answers: Mapping[int, Json] = field(default_factory=dict[int, Json])


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no rule detected: its trace, the change, and the reason."""

    trace: str
    kind: MutationKind
    change: str
    reason: SurvivalReason


@dataclass(frozen=True, slots=True)
class MutationScore:
    """The result of mutation testing.

    Attributes:
        mutants: the number of mutants of each kind.
        killed: how many of them broke a rule.
        kills_by_rule: for each rule the number of mutants it detected; several rules may detect the same one.
        survivors: the others.
    """

    mutants: Mapping[MutationKind, int]
    killed: Mapping[MutationKind, int]
    kills_by_rule: Mapping[str, int]
    survivors: tuple[Survivor, ...]


def mutants_of(environment: Environment, rules: Sequence[Rule], trace: Trace) -> Iterator[Mutant]:
    """Every single change of a compliance call and of the values that the rules observe."""
    calls = [(event.tool, event.arguments) for event in trace.events]
    for index, (tool, arguments) in enumerate(calls):
        if tool in environment.compliance_tools:
            yield from _order_mutants(calls, index)
        step = f"{tool} (call {index + 1})"
        changes = [*_list_mutations(environment, tool, arguments), *_argument_mutations(rules, tool, arguments)]
        for name, value in {str(change): change for change in changes}.values():
            changed = (tool, {**arguments, name: value})
            yield Mutant("argument", f"{step} with {name} = {value!r}", (*calls[:index], changed, *calls[index + 1 :]))
        for path, value, result in _result_mutations(rules, trace.events[index]):
            yield Mutant("result", f"{step} answering {path} = {value!r}", tuple(calls), {index: result})


def _order_mutants(calls: Sequence[tuple[str, Mapping[str, Json]]], index: int) -> Iterator[Mutant]:
    step = f"{calls[index][0]} (call {index + 1})"
    rest = [*calls[:index], *calls[index + 1 :]]
    yield Mutant("drop", f"{step} dropped", tuple(rest))
    yield Mutant("duplicate", f"{step} called twice", (*calls[: index + 1], *calls[index:]))
    for target in range(len(calls)):
        if abs(target - index) == 1:
            kind: MutationKind = "swap"
            change = f"{step} exchanged with call {target + 1}"
        elif target != index:
            kind, change = "move", f"{step} moved to place {target + 1}"
        else:
            continue
        yield Mutant(kind, change, (*rest[:target], calls[index], *rest[target:]))


def _list_mutations(
    environment: Environment, tool: str, arguments: Mapping[str, Json]
) -> Iterator[tuple[str, list[Json]]]:
    """Wrong lists of events: each event omitted if others remain, and an event that never happened added."""
    for parameter in environment.tools[tool].parameters:
        value = arguments.get(parameter.name)
        if not isinstance(parameter.source, FromTrace) or not isinstance(value, list):
            continue
        for index in range(len(value)):
            if len(value) > 1:
                yield parameter.name, [*value[:index], *value[index + 1 :]]
        unknown = [name for name in environment.event_names if name not in value]
        yield parameter.name, [unknown[0] if unknown else "SOMETHING_ELSE"]


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
    """The fields of a call that rules observe, each with the constants it is compared with."""
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
                yield operand.content
            elif isinstance(operand, LiteralList):
                yield from (item.content for item in operand.items)
    for part in condition_parts(condition):
        yield from _constants(part)


def _other_values(value: Json, constants: Sequence[Json]) -> list[Json]:
    """Other values of the same type: for a number those around the constants, for a list one item less or more."""
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
            others = [[*value[:index], *value[index + 1 :]] for index in range(len(value))]
            others.append([*value, *(constant for constant in constants[:1] if constant not in value)])
        case _:
            others = []
    return [other for index, other in enumerate(others) if other != value and other not in others[:index]]


def _value_at(value: Json, path: Sequence[str | int]) -> Json:
    """The value at the end of the path; None if there is none."""
    for step in path:
        if isinstance(value, dict) and isinstance(step, str):
            value = value.get(step)
        elif isinstance(value, list) and isinstance(step, int) and step < len(value):
            value = value[step]
        else:
            return None
    return value


def _replace_at(whole: Json, path: Sequence[str | int], value: Json) -> Json:
    """The JSON value with another value at the end of the path, which must exist."""
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
    """Mutate every trace (given with a name) and count what the rules detect."""
    mutants: dict[MutationKind, int] = dict.fromkeys(MUTATION_KINDS, 0)
    killed = dict(mutants)
    kills = {rule.id: 0 for rule in rules}
    survivors: list[Survivor] = []
    for name, trace in traces:
        for mutant in mutants_of(environment, rules, trace):
            events = _execute(environment, trace.initial, mutant)
            detecting = _violated_rules(rules, events)
            mutants[mutant.kind] += 1
            killed[mutant.kind] += bool(detecting)
            for rule in detecting:
                kills[rule] += 1
            if not detecting:
                why = _survival_reason(rules, trace.events, events)
                survivors.append(Survivor(name, mutant.kind, mutant.change, why))
    return MutationScore(mutants, killed, kills, tuple(survivors))


def _execute(environment: Environment, initial: State, mutant: Mutant) -> list[Event]:
    session = Session(environment, initial)
    for tool, arguments in mutant.calls:
        session.call(tool, arguments)
    return [
        replace(event, result=mutant.answers[number]) if number in mutant.answers else event
        for number, event in enumerate(session.events)
    ]


def _violated_rules(rules: Sequence[Rule], events: Sequence[Event]) -> list[str]:
    monitor = Monitor({rule.id: rule.compiled for rule in rules})
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
    """The letters that can move the rule, for each value of its variable if it has one."""
    idle = all(automaton.step(state, 0) == state for state in range(len(automaton.table)))
    values = dict.fromkeys(value for event in events for value in automaton.alphabet.occurring_values(event))
    readings: list[object] = []
    for value in (None, *values):
        letters = [automaton.event_letter(event, value) for event in events]
        readings.append((value, [letter for letter in letters if letter or not idle]))
    return readings
