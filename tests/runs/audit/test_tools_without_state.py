"""Audits by tool schemas: whole results, objects keyed by id, odd names; what a schema leaves open is never false."""

import json
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.tool_schemas.schemas import ToolSchema, make_environment
from lawtrace.runs.audit.judging import TranscriptAuditor
from lawtrace.runs.audit.transcripts import RecordedAnswer, RecordedCall, RecordedMessage, Transcript, make_transcript
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Json
from lawtrace.solver.rules import Rule, check_rules
from tests.support.audited_payments import called
from tests.support.shell import Shell

CARD = {"type": "object", "properties": {"source": {"type": "string"}, "amount": {"type": "number"}}}
CARDS = {"type": "object", "additionalProperties": CARD}
FLIGHTS = {"type": "array", "items": {"type": "object", "properties": {"date": {"type": "string"}}}}


def tool(name: str, result: Any, **parameters: Any) -> ToolSchema:
    return ToolSchema(name, "", {"properties": parameters, "required": [*parameters]}, result, name)


ENVIRONMENT = make_environment(
    "desk",
    [
        tool("get_user", {"type": "object", "properties": {"cards": CARDS, "name": {"type": "string"}}}),
        tool("search", FLIGHTS),
        tool("hand-over", {"type": "string"}, **{"to-whom": {"type": "string"}}),
        tool("seats", {"type": "number"}),
        tool("note", {"anyOf": [{"type": "string"}, {"type": "null"}]}),
        tool("raw", None, how={"type": "object"}),
        tool("pay", None, card={"type": "string"}),
    ],
)
CARDS_OF_ANN: Json = {"name": "Ann", "cards": {"gift_1": {"source": "gift", "amount": 5}, "visa_1": {"source": "card"}}}


def call(name: str, result: Json, **arguments: Json) -> RecordedMessage:
    return called(name, arguments, result)


def audit(formula: str, *messages: RecordedMessage) -> AuditRow:
    rule = Rule(id="it", formula=formula)
    check_rules([rule], ENVIRONMENT)
    return TranscriptAuditor(ENVIRONMENT, [rule], complete=True).audit(Transcript("file", "1", messages))


@pytest.mark.parametrize(
    ("formula", "turns", "outcome"),
    [
        ('F `hand-over`(result == "Done")', [call("hand-over", "Done", **{"to-whom": "Bob"})], "lawful"),
        ('F `hand-over`(result contains "one")', [call("hand-over", "Done", **{"to-whom": "Bob"})], "lawful"),
        ('G !`hand-over`(`to-whom` == "Bob")', [call("hand-over", "Done", **{"to-whom": "Bob"})], "unlawful"),
        ("F seats(result > 2.5)", [call("seats", 2.75)], "lawful"),
        ("F search(len(result) > 1)", [call("search", [{"date": "a"}, {"date": "b"}])], "lawful"),
        ('F search(any f in result: f.date == "b")', [call("search", [{"date": "a"}, {"date": "b"}])], "lawful"),
        ('F search("b" in result.date)', [call("search", [{"date": "a"}, {"date": "b"}])], "lawful"),
        ('F search(result.1.date == "b")', [call("search", [{"date": "a"}, {"date": "b"}])], "lawful"),
        ('F search(result.1.date == "b")', [call("search", [{"date": "a"}])], "unlawful"),
        ('F note(result == "a")', [call("note", None)], "unlawful"),
        ("F note(result == true)", [call("note", None)], None),
        ('F search(any f in result: f.date == "b")', [call("search", "nothing found")], "undetermined"),
        ("F seats(result > 2.5)", [call("seats", "three")], "undetermined"),
    ],
)
def test_rules_read_results_that_are_no_objects(
    formula: str, turns: list[RecordedMessage], outcome: str | None
) -> None:
    if outcome is None:
        with pytest.raises(FormulaError, match="compares a text with a boolean"):
            audit(formula, *turns)
    else:
        assert audit(formula, *turns).outcome == outcome


