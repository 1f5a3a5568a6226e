"""Who acts: rules about principals, roles and sessions, in one session and across several."""

import json
from pathlib import Path

import pytest

import lawtrace
from lawtrace import Allow, Call, Guard, Refuse, Rule
from lawtrace.schemas.events import Actor, Event

SUPERVISED = Rule(id="supervised", formula='G !refund(amount > 100, not by.role == "supervisor")')
APPROVED = Rule(
    id="approved",
    formula="forall o, p: G(pay(order == o, by.principal == p) "
    "-> O request(order == o) & !O request(order == o, by.principal == p))",
    across_sessions=True,
)
ORDER = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
REFUND = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
TOOLS = {"pay": ORDER, "request": ORDER, "refund": REFUND}


def guard(*rules: Rule) -> Guard:
    return Guard(rules, TOOLS, clock=lambda: 0)


def carried_out(session: Guard, tool: str, **arguments: object) -> bool:
    call = Call(tool, arguments)  # type: ignore[arg-type]
    decision = session.before(call)
    if isinstance(decision, Allow):
        session.after(call, {})
    return isinstance(decision, Allow)


def test_only_a_supervisor() -> None:
    compiled = guard(SUPERVISED)
    ann, sam = compiled.open_session(role="clerk"), compiled.open_session(role="supervisor")
    assert carried_out(ann, "refund", amount=50)
    assert not carried_out(ann, "refund", amount=150)
    assert carried_out(sam, "refund", amount=150)


def test_a_duty_that_only_another_role_could_meet_refuses_what_would_bring_it() -> None:
    rule = Rule(id="checked", formula='G(refund -> F pay(by.role == "supervisor"))')
    assert not carried_out(guard(rule).open_session(role="clerk"), "refund", amount=1)
    assert carried_out(guard(rule).open_session(role="supervisor"), "refund", amount=1)


def test_another_person_than_the_requester_in_another_session() -> None:
    compiled = guard(APPROVED, SUPERVISED)
    ann, bob = compiled.open_session(principal="ann"), compiled.open_session(principal="bob")
    assert not carried_out(bob, "pay", order="1")
    assert carried_out(ann, "request", order="1")
    assert not carried_out(ann, "pay", order="1")
    assert not carried_out(compiled.open_session(principal="ann"), "pay", order="1")
    assert carried_out(bob, "pay", order="1")


def test_what_happens_in_a_session_does_not_serve_another() -> None:
    compiled = guard(Rule(id="r", formula="forall o: G(pay(order == o) -> O request(order == o))"))
    ann, bob = compiled.open_session(principal="ann"), compiled.open_session(principal="bob")
    assert carried_out(ann, "request", order="1")
    assert not carried_out(bob, "pay", order="1")
    assert carried_out(ann, "pay", order="1")


def test_an_agent_cannot_say_who_it_is() -> None:
    compiled = Guard([SUPERVISED], TOOLS, on_unknown="allow", clock=lambda: 0)
    claimed = Call("refund", {"amount": 150, "by": {"role": "supervisor"}}, by=Actor(role="supervisor"))
    assert isinstance(compiled.open_session(role="clerk").before(claimed), Refuse)
    assert isinstance(compiled.open_session().before(claimed), Refuse), "no role is known"


def test_equal_calls_of_two_sessions_are_told_apart() -> None:
    rule = Rule(
        id="r", formula="forall p: G(pay(by.principal == p) -> O request(by.principal == p))", across_sessions=True
    )
    compiled = guard(rule)
    ann, bob = compiled.open_session(principal="ann"), compiled.open_session(principal="bob")
    call = Call("request", {"order": "1"})
    ann.before(call)
    bob.before(call)
    ann.after(call, error="ServerError: down")
    bob.after(call, {})
    assert not carried_out(ann, "pay", order="1")
    assert carried_out(bob, "pay", order="1")


def test_a_restored_guard_knows_who_acts_and_what_others_did() -> None:
    compiled = guard(APPROVED)
    ann, bob = compiled.open_session(principal="ann"), compiled.open_session(principal="bob", session="b")
    carried_out(ann, "request", order="1")
    restored = Guard.restore(bob.snapshot(), [APPROVED], TOOLS, clock=lambda: 0)
    assert carried_out(restored, "pay", order="1")
    again = Guard.restore(ann.snapshot(), [APPROVED], TOOLS, clock=lambda: 0)
    assert not carried_out(again, "pay", order="1")


