"""Attempts: limits hold, user and shield take their turns, and any order of events makes a record that replays."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from pydantic import TypeAdapter

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.attempt_session import Action, AskModel, AskUser, AttemptSession, Ended, replay
from lawtrace.environments.runtime.session import Session
from lawtrace.schemas.attempt_rows import Objection
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.tool_conversation import AttemptLimits, ToolConversation

INITIAL = ENVIRONMENT.populate(Random(1))
CHECK = "CheckAuthorization"
DUTIES = Objection(("record",), "You still have an open duty.", refused=False)


@dataclass
class Recorder:
    """A guard that objects to one tool, and to ending without a call of another."""

    seen: list[Event] = field(default_factory=list[Event])

    def review(self, event: Event) -> Objection | None:
        if event.tool == "TransferFunds":
            return Objection(("no-transfer",), "No transfers.", refused=True)
        self.seen.append(event)
        return None

    def note(self, event: Event) -> None:
        self.seen.append(event)

    def open_duties(self) -> Objection | None:
        return None if any(event.tool == "RecordAuditEvent" for event in self.seen) else DUTIES


def begin(limits: AttemptLimits | None = None, *, dialogue: bool = False, warns: bool = False) -> AttemptSession:
    session = Session(ENVIRONMENT, INITIAL, Recorder())
    return AttemptSession(session, limits or AttemptLimits(), dialogue=dialogue, warns=warns)


def turn(attempt: AttemptSession, *calls: str, text: str = "") -> Action:
    """A turn with these calls, or with a text."""
    attempt.receive(text, f"m{len(attempt.turns)}", final=not calls)
    for number, call in enumerate(calls):
        attempt.call(call, "{}", f"c{number}")
    return attempt.proceed()


def test_an_attempt_ends_with_a_text() -> None:
    attempt = begin()
    assert attempt.start() == AskModel()
    assert turn(attempt, CHECK, CHECK) == AskModel()
    assert turn(attempt, text="Done.") == Ended()
    conversation = attempt.conversation()
    assert (conversation.end, conversation.reason) == ("finished", None)
    assert [len(one.results) for one in conversation.turns] == [2, 0]
    assert [event.message for event in attempt.session.events] == ["m0", "m0"]


def test_a_call_above_the_limit_is_recorded_and_not_executed() -> None:
    attempt = begin(AttemptLimits(calls=2))
    assert turn(attempt, CHECK, CHECK, CHECK, CHECK) == Ended("call_limit", "made more than 2 calls")
    assert attempt.session.calls == 2
    assert [(len(one.calls), len(one.results)) for one in attempt.turns] == [(4, 2)]


@pytest.mark.parametrize(
    ("limits", "end"),
    [
        (AttemptLimits(turns=1), "turn_limit"),
        (AttemptLimits(tokens=10), "token_limit"),
        (AttemptLimits(seconds=0.5), "time_limit"),
    ],
)
def test_a_limit_forbids_another_turn_and_not_a_last_text(limits: AttemptLimits, end: str) -> None:
    for calls in ((CHECK,), ()):
        attempt = begin(limits, warns=True)
        attempt.used(10, 1.0)
        action = turn(attempt, *calls, text="Done.")
        assert isinstance(action, Ended)
        assert action.end == (end if calls else "finished")
        assert attempt.session.objections == []


def test_a_user_opens_and_answers_until_the_last_message() -> None:
    attempt = begin(dialogue=True)
    assert attempt.start() == AskUser(None)
    assert attempt.hear("Pay it.", "u1") == AskModel("Pay it.")
    assert turn(attempt, text="Which one?") == AskUser("Which one?")
    assert attempt.hear("The first.", "u2", ("answers",)) == AskModel("The first.")
    assert turn(attempt, CHECK) == AskModel()
    assert turn(attempt, text="Done.") == AskUser("Done.")
    assert attempt.hear("Thank you.", "u3", ("closes",), last=True) == Ended()
    assert [one.after for one in attempt.said] == [0, 1, 3]
    assert [event.tool for event in attempt.session.events] == ["user", "agent", "user", CHECK, "agent", "user"]


@pytest.mark.parametrize("dialogue", [False, True])
def test_open_duties_are_told_once_when_the_user_has_finished(dialogue: bool) -> None:
    attempt = begin(dialogue=dialogue, warns=True)
    if dialogue:
        attempt.hear("Pay it.")
        turn(attempt, text="Done.")
        assert attempt.hear("Bye.", last=True) == AskModel(DUTIES.text, "shield")
    else:
        assert turn(attempt, text="Done.") == AskModel(DUTIES.text, "shield")
    assert turn(attempt, CHECK) == AskModel()
    assert turn(attempt, text="Done.") == Ended()
    assert [one.notice for one in attempt.turns] == ["", DUTIES.text, ""]
    assert attempt.session.objections == [DUTIES]


def test_an_adapter_may_stop_it_and_nothing_is_executed_afterwards() -> None:
    attempt = begin()
    attempt.stop("time_limit", "too late")
    assert "SessionEndedError" in attempt.call(CHECK, {}).text
    attempt.stop("turn_limit", "later")
    assert attempt.proceed() == Ended("time_limit", "too late")
    assert attempt.session.events == []


nested: Json = []
for _ in range(100_000):
    nested = [nested]


@pytest.mark.parametrize(
    "arguments",
    [
        "{amount: 5",
        "[1]",
        '{"a": NaN}',
        '{"a": 1, "a": 2}',
        '{"a": "\ud800"}',
        {"a": "\ud800"},
        {"a": nested},
        {"a": object()},
        {"a": "x" * 1_100_000},
        "[" * 50_000,
    ],
)
def test_arguments_that_cannot_be_read_are_a_rejected_call(arguments: Mapping[str, Json] | str) -> None:
    attempt = begin()
    result = attempt.call("PayBill" * 100, arguments)
    assert (result.event.outcome, result.event.arguments) == ("rejected", {})
    assert result.text.startswith("InvalidCallError: the arguments are ")
    assert len(result.text) + len(result.event.tool) < 1000


TOOLS = st.sampled_from(sorted(ENVIRONMENT.tools)) | st.just("Unknown")
ARGUMENTS = st.sampled_from(["", "{}", "{", "[]", '{"keywords": ["a"]}', '{"events": ["A"]}'])
LIMITS = st.builds(
    AttemptLimits, turns=st.integers(1, 6), calls=st.integers(1, 8), tokens=st.integers(1, 40), seconds=st.just(9.0)
)


class AnyOrder(RuleBasedStateMachine):
    """Whatever adapters report, and in whatever order, is an attempt within its limits that replays to the same."""

    def __init__(self) -> None:
        super().__init__()
        self.attempt: AttemptSession | None = None
        self.action: Action = AskModel()

    @property
    def running(self) -> AttemptSession:
        assert self.attempt is not None
        return self.attempt

    @precondition(lambda self: self.attempt is None)
    @rule(limits=LIMITS, dialogue=st.booleans(), warns=st.booleans())
    def begin(self, limits: AttemptLimits, dialogue: bool, warns: bool) -> None:
        self.attempt = begin(limits, dialogue=dialogue, warns=warns)
        self.action = self.attempt.start()

    @precondition(lambda self: isinstance(self.action, AskUser))
    @rule(text=st.text(max_size=5), last=st.booleans())
    def user(self, text: str, last: bool) -> None:
        self.action = self.running.hear(text, "u", ("closes",) if last else (), last=last)

    @precondition(lambda self: self.attempt is not None and isinstance(self.action, AskModel))
    @rule(text=st.text(max_size=5), calls=st.lists(st.tuples(TOOLS, ARGUMENTS), max_size=4), tokens=st.integers(0, 20))
    def model(self, text: str, calls: list[tuple[str, str]], tokens: int) -> None:
        attempt = self.running
        attempt.receive(text, f"m{len(attempt.turns)}", final=not calls)
        for tool, arguments in calls:
            attempt.call(tool, arguments)
        attempt.used(tokens, 0.0)
        self.action = attempt.proceed()

    @precondition(lambda self: isinstance(self.action, Ended))
    @rule(tool=TOOLS)
    def call_after_the_end(self, tool: str) -> None:
        events = list(self.running.session.events)
        assert self.running.call(tool, "{}").event.outcome == "rejected"
        assert self.running.session.events == events

    @precondition(lambda self: self.attempt is not None)
    @rule()
    def stop(self) -> None:
        self.running.stop("time_limit", "no time left")
        self.action = self.running.proceed()

    @invariant()
    def limits_hold(self) -> None:
        if self.attempt is None:
            return
        session, limits = self.attempt.session, self.attempt.limits
        assert len(self.attempt.turns) <= limits.turns
        assert session.calls <= limits.calls
        assert [one.refused for one in session.objections].count(False) <= 1
        if isinstance(self.action, Ended):
            assert self.attempt.ended == self.action
            assert (self.action.end == "finished") == (self.action.reason is None)

    @invariant()
    def the_record_replays(self) -> None:
        if self.attempt is None:
            return
        record, again = self.attempt.conversation(), Session(ENVIRONMENT, INITIAL, Recorder())
        replay(record, again)
        first = self.attempt.session
        assert again.events == first.events
        assert again.state == first.state
        answered = [DUTIES for one in record.turns if one.notice]  # a notice without a turn after it is not recorded
        assert again.objections == [one for one in first.objections if one.refused or one in answered]
        assert sum(len(one.results) for one in record.turns) == first.calls
        assert all(len(one.calls) >= len(one.results) for one in record.turns)


TestAnyOrder = AnyOrder.TestCase


@given(st.lists(st.text(max_size=3), max_size=3))
def test_a_record_is_read_back(texts: list[str]) -> None:
    attempt = begin(warns=True)
    for text in texts:
        attempt.receive(text, "m", final=False)
        attempt.call(CHECK, "{}")
    adapter = TypeAdapter(ToolConversation)
    assert adapter.validate_json(adapter.dump_json(attempt.conversation())) == attempt.conversation()
