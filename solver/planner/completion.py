"""Lawful completions of a request: the calls that a user asks for, with the compliance calls that the rules need.

The requested calls are given, in order and with their arguments. Z3 chooses at each step the next of them or a
compliance call with any arguments, and keeps all rules (`lawtrace.solver.search.smt.sequence_encoding`). Compliance
tools take part once something that stands in the way is about them. The number of steps grows from that of the request,
and calls that no rule needs are taken out, so that the rules are broken without any of those that are left. Where none
exists up to a number of steps, the obstacles say why: then the lawful outcome is to decline. Traces have no pauses. If
a pause in which something happens without a call might make the request possible, nothing is claimed. A *refusal* is
such a trace: it changes nothing that was asked for, and tells the user.
"""

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain
from typing import Final, TypeVar, cast

from lawtrace.environments.runtime.simulation import times_planned
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.samplers import OneOf
from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.terms import constant
from lawtrace.environments.spec.tools import FromTrace, FromUser, Parameter, Tool
from lawtrace.environments.spec.types import ListOf, Value, has_objects
from lawtrace.schemas.events import Event, FromResult, Json, Origin
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Atom
from lawtrace.solver.monitoring.first_order import FirstOrderRule
from lawtrace.solver.planner.argument_choices import plain_chooser
from lawtrace.solver.planner.conflicts import Relevance
from lawtrace.solver.planner.search_state import apply_call, initial_search_state
from lawtrace.solver.rule_monitors import monitor_of
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Answer, Found, Impossible, Obstacle, Unknown
from lawtrace.solver.search.smt.call_encoding import rename
from lawtrace.solver.search.smt.rule_encoding import Rule as CompiledRule
from lawtrace.solver.search.smt.sequence_encoding import SequenceEncoding, SolvedSequence
from lawtrace.solver.traces import PlannedCall, Trace, completed_replay, stated_reasons, without_call

MAX_ADDED_CALLS = 8
"""How many calls a completion adds at most."""
ADDED_CALLS = (0, 2, 4)
"""How many calls may be added in the first queries. A proof that one call too few does not do takes much longer than to
find more than enough, because calls can be in any order."""
AnswerT = TypeVar("AnswerT")

_AFTER_A_PAUSE = Unknown("it may be possible after a pause in which something happens without a call")
_NOT_AS_ENCODED = Unknown("the trace that Z3 found does not run, or breaks a rule")


@dataclass(frozen=True, slots=True)
class Learned:
    """What searches that begin with a tool found out: rules that traces broke, and further tools that helped."""

    rules: dict[str, None] = field(default_factory=dict[str, None])
    tools: dict[str, None] = field(default_factory=dict[str, None])


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """A search for traces of a request. The tools grow, and what is learned."""

    world: Environment
    initial: State
    requested: Sequence[PlannedCall]
    tools: dict[str, None]
    demands: Mapping[str, CompiledRule]
    learned: Sequence[Learned]


