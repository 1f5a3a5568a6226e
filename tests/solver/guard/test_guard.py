"""Guards in front of a user's own tools: modes, advice, messages, calls at the same time, snapshots."""

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from typing import Any

import pytest

import lawtrace
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.solver.guard.decisions import Allow, Call, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.rules import Rule
from tests.support.guard_worlds import World, letter

READ_FIRST = Rule(
    id="read first",
    formula='forall r: G(cancel(reservation_id == r) -> O get_details(reservation_id == r, result.cabin != "basic"))',
    regulation="POLICY",
    provisions=("3",),
    rationale="A reservation is read before it is cancelled. Basic economy is not cancelled.",
)
RECORD = Rule(id="record", formula="forall r: G(cancel(reservation_id == r) -> F record(reservation_id == r))")
CLOSED = Rule(id="closed", formula="G(close -> WX G !record)", rationale="After closing, nothing is recorded.")
CONFIRMED = Rule(id="confirmed", formula='G(cancel -> (!agent) S user("yes"))', rationale="The user confirms first.")
TOOLS: list[Json] = [
    {"type": "function", "function": {"name": "get_details", "parameters": {"properties": {"reservation_id": {}}}}},
    {"name": "cancel", "input_schema": {"properties": {"reservation_id": {"type": "string"}}}},
    {"name": "record", "inputSchema": {"properties": {"reservation_id": {"type": "string"}}}},
    {"name": "close", "inputSchema": {"type": "object"}},
]
CANCEL = Call("cancel", {"reservation_id": "G2LTC4"})
DETAILS = Call("get_details", {"reservation_id": "G2LTC4"})
RECORDED = Call("record", {"reservation_id": "G2LTC4"})


def guard_of(*rules: Rule, **options: object) -> Guard:
    return Guard(rules, TOOLS, clock=lambda: 0, **options)  # type: ignore[arg-type]


def refused(guard: Guard, call: Call) -> Refuse:
    decision = guard.before(call)
    assert isinstance(decision, Refuse)
    return decision


def made(guard: Guard, call: Call, result: Json = None) -> None:
    assert guard.before(call) == Allow()
    guard.after(call, result)


def test_a_refusal_says_what_to_call_first_then_the_provision() -> None:
    guard = guard_of(READ_FIRST)
    decision = refused(guard, CANCEL)
    assert decision.reason.startswith(
        "Not carried out. Call get_details(reservation_id='G2LTC4') with the result cabin ="
    )
    assert decision.reason.endswith("POLICY 3: A reservation is read before it is cancelled.")
    (step,) = decision.first
    assert step.call == DETAILS
    made(guard, DETAILS, {"cabin": "business"})
    made(guard, CANCEL)


def test_advice_shows_something_before_the_user_is_asked() -> None:
    known = Rule(id="known", formula="forall r: G(get_details(reservation_id == r) -> O user(r in words))")
    decision = refused(guard_of(READ_FIRST, CONFIRMED, known), Call("cancel", {"reservation_id": "g2"}))
    assert [str(step).partition(" with the result")[0] for step in decision.first] == [
        "the agent says what it wants to do",
        "the user says 'g2'",
        "get_details(reservation_id='g2')",
        "the agent says what it wants to do",
        "the user says 'yes'",
    ]


def test_what_a_call_returned_decides() -> None:
    guard = guard_of(READ_FIRST)
    made(guard, DETAILS, {"cabin": "basic"})
    assert refused(guard, CANCEL).finding.rules == ("read first",)


def test_duties_that_exclude_each_other_are_found_before_the_first_is_opened() -> None:
    guard = guard_of(RECORD, CLOSED)
    made(guard, CANCEL)
    decision = refused(guard, Call("close"))
    assert decision.finding.rules == ("record", "closed")
    assert [str(step) for step in decision.first] == ["record(reservation_id='G2LTC4')"]
    made(guard, RECORDED)
    made(guard, Call("close"))
    assert refused(guard, CANCEL).finding.rules == ("record", "closed")


def test_open_duties_are_reported_at_the_end_with_the_calls_that_meet_them() -> None:
    guard = guard_of(RECORD, CLOSED)
    assert guard.finish() == ()
    made(guard, CANCEL)
    (duty,) = guard.finish()
    assert (duty.rule, duty.values) == ("record", ({"r": "G2LTC4"},))
    assert [step.call for step in duty.steps] == [RECORDED]
    made(guard, RECORDED)
    assert guard.finish() == ()


def test_messages_are_seen() -> None:
    guard = guard_of(CONFIRMED)
    decision = refused(guard, CANCEL)
    assert "the user says 'yes'" in decision.reason
    guard.message("user", "Yes, please.")
    made(guard, CANCEL)
    guard.message("assistant", "Anything else?")
    assert isinstance(guard.before(CANCEL), Refuse)
    with pytest.raises(InputError, match="role 'system'"):
        guard.message("system", "")


