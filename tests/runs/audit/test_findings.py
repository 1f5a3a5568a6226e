"""The page of an audit: bounded whatever the length of the audit, with the events near each finding."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from lawtrace.runs.audit.findings import MAX_EVENTS, MAX_OF_RULE, AuditFindings, show_conversation
from lawtrace.runs.audit.judging import TranscriptAuditor
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.schemas.audit_rows import AuditRow
from lawtrace.schemas.events import Event, message_event
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import Rule, load_rules
from tests.support.audited_payments import PAID, PAY, called, said, write_rules


@pytest.fixture
def rules(tmp_path: Path) -> tuple[Rule, ...]:
    return load_rules(write_rules(tmp_path / "rules.toml"))


@pytest.fixture
def auditor(rules: tuple[Rule, ...]) -> TranscriptAuditor:
    return TranscriptAuditor(load_domain("banking").environment, rules)


def rows(auditor: TranscriptAuditor, count: int) -> Iterator[AuditRow]:
    messages = (said("Pay the bill."), PAID)
    return (auditor.audit(Transcript("log", str(number), messages)) for number in range(count))


def test_findings_are_counted_and_the_first_are_shown(auditor: TranscriptAuditor, rules: tuple[Rule, ...]) -> None:
    found = AuditFindings(rules, load_domain("banking").regulation).add_all(rows(auditor, 100))
    checked, recorded, other = found.rules.values()
    assert (checked.counts["broken"], len(checked.shown), checked.left_out) == (100, MAX_OF_RULE, 80)
    assert recorded.counts["undetermined"] == 100
    assert not other.counts
    assert [of.rule.id for of in found.worst_first] == ["checked", "recorded", "same-account"]
    assert len(found.conversations) == MAX_OF_RULE
    first = checked.shown[0]
    assert (first.where, first.anchor) == ("call 1, message 2", "c1-e1")
    ((citation, words),) = checked.provisions
    assert citation == "Article 97(1)(b)"
    assert "payment" in words


def test_a_rule_that_is_broken_late_is_shown_although_others_were_before(
    auditor: TranscriptAuditor, rules: tuple[Rule, ...]
) -> None:
    found = AuditFindings(rules).add_all(rows(auditor, 60))
    large = called("PayBill", {**PAY, "amount": 200}, {"success": True})
    found.add(auditor.audit(Transcript("log", "late", (large, PAID))))
    assert [finding.row.conversation for finding in found.rules["same-account"].shown] == ["late"]
    event = found.conversations[-1].events[0]
    assert ("same-account", "happened") in event.evidence


def test_of_a_long_conversation_the_events_near_the_finding_are_shown(
    auditor: TranscriptAuditor, rules: tuple[Rule, ...]
) -> None:
    talk = tuple(said(f"{number}", "agent") for number in range(1, 5001))
    row = auditor.audit(Transcript("log", "long", (*talk[:4000], PAID, *talk[4000:])))
    shown = show_conversation(row, "c1")
    assert len(shown.events) <= MAX_EVENTS
    (marked,) = [event for event in shown.events if any(one.rule == "checked" for one in event.findings)]
    assert marked.anchor == "c1-e4000"
    assert sum(event.skipped for event in shown.events) + len(shown.events) + shown.skipped == 5001


def test_long_texts_are_cut_and_unseen_characters_shown() -> None:
    spoken = message_event("user", "a\u202eb" + "x" * 100_000, None)
    row = AuditRow(
        place="log", conversation="1", labels={}, outcome="lawful", reason="", rules=(),
        events=(spoken, Event("A", {})), notes=(),
    )  # fmt: skip
    text = show_conversation(row, "c1").events[0].text
    assert text.startswith("a\\u202ebx")
    assert len(text) < 5000