class Completer:
    """Completes requests under one rule set."""

    def __init__(
        self, environment: Environment, rules: Sequence[Rule], learned: dict[str, Learned] | None = None
    ) -> None:
        """`learned`: by tool, what completers of other rules of the same environment have learned, and will."""
        self._environment: Final = environment
        self._rules: Final = (*rules,)
        self._encoded: Final = {rule.id: rule.encodable for rule in rules}
        self._relevance: Final = Relevance(environment, rules)
        self._chooser: Final = plain_chooser(environment)
        self._silence: Final = _silence(environment)
        self.learned: Final = {} if learned is None else learned

    def complete(self, initial: State, requested: Sequence[PlannedCall], *, like: Trace | None = None) -> Answer[Trace]:
        """A compliant trace with these calls, in order.

        `like`: a completion of a similar request, with whose tools and length the search begins.
        """
        demands: dict[str, CompiledRule] = {
            "the request": compile_formula(
                parse(_in_order(requested, [*sorted(self._environment.compliance_tools), self._silence.name]))
            )
        }
        for number, formula in enumerate(_references(requested)):
            demands[f"reference {number}"] = FirstOrderRule(parse(formula))
        asked = tuple(dict.fromkeys(call.event.tool for call in requested))
        tools = (*asked, *sorted({*like.tools} - {*asked})) if like else asked
        fewest, largest = len(requested), len(requested) + MAX_ADDED_CALLS
        lengths = _lengths(fewest, min(max(fewest, len(like.calls)), largest) if like else fewest, largest)
        return self._find(initial, requested, tools, demands, lengths, self._environment.compliance_tools)

    def join(self, traces: Sequence[Trace]) -> Trace | None:
        """A compliant trace with the calls of several from the same state, one trace after the other.

        Calls that an earlier trace has made, too, are left out, of compliance tools where the rules allow it. None if
        this does not keep the rules.
        """
        initial, compliance = traces[0].initial, self._environment.compliance_tools
        for once in (self._environment.tools.keys(), self._environment.tools.keys() - compliance):
            joined = self.compliant(initial, one_after_another([trace.calls for trace in traces], once))
            if joined is not None:
                found = self.minimal(joined, compliance)
                return found if self._derives(found) else None
        return None

    def _derives(self, trace: Trace) -> bool:
        """Whether the values that follow from the calls so far are still those."""
        for number, event in enumerate(trace.events):
            for parameter in self._environment.tools[event.tool].parameters:
                source, said = parameter.source, event.arguments.get(parameter.name)
                if isinstance(source, FromTrace) and said is not None:
                    derived = source.function(self._environment.tools, trace.events[:number])
                    if parameter.type.encode(derived) != said:
                        return False
        return True

    def decline(
        self,
        initial: State,
        requested: Sequence[PlannedCall],
        most: int = MAX_ADDED_CALLS,
        *,
        other_than: Sequence[Trace] = (),
    ) -> Answer[Trace]:
        """A compliant trace that tells the user why the request is declined.

        It makes no requested change, and no look-ups but those of the request and of compliance tools.

        Args:
            most: how many calls may be added to the look-ups of the request.
            other_than: refusals whose reasons may not be given again.
        """
        assert self._environment.declines is not None
        declines = self._environment.tools[self._environment.declines]
        told = str(Atom(declines.name))
        demanded = {"one refusal": f"F {told} & G({told} -> WX G !{told})"}
        as_declined = self._environment.declined_as
        if kinds := {as_declined[call.event.tool] for call in requested if call.event.tool in as_declined}:
            of_kind = " | ".join(f"{told}(request == {_literal(kind)})" for kind in sorted(kinds))
            demanded["what was asked"] = f"G({told} -> {of_kind})"
        reading = [call for call in requested if not self._environment.tools[call.event.tool].written_tables]
        for tool in dict.fromkeys(call.event.tool for call in reading):
            some = " | ".join(_atom(call) for call in reading if call.event.tool == tool)
            demanded[f"{tool} as asked"] = f"G({Atom(tool)} -> {some})"
        if other_than:
            given = [stated_reasons(self._environment, one.events) for one in other_than]
            if not all(given):
                return Impossible(calls=0)
            same = (" and ".join(f"{name} == {_literal(value)}" for name, value in one.items()) for one in given)
            demanded["another reason"] = f"G !({' | '.join(f'{told}({one})' for one in same)})"
        demands: dict[str, CompiledRule] = {name: compile_formula(parse(text)) for name, text in demanded.items()}
        known = sorted({tool for one in other_than for tool in one.tools})
        tools = tuple(dict.fromkeys([declines.name, *(call.event.tool for call in reading), *known]))
        needless = self._environment.tools.keys() - {declines.name}
        longest = 1 + len(reading) + most
        if other_than:  # there is mostly none, and the longest traces alone prove it
            answer = self._find(initial, reading, tools, demands, [longest], needless)
            if not isinstance(answer, Found):
                return answer
        return self._find(initial, reading, tools, demands, _lengths(1, 1, longest), needless)

    def _find(
        self,
        initial: State,
        requested: Sequence[PlannedCall],
        tools: tuple[str, ...],
        demands: Mapping[str, CompiledRule],
        lengths: list[int],
        needless: Collection[str],
    ) -> Answer[Trace]:
        """The first trace. What is learned is about the first tools that change something, or else the first tool.

        A proof that no trace with pauses does is one for traces without pauses, too. So it is tried first where traces
        are longest, with the rules that stood in the way of shorter ones.
        """
        silence = compile_formula(parse(f"G({Atom(self._silence.name)} -> WX G {Atom(self._silence.name)})"))
        about = [name for name in tools if name in self._environment.changing_tools] or tools[:1]
        learned = [self.learned.setdefault(name, Learned()) for name in about]
        search = _Search(
            world=_narrowed(self._environment, requested, self._silence),
            initial=initial,
            requested=requested,
            tools=dict.fromkeys([*tools, *chain.from_iterable(one.tools for one in learned)]),
            demands={**demands, self._silence.name: silence},
            learned=learned,
        )
        broken_before = dict.fromkeys(chain.from_iterable(one.rules for one in learned))
        rules = [name for name in broken_before if name in self._encoded]
        encoding = self._encoding(search, rules)
        obstacles = tuple(Obstacle("rule", name) for name in rules)
        while True:
            last = len(lengths) == 1
            if last and obstacles and self._may_await(search, obstacles):
                proof = self._with_pauses(search, lengths[0], rules)
                if isinstance(proof, Impossible):
                    return proof
            answer = self._trace(encoding, search, lengths[0], needless)
            if not isinstance(answer, Impossible):
                return answer
            if last:
                break
            del lengths[: -1 if answer.core == obstacles else 1]
            obstacles, rules = answer.core, answer.rules
        if not self._may_await(search, answer.core):
            return answer
        for rules in (answer.rules, self._encoded):
            paused = self._with_pauses(search, lengths[0], rules)
            if not isinstance(paused, Found):
                return paused
        return _AFTER_A_PAUSE

    def _encoding(self, search: _Search, rules: Iterable[str], *, pauses: bool = False) -> SequenceEncoding:
        return SequenceEncoding(search.world, self._encoded, search.initial, demanded=rules, pauses=pauses)

    def _trace(
        self, encoding: SequenceEncoding, search: _Search, length: int, needless: Collection[str]
    ) -> Answer[Trace]:
        """A trace that keeps all rules. A rule is demanded once a trace broke it: most rules are kept anyway, and to
        encode them takes most of the time.
        """
        while True:
            answer = self._helped(encoding.choose, search, length)
            if not isinstance(answer, Found):
                return answer
            trace = self._replayed(search.initial, search.requested, answer.trace)
            broken = [*self._encoded] if trace is None else self._not_kept(trace.events)
            if trace is not None and not broken:
                return Found(self.minimal(trace, needless))
            if not encoding.demand_rules(broken):
                return _NOT_AS_ENCODED
            for one in search.learned if trace is not None else ():
                one.rules.update(dict.fromkeys(broken))

    def _with_pauses(self, search: _Search, length: int, rules: Iterable[str]) -> Answer[None]:
        """Whether a sequence keeps these rules if time may pass between the calls."""
        return self._helped(self._encoding(search, rules, pauses=True).is_possible, search, length)

    def _helped(
        self,
        ask: Callable[[Sequence[tuple[str, ...]], Mapping[str, CompiledRule]], Answer[AnswerT]],
        search: _Search,
        length: int,
    ) -> Answer[AnswerT]:
        """The answer for so many calls, once the tools that help against what stands in the way take part."""
        while True:
            answer = ask([(*search.tools, self._silence.name)] * length, search.demands)
            if not isinstance(answer, Impossible):
                return answer
            obstacles = tuple(obstacle for obstacle in answer.core if obstacle.text not in search.demands)
            helpers = self._relevance.helpers(obstacles) & self._environment.compliance_tools
            further = dict.fromkeys(sorted(helpers - search.tools.keys()))
            if not further:
                return Impossible(obstacles, length)
            search.tools.update(further)
            for one in search.learned:
                one.tools.update(further)

    def _may_await(self, search: _Search, obstacles: Sequence[Obstacle]) -> bool:
        """Whether something may happen without a call before the session ends, and change something about these."""
        environment, initial = self._environment, search.initial
        if not self._relevance.depends_on_pauses(obstacles):
            return False
        start, end = environment.clock.start(initial), environment.clock.end(initial)
        if any(start < time < end for time in times_planned(environment, initial)):
            return True
        written = frozenset[str]().union(*(environment.tools[name].written_tables for name in search.tools))
        return any(happening.entity.table in written for happening in environment.agenda)

    def minimal(self, trace: Trace, tools: Collection[str] | None = None) -> Trace:
        """The trace without calls of these tools, by default compliance tools, that no rule and no other call needs,
        the last ones first."""
        tools = self._environment.compliance_tools if tools is None else tools
        number = len(trace.calls)
        while number:
            number -= 1
            fewer = without_call(trace.calls, number)
            if _calls_of_others(trace.calls, tools) > _calls_of_others(fewer, tools):
                continue
            shorter = self.compliant(trace.initial, fewer)
            if shorter is not None:
                trace, number = shorter, len(fewer)
        return trace

    def compliant(self, initial: State, calls: Sequence[PlannedCall]) -> Trace | None:
        """The trace of these calls; None if one does not complete or a rule is not kept."""
        session = completed_replay(self._environment, initial, calls)
        if session is None or not self._are_kept(session.events):
            return None
        made = zip(session.events, calls, strict=True)
        return Trace(initial, tuple(PlannedCall(event, call.origins) for event, call in made), session.state)

    def _are_kept(self, events: Sequence[Event]) -> bool:
        return not self._not_kept(events)

    def _not_kept(self, events: Sequence[Event]) -> list[str]:
        """The rules that a trace with these events does not keep."""
        statuses = monitor_of(self._rules).run(events).final_statuses()
        return [name for name, status in statuses.items() if status != "kept"]

    def _replayed(self, initial: State, requested: Sequence[PlannedCall], solved: SolvedSequence) -> Trace | None:
        """The trace of a solution, which may break rules that were not demanded; None if it does not run as encoded."""
        environment, state = self._environment, initial_search_state(self._environment, initial)
        renamed: dict[Value, Value] = {}
        calls: list[PlannedCall] = []
        waiting, place = list(enumerate(requested)), dict[int, int]()
        for number, (name, chosen, created) in enumerate(
            zip(solved.tools, solved.arguments, solved.created, strict=True)
        ):
            if name == self._silence.name:
                break
            tool = environment.tools[name]
            arguments = {parameter: rename(value, renamed) for parameter, value in chosen.items()}
            origins: Mapping[str, Origin] | None = None
            if waiting and waiting[0][1].event.tool == name:
                asked, call = waiting.pop(0)
                place[asked] = number
                said = call.arguments(lambda step, events=state.events: events[place[step]].result)
                if said is None:
                    return None
                arguments = {parameter: tool.parameter(parameter).type.decode(said[parameter]) for parameter in said}
                origins = call.renumbered(place).origins
            choice = self._chooser.with_values(state, tool, arguments)
            after = None if choice is None else apply_call(environment, state, choice)
            if choice is None or after is None:
                return None
            result = cast("Mapping[str, Json]", after.events[-1].result)
            renamed |= {key: result[field] for field, key in created.items()}
            calls.append(PlannedCall(after.events[-1], origins or dict(choice.origins)))
            state = after
        return Trace(initial, tuple(calls), state.state)


