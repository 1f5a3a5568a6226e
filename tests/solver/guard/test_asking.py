"""A person decides about calls that only rules with ``ask`` speak against."""

import asyncio
import json
import threading
from collections.abc import Callable
from pathlib import Path

import lawtrace
from lawtrace import Allow, Call, Guard, Permission, PermissionRequest, Refuse, Rule
from lawtrace.solver.guard.asking import Ask

LARGE = Rule(
    id="large", formula="G !refund(amount > 100)", rationale="Large refunds are permitted by a person.", ask=True
)
READ = Rule(id="read", formula="forall o: G(cancel(order == o) -> O read(order == o))", ask=True)
NEVER = Rule(id="never", formula="G !refund(amount > 1000)")
ORDER = {"type": "object", "properties": {"order": {"type": "string"}}, "required": ["order"]}
REFUND = {"type": "object", "properties": {"amount": {"type": "number"}}, "required": ["amount"]}
TOOLS = {"refund": REFUND, "cancel": ORDER, "read": ORDER}


def guard(ask: Ask | None, **options: object) -> Guard:
    return Guard([LARGE, READ, NEVER], TOOLS, ask=ask, clock=lambda: 0, **options)  # type: ignore[arg-type]


def refund(amount: float) -> Call:
    return Call("refund", {"amount": amount})


def says(answer: bool | Permission, asked: list[PermissionRequest]) -> Callable[[PermissionRequest], bool | Permission]:
    def ask(question: PermissionRequest) -> bool | Permission:
        asked.append(question)
        return answer

    return ask


def test_each_large_refund_is_asked_about_also_after_one_was_permitted() -> None:
    asked: list[PermissionRequest] = []
    session = guard(says(Permission(True, "sam", "a known customer"), asked)).open_session(principal="ann")
    assert isinstance(session.before(refund(50)), Allow)
    for _ in range(2):
        decision = session.before(refund(150))
        assert isinstance(decision, Allow)
        assert decision.finding is not None
        assert decision.finding.answer == Permission(True, "sam", "a known customer")
        session.after(refund(150), {})
    assert session.lost == ()
    assert [str(question) for question in asked] == [
        f"May this call be made: refund(amount=150), by ann? It would rule out compliance with this: {LARGE.rationale}"
    ] * 2


def test_what_another_rule_forbids_is_not_asked() -> None:
    asked: list[PermissionRequest] = []
    decision = guard(says(True, asked)).before(refund(2000))
    assert isinstance(decision, Refuse)
    assert decision.finding.rules == ("never",)
    assert asked == []


def test_without_permission_the_call_is_refused_with_the_reason() -> None:
    decision = guard(says(Permission(False, "sam", "too much"), [])).before(refund(150))
    assert isinstance(decision, Refuse)
    assert decision.reason.startswith("Not carried out. sam did not permit it: too much")
    assert isinstance(guard(None).before(refund(150)), Refuse), "there is no one to ask"
    assert isinstance(guard(says("yes", [])).before(refund(150)), Refuse), "only True permits"  # type: ignore[arg-type]


def test_a_permitted_call_has_not_happened_to_its_rule() -> None:
    session = guard(says(True, []))
    call = Call("cancel", {"order": "1"})
    assert isinstance(session.before(call), Allow)
    session.after(call, {})
    assert session.lost == ()
    restored = Guard.restore(session.snapshot(), [LARGE, READ, NEVER], TOOLS, ask=says(False, []))
    assert isinstance(restored.before(call), Refuse)
    read = Call("read", {"order": "1"})
    restored.before(read)
    restored.after(read, {})
    assert isinstance(restored.before(call), Allow)


def test_late_and_failing_answers_do_not_permit() -> None:
    release = threading.Event()

    def wait(_: PermissionRequest) -> bool:
        return release.wait(60)

    def fail(_: PermissionRequest) -> bool:
        raise RuntimeError("no line")

    late = guard(wait, ask_timeout=0.05).before(refund(150))
    release.set()
    failed = guard(fail).before(refund(150))
    assert isinstance(late, Refuse)
    assert isinstance(failed, Refuse)
    assert "there was no answer within 0.05 seconds" in late.reason
    assert "asking failed with RuntimeError: no line" in failed.reason


def test_the_session_goes_on_while_a_person_thinks_and_the_call_is_decided_again() -> None:
    async def run() -> tuple[object, ...]:
        answer = asyncio.Event()

        async def ask(_: PermissionRequest) -> bool:
            await answer.wait()
            return True

        rules = [LARGE, Rule(id="stop", formula='G(user("stop") -> G !refund)')]
        session = Guard(rules, TOOLS, ask=ask, clock=lambda: 0)
        waiting = asyncio.create_task(session.before_async(refund(150)))
        await asyncio.sleep(0)
        read = session.before(Call("read", {"order": "1"}))
        session.message("user", "Stop!")
        answer.set()
        return read, await waiting

    read, decision = asyncio.run(run())
    assert isinstance(read, Allow)
    assert isinstance(decision, Refuse)
    assert decision.finding.rules == ("stop",)


def test_coroutine_functions_and_functions_serve_both_ways() -> None:
    async def ask(_: PermissionRequest) -> bool:
        await asyncio.sleep(0)
        return True

    assert isinstance(guard(ask).before(refund(150)), Allow)
    assert isinstance(asyncio.run(guard(ask).before_async(refund(150))), Allow)
    assert isinstance(asyncio.run(guard(says(True, [])).before_async(refund(150))), Allow)


def test_question_and_answer_are_in_the_log(tmp_path: Path) -> None:
    log = tmp_path / "guard.jsonl"
    guard(says(Permission(True, "sam"), []), log=lawtrace.GuardLog(log)).before(refund(150))
    lines = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    question, decided = lines[-2:]
    assert (question["note"], question["tool"], question["rules"]) == ("asked", "refund", ["large"])
    assert decided["decision"]["asked"] == {"granted": True, "by": "sam", "words": ""}
    assert decided["decision"]["allowed"]


def test_other_modes_do_not_ask() -> None:
    asked: list[PermissionRequest] = []
    for mode in ("warn", "record"):
        decision = guard(says(False, asked), mode=mode).before(refund(150))
        assert isinstance(decision, Allow)
        assert decision.finding is not None
    assert asked == []


def test_an_audit_of_the_log_does_not_count_what_a_person_permitted(tmp_path: Path) -> None:
    path = tmp_path / "guard.jsonl"
    watched = guard(says(Permission(True, "sam"), []), log=lawtrace.GuardLog(path, "7"))
    watched.before(refund(150))
    watched.after(refund(150), {})
    permitted, told = audit_of(path)
    assert permitted == "lawful"
    assert told == ("a person permitted 1 call(s), by the guard's log, despite large",)
    # The same call permitted again, and its answer is not recorded.
    watched.before(refund(150))
    assert audit_of(path)[0] == "lawful"
    # The same call again, and nobody was asked.
    [call, *_] = [line for line in path.read_text().splitlines() if '"decision"' in line]
    entry: dict[str, object] = json.loads(call)
    path.write_text(path.read_text() + json.dumps(entry | {"decision": {}, "result": {}}) + "\n")
    assert audit_of(path)[0] == "unlawful"


def audit_of(path: Path) -> tuple[str, tuple[str, ...]]:
    [row] = lawtrace.audit([LARGE, READ, NEVER], path, path)
    return row.outcome, row.notes
