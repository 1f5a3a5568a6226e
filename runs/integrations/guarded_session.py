"""A session with real tools in front of which a guard stands: imported schemas, decisions, the log.

Knows nothing of the protocol by which calls arrive. What cannot be decided is refused by default: a tool whose schema
changed, that vanished or cannot be read, arguments of a wrong type, a full disk.
"""

import threading
import time as clocks
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.written_values import fields_of, items_of
from lawtrace.runs.audit.transcripts import unwrap_result
from lawtrace.runs.integrations.imported_tools import ImportedTools, concerned_tools, import_tools
from lawtrace.schemas.choices import Fallback, GuardMode
from lawtrace.schemas.events import SPEAKERS, CallOutcome, Event, Json
from lawtrace.solver.guard.decisions import Allow, Call, Decision, OpenDuty, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.guard.log import GuardLog, is_recordable, shown_decision, shown_duties
from lawtrace.solver.rules import Rule

_ENVELOPE: Final = ("content", "structuredContent", "isError")


@dataclass(frozen=True, slots=True)
class CallDecision:
    """What a session decided about a call.

    Attributes:
        call: the number of the call in the session, as text.
        allowed: whether it may be sent to the tool.
        text: why it was refused, or a warning; None if there is nothing to say.
    """

    call: str
    allowed: bool
    text: str | None = None


@dataclass(frozen=True, slots=True)
class Unanswered:
    """A call of which no answer will come, and when it was given up, in seconds."""

    call: Call
    time: int