def _lengths(fewest: int, first: int, most: int) -> list[int]:
    """How many calls the traces of the queries have: at least `fewest`, from `first` on, and up to `most`."""
    return [*(length for more in ADDED_CALLS if first <= (length := fewest + more) < most), most]


def _calls_of_others(calls: Sequence[PlannedCall], tools: Collection[str]) -> int:
    """How many calls are of none of these tools."""
    return sum(call.event.tool not in tools for call in calls)


def _silence(environment: Environment) -> Tool:
    """A tool that stands in the place of calls at the end of a trace that needs fewer."""
    name = "Nothing"
    while name in environment.tools:
        name += "AtAll"
    return Tool(name, "Makes no call, then and later.", compliance=True, duration=0)


def one_after_another(traces: Sequence[Sequence[PlannedCall]], once: Collection[str]) -> tuple[PlannedCall, ...]:
    """The calls of the traces in order. `once`: tools that are called only once with the same arguments."""
    joined: list[PlannedCall] = []
    for calls in traces:
        place: dict[int, int] = {}
        for number, call in enumerate(calls):
            made = [(other.event.tool, other.event.arguments) for other in joined]
            this = call.event.tool, call.event.arguments
            place[number] = made.index(this) if this[0] in once and this in made else len(joined)
            if place[number] == len(joined):
                joined.append(call.renumbered(place))
    return tuple(joined)