@pytest.mark.parametrize(
    ("formula", "outcome"),
    [
        ('F get_user("gift_1" in result.cards)', "lawful"),
        ('F get_user("gift_2" in result.cards)', "unlawful"),
        ("forall c: G(pay(card == c) -> O get_user(c in result.cards))", "lawful"),
        ('F get_user(any c in values(result.cards): c.source == "gift")', "lawful"),
        ("F get_user(any c in values(result.cards): c.amount > 9)", "unlawful"),
        ('F get_user(any c in result.cards: c startswith "visa")', "lawful"),
        ("F get_user(result.cards.gift_1.amount == 5)", "lawful"),
        ("F get_user(result.cards.gift_2.amount == 5)", "undetermined"),
        ("F get_user(len(result.cards) == 2)", "lawful"),
        ("F get_user(not len(result.cards) > 2)", "lawful"),
    ],
)
def test_rules_read_objects_keyed_by_id(formula: str, outcome: str) -> None:
    assert audit(formula, call("get_user", CARDS_OF_ANN), call("pay", "ok", card="visa_1")).outcome == outcome


@pytest.mark.parametrize(
    ("formula", "result", "outcome", "reason"),
    [
        ("F raw(result.ok)", {"ok": True}, "lawful", ""),
        ("F raw(result.ok)", {"ok": None}, "unlawful", ""),
        ("G !raw(result.ok)", {"fine": True}, "undetermined", "result has no field 'ok'"),
        ("G !raw(result.ok)", "done", "undetermined", "result is a text and has no part 'ok'"),
        ("G !raw(result.ok)", None, "undetermined", "result is null and has no part 'ok'"),
        ("G !raw(result.ok)", {"ok": "yes"}, "undetermined", "result.ok is a text"),
        ('G !raw(result == "no")', {"text": "no"}, "undetermined", "result is an object"),
        ('G !raw("x" in result.ids)', {"ids": "x, y"}, "undetermined", "result.ids is a text"),
        ('G !raw("x" in result.ids)', {"ids": ["y"]}, "lawful", ""),
        ('G !raw("x" in result.ids)', {"ids": {"x": 1}}, "unlawful", ""),
        ("G !raw(any i in result: i.n > 1)", [{"n": 1}, {"m": 1}], "undetermined", "result.1 has no field 'n'"),
        ("G !raw(result.0.n > 1)", [], "lawful", ""),
        ("G !raw(how.fast)", {}, "undetermined", "how has no field 'fast'"),
        ("G !raw(how.slow)", {}, "lawful", ""),
    ],
)
def test_what_a_schema_leaves_open_is_there_or_undetermined(
    formula: str, result: Json, outcome: str, reason: str
) -> None:
    row = audit(formula, call("raw", result, how={"slow": False}))
    assert (row.outcome, reason in row.reason) == (outcome, True)


def test_a_call_that_did_not_complete_leaves_nothing_open() -> None:
    assert audit("G !raw(result.ok)", called("raw", {"how": {}}, None, "no")).outcome == "lawful"


def test_an_answered_call_counts_though_its_arguments_do_not_fit() -> None:
    row = audit("G !pay", call("pay", "ok", card=7))
    assert row.outcome == "unlawful"
    assert row.notes == ("call 1, pay: argument 'card': expected a string, not a number",)
    assert audit('G !pay(card == "a")', call("pay", "ok", card=7)).outcome == "undetermined"


