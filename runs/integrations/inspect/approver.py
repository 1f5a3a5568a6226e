"""The guard as an approver: it decides about each tool call of a sample, in any task of Inspect.

An approver is asked before a call. What calls returned, and what was said, it reads in the conversation at the next
call; a result that has not come counts with any value that it may have, as always in a guard. What a person may permit
is asked of Inspect's human approver.
"""

import json
import weakref
from collections.abc import Sequence
from contextvars import ContextVar
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from inspect_ai.approval import Approval, Approver, approver, human_approver
from inspect_ai.model import ChatMessage, ChatMessageAssistant, ChatMessageSystem, ChatMessageTool, ChatMessageUser
from inspect_ai.tool import ToolCall, ToolCallView
from inspect_ai.util import store

from lawtrace.environments.literals import parse_if_json
from lawtrace.runs.audit.transcripts import unwrap_result
from lawtrace.runs.integrations.inspect.rule_files import open_audit
from lawtrace.solver.guard.decisions import Allow, Call, Decision, Permission, PermissionRequest, Refuse
from lawtrace.solver.guard.guard import Guard

_NOT_MADE: Final = frozenset({"approval", "parsing", "cancelled"})
"""Errors of Inspect for calls that never reached their tool."""

_at_hand: ContextVar[tuple[ToolCall, ToolCallView, list[ChatMessage]]] = ContextVar("at_hand")
"""The call that is decided about, as Inspect shows it to people."""


async def ask_human(question: PermissionRequest) -> Permission:
    """Ask Inspect's human approver: at the terminal, in its panel, or in an attached editor."""
    said = await human_approver(choices=["approve", "reject"])(str(question), *_at_hand.get())
    return Permission(said.decision == "approve", by="the human approver", words=said.explanation or "")


@dataclass(slots=True)
class WatchedSample:
    """The guard of one sample, and how far it has read the conversation.

    Attributes:
        seen: ids of the messages that it has read, and of their calls.
        asked: calls that were allowed and have no result yet, by id. Some models use an id again.
        made: calls in the conversation that have no result yet, by id.
    """

    guard: Guard
    seen: set[str] = field(default_factory=set[str])
    asked: dict[str, list[Call]] = field(default_factory=dict[str, list[Call]])
    made: dict[str, list[Call]] = field(default_factory=dict[str, list[Call]])

    async def decide(self, call: ToolCall, history: Sequence[ChatMessage]) -> Decision:
        """Read what is new in the conversation, then decide."""
        for message in history:
            self._read(message)
        decision = await self.guard.before_async(_call(call))
        if isinstance(decision, Allow):
            self.asked.setdefault(call.id, []).append(decision.call or _call(call))
        return decision

    def _read(self, message: ChatMessage) -> None:
        if isinstance(message, ChatMessageAssistant):
            for call in message.tool_calls or ():
                if self._is_new(f"{message.id} {call.id}"):
                    self.made.setdefault(call.id, []).append(_call(call))
        if not self._is_new(str(message.id)):
            return
        if isinstance(message, ChatMessageTool):
            self._take_result(message)
        elif not isinstance(message, ChatMessageSystem) and message.text.strip():
            self.guard.message("user" if isinstance(message, ChatMessageUser) else "agent", message.text)

    def _is_new(self, name: str) -> bool:
        new = name not in self.seen
        self.seen.add(name)
        return new

    def _take_result(self, message: ChatMessageTool) -> None:
        """Record the outcome of a call: one that the guard allowed, or one that it was not asked about."""
        name = message.tool_call_id or ""
        error = None if message.error is None else message.error.message
        result = None if error is not None else unwrap_result(parse_if_json(message.text))
        unmade = message.error is not None and message.error.type in _NOT_MADE
        asked, made = (calls[name].pop(0) if calls.get(name) else None for calls in (self.asked, self.made))
        call = asked or (None if unmade else made)
        if call is None:
            return
        if message.error is not None and message.error.type == "timeout":
            self.guard.unanswered(call, error or "timeout")
        else:
            self.guard.after(call, result, error=error, outcome="rejected" if unmade else None)


def _call(call: ToolCall) -> Call:
    return Call(call.function, json.loads(json.dumps(call.arguments, default=str)), call.id)


@approver
def guard(
    rules: str | None = None,
    tools: str | list[str] | None = None,
    mode: Literal["refuse", "record"] = "refuse",
    on_undecided: Literal["refuse", "allow"] = "refuse",
    on_unknown: Literal["refuse", "allow"] = "refuse",
    allowed: Literal["approve", "escalate"] = "approve",
    ask: Literal["human"] | None = None,
    ask_timeout: float = 300,
) -> Approver:
    """Reject a call after which not all duties could be met, with what to call first.

    Args:
        rules: a rule file (TOML or JSON lines); by default the rules of the environment ``tools``.
        tools: a built-in environment, the folder of one, or files with tool schemas.
        mode: ``record`` approves every call and notes what it would have rejected.
        on_undecided: what to do about a call that could not be decided.
        on_unknown: what to do about tools and arguments that are not in ``tools``.
        allowed: what to do about other calls: approve, or ask the next approver.
        ask: ``human`` asks a person about calls that a person may permit; by default they are rejected.
        ask_timeout: seconds for the answer.

    Raises InputError for rules or tools that cannot be read, and for rules that only an audit can judge.
    """
    given = open_audit(rules, tools)
    job, law = given.job, given.regulation
    known = job.tools if isinstance(job.tools, tuple) else job.environment  # schemas say more than their environment
    compiled = Guard(
        job.rules,
        known,
        mode=mode,
        on_undecided=on_undecided,
        on_unknown=on_unknown,
        ask=None if ask is None else ask_human,
        ask_timeout=ask_timeout,
        regulation=law,
    )
    watched: dict[int, WatchedSample] = {}

    def sample() -> WatchedSample:
        """The guard of the running sample, which its store identifies."""
        place = store()
        if id(place) not in watched:
            watched[id(place)] = WatchedSample(compiled.open_session())
            weakref.finalize(place, watched.pop, id(place), None)
        return watched[id(place)]

    async def approve(
        message: str,  # noqa: ARG001
        call: ToolCall,
        view: ToolCallView,
        history: list[ChatMessage],
    ) -> Approval:
        _at_hand.set((call, view, history))
        decision = await sample().decide(call, history)
        finding = decision.finding
        metadata: dict[str, Any] = {}
        if finding is not None:
            metadata = {
                "rules": list(finding.rules),
                "provisions": list(finding.provisions),
                "first": [str(step) for step in finding.first],
                "undecided": finding.undecided,
            }
        if isinstance(decision, Refuse):
            return Approval(decision="reject", explanation=decision.reason, metadata=metadata)
        reason = None if finding is None else finding.reason
        if decision.call is None or decision.call.arguments == call.arguments:
            return Approval(decision=allowed, explanation=reason, metadata=metadata)
        if allowed == "escalate":  # the next approver would decide about another call
            return Approval(decision="reject", explanation=f"Not carried out. Call {decision.call}.", metadata=metadata)
        modified = copy(call)
        modified.arguments = dict(decision.call.arguments)
        return Approval(decision="modify", modified=modified, explanation=reason, metadata=metadata)

    return approve
