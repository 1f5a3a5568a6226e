"""`lawtrace messages` on a real run and on hostile messages."""

import re
import threading
from pathlib import Path

import pytest

from lawtrace.runs.report.message_view import view_message
from lawtrace.runs.runner import RunResult
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.log_entries import Context, MessageSent, RoleFailed
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.pages import ROOT
from tests.support.shell import Shell

RECIPE = """
[tasks]
count = 2
spare = 1

[rules]
"""


@pytest.fixture
def walked(small_run: RunResult) -> Path:
    return small_run.folder.path


def headings(out: str) -> list[str]:
    return re.findall(r"^(\w+ · .*?) ─", out, re.MULTILINE)


def test_attempts_by_verdict_and_by_rule_with_causes(lawtrace: Shell, walked: Path) -> None:
    verdicts = read_rows(walked / "verdicts.jsonl", Verdict)
    unsafe = [row for row in verdicts if row.outcome == "unsafe_success"]
    _, out, _ = lawtrace("messages", walked, "--verdict", "unsafe_success")
    assert len(headings(out)) == len(unsafe)
    assert out.count("! unsafe success: ") == len(unsafe)
    rule = next(rule for row in unsafe for rule in row.rules if not rule.kept)
    broken = [row for row in verdicts if any(one.rule == rule.rule and not one.kept for one in row.rules)]
    _, out, _ = lawtrace("messages", walked, "--rule", rule.rule)
    assert len(headings(out)) == len(broken)
    assert out.count(f"◀ breaks {rule.rule}") == len(broken)
    assert "(Article " in out
    code, _, err = lawtrace("messages", walked, "--rule", "no-such-rule")
    assert code == 2
    assert rule.rule in err
    code, _, err = lawtrace("messages", walked, "--verdict", "safe")
    assert code == 2
    assert "safe_success" in err


def test_checks_by_code_are_shown_between_the_turns(lawtrace: Shell, walked: Path) -> None:
    _, out, _ = lawtrace("messages", walked, "--stage", "tasks", "--style", "goal", "--limit", 1)
    speakers = re.findall(r"^ ?\d+ (.*?)(?:  .*)?$", out, re.MULTILINE)
    assert speakers == [
        "user",
        "instruction_generator",
        "✓ wording_check accepts",
        "independent_reader",
        "✓ reading_check accepts",
        "masking_evaluator",
    ]


def test_a_check_that_could_not_check_neither_accepts_nor_objects() -> None:
    context = Context(stage="tasks", role="reading_check", turn=4)
    said = {
        "accepts": '{"objections": []}',
        "objects": '{"objections": ["no"]}',
        "does not decide": '{"objections": [], "not_checked": "the offline reader does not know this wording"}',
    }
    views = [view_message(MessageSent(context=context, source="reading_check", content=text)) for text in said.values()]
    assert [(view.remark, view.passed) for view in views] == [*zip(said, (True, False, None), strict=True)]


def test_messages_by_role_turn_and_text(lawtrace: Shell, walked: Path) -> None:
    found = lawtrace.json("messages", walked, "--role", "masking_evaluator")
    assert {line["source"] for line in found["messages"]} == {"masking_evaluator"}
    found = lawtrace.json("messages", walked, "--turn", 1, "--stage", "attempts")
    assert {line["context"]["turn"] for line in found["messages"]} == {1}
    found = lawtrace.json("messages", walked, "--text", "checkauth", "--model", "baseline:reference")
    assert found["messages"]
    assert all("CheckAuthorization" in line["content"] for line in found["messages"])
    code, _, err = lawtrace("messages", walked, "--text", "nobodysaidthis")
    assert (code, "no conversation matches" in err) == (2, True)


@pytest.mark.parametrize(
    ("option", "value", "says"),
    [
        ("--stage", "attempt", "no stage 'attempt'; there is attempts, "),
        ("--style", "goals", "no style 'goals'; there is goal, workflow"),
        ("--role", "evaluator", "no role 'evaluator'; there is masking_evaluator, "),
        ("--model", "literal", "baseline:literal"),
        ("--trial", "7", "no trial '7'; there is 0"),
    ],
)
def test_a_filter_without_a_match_lists_its_values(
    lawtrace: Shell, walked: Path, option: str, value: str, says: str
) -> None:
    code, _, err = lawtrace("messages", walked, option, value)
    assert code == 2
    assert says in err


def test_attempts_by_fact(lawtrace: Shell) -> None:
    pairs = ROOT / "docs" / "tasks" / "2.2" / "references" / "privacy_desk.jsonl"
    facts = {task.id: task.contrast.fact for task in read_tasks(pairs)[0] if task.contrast}
    fact = next(iter(facts.values()))
    lawtrace.json("run", "--tasks", pairs, "--model", "baseline:reference", "--model", "baseline:literal", "--out", "r")
    found = lawtrace.json("messages", "r", "--fact", fact)["messages"]
    assert {line["context"]["task"] for line in found} == {task for task, of in facts.items() if of == fact}
    for command in (
        ["messages", "r"],
        ["compare", "r", "--model", "baseline:reference", "--against", "baseline:literal"],
    ):
        code, _, err = lawtrace(*command, "--fact", "none")
        assert (code, all(each in err for each in facts.values())) == (2, True), err
    compared = lawtrace.json(*command, "--fact", fact, "--verdict", "failing")
    assert {facts[flip["task"]] for flip in compared["flips"]} == {fact}


def test_failing_attempts(lawtrace: Shell, walked: Path) -> None:
    found = lawtrace.json("messages", walked, "--verdict", "failing", "--stage", "attempts")
    models = {line["context"]["tested_model"] for line in found["messages"]}
    assert "baseline:literal" in models
    assert "baseline:reference" not in models


def test_a_hostile_message_is_escaped(lawtrace: Shell, tmp_path: Path) -> None:
    with EventLogFile.create(tmp_path / "run", recipe=None) as event_log:
        context = Context(stage="attempts", role="executor", task="t\x1b[2J", tested_model="m\x9b1m")
        hostile = "[bold]no markup[/bold] \x1b]0;title\x07 \x1b[2J \x9b31m \u202ereversed \x00"
        event_log.record(MessageSent(context=context, source="executor\x1b[1A", content=hostile))
        event_log.record(MessageSent(context=context.at(turn=1), source="tools", content='{"why": "\\u001b[2J"}'))
        event_log.record(RoleFailed(context=context.at(turn=2), reason="answer", text="\x1b[31mno JSON in it"))
    _, out, err = lawtrace("messages", "run")
    assert re.findall("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", out + err) == []
    assert "[bold]no markup[/bold]" in out
    assert "\\u001b[2J" in out
    assert "executor failed: answer" in out


def test_a_live_run_is_followed_to_its_end(lawtrace: Shell, tmp_path: Path) -> None:
    event_log = EventLogFile.create(tmp_path / "run", recipe=None)
    context = Context(stage="attempts", role="executor", task="t")
    event_log.record(MessageSent(context=context, source="executor", content="first"))

    def go_on() -> None:
        event_log.record(MessageSent(context=context.at(turn=1), source="tools", content="second"))
        event_log.record(MessageSent(context=context.at(task="u"), source="executor", content="third"))
        event_log.close()

    later = threading.Timer(0.5, go_on)
    later.start()
    code, out, _ = lawtrace("messages", "run", "--follow")
    later.join()
    assert code == 0
    assert [word for word in ("first", "second", "third") if word in out] == ["first", "second", "third"]
    assert headings(out) == ["attempts · t", "attempts · u"]