def _narrowed(environment: Environment, requested: Sequence[PlannedCall], further: Tool) -> Environment:
    """The environment in which users say only what the request says, with a further tool."""
    tools = dict(environment.tools)
    for name in dict.fromkeys(call.event.tool for call in requested):
        said = [call.event.arguments for call in requested if call.event.tool == name]
        tool = tools[name]
        parameters = tuple(_narrowed_parameter(parameter, said) for parameter in tool.parameters)
        tools[name] = replace(tool, parameters=parameters)
    return replace(environment, tools={**tools, further.name: further})


def _narrowed_parameter(parameter: Parameter, said: Sequence[Mapping[str, Json]]) -> Parameter:
    if not isinstance(parameter.source, FromUser):
        return parameter
    values = [parameter.type.decode(call[parameter.name]) for call in said if parameter.name in call]
    if not values:
        return replace(parameter, source=replace(parameter.source, when=constant(value=False)))
    if isinstance(parameter.type, ListOf) and not has_objects(parameter.type):  # candidates are its items
        values = [item for value in values for item in value]
    return replace(parameter, source=FromUser(OneOf(tuple(dict.fromkeys(values)))), required=True)


def _in_order(requested: Sequence[PlannedCall], compliance: Sequence[str]) -> str:
    """The formula of traces that consist of these calls, in order, and compliance calls."""
    others = " | ".join(str(Atom(tool)) for tool in compliance) or "false"
    formula = f"WX G({others})"
    for number, call in reversed(list(enumerate(requested))):
        formula = f"(({others}) U ({_atom(call)} & {formula}))"
        if number:
            formula = f"X {formula}"
    return formula