def test_a_duty_that_no_tool_can_meet_is_not_opened() -> None:
    guard = Guard([RECORD], [*TOOLS[:2], TOOLS[3]], clock=lambda: 0)
    assert refused(guard, CANCEL).first == ()
    closed: dict[str, Json] = {"properties": {"reservation_id": {"enum": ["A", "B"]}}, "required": ["reservation_id"]}
    guard = Guard([RECORD], {"cancel": {}, "record": closed}, clock=lambda: 0)
    assert isinstance(guard.before(CANCEL), Refuse)
    assert isinstance(guard.before(Call("cancel", {"reservation_id": "A"})), Allow)


def test_the_modes_warn_and_record_allow_everything() -> None:
    warning = guard_of(READ_FIRST, mode="warn").before(CANCEL)
    assert isinstance(warning, Allow)
    assert warning.warning is not None
    assert warning.warning.startswith("Carried out, but it rules out compliance. Call get_details")
    recording = guard_of(READ_FIRST, mode="record")
    recorded = recording.before(CANCEL)
    assert isinstance(recorded, Allow)
    assert recorded.warning is None
    assert recorded.finding is not None
    assert recorded.finding.rules == ("read first",)
    recording.after(CANCEL)
    assert recording.lost == ("read first",)
    assert recording.before(CANCEL) == Allow(), "a rule that is lost is lost once"


def test_a_result_that_loses_a_rule_leaves_the_others_defended() -> None:
    unlucky = Rule(id="unlucky", formula="G !get_details(result.secret)")
    guard = guard_of(unlucky, READ_FIRST)
    made(guard, DETAILS, {"secret": True, "cabin": "basic"})
    assert guard.lost == ("unlucky",)
    assert refused(guard, CANCEL).finding.rules == ("read first",)


def test_a_call_that_failed_has_not_happened() -> None:
    guard = guard_of(READ_FIRST, RECORD)
    assert guard.before(DETAILS) == Allow()
    guard.after(DETAILS, error="TimeoutError: no answer")
    assert isinstance(guard.before(CANCEL), Refuse)
    assert guard.finish() == ()


@pytest.mark.parametrize(("fallback", "expected"), [("refuse", Refuse), ("allow", Allow)])
def test_what_cannot_be_decided_follows_the_fallback(fallback: str, expected: type) -> None:
    tight = Guard([RECORD, CLOSED], TOOLS, on_undecided="allow" if fallback == "allow" else "refuse", steps=0)
    decision = tight.before(CANCEL)
    assert type(decision) is expected
    assert decision.finding is not None
    assert decision.finding.undecided


def test_deadlines_count_from_the_clock() -> None:
    now = [0]
    rule = Rule(id="late", formula="G(cancel -> F[<= 60s] record)")
    rest = Rule(id="rest", formula="G(close -> G[<= 30s] !record)")
    guard = Guard([rule, rest], TOOLS, clock=lambda: now[0])
    made(guard, Call("close"))
    made(guard, CANCEL)
    now[0] = 20
    made(guard, Call("close"))
    now[0] = 40
    assert refused(guard, Call("close")).finding.rules == ("late", "rest")
    now[0] = 100
    assert guard.before(Call("close")) == Allow(), "the deadline has passed, whatever is called"
    assert guard.lost == ("late",)


def test_calls_that_have_not_returned_count_with_the_best_that_they_may_return() -> None:
    guard = guard_of(READ_FIRST, RECORD, CLOSED)
    assert guard.before(DETAILS) == Allow()
    assert guard.before(CANCEL) == Allow(), "the look-up may still return a cabin"
    assert isinstance(guard.before(Call("close")), Refuse)
    guard.after(CANCEL)
    guard.after(DETAILS, {"cabin": "business"})
    assert [duty.rule for duty in guard.finish()] == ["record"]
    assert guard.lost == ()


def test_threads_share_a_guard() -> None:
    rule = Rule(id="once", formula="G(count(cancel) <= 20)")
    guard = Guard([rule], TOOLS, clock=lambda: 0, advice=False)
    barrier = threading.Barrier(8)

    def work(number: int) -> int:
        barrier.wait()
        allowed = 0
        for step in range(10):
            call = Call("cancel", {"reservation_id": "A"}, id=f"{number}-{step}")
            if isinstance(guard.before(call), Allow):
                allowed += 1
                guard.after(call, {"step": step})
        return allowed

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 20
    assert guard.lost == ()


