"""A session with real tools in front of which a guard stands: imported schemas, decisions, the log.

Knows nothing of the protocol by which calls arrive. What cannot be decided is refused by default: a tool whose schema
changed, that vanished or cannot be read, arguments of a wrong type, a full disk.
"""

import threading
import time as clocks
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import Any, Final

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.tool_schemas.forms import is_wrapped, read_forms
from lawtrace.environments.tool_schemas.schemas import ToolSchema, declare_tool, make_environment
from lawtrace.runs.audit.transcripts import unwrap_result
from lawtrace.schemas.choices import Fallback, GuardMode
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.events import SPEAKERS, Actor, CallOutcome, Event, Json
from lawtrace.solver.guard.asking import Ask
from lawtrace.solver.guard.decisions import Allow, Call, Decision, OpenDuty, Refuse, Unchecked
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.guard.log import GuardLog, Recorder, is_recordable
from lawtrace.solver.guard.snapshots import digest_of
from lawtrace.solver.rules import Rule, check_rules

MAX_SHARED: Final = 20
"""Of how many lists of tools the sessions share a guard."""
_ENVELOPE: Final = ("content", "structuredContent", "isError")
_READ: Final = ("name", "description", "inputSchema", "outputSchema")


class GuardedSession:
    """One session. All methods may be called by several threads. Each call has an id of its own."""

    def __init__(
        self,
        rules: Iterable[Rule],
        log: GuardLog,
        *,
        mode: GuardMode = "refuse",
        fallback: Fallback = "refuse",
        on_arguable: Fallback = "refuse",
        ask: Ask | None = None,
        ask_timeout: float = 300,
        principal: str | None = None,
        role: str | None = None,
        error_texts: tuple[str, ...] = (),
        regulation: Regulation | None = None,
        clock: Callable[[], float] = clocks.time,
        guards: dict[str, Guard] | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Begin a session.

        Args:
            rules: each with its own id.
            log: where every call, decision and answer is written.
            mode: see `lawtrace.Guard`.
            fallback: what to do about calls that cannot be decided.
            on_arguable: what to do about calls that break rules under some readings of the law only.
            ask: asks a person about calls that are arguable or break rules with `ask` only; see `lawtrace.Guard`.
            ask_timeout: seconds for the answer.
            principal: on whose behalf the client calls.
            role: as which.
            error_texts: patterns for the beginning of results that are texts of errors.
            regulation: the text that refusals cite.
            clock: the time in seconds.
            guards: of all sessions with the same options, which rules across sessions need: filled here, by rules and
                tools.
            tell: takes what people should know at once, one sentence.
        """
        self.mode: Final[GuardMode] = mode
        self.fallback: Final[Fallback] = fallback
        self._on_arguable: Final[Fallback] = on_arguable
        self._ask: Final = ask
        self._ask_timeout: Final = ask_timeout
        self._actor: Final = Actor(principal, role, log.conversation)
        self._error_texts: Final = error_texts
        self._rules: Final = tuple(rules)
        self._log: Final = Recorder(log, mode)
        self._regulation: Final = regulation
        self._clock: Final = clock
        self._guards: Final = {} if guards is None else guards
        self._tell: Final = tell
        self._lock: Final = threading.RLock()
        self._imported: ImportedTools | None = None  # what the guard was made with
        self._current: ImportedTools | None = None
        self._guard: Guard | None = None
        self._unusable: dict[str, str] = {}  # by rule
        self._changed: dict[str, str] = {}  # by tool
        self._unknown: dict[str, str] = {}  # by tool
        self._untold: str | None = "the tools were not listed"
        self._open: dict[str | None, Call] = {}
        self._happened: list[tuple[Call, Event | None, int]] = []  # without an event: no answer will come
        self._lost: tuple[str, ...] = ()
        self._counts: dict[str, int] = dict.fromkeys(("calls", "refused", "warned", "undecided"), 0)
        self._finished: tuple[OpenDuty, ...] | None = None
        with self._logged():
            self._log.began(self._now(), self._rules, self._actor, on_undecided=fallback, on_arguable=on_arguable)
        if spoken := [rule.id for rule in self._rules if rule.tools & SPEAKERS.keys()]:
            self.note(f"messages are not seen here, and these rules are about them: {', '.join(spoken)}")

    # Tools

    def import_listed(self, listed: Sequence[Json]) -> None:
        """Take a whole list of tools, the first or a later one. What changed for rules is logged."""
        with self._lock:
            self._untold = None
            imported, before = import_tools(listed, self._error_texts), (dict(self._unusable), dict(self._changed))
            unusable = {rule.id: why for rule in self._rules if (why := imported.why_unusable(rule)) is not None}
            self._current = imported
            if self._imported is None:
                tools = {"tools": listed} | ({"error_texts": self._error_texts} if self._error_texts else {})
                with self._logged():
                    self._log.note(self._now(), "tools", **(tools if is_recordable(listed) else {}))
                self._build(imported, unusable)
            else:
                usable = [rule for rule in self._rules if rule.id not in self._unusable]
                named = {tool for rule in usable for tool in rule.tools} - SPEAKERS.keys()
                found = {tool: imported.changed_since(self._imported, tool) for tool in sorted(named)}
                self._changed = {tool: why for tool, why in found.items() if why is not None}
                if self._guard is not None:
                    free = [name for name in imported.names if not self._guard.concerns(name)]
                    self._guard.tools.update((name, imported.schema(name)) for name in free)
                if unusable.keys() < self._unusable.keys() and not self._changed and not self._open:
                    self._build(imported, unusable)
            if (self._unusable, self._changed) != before:
                fate = "refused" if self._is_closed else "not checked"
                for rule, why in self._unusable.items():
                    self.note(f"rule {rule!r} cannot be checked, so calls that it is about are {fate}: {why}")
                for why in self._changed.values():
                    self.note(f"{why}, so calls of the rules about it are {fate}")

    def not_listed(self, why: str) -> None:
        """The tools could not be listed."""
        with self._lock:
            self._untold = f"the tools could not be listed: {why}"
            self.note(self._untold)

    def _build(self, imported: "ImportedTools", unusable: dict[str, str]) -> None:
        self._imported, self._unusable = imported, unusable
        rules = [rule for rule in self._rules if rule.id not in unusable]
        tools = {name: imported.schema(name) for name in sorted(imported.names - SPEAKERS.keys())}
        known = digest_of(rules, tools)
        if (shared := self._guards.get(known)) is None:
            shared = Guard(
                rules,
                tools.values(),
                mode=self.mode,
                on_undecided=self.fallback,
                on_arguable="ask" if self._ask and self._on_arguable == "refuse" else self._on_arguable,
                ask=self._ask,
                ask_timeout=self._ask_timeout,
                on_unknown=self.fallback,
                clock=self._clock,
                regulation=self._regulation,
            )
            if len(self._guards) < MAX_SHARED:
                self._guards[known] = shared
        by = self._actor
        self._guard = shared.open_session(principal=by.principal, role=by.role, session=by.session, clock=self._clock)
        for call, event, time in self._happened:
            if event is not None:
                self._guard.see(event)
            else:
                self._guard.unanswered(call, time=time)

    @property
    def _is_closed(self) -> bool:
        return self.mode == "refuse" and self.fallback == "refuse"

    # Calls

    def before(self, call: Call) -> Decision:
        """Decide about a call, and log the decision. If it is allowed, make the call of the decision, and record its
        outcome later."""
        with self._lock:
            why = self._why_undecidable(call.tool)
            decision = None
            if why is None and self._guard is not None:
                try:
                    decision = self._guard.before(call)
                except Exception as error:  # noqa: BLE001 (recorded with the decision)
                    why = self._unknown[call.tool] = f"the guard failed: {type(error).__name__}: {error}"
            decided = decision or self._unchecked(why or "")
            call = (decided.call if isinstance(decided, Allow) else None) or call
            try:
                self._log.decided(self._now(), call, decided, call.id)
            except OperationalError as error:
                if self._guard is not None and isinstance(decision, Allow) and self._is_closed:
                    self._guard.after(call, error=str(error), outcome="shielded")
                self._tell(str(error))
                decided = self._unchecked(str(error))
            refused = isinstance(decided, Refuse)
            if not refused:
                self._open[call.id] = call
            self._counts["calls"] += 1
            self._counts["refused"] += refused
            self._counts["warned"] += isinstance(decided, Allow) and decided.warning is not None
            self._counts["undecided"] += decided.finding is not None and decided.finding.undecided
            return decided

    def _unchecked(self, why: str) -> Decision:
        finding = Unchecked((), undecided=True, why=why)
        if self._is_closed:
            return Refuse(finding)
        return Allow(f"Carried out, but not checked: {why}." if self.mode == "warn" else None, finding)

    def _why_undecidable(self, tool: str) -> str | None:
        if self._untold is not None or self._current is None:
            return self._untold
        if tool not in self._current.names:
            return f"the server lists no tool {tool!r}"
        for rule in self._rules:
            concerned = concerned_tools(rule, self._current.names)
            if tool not in concerned:
                continue
            if why := self._unusable.get(rule.id):
                return f"rule {rule.id!r} cannot be checked: {why}"
            if why := next((why for name, why in (self._changed | self._unknown).items() if name in concerned), None):
                return why
        return None

    def answered(self, call: Call, result: Mapping[str, Any]) -> None:
        """Record the result of a call, as the protocol carries it: ``content``, ``structuredContent``, ``isError``."""
        with self._lock:
            if result.get("isError"):
                self._record(call, None, _text(result) or "the tool reported an error", "raised")
            else:
                self._record(call, self._value(call.tool, result), None)

    def failed(self, call: Call, error: str, outcome: CallOutcome = "raised") -> None:
        """Record that a call was answered by an error."""
        with self._lock:
            self._record(call, None, error, outcome)

    def left(self, call: Call, why: str) -> None:
        """Record that no answer of a call will come: it may have been carried out or not."""
        with self._lock:
            if self._open.pop(call.id, None) is not None:
                if self._guard is not None:
                    self._guard.unanswered(call)
                    self._remember(call, None)
                self.note(f"the outcome of call {call.id} of {call.tool!r} is not known: {why}")

    def _record(self, call: Call, result: Json, error: str | None, outcome: CallOutcome | None = None) -> None:
        """Record the outcome of a call that waits for it."""
        if self._open.pop(call.id, None) is None:
            return
        if outcome is None:
            outcome, error = (self._current or ImportedTools()).schema(call.tool).outcome(result, error)
        event = Event(call.tool, call.arguments, outcome, result if error is None else None, error, self._now())
        with self._logged():
            self._log.answered(self._now(), call.id, event)
        if not is_recordable(result):
            event = replace(event, result=None)
        if self._guard is not None:
            self._guard.after(call, event.result, error=error, outcome=event.outcome)
            self._remember(call, event)

    def _remember(self, call: Call, event: Event | None) -> None:
        """Remember the outcome of a call, if a rule is about it, and say which rules it made impossible to keep."""
        names = frozenset[str]() if self._imported is None else self._imported.names
        if any(call.tool in concerned_tools(rule, names) for rule in self._rules):
            self._happened.append((call, event, self._now()))
        for rule in self._guard.lost if self._guard is not None else ():
            if rule not in self._lost:
                self._lost = (*self._lost, rule)
                self.note(f"rule {rule!r} cannot be kept any more")

    def _value(self, tool: str, result: Mapping[str, Any]) -> Json:
        """What a tool returned, out of its envelope."""
        value = result.get("structuredContent")
        if value is None:
            return unwrap_result({key: result[key] for key in _ENVELOPE if key in result})
        wrapped = self._current is not None and tool in self._current.wrapped
        return fields_of(value).get("result") if wrapped else value

    # The end

    def finish(self) -> tuple[OpenDuty, ...]:
        """End the session: calls without answer are left, and open duties are logged and told. Can be repeated."""
        with self._lock:
            if self._finished is None:
                for call in list(self._open.values()):
                    self.left(call, "the session ended")
                self._finished = self._guard.finish() if self._guard is not None else ()
                with self._logged():
                    self._log.finished(self._now(), self._finished, self._lost, self._counts)
                for duty in self._finished:
                    self._tell(f"open duty, rule {duty.rule!r}: {duty}")
            return self._finished

    @property
    def labels(self) -> dict[str, int]:
        """How many calls there were, by outcome; the open duties once the session is finished."""
        with self._lock:
            return {**self._counts, "open_duties": len(self._finished or ()), "lost": len(self._lost)}

    # The log

    def note(self, text: str) -> None:
        """Log something that is no call, and tell it."""
        with self._lock:
            with self._logged():
                self._log.note(self._now(), text)
            self._tell(text)

    @contextmanager
    def _logged(self) -> Generator[None]:
        """Around each line that is written: if that is impossible, nothing can be checked from then on."""
        try:
            yield
        except OperationalError as error:
            self._untold = str(error)
            self._tell(self._untold)

    def _now(self) -> int:
        return int(self._clock())


def _text(result: Mapping[str, Any]) -> str:
    parts = (fields_of(part).get("text") for part in items_of(result.get("content")))
    return "\n".join(text for text in parts if isinstance(text, str))


@dataclass(frozen=True, slots=True)
class ImportedTools:
    """The tools of one listing.

    Attributes:
        schemas: by name.
        unreadable: why a listed tool cannot be judged, by name.
        wrapped: tools that return their result as the only field of an object.
        names: of everything listed.
    """

    schemas: Mapping[str, ToolSchema] = field(default_factory=dict[str, ToolSchema])
    unreadable: Mapping[str, str] = field(default_factory=dict[str, str])
    wrapped: frozenset[str] = frozenset()
    names: frozenset[str] = frozenset()

    def schema(self, tool: str) -> ToolSchema:
        """The schema of a listed tool; an open one if it cannot be read."""
        return self.schemas.get(tool, ToolSchema(tool, "", {}, None, "tools/list"))

    def why_unusable(self, rule: Rule) -> str | None:
        """Why a rule cannot be checked with these tools; None if it can."""
        named = rule.tools - SPEAKERS.keys()
        if rule.audits_only:
            return f"it {rule.audits_only}"
        if known := next((name for name in sorted(named) if name in self.unreadable), None):
            return self.unreadable[known]
        if missing := sorted(named - self.names):
            return f"the server has no tool {missing[0]!r}"
        try:
            check_rules([rule], make_environment("tools", [self.schemas[name] for name in sorted(named)]))
        except InputError as error:
            return str(error)
        return None

    def changed_since(self, earlier: "ImportedTools", tool: str) -> str | None:
        """How a tool differs from what it was; None if rules see no difference."""
        if tool in self.unreadable:
            return self.unreadable[tool]
        then, now = earlier.schemas.get(tool), self.schemas.get(tool)
        if then is None or now is None:
            return None if then is now else f"the tool {tool!r} {'vanished' if now is None else 'appeared'}"
        if (then.parameters, then.result) != (now.parameters, now.result):
            return f"the schema of the tool {tool!r} changed"
        return None


def import_tools(listed: Sequence[Json], error_texts: tuple[str, ...] = ()) -> ImportedTools:
    """Import a whole list of tools. Never raises because of what a server lists.

    `error_texts`: patterns for the beginning of results that are texts of errors.
    """
    schemas: dict[str, ToolSchema] = {}
    unreadable: dict[str, str] = {}
    wrapped: set[str] = set()
    for number, entry in enumerate(listed, 1):
        written: dict[str, Any] = fields_of(entry)
        name = written.get("name")
        if not isinstance(name, str):
            continue
        try:
            read: dict[str, Any] = {key: written[key] for key in _READ if key in written}
            given: dict[str, Any] = {"tools": [read], "error_texts": [*error_texts]}
            schema = next(iter(read_forms(given, f"tools/list, tool {number}")))
            declare_tool(schema)
        except (InputError, StopIteration, ValueError, TypeError, RecursionError) as error:
            unreadable[name] = f"the schema of the tool {name!r} cannot be read: {error or type(error).__name__}"
            continue
        known = schemas.setdefault(name, schema)
        if (known.parameters, known.result) != (schema.parameters, schema.result):
            unreadable[name] = f"the server lists two tools with the name {name!r}"
        if name in SPEAKERS:
            unreadable[name] = f"the tool {name!r} has the name by which rules mean messages"
        if is_wrapped(fields_of(written.get("outputSchema"))):
            wrapped.add(name)
    names = frozenset({*schemas, *unreadable})
    usable = {name: schema for name, schema in schemas.items() if name not in unreadable}
    return ImportedTools(usable, unreadable, frozenset(wrapped), names)


def concerned_tools(rule: Rule, names: frozenset[str]) -> frozenset[str]:
    """The tools whose calls can matter to a rule. `names`: of all tools."""
    return (rule.tools | names if rule.counts_steps else rule.tools) - SPEAKERS.keys()
