"""Decisions while other calls have not returned."""

import pytest

from lawtrace.schemas.events import Json
from lawtrace.solver.guard.decisions import Allow, Refuse
from lawtrace.solver.guard.guard import Guard
from lawtrace.solver.rules import Rule

TEXT: dict[str, Json] = {"type": "string"}
TOOLS: list[dict[str, Json]] = [
    {"name": name, "inputSchema": {"type": "object", "properties": {"key": TEXT}, "required": ["key"]}}
    for name in ("Read", "Cancel", "Other")
]
RULES = (
    Rule(id="read", formula="forall k: G(Cancel(key == k) -> O Read(key == k))"),
    Rule(id="clean", formula='forall k: G(Cancel(key == k) -> !O Read(key == k, result.state == "used"))'),
    Rule(id="other", formula="G(Other -> !O Cancel)"),
)


@pytest.mark.parametrize("waiting", [False, True])
def test_no_advice_is_given_that_what_happened_meanwhile_makes_useless(*, waiting: bool) -> None:
    guard = Guard(RULES, TOOLS, clock=lambda: 0)
    cancel: dict[str, Json] = {"tool": "Cancel", "arguments": {"key": "a"}}
    advised = guard.before(cancel)
    assert isinstance(advised, Refuse)
    assert [step.call.tool for step in advised.finding.first if step.call] == ["Read"]
    if waiting:
        assert isinstance(guard.before({"tool": "Other", "arguments": {"key": "b"}}), Allow)
    guard.after({"tool": "Read", "arguments": {"key": "a"}}, {"state": "used"})
    refused = guard.before(cancel)
    assert isinstance(refused, Refuse)
    assert (refused.finding.rules, refused.finding.first) == (("clean",), ())
