"""Whether a call succeeded: one meaning for a guard and for an audit of its log."""

from pathlib import Path
from typing import Any

import pytest

import lawtrace

ANSWER: dict[str, Any] = {"type": "object", "properties": {"error": {"type": "string"}}}
TOOLS: list[dict[str, Any]] = [
    {"name": "look_up", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "pay", "inputSchema": {"type": "object", "properties": {}}},
    {"name": "try", "inputSchema": {}, "outputSchema": {"$ref": "#/$defs/answer", "$defs": {"answer": ANSWER}}},
]
LOOKED_UP = lawtrace.Rule(id="looked-up", formula="G(pay -> O (look_up | try))")


@pytest.mark.parametrize(
    ("result", "texts", "succeeds"),
    [
        ("Error: user not found", (), False),
        ("NotFoundException: no such user", (), False),
        ("Errors are rare.", (), True),
        ({"error": "no such user"}, (), False),
        ({"error": None, "isError": False}, (), True),
        ({"isError": True}, (), False),
        ({"success": False}, (), False),
        ({"success": True}, (), True),
        (None, (), True),
        ("No user was found", (), True),
        ("No user was found", "No .* found", False),
        ("no such user", ("(?i)NO SUCH", "Fehler"), False),
    ],
)
def test_guard_and_audit_agree_on_success(result: Any, texts: Any, succeeds: bool, tmp_path: Path) -> None:
    log = tmp_path / "guard.jsonl"
    guard = lawtrace.Guard(
        [LOOKED_UP], {"tools": TOOLS, "error_texts": texts}, mode="record", log=lawtrace.GuardLog(log)
    )
    for tool, answer in (("look_up", result), ("pay", None)):
        decision = guard.before(lawtrace.Call(tool))
        guard.after(lawtrace.Call(tool), answer)
    assert isinstance(decision, lawtrace.Allow)
    assert (decision.finding is None) == succeeds
    (row,) = lawtrace.audit([LOOKED_UP], log, log)
    assert row.outcome == ("lawful" if succeeds else "unlawful"), "the log says what its guard took for an error"


def test_an_error_that_a_tool_documents_is_a_result() -> None:
    guard = lawtrace.Guard([LOOKED_UP], TOOLS)
    guard.before({"tool": "try"})
    guard.after({"tool": "try"}, {"error": "0.5 %"})
    assert isinstance(guard.before({"tool": "pay"}), lawtrace.Allow)


def test_patterns_that_cannot_be_read_are_named() -> None:
    with pytest.raises(lawtrace.InputError, match="error_texts: expected regular expressions"):
        lawtrace.Guard([LOOKED_UP], {"tools": TOOLS, "error_texts": ["("]})
