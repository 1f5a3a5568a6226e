"""Rules about the calls of one turn: how many, which beside each other, and beside words to the user."""

import json
from pathlib import Path
from typing import Any

import pytest

import lawtrace
from lawtrace import Guard, InputError, Rule
from tests.support.shell import Shell

TOOLS: list[dict[str, Any]] = [{"name": name, "inputSchema": {"type": "object"}} for name in ("book", "refund")]
ONE = Rule(id="one", formula="G !agent(len(calls) > 1)")
APART = Rule(id="apart", formula='G !agent("book" in calls and "refund" in calls)')
SILENT = Rule(id="silent", formula='G !agent(len(calls) > 0 and text != "")')


def chat(*turns: tuple[str, ...]) -> list[dict[str, Any]]:
    """A conversation: of each turn the words, and then the tools that are called."""
    messages: list[dict[str, Any]] = [{"role": "user", "content": "hello"}]
    for number, (words, *tools) in enumerate(turns):
        ids = [f"c{number}-{place}" for place in range(len(tools))]
        calls = [
            {"id": name, "type": "function", "function": {"name": tool, "arguments": "{}"}}
            for name, tool in zip(ids, tools, strict=True)
        ]
        messages.append({"role": "assistant", "content": words, **({"tool_calls": calls} if calls else {})})
        messages += [{"role": "tool", "tool_call_id": name, "content": "{}"} for name in ids]
    return messages


def responses(*turns: tuple[str, ...]) -> list[dict[str, Any]]:
    """The same, where each call is an item of its own."""
    items: list[dict[str, Any]] = [{"role": "user", "content": "hello"}]
    for number, (words, *tools) in enumerate(turns):
        items += [{"role": "assistant", "content": words}] if words else []
        ids = [f"c{number}-{place}" for place in range(len(tools))]
        pairs = [*zip(ids, tools, strict=True)]
        items += [{"type": "function_call", "call_id": name, "name": tool, "arguments": "{}"} for name, tool in pairs]
        items += [{"type": "function_call_output", "call_id": name, "output": "{}"} for name in ids]
    return items


def broken(tmp_path: Path, messages: list[dict[str, Any]]) -> set[str]:
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"messages": messages}), encoding="utf-8")
    (row,) = lawtrace.audit([ONE, APART, SILENT], log, TOOLS)
    assert row.outcome != "invalid", row.reason
    assert all(verdict.outcome in {"kept", "broken", "never triggered"} for verdict in row.rules)
    return {verdict.rule for verdict in row.rules if verdict.broken}


@pytest.mark.parametrize("form", [chat, responses])
def test_the_calls_of_a_turn_are_counted_and_named(tmp_path: Path, form: Any) -> None:
    assert broken(tmp_path, form(("", "book"), ("", "refund"), ("done",))) == set()
    assert broken(tmp_path, form(("", "book", "book"))) == {"one"}
    assert broken(tmp_path, form(("", "book", "refund"))) == {"one", "apart"}
    assert broken(tmp_path, form(("I book now", "book"), ("done",))) == {"silent"}


def test_calls_that_stand_with_their_answers_are_turns_of_their_own(tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    lines: list[dict[str, Any]] = [
        {"conversation": "1", "tool": name, "arguments": {}, "result": {}} for name in ("book", "refund")
    ]
    log.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (row,) = lawtrace.audit([ONE, APART], log, TOOLS)
    assert not any(verdict.broken for verdict in row.rules)


def test_other_rules_do_not_see_messages_without_words(tmp_path: Path) -> None:
    log = tmp_path / "log.json"
    log.write_text(json.dumps({"messages": chat(("", "book", "refund"))}), encoding="utf-8")
    (row,) = lawtrace.audit([Rule(id="quiet", formula="G !agent")], log, TOOLS)
    assert [event.tool for event in row.events] == ["user", "book", "refund"]


def test_a_finding_names_the_message(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("log.json").write_text(json.dumps({"messages": chat(("", "book", "refund"))}), encoding="utf-8")
    Path("tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    Path("rules.jsonl").write_text("".join(f"{rule.model_dump_json()}\n" for rule in (ONE, APART)), encoding="utf-8")
    shell = Shell(monkeypatch, capsys)
    assert shell("env", "from-tools", "tools.json", "--out", "world")[0] == 0
    checked, out, _ = shell("rules", "check", "--rules", "rules.jsonl", "--env", "./world")
    assert (checked, "No findings" in out) == (0, True)
    code, _, err = shell("audit", "log.json", "--tools", "tools.json", "--rules", "rules.jsonl")
    assert (code, "one (message 2): message m2 is agent(len(calls) > 1)" in err) == (1, True)


def test_a_guard_refuses_the_rule() -> None:
    with pytest.raises(InputError, match="asks which tools a message calls"):
        Guard(rules=[ONE], tools=TOOLS)
