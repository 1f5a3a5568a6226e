"""Guards in front of tools.

With h for the trace so far and c for a call that completes, a guard allows c if and only if

    there are a result r of c and a continuation k such that h, c(r), k satisfies every rule

A continuation consists of calls of the tools with any arguments and results that their schemas admit, and of messages,
at times that do not decrease. So no allowed call leads into a dead end, and no refused one could have ended well. What
the tools really return may still be worse than any result that was hoped for: then a rule is lost, the guard says so,
and defends the others.

Under open questions that holds for each interpretation of the law with the rules that are active under it: a call is
refused if it is under all interpretations, allowed if it is under all, and arguable otherwise (``on_arguable``).
"""

import copy
import secrets
import threading
import time as clocks
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, replace
from os import PathLike
from typing import Any, Final, Self, get_args

from lawtrace.environments.logs import get_logger
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.tool_schemas.arguments import ArgumentCheck
from lawtrace.environments.tool_schemas.forms import as_mcp
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.choices import Fallback, GuardMode, OnArguable
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import SPEAKERS, Actor, CallOutcome, Event, Json, message_event
from lawtrace.schemas.questions import ReadingsVerdict, TraceOutcome
from lawtrace.solver.declarations.loader import Domain, load_domain
from lawtrace.solver.guard.asking import Ask, ask_and_await, ask_and_wait
from lawtrace.solver.guard.decisions import (
    Allow,
    Call,
    Decision,
    Finding,
    OpenDuty,
    Permission,
    PermissionRequest,
    Refuse,
    Step,
    Unchecked,
    cite_all,
    join_findings,
    read_call,
    steps_of,
)
from lawtrace.solver.guard.log import GuardLog, Recorder
from lawtrace.solver.guard.objections import Objector
from lawtrace.solver.guard.snapshots import VERSION, GuardOptions, Snapshot, digest_of, dump_snapshot, read_snapshot
from lawtrace.solver.guard.tools import Tools, read_tools
from lawtrace.solver.guard.traces import Entry, PossibleTraces, SessionTrace
from lawtrace.solver.interpretations import enumerate_interpretations, explain_readings, question_groups
from lawtrace.solver.rules import Rule, rules_across
from lawtrace.solver.search.events.component import Component, compile_components
from lawtrace.solver.search.events.event_search import decide
from lawtrace.solver.search.events.vocabulary import Representatives, Vocabulary
from lawtrace.solver.search.problem import Budget, Found, Impossible

MAX_STEPS: Final = 3_000
"""How many events a decision tries by default."""

_OF_A_CALL: Final[Mapping[TraceOutcome, str]] = {"broken": "ruled out", "kept": "allowed"}

_Findings = Sequence[tuple[PossibleTraces, Sequence[Mapping[str, str]], Finding]]
"""What speaks against a call: where it is known, under which readings, and what."""

_logger = get_logger(__name__)


