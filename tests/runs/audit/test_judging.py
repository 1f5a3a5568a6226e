"""Audit of transcripts: verdicts on calls and messages; what is odd, missing or unreadable is reported."""

import json
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.runs.audit.judging import TranscriptAuditor
from lawtrace.runs.audit.sources.reading import read_transcripts
from lawtrace.runs.audit.transcripts import Transcript, make_transcript
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.questions import Question, Reading
from lawtrace.solver.rules import Rule
from tests.support.audited_payments import PAY, RECORDED, called, said
from tests.support.shell import Shell

RULES = (
    Rule(id="authorize", formula="!((!CheckAuthorization) U PayBill)"),
    Rule(id="record", formula="G(PayBill -> F RecordAuditEvent)"),
    Rule(id="confirm", formula='!((!user("yes")) U PayBill)'),
)
CALLS: list[tuple[str, dict[str, Any], Any]] = [
    ("CheckAuthorization", {}, {"authorized": True}),
    ("PayBill", {**PAY}, {"success": True}),
    ("RecordAuditEvent", {"events": ["BILL_PAYMENT"]}, {"log_entry_id": "L-00001"}),
]


def openai_messages(calls: list[tuple[str, dict[str, Any], Any]], yes: str = "Yes, do it.") -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = [
        {"role": "system", "content": "You are a clerk."},
        {"role": "user", "content": [{"type": "text", "text": yes}]},
    ]
    for number, (tool, arguments, result) in enumerate(calls):
        call = {"id": str(number), "type": "function", "function": {"name": tool, "arguments": json.dumps(arguments)}}
        messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
        messages.append({"role": "tool", "tool_call_id": str(number), "content": json.dumps(result)})
    return [*messages, {"role": "assistant", "content": "Done."}]


def write(path: Path, *rows: object) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


def audit(conversation: Transcript) -> AuditRow:
    return TranscriptAuditor(ENVIRONMENT, RULES, complete=True).audit(conversation)


def outcomes(path: Path) -> list[str]:
    return [audit(conversation).outcome for conversation in read_transcripts(path)]


def test_violation_names_its_turn_and_messages_count_as_events(tmp_path: Path) -> None:
    late = [CALLS[1], CALLS[0], CALLS[2]]
    path = write(
        tmp_path / "t.jsonl",
        {"id": "late", "messages": openai_messages(late)},
        {"id": "unasked", "messages": openai_messages(CALLS, "Eyes on the bill.")},
        {"id": "open", "messages": openai_messages(CALLS[:2])},
    )
    late_row, unasked, still_open = (audit(one) for one in read_transcripts(path))
    assert late_row.outcome == "unlawful"
    broken = {rule.rule: rule.broken_at for rule in late_row.rules if not rule.kept}
    assert broken == {"authorize": 1}
    assert late_row.events[1].tool == "PayBill"
    assert [rule.rule for rule in unasked.rules if not rule.kept] == ["confirm"]
    assert [rule.rule for rule in still_open.rules if not rule.kept] == ["record"]


def test_calls_that_failed_did_not_complete(tmp_path: Path) -> None:
    def outcome_of(result: object) -> str:
        path = write(tmp_path / "t.json", openai_messages([("PayBill", {**PAY}, result)]))
        row = TranscriptAuditor(ENVIRONMENT, RULES[1:2], complete=True).audit(next(read_transcripts(path)))
        event = next(event for event in row.events if event.tool == "PayBill")
        assert (row.outcome == "unlawful") == event.completed
        return event.outcome

    assert outcome_of({"success": True}) == "completed"
    assert outcome_of({"success": False}) == "failed"
    assert outcome_of("NotFoundException: no such payee") == "raised"
    assert outcome_of({"error": "no such payee"}) == "raised"
    assert outcome_of({"isError": True, "content": []}) == "raised"
    assert outcome_of({"success": True, "error": None}) == "completed"


def verdicts(tmp_path: Path, calls: list[tuple[str, dict[str, Any], Any]], *formulas: str) -> list[str]:
    """The verdict on each formula for the calls: kept, broken, or why it is undetermined."""
    rules = [Rule(id=formula, formula=formula) for formula in formulas]
    conversation = next(read_transcripts(write(tmp_path / "t.json", openai_messages(calls))))
    row = TranscriptAuditor(ENVIRONMENT, rules, complete=True).audit(conversation)
    return [rule.undetermined or ("kept" if rule.kept else "broken") for rule in row.rules]


