"""The log of a guard: an audit reads from it what the guard decided and learned."""

import hashlib
import json
import math
import stat
from pathlib import Path

import pytest

import lawtrace
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.events import Event
from lawtrace.solver.rules import Rule
from tests.support.shell import Shell

RULES = [
    Rule(id=name, formula=formula, regulation="POLICY", provisions=(section,), rationale=rationale)
    for name, section, rationale, formula in (
        (
            "read-first",
            "3.2",
            "Only reservations that were read are cancelled.",
            'G(cancel(id == "A") -> O read(id == "A"))',
        ),
        ("told", "3.3", "The customer gets a receipt of a cancellation.", "G(cancel -> F receipt)"),
        ("asked", "3.4", "Only what the user asks for is cancelled.", "G(cancel -> O user)"),
    )
]
TOOL_NAMES = ("read", "cancel", "receipt")
TOOLS = [
    {"name": name, "inputSchema": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}}
    for name in TOOL_NAMES
]
ARGUMENTS = {"id": "A"}


def lines(path: Path) -> list[dict[str, object]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_session_is_logged_so_that_an_audit_needs_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "guard.jsonl"
    with lawtrace.GuardLog(path, "7") as log:
        guard = lawtrace.Guard(RULES, TOOLS, log=log, clock=lambda: 1_000)
        guard.message("user", "Cancel A.")
        assert isinstance(guard.before(lawtrace.Call("cancel", ARGUMENTS)), lawtrace.Refuse)
        for tool in ("read", "cancel"):
            call = lawtrace.Call(tool, ARGUMENTS)
            assert isinstance(guard.before(call), lawtrace.Allow)
            guard.after(call, {"success": True})
        assert [duty.rule for duty in guard.finish()] == ["told"]
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    written = lines(path)
    assert {line["conversation"] for line in written} == {"7"}
    assert written[2]["user"] == "Cancel A."
    refused = written[3]
    assert "Not carried out. Call read(id='A') first." in str(refused["error"])
    assert refused["decision"] == {
        "allowed": False,
        "mode": "refuse",
        "rules": ["read-first"],
        "reason": str(refused["error"]).removeprefix("Not carried out. "),
        "provisions": ["POLICY 3.2: Only reservations that were read are cancelled."],
        "first": ["read(id='A')"],
    }
    assert written[-1]["labels"] == {"open_duties": 1, "lost": 0}

    rules = tmp_path / "rules.jsonl"
    rules.write_text("".join(rule.model_dump_json() + "\n" for rule in RULES), encoding="utf-8")
    _, out, err = Shell(monkeypatch, capsys)("audit", path, "--tools", path, "--rules", rules, "--json")
    (conversation,) = (json.loads(line) for line in Path("audit.jsonl").read_text(encoding="utf-8").splitlines())
    statuses = {rule["rule"]: rule for rule in conversation["rules"]}
    assert statuses["read-first"]["kept"], out + err
    assert not statuses["told"]["kept"]


def test_sessions_with_other_schemas_and_calls_without_an_answer_are_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, more in (("old", {}), ("new", {"fee": {"type": "integer"}})):
        tools = [
            {"name": tool, "inputSchema": {"properties": {"id": {"type": "string"}, **more}}} for tool in TOOL_NAMES
        ]
        with lawtrace.GuardLog("guard.jsonl", name) as log:
            guard = lawtrace.Guard(RULES[:1], tools, log=log, clock=lambda: 1_000)
            for tool in ("read", "cancel"):
                call = lawtrace.Call(tool, {**ARGUMENTS, **dict.fromkeys(more, 3)})
                guard.before(call)
                if (name, tool) == ("new", "read"):
                    guard.unanswered(call)
                else:
                    guard.after(call, {"success": True})
            guard.see(Event("cancel", ARGUMENTS))
    Path("rules.jsonl").write_text(RULES[0].model_dump_json() + "\n", encoding="utf-8")
    _, out, err = Shell(monkeypatch, capsys)(
        "audit", "guard.jsonl", "--tools", "guard.jsonl", "--rules", "rules.jsonl", "--json"
    )
    judged = [json.loads(line) for line in Path("audit.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(one["conversation"], one["outcome"]) for one in judged] == [("old", "lawful"), ("new", "undetermined")], (
        out + err
    )


def test_a_log_is_a_chain_and_says_where_it_breaks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shell = Shell(monkeypatch, capsys)
    path = tmp_path / "guard.jsonl"
    logs = [lawtrace.GuardLog(path, name) for name in "ab"]
    for number in range(4):
        for log in logs:
            log.write(number, {"user": "x" * 9_000 * number})
    checked = shell.json("audit", "--verify", path)["logs"][str(path)]
    written = path.read_bytes().splitlines(keepends=True)
    assert checked == {"lines": 8, "last": hashlib.sha256(written[-1].rstrip()).hexdigest(), "breaks": []}
    for changed, broken in (
        ([*written[:2], written[2].replace(b"1", b"2"), *written[3:]], 4),
        (written[:5] + written[6:], 6),
        (written[1:], 1),
        ([*written[:4], b"{}\n", *written[4:]], 5),
    ):
        path.write_bytes(b"".join(changed))
        code, out, _ = shell("audit", "--verify", path)
        assert (code, f"line {broken} does not follow" in " ".join(out.split())) == (1, True)


def test_a_call_whose_line_cannot_be_written_is_not_allowed(tmp_path: Path) -> None:
    log = lawtrace.GuardLog(tmp_path / "guard.jsonl")
    guard = lawtrace.Guard(RULES, TOOLS, log=log)
    log.close()
    with pytest.raises(OperationalError, match="cannot be written"):
        guard.before(lawtrace.Call("read", ARGUMENTS))
    assert json.loads(guard.snapshot())["session"]["traces"][0]["queue"] == []
    with pytest.raises(OperationalError, match="cannot be written"):
        lawtrace.GuardLog(tmp_path / "missing" / "guard.jsonl")


def test_values_that_are_no_json_are_not_recorded(tmp_path: Path) -> None:
    path = tmp_path / "guard.jsonl"
    guard = lawtrace.Guard(RULES, TOOLS, log=lawtrace.GuardLog(path))
    guard.before(lawtrace.Call("receipt", {"id": "R-1", "more": math.nan}))
    guard.before(lawtrace.Call("read", ARGUMENTS))
    guard.after(lawtrace.Call("read", ARGUMENTS), math.inf)
    refused, _, answered = lines(path)[2:]
    assert refused["arguments"] == "not recorded"
    assert "not strict JSON" in str(refused["error"])
    assert "result" not in answered


def test_a_restored_guard_goes_on_with_the_log(tmp_path: Path) -> None:
    path = tmp_path / "guard.jsonl"
    first = lawtrace.Guard(RULES, TOOLS, log=lawtrace.GuardLog(path, "7"))
    call = lawtrace.Call("read", ARGUMENTS)
    first.before(call)
    second = lawtrace.Guard.restore(first.snapshot(), RULES, TOOLS, log=lawtrace.GuardLog(path, "7"))
    second.after(call, {})
    asked, answered = (line for line in lines(path) if "call" in line)
    assert asked["call"] == answered["call"]


def test_a_guard_that_loads_a_snapshot_goes_on_from_it() -> None:
    first = lawtrace.Guard(RULES, TOOLS)
    second = lawtrace.Guard(RULES, TOOLS)
    first.see(Event("read", ARGUMENTS))
    first.message("user", "Cancel A.")
    second.load(first.snapshot())
    assert isinstance(second.before(lawtrace.Call("cancel", ARGUMENTS)), lawtrace.Allow)
    with pytest.raises(lawtrace.InputError, match="mode 'refuse', not 'warn'"):
        lawtrace.Guard(RULES, TOOLS, mode="warn").load(first.snapshot())