def _atom(call: PlannedCall) -> str:
    """The atom of a call with its arguments, but for lists and for keys of rows that an earlier call created."""
    given = {name: value for name, value in call.event.arguments.items() if not _is_created(call, name)}
    named = " and ".join(f"{path} == {_literal(value)}" for path, value in _scalars(given))
    tool = str(Atom(call.event.tool))
    return f"{tool}({named})" if named else tool


def _scalars(fields: Mapping[str, Json], path: str = "") -> Iterator[tuple[str, Json]]:
    """The scalars in an object, each with its path; without those in lists."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _scalars(value, f"{path}{name}.")
        elif not isinstance(value, list):
            yield f"{path}{name}", value


def _is_created(call: PlannedCall, name: str) -> bool:
    """Whether the argument is the key in a result by itself, not one of a row that was listed."""
    origin = call.origins.get(name)
    return isinstance(origin, FromResult) and len(origin.path) == 1


def _references(requested: Sequence[PlannedCall]) -> Iterator[str]:
    """Formulas that say that the key of a created row is passed on, for tools that the request calls once."""
    for call in requested:
        for name, origin in call.origins.items():
            if _is_created(call, name) and isinstance(origin, FromResult):
                created, used = Atom(requested[origin.step].event.tool), Atom(call.event.tool)
                yield f"forall k: G({created}(result.{origin.path[0]} == k) -> G !{used}({name} != k))"


def _literal(value: Json) -> str:
    return json.dumps(value, ensure_ascii=False)