IBAN = {**PAY, "from_account_number": "DE89370400440532013000"}


def test_a_call_with_values_of_another_format_is_never_kept_silently(tmp_path: Path) -> None:
    asked, unasked = "!((!CheckAuthorization) U PayBill)", [("PayBill", IBAN, {"success": True})]
    (why,) = verdicts(tmp_path, unasked, asked)
    assert why.startswith(
        "call 1, PayBill: argument 'from_account_number': 'DE89370400440532013000' is not in the format"
    )
    assert why.endswith("whether the call counts decides the rule")
    # Whether it counts or not, the rule is kept with a check before it, and broken by another payment.
    assert verdicts(tmp_path, [CALLS[0], *unasked], asked) == ["kept"]
    assert verdicts(tmp_path, [CALLS[1], CALLS[0], *unasked], asked) == ["broken"]
    assert verdicts(tmp_path, unasked, "G !TransferFunds") == ["kept"]


def test_every_combination_of_open_calls_is_considered(tmp_path: Path) -> None:
    # Both calls count: kept. Neither counts: kept. Only the payment counts: broken.
    odd_check = ("CheckAuthorization", {"who": "me"}, {"authorized": True})
    (why,) = verdicts(tmp_path, [odd_check, ("PayBill", IBAN, {"success": True})], "!((!CheckAuthorization) U PayBill)")
    assert "there is no parameter 'who'" in why
    many = [("PayBill", IBAN, {"success": True})] * 5
    assert "decides the rule" in verdicts(tmp_path, [CALLS[0], *many], "!((!CheckAuthorization) U PayBill)")[0]


@pytest.mark.parametrize(
    ("result", "formula", "reason"),
    [
        ({"authorized": "yes"}, "F CheckAuthorization(result.authorized)", "expected true or false"),
        ({}, "F CheckAuthorization(result.authorized)", "result 'authorized' is missing"),
        ("ok", "G !CheckAuthorization(result.authorized)", "the result is not an object with fields"),
    ],
)
def test_a_field_that_cannot_be_read_leaves_the_rule_undetermined(
    tmp_path: Path, result: object, formula: str, reason: str
) -> None:
    calls: list[tuple[str, dict[str, Any], Any]] = [("CheckAuthorization", {}, result)]
    why, other = verdicts(tmp_path, calls, formula, "F CheckAuthorization")
    assert reason in why
    assert why.endswith("the rule reads result.authorized")
    assert other == "kept"


def test_fields_of_rows_in_a_result_are_checked(tmp_path: Path) -> None:
    rule = "forall p: G(PayBill(payee_id == p) -> O SearchPayee(p in result.payees.payee_id))"
    found: dict[str, Any] = {"payee_id": 7, "payee_name": "x"}
    why, other = verdicts(
        tmp_path, [("SearchPayee", {"keywords": ["x"]}, {"payees": [found]}), CALLS[1]], rule, "F SearchPayee"
    )
    assert "result 'payees[0].payee_id': expected" in why
    assert other == "kept"


def test_a_call_without_a_recorded_result_may_have_happened(tmp_path: Path) -> None:
    messages = [message for message in openai_messages([CALLS[1]]) if message["role"] != "tool"]
    row = TranscriptAuditor(ENVIRONMENT, RULES[:1]).audit(next(read_transcripts(write(tmp_path / "t.json", messages))))
    assert row.outcome == "undetermined"
    assert "call 1, PayBill: no result is recorded; whether the call counts decides the rule" in row.reason
    assert row.notes == ("call 1, PayBill: no result is recorded",)


def test_calls_of_other_tools_are_noted_and_the_rest_is_judged(tmp_path: Path) -> None:
    calls = [*CALLS, ("think", {"thought": "done"}, "ok")]
    row = audit(next(read_transcripts(write(tmp_path / "t.json", openai_messages(calls)))))
    assert row.outcome == "lawful"
    assert row.notes == ("1 call(s) of a tool that is not declared: think",)


