"""Calls whose answers never come: what is allowed must be so whether or not they were carried out."""

from dataclasses import dataclass
from random import Random

import pytest

import lawtrace
from lawtrace.schemas.errors import InputError
from lawtrace.solver.guard.decisions import Allow, Call, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.rules import Rule
from tests.support.guard_worlds import WORLDS, World

Trace = tuple[int, ...]


@dataclass(frozen=True)
class Situation:
    """Where a session stands: the possible traces, how many calls were left without an answer, and the guard."""

    traces: tuple[Trace, ...]
    unanswered: int
    snapshot: bytes


def followed(world: World, situation: Situation, number: int) -> tuple[Trace, ...] | None:
    """The traces after an event; None if after one of them not all duties can be met."""
    found = tuple((*trace, number) for trace in situation.traces)
    return found if all(map(world.alive, found)) else None


def offered(world: World, situation: Situation, number: int) -> list[Situation]:
    """Offer a call, and compare the decision. Where the session stands if it is answered, and if it is not."""
    if not all(world.alive(trace, world.letters[number][3]) for trace in situation.traces):
        return []  # by then a deadline has passed
    time = world.trace((*situation.traces[0], number))[-1].time
    guard = Guard.restore(situation.snapshot, world.rules, world.tools)
    decision = guard.before(world.call(number), time=time)
    assert not (isinstance(decision, Refuse) and decision.finding.undecided)
    possible = [
        [(*trace, other) for other in world.calls(number) if world.alive((*trace, other))] for trace in situation.traces
    ]
    assert isinstance(decision, Allow) == all(possible), (world.formulas, situation.traces, number, decision)
    if isinstance(decision, Refuse):
        return []
    found: list[Situation] = []
    allowed = guard.snapshot()
    if (answered := followed(world, situation, number)) is not None:
        guard.after(world.call(number), world.letters[number][2])
        found.append(Situation(answered, situation.unanswered, guard.snapshot()))
    if situation.unanswered < 2 and (failed := followed(world, situation, ~number)) is not None:
        guard = Guard.restore(allowed, world.rules, world.tools)
        guard.unanswered(world.call(number))
        traces = (*failed, *(trace for some in possible for trace in some))
        found.append(Situation(traces, situation.unanswered + 1, guard.snapshot()))
    return found


def compare(world: World, length: int, most: int) -> int:
    """Situations after some calls, so many chosen at random; how many of them had an unanswered call."""
    random = Random(1)
    waiting = [Situation(((),), 0, world.guard().snapshot())]
    unanswered = 0
    for _ in range(most):
        if not waiting:
            break
        situation = waiting.pop(random.randrange(len(waiting)))
        unanswered += situation.unanswered > 0
        for number in range(len(world.letters)):
            waiting += [one for one in offered(world, situation, number) if len(one.traces[0]) < length]
    return unanswered


LIVE = [name for name in WORLDS if name not in ("untimed 6", "keyed deadline", "chain")]
"""The worlds in which some call is allowed at the beginning."""


@pytest.mark.parametrize("name", LIVE)
def test_what_is_allowed_can_end_well_in_each_case(name: str) -> None:
    assert compare(WORLDS[name], 4, 6) > 1


@pytest.mark.slow
@pytest.mark.parametrize("name", LIVE)
def test_this_is_so_in_many_situations(name: str) -> None:
    assert compare(WORLDS[name], 5, 25) > 5


ONCE = Rule(id="once", formula="forall k: G(pay(key == k) -> WX G !pay(key == k))", rationale="Nothing is paid twice.")
BEFORE = Rule(id="before", formula="forall k: G(pay(key == k) -> O check(key == k))", rationale="Check what is paid.")
RECORD = Rule(id="record", formula="forall k: G(pay(key == k) -> F record(key == k))", rationale="Record payments.")
ONLY = Rule(id="only", formula="forall k: G(record(key == k) -> O pay(key == k))", rationale="Record what was paid.")
TOOLS = ["pay", "check", "record", "other"]
PAY, CHECK, RECORDED = (Call(tool, {"key": "a"}) for tool in ("pay", "check", "record"))


def guard_of(*rules: Rule) -> Guard:
    return Guard(rules, TOOLS, clock=lambda: 0)


def test_a_payment_that_may_have_been_made_is_not_made_again() -> None:
    guard = guard_of(ONCE)
    assert isinstance(guard.before(PAY), Allow)
    guard.unanswered(PAY)
    again = guard.before(PAY)
    assert isinstance(again, Refuse)
    assert again.reason.endswith("Nothing is paid twice. It is not known whether pay(key='a') happened.")
    assert isinstance(guard.before(Call("pay", {"key": "b"})), Allow)