class Guard:
    """Watches one session of an agent, and decides about its calls.

    To make a guard compiles the rules for the tools. `open_session` gives the guards of further sessions without that.

    All methods may be called by several threads. Calls take effect in the order of `before`, whatever the order in
    which they return. The guards of several sessions with the same compiled rules decide one after the other.

    Attributes:
        mode: ``refuse``; ``warn``: everything is allowed, with a warning; ``record``: without one.
        tools: the tools by name. Of tools that no rule is about, the schemas may change.
    """

    def __init__(
        self,
        rules: Iterable[Rule],
        tools: Tools,
        *,
        mode: GuardMode = "refuse",
        on_undecided: Fallback = "refuse",
        on_arguable: OnArguable = "ask",
        on_unknown: Fallback = "refuse",
        ask: Ask | None = None,
        ask_timeout: float = 300,
        steps: int = MAX_STEPS,
        clock: Callable[[], float] = clocks.time,
        regulation: Regulation | None = None,
        advice: bool = True,
        log: GuardLog | None = None,
    ) -> None:
        """Compile the rules, and make the guard of a first session.

        Args:
            rules: each with its own id.
            tools: what can be called; see `lawtrace.solver.guard.tools.Tools`.
            mode: see the class.
            on_undecided: what to do about a call that could not be decided.
            on_arguable: what to do about a call that is ruled out under some readings of the law only.
            on_unknown: what to do about tools that are not in `tools`, and arguments that the schema of a tool does not
                list, if it does not deny that there are others.
            ask: asks a person about a call that is arguable, or breaks only rules with `ask`; without it, the call is
                refused. It may be a coroutine function. The session can go on meanwhile.
            ask_timeout: seconds in which there has to be an answer.
            steps: how many events one decision tries.
            clock: the time in seconds, for rules about time.
            regulation: the text that refusals cite; that of the environment by default.
            advice: whether a refusal says what to do first.
            log: where calls, decisions, answers and messages are written, as `lawtrace audit` reads them. If that is
                impossible, the methods raise OperationalError, and the call must not be made.

        Raises InputError naming a tool or rule that occurs twice or cannot be read, or a choice that does not exist.
        """
        fallbacks = (("on_undecided", on_undecided, Fallback), ("on_unknown", on_unknown, Fallback))
        for name, value, choices in (("mode", mode, GuardMode), *fallbacks, ("on_arguable", on_arguable, OnArguable)):
            if value not in get_args(choices):
                raise InputError(f"{name} {value!r}: expected one of {', '.join(get_args(choices))}")
        if isinstance(tools, str | PathLike):
            tools = load_domain(str(tools))
        if isinstance(tools, Domain):
            regulation = regulation or tools.regulation
            tools = tools.environment
        self._declared: Final[Mapping[str, Tool]] = tools.tools if isinstance(tools, Environment) else {}
        self.mode: Final[GuardMode] = mode
        self.tools = read_tools(tools)
        self._rules: Final = tuple(rules)
        names = [rule.id for rule in self._rules]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise InputError(f"rule {twice!r} occurs twice; give each rule its own id")
        if asking := next((rule for rule in self._rules if rule.audits_only), None):
            why = f"rule {asking.id!r} {asking.audits_only}"
            raise InputError(f"{why}, which a guard cannot judge; audit by it instead")
        self._options: Final = GuardOptions(mode, on_undecided, on_arguable, on_unknown, steps, advice)
        self._ask: Final = ask
        self._ask_timeout: Final = ask_timeout
        self._groups: Final = question_groups(self._rules)
        self._questions: Final = {question.id: question for rule in self._rules for question in rule.questions}
        self._regulation: Final = regulation
        self._objector: Final = Objector(self.tools, steps, regulation, advice=advice)
        apart, together = (
            [
                (compile_components(some, self.tools), asks)
                for some, asks in _by_decision(rules_across(self._rules, across=one))
            ]
            for one in (False, True)
        )
        self._compiled: Final = apart
        self._across: Final = tuple(PossibleTraces(compiled, asks=asks) for compiled, asks in together if compiled)
        self._lock: Final = threading.RLock()  # also of the sessions that are opened: they try events on one monitor
        self._begin(clock, log, Actor())

    def open_session(
        self,
        *,
        principal: str | None = None,
        role: str | None = None,
        session: str | None = None,
        clock: Callable[[], float] | None = None,
        log: GuardLog | None = None,
    ) -> Self:
        """The guard of another session, in which nothing has happened, with the same rules, tools and options.

        What happened in other sessions counts for rules ``across_sessions`` only.

        Args:
            principal: on whose behalf the agent acts in it, which rules read as ``by.principal``.
            role: as which, ``by.role``. Both must come from where the user has logged in, never from the agent.
            session: its name, ``by.session``; that of the log by default.
            clock: that of this guard by default.
            log: of the other session; none by default.
        """
        guard = copy.copy(self)
        guard.tools = {**self.tools}
        guard._begin(clock or self._clock, log, Actor(principal, role, session))
        return guard

    def _begin(self, clock: Callable[[], float], log: GuardLog | None, actor: Actor) -> None:
        self._clock = clock
        if actor.session is None and (log is not None or self._across):
            actor = replace(actor, session=log.conversation if log else secrets.token_hex(8))
        self._actor = None if actor == Actor() else actor
        self._own = tuple(PossibleTraces(compiled, actor=actor, asks=asks) for compiled, asks in self._compiled)
        self._heard = dict[str, None]()
        self._undecided = 0
        self._log = Recorder(log, self.mode)
        if log is not None:
            self._log.began(int(clock()), self._rules, actor)
            texts = sorted({text for tool in self.tools.values() for text in tool.error_texts})
            more = {"error_texts": texts} if texts else {}
            self._log.note(int(clock()), "tools", tools=[*map(as_mcp, self.tools.values())], **more)

    @property
    def _traces(self) -> PossibleTraces:
        """What is known of the rules of the session that no person decides about; every call is in it."""
        return self._own[0]

    @property
    def _scopes(self) -> tuple[PossibleTraces, ...]:
        return (*self._own, *self._across)

    # Calls

    def before(self, call: Call | Mapping[str, Any], *, time: int | None = None) -> Decision:
        """Decide whether a call may be made. If it is allowed, `after` must record its outcome.

        Defaults of arguments are filled in as the schema of the tool says; what is allowed is the call with them, and
        only that may be made. What does not fit the schema is refused, since the tool might convert it. If a person has
        to be asked, it waits for the answer, and then decides again.

        `time`: in seconds; the clock's by default. Raises InputError if the call has no name or its arguments are not
        an object.
        """
        asked: PermissionRequest | None = None
        answer: Permission | None = None
        while isinstance(decision := self._before(call, time, asked, answer), PermissionRequest):
            assert self._ask is not None
            asked, answer = decision, ask_and_wait(self._ask, decision, self._ask_timeout)
        return decision

    async def before_async(self, call: Call | Mapping[str, Any], *, time: int | None = None) -> Decision:
        """As `before`, in an event loop, which goes on while a person is asked."""
        asked: PermissionRequest | None = None
        answer: Permission | None = None
        while isinstance(decision := self._before(call, time, asked, answer), PermissionRequest):
            assert self._ask is not None
            asked, answer = decision, await ask_and_await(self._ask, decision, self._ask_timeout)
        return decision

    def _before(
        self,
        call: Call | Mapping[str, Any],
        time: int | None,
        asked: PermissionRequest | None,
        answer: Permission | None,
    ) -> Decision | PermissionRequest:
        """A decision, or what has to be asked first. ``answer``: to the question that was asked."""
        wanted, wrong = self._read(call)
        with self._lock:
            now = self._time(time)
            permitted: Sequence[PossibleTraces] = ()
            if wrong is not None:
                decision = self._unchecked(wrong)
            else:
                found = self._find(
                    wanted.tool,
                    lambda vocabulary: vocabulary.call_results(wanted.tool, wanted.arguments, now, wanted.by),
                    now,
                )
                decision = self._decide(wanted.tool, found, asked, answer)
                permitted = [scope for scope, _, _ in found if scope.asks]
            if isinstance(decision, Finding):
                self._log.note(now, "asked", tool=wanted.tool, rules=[*decision.rules], reason=decision.reason)
                return PermissionRequest(wanted, decision)
            self._undecided += decision.finding is not None and decision.finding.undecided
            number = self._log.decided(now, wanted, decision)
            if isinstance(decision, Allow):
                decision = replace(decision, call=wanted)
            for scope in self._scopes:
                if (
                    isinstance(decision, Allow)
                    and wanted.tool not in SPEAKERS
                    and (scope not in permitted or self.mode != "refuse")
                ):
                    scope.allow(wanted, now, number)
                else:
                    scope.skip(wanted, now)
            return decision

    def _read(self, call: Call | Mapping[str, Any]) -> tuple[Call, str | None]:
        """A call with the defaults of its tool, and why it does not fit the tools; None if it does."""
        read = replace(read_call(call), by=self._actor)
        schema = self.tools.get(read.tool)
        others = self._options.on_unknown == "allow"
        if read.tool in SPEAKERS or (schema is None and not others):
            return read, f"there is no tool {read.tool!r}"
        check = ArgumentCheck(schema.parameters if schema else {}, others=others)
        try:
            completed = replace(read, arguments=check.completed(read.arguments))
            return completed, check.wrong(completed.arguments)
        except RecursionError:
            return read, "its arguments are nested too deep"

    def _made(self, call: Call | Mapping[str, Any]) -> Call:
        """A call with the defaults of its tool. One that waits for its answer in this form has them."""
        read = replace(read_call(call), by=self._actor)
        with self._lock:
            waits = self._traces.known(read) is not None
        return read if waits else self._read(read)[0]

    def _unchecked(self, why: str) -> Decision:
        finding = Unchecked((), undecided=True, why=why)
        if self.mode == "refuse":
            return Refuse(finding)
        return Allow(f"Carried out, but not checked: {why}." if self.mode == "warn" else None, finding)

    def review(self, event: Event) -> Decision:
        """Decide about a call whose event is known beforehand, as in a simulator. If it is allowed, it has happened."""
        with self._lock:
            now = self._time(event.time)
            event = replace(event, time=now, by=self._actor)
            decision = self._decide(event.tool, self._find(event.tool, lambda _: Representatives([event]), now))
            if isinstance(decision, Finding):
                decision = Refuse(decision)
            self._undecided += decision.finding is not None and decision.finding.undecided
            self._log.reviewed(now, event, decision)
            for scope in self._scopes:
                if isinstance(decision, Allow):
                    scope.happen(event, now)
                else:
                    scope.skip(Call(event.tool, event.arguments, by=self._actor), now)
            return decision

    def after(
        self,
        call: Call | Mapping[str, Any],
        result: Json = None,
        *,
        error: str | None = None,
        outcome: CallOutcome | None = None,
    ) -> None:
        """Record the outcome of a call: what it returned, or the error that it raised.

        `outcome`: by default as `lawtrace.environments.tool_schemas.outcomes` says. Of equal calls without id, the one
        that was allowed first is meant.
        """
        made = self._made(call)
        if made.tool in SPEAKERS:
            return  # no message, and rules can say nothing of a tool with this name
        if outcome is None:
            schema = self.tools.get(made.tool) or ToolSchema(made.tool, "", {}, None, "")
            outcome, error = schema.outcome(result, error)
        tool = self._declared.get(made.tool)
        named: Json = None if error is not None else result if tool is None else tool.named_result(result)
        with self._lock:
            entry = self._traces.known(made)
            now = self._time(None) if entry is None else entry.time
            event = Event(made.tool, made.arguments, outcome, named, error, now, by=made.by)
            for scope in self._scopes:
                if entry is None:
                    scope.happen(event, now)
                else:
                    scope.answer(event, made)
            self._log.answered(now, None if entry is None else entry.number, event)

    def unanswered(self, call: Call | Mapping[str, Any], reason: str = "no answer", *, time: int | None = None) -> None:
        """Record that no answer of a call will come, so that it may have been carried out or not.

        From now on calls are allowed only if all duties can be met in each case. `reason`: for the log. `time`: of a
        call that was not asked about.
        """
        made = self._made(call)
        if made.tool in SPEAKERS:
            return
        with self._lock:
            entry = self._traces.known(made)
            if entry is None:
                now = self._time(time)
                for scope in self._scopes:
                    scope.allow(made, now, None)
                entry = Entry(made, now)
            for scope in self._scopes:
                scope.leave_open(made, self._is_lost)
            self._log.unanswered(entry.time, entry.number, made, reason)

    def see(self, event: Event) -> None:
        """Take something into account that has happened: a message, or a call that was not asked about."""
        with self._lock:
            now = self._time(event.time)
            for scope in self._scopes:
                scope.happen(replace(event, time=now, by=event.by or self._actor), now)
            self._log.happened(now, event)

    def message(self, role: str, text: str, *, message_id: str | None = None, time: int | None = None) -> None:
        """Record what was said. Messages are never refused.

        `role`: ``user``, or ``agent`` or ``assistant``. `message_id`: one that was recorded before is not
        recorded again, so a caller can give all messages that it has, summaries or not.
        """
        speaker = {"assistant": "agent"}.get(role, role)
        if speaker not in SPEAKERS:
            raise InputError(f"role {role!r}: expected user, agent or assistant")
        with self._lock:
            if message_id is None or message_id not in self._heard:
                self._heard |= {} if message_id is None else {message_id: None}
                self.see(message_event(speaker, text, self._time(time), message_id))

    def finish(self, *, time: int | None = None) -> tuple[OpenDuty, ...]:
        """The duties that are open if nothing more happens. The guard can go on afterwards.

        After a call without an answer those that are open in one of the cases.
        """
        with self._lock:
            now = self._time(time)
            found: dict[str, OpenDuty] = {}
            for component in self._settled(now):
                if owed := component.owed():
                    answer = decide(component, (), now, Budget(self._options.steps))
                    path = answer.trace if isinstance(answer, Found) else ()
                    steps = steps_of(path, now, now, self.tools)
                    for rule in owed:
                        found.setdefault(rule.id, self._duty(component, rule, steps))
            duties = tuple(found[rule.id] for rule in self._rules if rule.id in found)
            self._log.finished(now, duties, self.lost)
            return duties

    @property
    def undecided(self) -> int:
        """How many calls could not be decided about, or not checked, since the session began or was restored."""
        return self._undecided

    def concerns(self, tool: str) -> bool:
        """Whether a rule is about calls of the tool."""
        return any(component.concerns(tool) for scope in self._scopes for component in scope.compiled)

    @property
    def lost(self) -> tuple[str, ...]:
        """The rules that cannot be kept any more, or that were given up because not all could be.

        After a call without an answer those that are lost if it was carried out, or if it was not.
        """
        with self._lock:
            lost = {rule.id for component in self._settled(self._traces.now) for rule in component.lost()}
            return tuple(rule.id for rule in self._rules if rule.id in lost)

    def _settled(self, now: int | None) -> Iterator[Component]:
        """Each component in the state after what has happened, calls that are waited for left out."""
        for trace in (trace for scope in self._scopes for trace in scope.traces):
            for number, component in enumerate(trace.components):
                with component.log.attempt():
                    if now is not None:
                        component.replay([one.events[0] for one in trace.pending(number, waited_for=False)])
                        component.advance_time(now)
                    yield from component.interpretations

    def _is_lost(self, trace: SessionTrace) -> bool:
        """Whether not all duties can be met after a trace."""
        now = self._time(None) if self._traces.now is None else self._traces.now
        return any(
            isinstance(decide(component, trace.pending(number), now, Budget(self._options.steps)), Impossible)
            for number, whole in enumerate(trace.components)
            for component in whole.interpretations
        )

    # Decisions

    def _find(self, tool: str, results: Callable[[Vocabulary], Representatives], now: int) -> _Findings:
        """What speaks against a call."""
        return [
            (scope, *one)
            for scope in self._scopes
            for number, compiled in enumerate(scope.compiled)
            if compiled.concerns(tool)
            for one in self._objector.find(scope, number, results(compiled.vocabulary), now)
        ]

    def _decide(
        self, tool: str, found: _Findings, asked: PermissionRequest | None = None, answer: Permission | None = None
    ) -> Decision | Finding:
        """A decision, or what a person has to be asked about. ``answer``: to what was asked."""
        if not found:
            return Allow()
        finding = self._join([(under, one) for scope, under, one in found if not scope.asks])
        permissible = [one for scope, _, one in found if scope.asks]
        refused = False
        if self.mode == "refuse" and finding is not None:
            refused, arguable = self._refuses(finding), bool(finding.arguable) and self._options.on_arguable == "ask"
            permissible += [finding] if arguable else []
        if self.mode != "refuse" or finding is None or not permissible:
            finding = join_findings([*([] if finding is None else [finding]), *permissible])
        if permissible and not refused and self.mode == "refuse":
            finding = join_findings(permissible)
            if self._ask is not None and (asked is None or not {*finding.rules} <= {*asked.finding.rules}):
                return finding
            finding = replace(finding, answer=answer)
            refused = answer is None or not answer.granted
        say = _logger.warning if finding.undecided and not refused else _logger.info
        say("guard.objection", tool=tool, rules=finding.rules, undecided=finding.undecided, refused=refused)
        if refused:
            return Refuse(finding)
        warns = self.mode == "warn" and not finding.undecided
        return Allow(f"Carried out, but it rules out compliance. {finding.reason}" if warns else None, finding)

    def _join(self, findings: Sequence[tuple[Sequence[Mapping[str, str]], Finding]]) -> Finding | None:
        """One finding for all that are certain, else the first; with what each reading says if it turns on that."""
        if not findings:
            return None
        certain = [(readings, finding) for readings, finding in findings if not finding.undecided]
        readings = self._readings([under for under, _ in certain])
        finding = join_findings([finding for _, finding in certain]) if certain else findings[0][1]
        if readings is None:
            return finding
        return replace(finding, arguable=(explain_readings(readings, self._questions, "The call is", _OF_A_CALL),))

    def _refuses(self, finding: Finding) -> bool:
        """Whether a call is refused without asking."""
        if finding.undecided:
            return self._options.on_undecided == "refuse"
        return not finding.arguable or self._options.on_arguable == "refuse"

    def _readings(self, objecting: Sequence[Sequence[Mapping[str, str]]]) -> ReadingsVerdict | None:
        """Under which readings some component objects; None if one objects, or none does, under all of them.

        `objecting`: for each that does, under which.
        """
        if not objecting or not all(objecting):
            return None
        asked = {name for readings in objecting for name in readings[0]}
        groups = [group for group in self._groups if asked.intersection(group.questions)]
        questions = tuple(name for group in groups for name in group.questions)
        outcomes: list[tuple[tuple[str, ...], TraceOutcome]] = []
        for taken in enumerate_interpretations(groups):
            is_lost = any(part.items() <= taken.items() for readings in objecting for part in readings)
            outcomes.append((tuple(taken[name] for name in questions), "broken" if is_lost else "kept"))
        found = ReadingsVerdict(questions=questions, outcomes=tuple(outcomes))
        return found if found.readings_with("kept") else None

    def _time(self, time: int | None) -> int:
        time = int(self._clock()) if time is None else time
        for scope in reversed(self._scopes):  # time goes back in none
            time = scope.advance(time)
        return time

    # Words

    def _duty(self, component: Component, rule: Rule, steps: Sequence[Step]) -> OpenDuty:
        named = tuple(step for step in steps if step.call is not None and step.call.tool in rule.tools)
        return OpenDuty(rule.id, cite_all([rule], self._regulation), component.open_values(rule), named, rule.under)

    # Snapshots

    def snapshot(self) -> bytes:
        """Everything that later decisions depend on, as JSON. It contains the events that the rules are about."""
        with self._lock:
            session, *asking = (scope.state for scope in self._own)
            across = tuple(scope.state for scope in self._across)
            rules, heard = digest_of(self._rules, self.tools), (*self._heard,)
            known = Snapshot(VERSION, rules, self._options, session, (*asking,), across, heard, self._actor)
            return dump_snapshot(known)

    @classmethod
    def restore(
        cls,
        snapshot: bytes | str,
        rules: Iterable[Rule],
        tools: Tools,
        *,
        ask: Ask | None = None,
        clock: Callable[[], float] = clocks.time,
        regulation: Regulation | None = None,
        log: GuardLog | None = None,
    ) -> Self:
        """The guard of a snapshot, with the same rules and tools. It decides as the other one would have.

        Raises InputError if the snapshot is damaged, of another version, or of other rules or tools.
        """
        content = read_snapshot(snapshot)
        guard = cls(rules, tools, **asdict(content.options), ask=ask, clock=clock, regulation=regulation, log=log)
        guard.load(snapshot)
        return guard

    def load(self, snapshot: bytes | str) -> None:
        """Go on from the snapshot of a guard with the same rules, tools and mode. Its session takes the place of this.

        What it knows of other sessions is taken over only by a guard of which no session has begun.

        Raises InputError as `restore` does.
        """
        content = read_snapshot(snapshot)
        if content.rules != digest_of(self._rules, self.tools):
            raise InputError("the snapshot was made with other rules or tools")
        if (mode := content.options.mode) != self.mode:
            raise InputError(f"the snapshot is of a guard in the mode {mode!r}, not {self.mode!r}")
        with self._lock:
            self._actor = content.actor
            self._own = tuple(
                PossibleTraces(compiled, state, actor=content.actor or Actor(), asks=asks)
                for (compiled, asks), state in zip(self._compiled, (content.session, *content.asking), strict=True)
            )
            self._heard = dict.fromkeys(content.heard)
            for scope, state in zip(self._across, content.across, strict=True):
                if scope.now is None:
                    scope.take(state)


def _by_decision(rules: Sequence[Rule]) -> Iterator[tuple[Sequence[Rule], bool]]:
    """The rules that are defended together; and each about which a person may be asked, by itself: a call that is
    permitted has not happened to it. With whether one may be asked."""
    yield [rule for rule in rules if not rule.ask], False
    yield from (([rule], True) for rule in rules if rule.ask)