def test_a_finding_names_the_call_and_the_message(tmp_path: Path) -> None:
    row = audit(next(read_transcripts(write(tmp_path / "t.json", openai_messages([CALLS[1], CALLS[0], CALLS[2]])))))
    # Message 1 is the system prompt, 2 the user's.
    assert "authorize (call 1, message 3): call 1 is PayBill" in row.reason
    assert [(rule.call, rule.message, rule.triggers) for rule in row.rules if rule.broken] == [("1", "3", 1)]


def test_a_row_states_the_outcome_of_each_rule_and_the_readings() -> None:
    readings = (Reading(id="strict", means="before"), Reading(id="lax", means="at any time"))
    question = Question(id="when", provisions=("Article 1",), asks="When?", readings=readings)
    rules = [
        Rule(id="kept", formula="G(PayBill -> X F RecordAuditEvent)"),
        Rule(id="open", formula="G(RecordAuditEvent -> F GetBalance)"),
        Rule(id="idle", formula="G !TransferFunds"),
        Rule(id="read", formula=RULES[0].formula, under={"when": ("strict",)}, questions=(question,)),
    ]
    turns = (called("PayBill", PAY, {"success": True, "new": {"field": 1}}), RECORDED)
    row = TranscriptAuditor(ENVIRONMENT, rules).audit(make_transcript("log", "1", turns))
    stated = {rule.rule: (rule.outcome, rule.readings) for rule in AuditRow.model_validate(row.model_dump()).rules}
    assert stated == {
        "kept": ("kept", ""),
        "open": ("undetermined", ""),
        "idle": ("never triggered", ""),
        "read": ("broken", "when: strict"),
    }
    assert row.outcome == "undetermined"
    assert TranscriptAuditor(ENVIRONMENT, rules[2:]).audit(make_transcript("log", "1", turns)).outcome == "arguable"
    assert row.notes == ()


def test_a_conversation_without_a_call_is_invalid_unless_a_message_triggers_a_rule() -> None:
    talk = make_transcript("log", "1", [said("Pay, please."), said("No.", "agent")])
    assert TranscriptAuditor(ENVIRONMENT, RULES[:1]).audit(talk).outcome == "invalid"
    heard = [Rule(id="polite", formula='G !agent("no")')]
    assert TranscriptAuditor(ENVIRONMENT, heard).audit(talk).outcome == "unlawful"


def test_reused_call_ids_do_not_mix_up_results(tmp_path: Path) -> None:
    messages = openai_messages([("PayBill", {**PAY}, {"success": False}), ("PayBill", {**PAY}, {"success": True})])
    for message in messages:
        for call in message.get("tool_calls", ()):
            call["id"] = "call_0"
        if message["role"] == "tool":
            message["tool_call_id"] = "call_0"
    row = TranscriptAuditor(ENVIRONMENT, RULES).audit(next(read_transcripts(write(tmp_path / "t.json", messages))))
    assert [event.outcome for event in row.events if event.tool == "PayBill"] == ["failed", "completed"]


def test_the_command_prints_totals_and_exits_with_findings(lawtrace: Shell, tmp_path: Path) -> None:
    path = write(
        tmp_path / "t.jsonl",
        {"id": "good", "messages": openai_messages(CALLS)},
        {"id": "bad", "messages": openai_messages(CALLS[1:])},
    )
    rules = tmp_path / "rules.toml"
    rules.write_text("".join(f"[[rules]]\nid = {r.id!r}\nformula = '''{r.formula}'''\n" for r in RULES))
    code, out, _ = lawtrace("audit", path, "--rules", rules, "--complete", "--out", tmp_path / "a.jsonl", "--json")
    result = json.loads(out.splitlines()[-1])
    assert code == 1
    assert result["outcomes"] == {"lawful": 1, "unlawful": 1}
    counts = {"kept": 1, "broken": 1, "undetermined": 0, "never_triggered": 0, "triggering_events": 2}
    assert result["rules"]["authorize"] == counts
    words = ("audit", path, "--rules", rules, "--complete", "--out", tmp_path / "a.jsonl")
    code, _, err = lawtrace(*words)
    assert (code, "a.jsonl exists; give another --out, or --force to replace it" in err) == (2, True)
    code, out, err = lawtrace(*words, "--force")
    assert "bad" in err
    assert "authorize" in out