def test_a_restored_guard_decides_alike_at_every_position() -> None:
    world = World(
        ("forall k: G(A(p == k) -> F[<= 9s] B(p == k))", "G(C -> WX G !B)", "forall k: G(B(p == k) -> O D(p == k))"),
        [letter(tool, p=value) for tool in "ABD" for value in "xy"] + [letter("C")],
        0,
        0,
    )
    for numbers in list(product(range(7), repeat=3))[::61]:
        guard = world.guard()
        for time, number in enumerate((*numbers, 0, 6, 2), 1):
            copy = Guard.restore(guard.snapshot(), world.rules, world.tools)
            decision = guard.before(world.call(number), time=time)
            assert copy.before(world.call(number), time=time) == decision
            again = Guard.restore(guard.snapshot(), world.rules, world.tools)
            if isinstance(decision, Allow):
                for one in (guard, copy, again):
                    one.after(world.call(number))
            assert guard.snapshot() == copy.snapshot() == again.snapshot()
            assert guard.finish(time=time) == copy.finish(time=time)


def test_a_snapshot_is_json_and_fits_its_rules_only() -> None:
    guard = guard_of(RECORD)
    made(guard, CANCEL)
    snapshot = guard.snapshot()
    assert json.loads(snapshot)["version"] == "lawtrace.guard/7"
    with pytest.raises(InputError, match="other rules or tools"):
        Guard.restore(snapshot, [CLOSED], TOOLS)
    for damaged in (b"", b"{}", b"[1]", b"\x80", snapshot[:-5], snapshot.replace(b'"traces"', b'"trace"')):
        with pytest.raises(InputError, match="not a snapshot"):
            Guard.restore(damaged, [RECORD], TOOLS)


def test_an_environment_or_functions_are_tools() -> None:
    bank = lawtrace.load_environment("banking")
    guard = lawtrace.Guard(lawtrace.load_rules(bank.rules_file, bank), "banking")
    accounts = {"from_account_number": "123-4567-8901", "to_account_number": "123-4567-8902"}
    decision = guard.before({"tool": "TransferFunds", "arguments": {**accounts, "amount": 20}})
    assert isinstance(decision, Refuse)
    assert "Call CheckAuthorization()" in decision.reason
    assert "PSD2 Article 97(1)(b)" in decision.reason

    def cancel(reservation_id: str) -> None: ...
    def record(reservation_id: str) -> None: ...

    assert isinstance(Guard([RECORD], [cancel, record]).before(CANCEL), Allow)


NO_TOOLS: list[tuple[list[object], str]] = [
    (["a", {"name": "a", "parameters": {"type": "object"}}], "two tools have the name 'a', one at tool 1"),
    (["user"], "by which rules mean messages"),
    ([3], "tool 1: a int is no tool"),
    ([{"parameters": {}}], "tool 1: it has no name"),
    ([{"name": "a", "parameters": []}], "tool 'a': its schema"),
]


@pytest.mark.parametrize(("tools", "message"), NO_TOOLS)
def test_errors_name_the_tool(tools: list[object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Guard([], tools)


@pytest.mark.parametrize("call", [{"arguments": {}}, {"tool": "a", "arguments": [1]}, None, "a", 3])
def test_what_is_no_call_is_refused(call: Any) -> None:
    guard = guard_of()
    for method in (guard.before, guard.after, guard.unanswered):
        with pytest.raises(InputError, match="a call needs"):
            method(call)


def test_choices_that_do_not_exist_are_refused() -> None:
    with pytest.raises(InputError, match="mode 'refuze': expected one of record, warn, refuse"):
        guard_of(RECORD, mode="refuze")
    with pytest.raises(InputError, match="on_undecided 'no': expected one of"):
        guard_of(RECORD, on_undecided="no")


def test_advice_names_the_arguments_that_a_tool_requires_and_no_rule_reads() -> None:
    schema: dict[str, Json] = {
        "properties": {"reservation_id": {}, "note": {"type": "string"}, "by": {"enum": ["a", 1]}, "more": {}},
        "required": ["reservation_id", "note", "by"],
    }
    guard = Guard([RECORD, CLOSED], {"cancel": {}, "close": {}, "record": schema}, clock=lambda: 0)
    made(guard, CANCEL)
    decision = refused(guard, Call("close"))
    assert "Call record(reservation_id='G2LTC4', note=<string>, by=<one of 'a', 1>) first." in decision.reason
    (step,) = decision.first
    assert (step.call, dict(step.free)) == (RECORDED, {"note": "string", "by": "one of 'a', 1"})


LISTS = [
    Rule(id="sent", formula="G(close -> F send)"),
    Rule(id="without", formula=" & ".join(f'G !send("{one}" in parts)' for one in "defg")),
    Rule(id="with", formula='G(send -> send("a" in parts and "b" in parts and "c" in parts))'),
]


def test_lists_are_found_that_meet_several_conditions() -> None:
    """Three of seven values."""
    assert Guard(LISTS, ["close", "send"], clock=lambda: 0).before(Call("close")) == Allow()


def test_where_not_all_lists_were_tried_nothing_is_refused_as_certain() -> None:
    never = Rule(id="never", formula='G(send -> !send("a" in parts))')
    decision = Guard([*LISTS, never], ["close", "send"], clock=lambda: 0).before(Call("close"))
    assert isinstance(decision, Refuse)
    assert decision.finding.undecided