def test_a_message_counts_once_whatever_list_it_is_in() -> None:
    session = guard(Rule(id="stop", formula='G(user("stop") -> G !pay)')).open_session()
    for message_id, text in (("1", "Pay."), ("9", "Summary."), ("1", "stop"), ("2", "Go on.")):
        session.message("user", text, message_id=message_id)
    assert carried_out(session, "pay", order="1")
    restored = Guard.restore(session.snapshot(), [Rule(id="stop", formula='G(user("stop") -> G !pay)')], TOOLS)
    restored.message("user", "stop", message_id="2")
    assert restored.lost == ()
    restored.message("user", "stop", message_id="3")
    assert not carried_out(restored, "pay", order="2")


def test_the_log_says_who_acts_and_an_audit_judges_across_sessions(tmp_path: Path) -> None:
    log = tmp_path / "guard.jsonl"
    compiled = Guard([APPROVED, SUPERVISED], TOOLS, mode="record", clock=lambda: 60)
    for principal, role, tool in (("ann", "clerk", "request"), ("ann", "clerk", "pay"), ("bob", "clerk", "pay")):
        session = compiled.open_session(
            principal=principal, role=role, log=lawtrace.GuardLog(log, f"{principal}-{tool}")
        )
        carried_out(session, tool, order="1")
    *apart, together = lawtrace.audit([APPROVED, SUPERVISED], log, tools=_tools(), complete=True)
    assert [row.conversation for row in (*apart, together)] == ["ann-request", "ann-pay", "bob-pay", "all sessions"]
    assert [[rule.rule for rule in row.rules] for row in (apart[0], together)] == [["supervised"], ["approved"]]
    assert together.outcome == "unlawful"
    (broken,) = together.broken
    assert broken.message is not None
    assert broken.message.endswith("of conversation ann-pay")
    assert [event.by for event in together.events] == [
        Actor("ann", "clerk", "ann-request"),
        Actor("ann", "clerk", "ann-pay"),
        Actor("bob", "clerk", "bob-pay"),
    ]


def _tools() -> list[dict[str, object]]:
    return [{"name": name, "inputSchema": schema} for name, schema in TOOLS.items()]


def test_conversations_without_times_have_no_order(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    line = {"conversation": "7", "tool": "pay", "arguments": {"order": "1"}, "result": {}}
    log.write_text(json.dumps(line) + "\n", encoding="utf-8")
    (row,) = lawtrace.audit([APPROVED], log, tools=_tools())
    assert (row.outcome, row.reason) == (
        "invalid",
        "message 1 of conversation 7 has no time, so its place among others is unknown",
    )


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ({"conversation": "7", "by": {"principal": "ann", "role": "supervisor"}, "note": "login"}, "kept"),
        ({"conversation": "7", "by": {"principal": "ann", "role": "clerk"}, "note": "login"}, "broken"),
        ({"conversation": "7", "note": "nothing"}, "broken"),
    ],
)
def test_sources_say_who_acts(source: dict[str, object], expected: str, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    call = {"conversation": "7", "tool": "refund", "arguments": {"amount": 150}, "result": {}}
    log.write_text("".join(json.dumps(line) + "\n" for line in (source, call)), encoding="utf-8")
    (row,) = lawtrace.audit([SUPERVISED], log, tools=_tools())
    assert row.rules[0].outcome == expected


def test_a_chat_log_names_its_user(tmp_path: Path) -> None:
    rule = Rule(id="r", formula='G !refund(by.principal == "ann", by.session == "7")')
    call = {"id": "1", "type": "function", "function": {"name": "refund", "arguments": '{"amount": 1}'}}
    messages = [{"role": "assistant", "content": "", "tool_calls": [call]}, {"role": "tool", "content": "{}"}]
    log = tmp_path / "log.jsonl"
    log.write_text(json.dumps({"id": "7", "user": "ann", "messages": messages}) + "\n", encoding="utf-8")
    (row,) = lawtrace.audit([rule], log, tools=_tools())
    assert row.outcome == "unlawful"


def test_a_judge_reads_who_acts() -> None:
    calls = [Event("refund", {"amount": 150}, by=Actor(role="clerk")), Event("refund", {"amount": 150})]
    assert [lawtrace.judge([SUPERVISED], [call]).kept for call in calls] == [False, False]
    written = {"tool": "refund", "arguments": {"amount": 150}, "by": {"role": "supervisor"}}
    assert lawtrace.judge([SUPERVISED], [written]).kept