def test_a_result_that_may_have_been_returned_counts() -> None:
    closed = Rule(id="closed", formula="forall k: G(check(key == k, result.closed) -> G !pay(key == k))")
    guard = guard_of(closed)
    guard.before(CHECK)
    assert isinstance(guard.before(PAY), Allow), "a result that comes may be a good one"
    guard.after(PAY, error="not tried")
    guard.unanswered(CHECK)
    assert isinstance(guard.before(PAY), Refuse)
    assert guard.lost == ()


def test_a_check_that_may_not_have_been_made_is_advised_again() -> None:
    guard = guard_of(BEFORE)
    guard.before(CHECK)
    guard.unanswered(CHECK)
    refused = guard.before(PAY)
    assert isinstance(refused, Refuse)
    assert [step.call for step in refused.first] == [CHECK]
    guard.before(CHECK)
    guard.after(CHECK)
    assert isinstance(guard.before(PAY), Allow)


def test_nothing_is_advised_that_the_other_case_forbids() -> None:
    guard = guard_of(BEFORE, Rule(id="one", formula="G(count(check) <= 1)"))
    guard.before(CHECK)
    guard.unanswered(CHECK)
    refused = guard.before(PAY)
    assert isinstance(refused, Refuse)
    assert refused.first == ()


def test_duties_are_open_that_are_so_in_one_case() -> None:
    guard = guard_of(RECORD)
    guard.before(PAY)
    guard.unanswered(PAY)
    assert [str(duty) for duty in guard.finish()] == ["Call record(key='a'). Record payments."]
    guard.before(RECORDED)
    guard.after(RECORDED)
    assert guard.finish() == ()


def test_where_no_record_is_right_in_both_cases_the_duty_stays_open() -> None:
    guard = guard_of(RECORD, ONLY)
    guard.before(PAY)
    guard.unanswered(PAY)
    assert isinstance(guard.before(RECORDED), Refuse)
    assert [duty.rule for duty in guard.finish()] == ["record"]


def test_a_late_answer_and_calls_without_rules_change_nothing() -> None:
    guard = guard_of(ONCE)
    other = Call("other")
    for call in (PAY, other):
        guard.before(call)
        guard.unanswered(call)
        guard.unanswered(call)
    known = guard.snapshot()
    guard.after(PAY, {})
    guard.after(other, {})
    assert guard.snapshot() == known
    assert isinstance(guard.before(PAY), Refuse)


def test_a_call_that_was_not_asked_about_may_have_happened_too() -> None:
    guard = guard_of(ONCE)
    guard.unanswered(PAY)
    assert isinstance(guard.before(PAY), Refuse)
    with pytest.raises(InputError, match="a call needs"):
        guard.unanswered({"arguments": {}})


def test_after_too_many_unanswered_calls_nothing_is_decided() -> None:
    guard = guard_of(ONCE)
    calls = [Call("pay", {"key": str(number)}) for number in range(6)]
    for call in calls[:5]:
        assert isinstance(guard.before(call), Allow)
        guard.unanswered(call)
    refused = guard.before(calls[5])
    assert isinstance(refused, Refuse)
    assert refused.finding.undecided
    assert "pay(key='3') and pay(key='4') happened" in refused.reason
    assert isinstance(guard.before(Call("other")), Allow)
    restored = Guard.restore(guard.snapshot(), [ONCE], TOOLS, clock=lambda: 0)
    assert restored.before(calls[5]) == refused
    assert restored.snapshot() == guard.snapshot()


def test_calls_that_have_not_returned_are_as_old_as_they_are() -> None:
    soon = Rule(id="soon", formula="G(pay -> F[<= 20s] record)")
    fresh = Rule(id="fresh", formula="G(other -> !O[<= 3s] check)")
    guard = Guard([soon, fresh], TOOLS, clock=lambda: 0)
    guard.before(PAY, time=0)
    guard.after(PAY)
    guard.before(CHECK, time=5)
    assert isinstance(guard.before(Call("other"), time=7), Refuse)
    assert isinstance(guard.before(Call("other"), time=9), Allow)
    guard.unanswered(CHECK)
    assert isinstance(guard.before(RECORDED, time=19), Allow)
    assert [duty.rule for duty in guard.finish(time=19)] == ["soon"]
    assert (guard.finish(time=30), guard.lost) == ((), ("soon",))


def test_an_audit_reads_that_a_call_may_have_happened(tmp_path: object) -> None:
    path = f"{tmp_path}/guard.jsonl"
    with lawtrace.GuardLog(path) as log:
        guard = Guard([ONCE], TOOLS, clock=lambda: 0, log=log)
        guard.before(PAY)
        guard.unanswered(PAY, "timed out")
        guard.before(Call("other"))
        guard.after(Call("other"), 1)
        guard.unanswered(Call("other", id="unasked"))
    lines = open(path, encoding="utf-8").read()  # noqa: PTH123, SIM115
    assert "may have been carried out or not: timed out" in lines
    assert lines.count('"tool": "pay"') == 1
    assert lines.count('"tool": "other"') == 2