@pytest.fixture
def shell(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(monkeypatch, capsys)


MESSAGES = [
    {"role": "user", "content": "Pay, please."},
    {"role": "assistant", "content": None, "tool_calls": [
        {"id": "1", "type": "function", "function": {"name": "pay-now", "arguments": '{"amount-eur": 20}'}}]},
    {"role": "tool", "tool_call_id": "1", "content": "Paid"},
]  # fmt: skip
PAY_NOW = {"name": "pay-now", "parameters": {"type": "object", "properties": {"amount-eur": {"type": "number"}}}}
RULES = """
[[rules]]
id = "small"
formula = "G !`pay-now`(`amount-eur` > 10)"
"""


def test_a_log_with_its_tools_is_audited_without_a_folder(tmp_path: Path, shell: Shell) -> None:
    log, rules, out = tmp_path / "log.jsonl", tmp_path / "rules.toml", tmp_path / "audit.jsonl"
    log.write_text(json.dumps({"tools": [{"type": "function", "function": PAY_NOW}], "messages": MESSAGES}), "utf-8")
    rules.write_text(RULES, encoding="utf-8")
    code, printed, _ = shell("audit", log, "--tools", log, "--rules", rules, "--out", out)
    assert (code, "1 unlawful" in printed) == (1, True)
    code, _, said = shell("audit", log, "--tools", log, "--out", out, "--force")
    assert (code, "name the rules with --rules" in said) == (2, True)
    code, _, said = shell("audit", log, "--tools", rules, "--rules", rules, "--out", out, "--force")
    assert (code, "no tool schemas (JSON or Python)" in said) == (2, True)


def test_schemas_make_a_folder_that_commands_take(tmp_path: Path, shell: Shell) -> None:
    schemas, folder, log = tmp_path / "schemas.json", tmp_path / "till", tmp_path / "log.jsonl"
    schemas.write_text(json.dumps([PAY_NOW, {"name": "look", "inputSchema": {"type": "object"}}]), encoding="utf-8")
    log.write_text(json.dumps({"messages": MESSAGES}), encoding="utf-8")
    made = shell.json("env", "from-tools", schemas, "--out", folder)
    assert (made["environment"], made["tools"]) == ("till", ["pay-now", "look"])
    assert [tool["summary"] for tool in shell.json("env", "show", folder)["documentation"]["tools"]] == ["", ""]
    assert shell.json("rules", "check", "--env", folder)["findings"] == []
    checked = shell.json("env", "check", folder)
    assert checked["findings"] == []
    assert [text.split(":")[0] for text in checked["unseen"]] == [
        "the results of 2 of 2 tools are not declared",
        "no rule is about 1 of 2 tools",
        "rules read messages, and take a record without messages for a silent one",
        "what calls do is known from their recorded results only",
    ]
    assert shell.json("audit", log, "--env", folder, "--out", tmp_path / "audit.jsonl")["outcomes"]["lawful"] == 1


UNDER_READINGS = """
[[questions]]
id = "much"
provisions = ["Section 1"]
asks = "How much is much?"
readings = [{ id = "ten", means = "ten euros" }, { id = "more", means = "more than that" }]

[[definitions]]
name = "much"
means = "too much"
formula = "`pay-now`(`amount-eur` > 10)"

[[rules]]
id = "small"
formula = "G !much"
under = { much = ["ten"] }
"""


def test_questions_and_definitions_are_shown(tmp_path: Path, shell: Shell) -> None:
    schemas, folder = tmp_path / "schemas.json", tmp_path / "till"
    schemas.write_text(json.dumps([PAY_NOW]), encoding="utf-8")
    shell.json("env", "from-tools", schemas, "--out", folder)
    (folder / "rules.toml").write_text(UNDER_READINGS, encoding="utf-8")
    code, shown, _ = shell("env", "show", folder)
    lines = [line.split() for line in shown.splitlines()]
    assert code == 0
    assert ["open", "question", "readings,", "and", "the", "rules", "under", "them"] in lines
    assert ["ten:", "ten", "euros"] in lines
    assert ["definition", "meaning,", "formula"] in lines
    assert ["much", "means:", "too", "much"] in lines


@pytest.mark.parametrize(
    ("recorded", "result"),
    [
        ({"content": [{"type": "text", "text": '{"n": 1}'}], "isError": False}, {"n": 1}),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "a\nb"),
        ({"content": [{"type": "text", "text": "x"}], "structuredContent": {"n": 2}}, {"n": 2}),
        ({"content": [{"type": "image", "data": ""}]}, {"content": [{"type": "image", "data": ""}]}),
        ({"content": ["a"], "owner": "Ann"}, {"content": ["a"], "owner": "Ann"}),
    ],
)
def test_results_come_out_of_the_envelope_of_mcp(recorded: Json, result: Json) -> None:
    made = RecordedCall("look", {}, answer=RecordedAnswer(json.dumps(recorded)))
    (turn,) = make_transcript("file", "1", [RecordedMessage("agent", calls=[made])]).turns
    assert turn.call is not None
    assert turn.call.answer == RecordedAnswer(result)