class GuardedSession:
    """One session. All methods may be called by several threads."""

    def __init__(
        self,
        rules: Iterable[Rule],
        log: GuardLog,
        *,
        mode: GuardMode = "refuse",
        fallback: Fallback = "refuse",
        regulation: Regulation | None = None,
        clock: Callable[[], float] = clocks.time,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        """Begin a session.

        Args:
            rules: each with its own id.
            log: where every call, decision and answer is written.
            mode: see `lawtrace.Guard`.
            fallback: what to do about calls that cannot be decided.
            regulation: the text that refusals cite.
            clock: the time in seconds.
            tell: takes what people should know at once, one sentence.
        """
        self.mode: Final[GuardMode] = mode
        self.fallback: Final[Fallback] = fallback
        self._rules: Final = tuple(rules)
        self._log: Final = log
        self._regulation: Final = regulation
        self._clock: Final = clock
        self._tell: Final = tell
        self._lock: Final = threading.RLock()
        self._imported: ImportedTools | None = None  # what the guard was made with
        self._current: ImportedTools | None = None
        self._guard: Guard | None = None
        self._unusable: dict[str, str] = {}  # by rule
        self._changed: dict[str, str] = {}  # by tool
        self._unknown: dict[str, str] = {}  # by tool
        self._untold: str | None = "the tools were not listed"
        self._open: dict[str, Call] = {}
        self._events: list[Event | Unanswered] = []
        self._lost: tuple[str, ...] = ()
        self._counts = dict.fromkeys(("calls", "refused", "warned", "undecided"), 0)
        self._finished: tuple[OpenDuty, ...] | None = None
        self._note("session", mode=mode, fallback=fallback, rules=[rule.id for rule in self._rules])
        if spoken := [rule.id for rule in self._rules if rule.tools & SPEAKERS.keys()]:
            self._say(f"messages are not seen here, and these rules are about them: {', '.join(spoken)}")

    # Tools

    def import_listed(self, listed: Sequence[Json]) -> None:
        """Take a whole list of tools, the first or a later one. What changed for rules is logged."""
        with self._lock:
            self._untold = None
            imported, before = import_tools(listed), (dict(self._unusable), dict(self._changed))
            unusable = {rule.id: why for rule in self._rules if (why := imported.why_unusable(rule)) is not None}
            self._current = imported
            if self._imported is None:
                self._note("tools", **({"tools": list(listed)} if is_recordable(list(listed)) else {}))
                self._build(imported, unusable)
            else:
                usable = [rule for rule in self._rules if rule.id not in self._unusable]
                named = {tool for rule in usable for tool in rule.tools} - SPEAKERS.keys()
                found = {tool: imported.changed_since(self._imported, tool) for tool in sorted(named)}
                self._changed = {tool: why for tool, why in found.items() if why is not None}
                if unusable.keys() < self._unusable.keys() and not self._changed and not self._open:
                    self._build(imported, unusable)
            if (self._unusable, self._changed) != before:
                fate = "refused" if self._is_closed else "not checked"
                for rule, why in self._unusable.items():
                    self._say(f"rule {rule!r} cannot be checked, so calls that it is about are {fate}: {why}")
                for why in self._changed.values():
                    self._say(f"{why}, so calls of the rules about it are {fate}")

    def not_listed(self, why: str) -> None:
        """The tools could not be listed."""
        with self._lock:
            self._untold = f"the tools could not be listed: {why}"
            self._say(self._untold)

    def _build(self, imported: ImportedTools, unusable: dict[str, str]) -> None:
        self._imported, self._unusable = imported, unusable
        usable = [rule for rule in self._rules if rule.id not in unusable]
        self._guard = Guard(
            usable,
            imported.schemas.values(),
            mode=self.mode,
            on_undecided=self.fallback,
            clock=self._clock,
            regulation=self._regulation,
        )
        for event in self._events:
            if isinstance(event, Event):
                self._guard.see(event)
            else:
                self._guard.unanswered(event.call, time=event.time)

    @property
    def _is_closed(self) -> bool:
        return self.mode == "refuse" and self.fallback == "refuse"

    # Calls

    def before(self, tool: str, arguments: Mapping[str, Json]) -> CallDecision:
        """Decide about a call, and log the decision. If it is allowed, record its outcome later."""
        with self._lock:
            self._counts["calls"] += 1
            call = Call(tool, arguments, str(self._counts["calls"]))
            why = self._why_undecidable(tool, arguments)
            decision = None
            if why is None and self._guard is not None:
                try:
                    decision = self._guard.before(call)
                except Exception as error:  # noqa: BLE001 (recorded with the decision)
                    why = self._unknown[tool] = f"the guard failed: {type(error).__name__}: {error}"
            made, fields = self._judged(call, decision, why)
            try:
                self._log.write(self._now(), fields)
            except OSError as error:
                why = f"the log cannot be written: {error.strerror}"
                if decision is not None and made.allowed and self._guard is not None and self._is_closed:
                    self._guard.after(call, error=why, outcome="shielded")
                self._tell(why)
                made, _ = self._judged(call, None, why)
            if made.allowed:
                self._open[call.id or ""] = call
            self._counts["refused"] += not made.allowed
            self._counts["warned"] += made.allowed and made.text is not None
            return made

    def _judged(self, call: Call, decision: Decision | None, why: str | None) -> tuple[CallDecision, dict[str, Any]]:
        """The decision, and its line in the log."""
        finding = decision.finding if decision is not None else None
        if why is not None:
            allowed = not self._is_closed
            warning = f"Carried out, but not checked: {why}." if self.mode == "warn" else None
            text = warning if allowed else f"Not carried out. It could not be checked: {why}."
        else:
            allowed = not isinstance(decision, Refuse)
            text = decision.warning if isinstance(decision, Allow) else decision.reason if decision else None
        undecided = why is not None or (finding is not None and finding.undecided)
        self._counts["undecided"] += undecided
        shown = shown_decision(finding, allowed=allowed, mode=self.mode)
        if undecided:
            shown |= {"undecided": why or "budget", "fallback": self.fallback}
        fields = {"call": call.id, "tool": call.tool, "arguments": dict(call.arguments), "decision": shown}
        return CallDecision(call.id or "", allowed, text), fields if allowed else {**fields, "error": text}

    def _why_undecidable(self, tool: str, arguments: Mapping[str, Json]) -> str | None:
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
            if why := self._current.wrong_argument(tool, arguments):
                return why
        return None

    def answered(self, call: str, result: Mapping[str, Any]) -> None:
        """Record the result of a call, as the protocol carries it: ``content``, ``structuredContent``, ``isError``."""
        with self._lock:
            made = self._open.get(call)
            if made is None:
                return
            if result.get("isError"):
                self.failed(call, _text(result) or "the tool reported an error")
                return
            value = self._value(made.tool, result)
            recordable = is_recordable(value)
            self._happened(made, "completed", value if recordable else None, None)
            if recordable:
                self._write({"call": call, "result": value})
            else:
                self._note(f"the result of call {call} is not strict JSON, or too long, and was not recorded")

    def failed(self, call: str, error: str, outcome: CallOutcome = "raised") -> None:
        """Record that a call was answered by an error."""
        with self._lock:
            if (made := self._open.get(call)) is not None:
                self._happened(made, outcome, None, error)
                self._write({"call": call, "error": error[:10_000] or "error"})

    def left(self, call: str, why: str) -> None:
        """Record that no answer of a call will come: it may have been carried out or not."""
        with self._lock:
            if (made := self._open.pop(call, None)) is None:
                return
            if self._guard is not None:
                self._guard.unanswered(made)
                self._remember(made.tool, Unanswered(made, self._now()))
            self._say(f"the outcome of call {call} of {made.tool!r} is not known: {why}")

    def _happened(self, call: Call, outcome: CallOutcome, result: Json, error: str | None) -> None:
        del self._open[call.id or ""]
        if isinstance(result, Mapping) and result.get("success") is False:
            outcome = "failed"
        if self._guard is None:
            return
        self._guard.after(call, result, error=error, outcome=outcome)
        self._remember(call.tool, Event(call.tool, call.arguments, outcome, result, error, self._now()))

    def _remember(self, tool: str, event: Event | Unanswered) -> None:
        """Remember the outcome of a call, if a rule is about it, and say which rules it made impossible to keep."""
        if self._imported is not None and any(
            tool in concerned_tools(rule, self._imported.names) for rule in self._rules
        ):
            self._events.append(event)
        for rule in self._guard.lost if self._guard is not None else ():
            if rule not in self._lost:
                self._lost = (*self._lost, rule)
                self._say(f"rule {rule!r} cannot be kept any more")

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
            if self._finished is not None:
                return self._finished
            for call in list(self._open):
                self.left(call, "the session ended")
            duties = self._guard.finish() if self._guard is not None else ()
            self._finished = duties
            self._write({"labels": self.labels, "open": shown_duties(duties), "lost": list(self._lost)})
            for duty in duties:
                self._tell(f"open duty, rule {duty.rule!r}: {duty}")
            return duties

    @property
    def labels(self) -> dict[str, int]:
        """How many calls there were, by outcome; the open duties once the session is finished."""
        with self._lock:
            return {**self._counts, "open_duties": len(self._finished or ()), "lost": len(self._lost)}

    # The log

    def note(self, text: str) -> None:
        """Log something that is no call, and tell it."""
        with self._lock:
            self._say(text)

    def _say(self, text: str) -> None:
        self._note(text)
        self._tell(text)

    def _note(self, text: str, **fields: Any) -> None:  # noqa: ANN401 (anything that JSON can write)
        self._write({"note": text, **fields})

    def _write(self, fields: Mapping[str, Any]) -> None:
        try:
            self._log.write(self._now(), fields)
        except (OSError, ValueError, RecursionError) as error:
            self._untold = f"the log cannot be written: {error}"
            self._tell(self._untold)

    def _now(self) -> int:
        return int(self._clock())


def _text(result: Mapping[str, Any]) -> str:
    parts = (fields_of(part).get("text") for part in items_of(result.get("content")))
    return "\n".join(text for text in parts if isinstance(text, str))
