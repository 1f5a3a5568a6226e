"""Late and early mutants: a call is moved one second over a bound of a window of some rule.

A window says how far apart two steps may be: those of its operand, and those about which the operator speaks. For each
two such calls of a trace, the later one is moved. *Late*: time passes before it, until the lower bound is reached or
the upper one is passed. *Early*: a call between them that lets time pass (its duration depends on a number that a user
chose) lasts shorter; if there is none, the call is made earlier in the order.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from lawtrace.environments.runtime.simulation import compile_tool, decode_arguments
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.samplers import Amount
from lawtrace.environments.spec.terms import arguments_of
from lawtrace.environments.spec.tools import FromUser, Tool
from lawtrace.schemas.events import Event
from lawtrace.solver.coverage.mutants import Mutant, MutantCall, calls_of, step_name
from lawtrace.solver.logic import syntax as s
from lawtrace.solver.logic.windows import Window
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace

Tools = frozenset[str]


@dataclass(frozen=True, slots=True)
class WindowUse:
    """A window of a rule, and the tools of the steps whose distance it restricts.

    Attributes:
        earlier: the tools of the earlier step; empty for every tool, None for the first step of the trace.
        later: the tools of the later step; empty for every tool.
    """

    window: Window
    earlier: Tools | None
    later: Tools

    def pairs(self, events: Sequence[Event]) -> Iterator[tuple[int, int]]:
        """The calls of a trace whose distance the window restricts, by index."""
        for later, event in enumerate(events):
            for earlier in range(later):
                begins = earlier == 0 if self.earlier is None else _is_of(events[earlier], self.earlier)
                if begins and _is_of(event, self.later):
                    yield earlier, later


def _is_of(event: Event, tools: Tools) -> bool:
    return not tools or event.tool in tools


def with_surroundings(formula: s.Formula, around: Tools | None = None) -> Iterator[tuple[s.Formula, Tools | None]]:
    """The formula and its parts, each with the tools that are named at the step at which it is evaluated.

    `around`: those tools; none if it is evaluated at steps of any tool, None at the first step only.
    """
    yield formula, around
    if isinstance(formula, (*s.FUTURE, *s.PAST)):
        around = frozenset[str]().union(*map(_present_tools, s.children(formula)))
    elif isinstance(formula, s.Compare):
        around = around or frozenset()
    for part in s.children(formula):
        yield from with_surroundings(part, around)


def window_uses(formula: s.Formula) -> Iterator[WindowUse]:
    """The windows of a rule that have a bound."""
    for node, around in with_surroundings(formula):
        if isinstance(node, s.Compare):
            for aggregate in s.aggregates_of(node):
                if isinstance(aggregate, s.EventAggregate) and not aggregate.window.unlimited:
                    yield WindowUse(aggregate.window, frozenset({aggregate.atom.tool}), around or frozenset())
        elif isinstance(node, (*s.FUTURE, *s.PAST)) and not node.window.unlimited:
            inside = frozenset[str]().union(*map(_present_tools, s.children(node)))
            named = inside or frozenset(atom.tool for atom in s.atoms_of([node]))
            if isinstance(node, s.FUTURE):
                yield WindowUse(node.window, around, named)
            else:
                yield WindowUse(node.window, named, around or frozenset())


def has_deadline(formula: s.Formula, tool: str) -> bool:
    """Whether a rule says by when a call of the tool is to follow."""
    nodes = [node for node, _ in with_surroundings(formula) if isinstance(node, s.FUTURE)]
    return any(not node.window.unlimited and any(atom.tool == tool for atom in s.atoms_of([node])) for node in nodes)


def _present_tools(formula: s.Formula) -> Tools:
    """The tools that a formula names at the step itself."""
    match formula:
        case s.Atom():
            return frozenset({formula.tool})
        case s.And() | s.Or() | s.Not() | s.Implies() | s.Iff() | s.ForAll() | s.Exists():
            return frozenset[str]().union(*map(_present_tools, s.children(formula)))
        case _:
            return frozenset()


def timed_mutants(environment: Environment, rules: Sequence[Rule], trace: Trace) -> Iterator[Mutant]:
    """The late and the early mutants of a trace, each call and time once."""
    seen: set[tuple[int, int]] = set()
    for use in dict.fromkeys(use for rule in rules for use in window_uses(rule.parsed)):
        for earlier, later in use.pairs(trace.events):
            start, now = time_of(trace.events[earlier]), time_of(trace.events[later])
            for target in _across(use.window, start, now):
                if target < start or (later, target) in seen:
                    continue
                seen.add((later, target))
                named = f"{target - start} s after {step_name(trace, earlier)}, where a rule says {use.window}"
                change = f"{step_name(trace, later)} {named}"
                if target > now:
                    yield Mutant("late", change, calls_of(trace), pauses={later: target - now})
                else:
                    mutant = _made_early(environment, trace, earlier, later, target, change)
                    if mutant is not None:
                        yield mutant


def _across(window: Window, start: int, now: int) -> Iterator[int]:
    """The nearest times on the other side of the bounds of a window that begins at ``start``."""
    low, deadline = window.lower, window.deadline(start)
    opens = start if low is None else low.span.end(start) + (1 if low.strict else 0)
    if not window.opened(start, now):
        yield opens
        return
    if opens > start:
        yield opens - 1
    if deadline is not None:
        yield deadline if window.closed(start, now) else deadline + 1


def _made_early(
    environment: Environment, trace: Trace, earlier: int, later: int, target: int, change: str
) -> Mutant | None:
    """The later call made at the target; None if the earlier one lasts longer."""
    events, calls = trace.events, calls_of(trace)
    needed = time_of(events[later]) - target
    for index in reversed(range(earlier, later)):
        shortened = _shortened(environment.tools[events[index].tool], events[index], needed)
        if shortened is not None:
            call, saved = shortened
            pauses = {later: saved - needed} if saved > needed else {}
            return Mutant("early", change, (*calls[:index], call, *calls[index + 1 :]), pauses=pauses)
    for place in reversed(range(earlier + 1, later)):
        if time_of(events[place]) <= target:
            moved = (*calls[:place], calls[later], *calls[place:later], *calls[later + 1 :])
            return Mutant("early", change, moved, pauses={place: target - time_of(events[place])})
    return None


def _shortened(tool: Tool, event: Event, seconds: int) -> tuple[MutantCall, int] | None:
    """The call with a smaller number with which it lasts so much shorter, and by how much; None if there is none."""
    if not isinstance(tool.duration, Term):
        return None
    compiled, arguments = compile_tool(tool), decode_arguments(tool, event.arguments)
    lasts = compiled.duration(arguments, event.time)
    for name in sorted(arguments_of(tool.duration)):
        parameter, value = tool.parameter(name), arguments[name]
        sampler = parameter.source.sampler if isinstance(parameter.source, FromUser) else None
        if not isinstance(sampler, Amount) or not isinstance(value, int):
            continue

        def saved(number: int, name: str = name) -> int:
            return lasts - compiled.duration({**arguments, name: number}, event.time)

        # Durations grow with the number: the greatest that is short enough.
        numbers = range(sampler.lowest, value)
        place = bisect_left(numbers, True, key=lambda number, saved=saved: saved(number) < seconds)
        if place > 0 and saved(numbers[place - 1]) >= seconds:
            shorter = numbers[place - 1]
            return (tool.name, {**event.arguments, name: parameter.type.encode(shorter)}), saved(shorter)
    return None


def time_of(event: Event) -> int:
    """When a call of a simulated trace began."""
    assert event.time is not None, "the simulator gives every event a time"
    return event.time
