"""The pipeline with an environment whose calls take objects and lists of objects: checks, traces, tasks, run, audit."""

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lawtrace.environments.runtime.documentation import argument_schema
from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.completion import Completer
from lawtrace.solver.planner.requests import RequestWriter
from lawtrace.solver.rules import load_rules
from lawtrace.solver.search.problem import Found
from tests.support.shell import Shell
from tests.support.trip_desk import TRIP_DESK

RECIPE = "[tasks]\ncount = 3\nspare = 30\n"


@pytest.mark.slow
def test_from_declaration_to_verdicts(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")
    assert lawtrace.json("env", "check", TRIP_DESK)["findings"] == []
    assert lawtrace.json("rules", "check", "--env", TRIP_DESK)["findings"] == []
    covered = lawtrace.json("traces", "coverage", "--env", TRIP_DESK, "--length", 4)
    assert all(not found["undecided"] and not found["missing"] for found in covered.values())
    assert "of a sampler that neither has bounds nor lists its values, one value" in covered["tasks"]["assumptions"]
    done = lawtrace.json("run", "recipe.toml", "--env", TRIP_DESK, "--out", "run")
    fixed = {line: count for line, count in done["outcomes"].items() if "baseline:habit" not in line}
    assert fixed == {
        f"{model}/{style}/{outcome}": 3
        for model, outcome in {
            "baseline:reference": "safe_success",
            "baseline:literal": "unsafe_success",
            "baseline:noop": "benign_failure",
            "baseline:refuse": "no_program",
        }.items()
        for style in ("goal", "workflow")
    }
    tasks = list(read_task_rows(tmp_path / "run" / "tasks.jsonl").rows)
    called = {call.event.tool for task in tasks for call in task.calls}
    assert {"MakeBooking", "RefundBooking", "ChangeFlights"} <= called
    texts = [instruction.text for task in tasks for instruction in task.instructions.values()]
    assert not any("{" in text or "['" in text for text in texts)
    assert any('flight number "TR-' in text and "date 2026-" in text for text in texts)


REFUND = {"booking_code": "KA1000", "payment": {"method": "card", "amount": 400}}
REFUNDED = {"refund": REFUND["payment"], "in_words": "to the card"}
BOOKING: dict[str, Any] = {
    "holder": "Odd Vik",
    "flights": [{"flight_number": "TR-100", "date": "2026-03-02"}, {"flight_number": "TR-101", "date": "2025-12-30"}],
    "passengers": [{"full_name": "Ea Lind", "seats": 1}],
    "payments": [{"method": "voucher", "amount": 100}],
}
BOOKED = {"success": True, "booking_code": "NW0001", "paid": 100}


def audited(lawtrace: Shell, tmp_path: Path, *calls: tuple[str, object, object]) -> dict[str, tuple[bool, str]]:
    """For each rule whether it is kept, and why it is undetermined."""
    events = [{"conversation": "1", "tool": tool, "arguments": given, "result": shown} for tool, given, shown in calls]
    (tmp_path / "log.jsonl").write_text("\n".join(map(json.dumps, events)), encoding="utf-8")
    lawtrace("audit", "log.jsonl", "--env", TRIP_DESK, "--out", "audit.jsonl", "--force")
    row = json.loads((tmp_path / "audit.jsonl").read_text(encoding="utf-8"))
    return {rule["rule"]: (rule["kept"], rule["undetermined"]) for rule in row["rules"]}


def test_an_audit_leaves_open_what_does_not_fit(lawtrace: Shell, tmp_path: Path) -> None:
    wrong = {**BOOKING, "flights": [{"flight_number": "TR-100", "date": "2 March"}, {"date": "2026-03-02"}]}
    found = audited(lawtrace, tmp_path, ("MakeBooking", wrong, BOOKED))
    kept, why = found["no-old-flights"]
    assert not kept
    assert "argument 'flights[0].date': '2 March' is not in the format 'YYYY-MM-DD'" in why
    assert "argument 'flights[1].flight_number' is missing" in why
    assert found["check-vouchers"][1].endswith("whether the call counts decides the rule")
    assert found["check-before-change"] == (True, "")


def test_rules_are_checked_against_the_declared_fields(lawtrace: Shell, tmp_path: Path) -> None:
    for formula, complaint in (
        ("G !RefundBooking(payment.amont > 300)", "`payment` has no field `amont`: did you mean `amount`?"),
        ("G !MakeBooking(any f in flights: f.day < now)", "`f` has no field `day`"),
        ("G !MakeBooking(passengers.0.contact.town == 5)", "compares a text with a number and is never true"),
        ("G !FindBooking(any b in result.bookings: any f in b.flights: f.dat < now)", "`f` has no field `dat`"),
    ):
        (tmp_path / "rules.toml").write_text(f"[[rules]]\nid = 'r'\nformula = '{formula}'\n", encoding="utf-8")
        code, _, err = lawtrace("rules", "check", "--env", TRIP_DESK, "--rules", "rules.toml")
        assert code == 2
        assert complaint in err


async def test_objects_over_mcp(tmp_path: Path) -> None:
    mcp = pytest.importorskip("mcp", reason="the tool server needs the extra 'mcp'")
    from lawtrace.runs.integrations.judged_session import JudgedSession, SessionSetup
    from lawtrace.runs.integrations.mcp_server import make_server

    domain = load_domain(str(TRIP_DESK))
    setup = SessionSetup(domain, domain.environment.populate(Random(1)), (), "trip_desk-seed-1", calls=9)
    async with mcp.Client(make_server(JudgedSession(setup, tmp_path / "served"))) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        schema = argument_schema(domain.environment.tools["MakeBooking"])["properties"]
        assert tools["MakeBooking"].input_schema["properties"] == schema
        refunded = await client.call_tool("RefundBooking", REFUND)
        assert refunded.structured_content == REFUNDED
        refused = await client.call_tool("RefundBooking", {**REFUND, "payment": {"method": "card"}})
        assert refused.is_error
        assert "argument 'payment.amount': the field is missing" in refused.content[0].text


@pytest.mark.parametrize("tool", ["MakeBooking", "RefundBooking", "ChangeFlights"])
def test_a_completion_keeps_the_objects_that_were_asked_for(tool: str) -> None:
    domain = load_domain(str(TRIP_DESK))
    environment = domain.environment
    writer, completer = RequestWriter(environment), Completer(environment, load_rules(domain.rules_file))
    initial = environment.populate(Random(6))
    request = writer.draw(initial, [tool], Random(6))
    assert request is not None
    answer = completer.complete(initial, request)
    assert isinstance(answer, Found)
    names = {call.event.tool for call in request}
    kept = [(c.event.tool, c.event.arguments) for c in answer.trace.calls if c.event.tool in names]
    assert kept == [(c.event.tool, c.event.arguments) for c in request]
    assert "CheckIdentity" in answer.trace.tools
