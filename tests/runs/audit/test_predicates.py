"""What messages say, as a model judges: asked once, kept in a file, measured by labels, never silently absent."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

import lawtrace
from lawtrace import Allow, Call, Guard, GuardLog, InputError, Refuse, Rule
from lawtrace.runs.integrations.guarded_session import GuardedSession
from lawtrace.schemas.events import Event, message_event
from tests.support.openai_server import serving
from tests.support.shell import Shell

AGREES = "agrees to the payment"
RULE = Rule(id="agreed", formula=f'G(pay -> O says(user, "{AGREES}"))')
TOOLS: list[Any] = [{"name": "pay", "inputSchema": {"type": "object", "properties": {"amount": {"type": "number"}}}}]
TEXTS = {"1": "Go ahead with it.", "2": "Is that a yes?", "3": "Go ahead with it."}


@pytest.fixture
def log(tmp_path: Path) -> Path:
    lines = [
        line
        for name, text in TEXTS.items()
        for line in (
            {"conversation": name, "user": text},
            {"conversation": name, "tool": "pay", "arguments": {"amount": 5}, "result": {}},
        )
    ]
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    (tmp_path / "tools.json").write_text(json.dumps(TOOLS), encoding="utf-8")
    (tmp_path / "rules.jsonl").write_text(RULE.model_dump_json() + "\n", encoding="utf-8")
    return path


def answer(text: str, says: bool | None, **more: object) -> dict[str, object]:
    return {"speaker": "user", "predicate": AGREES, "text": text, "says": says, **more}


def written(path: Path, *answers: Mapping[str, object]) -> Path:
    path.write_text("".join(json.dumps(one) + "\n" for one in answers), encoding="utf-8")
    return path


def outcomes(log: Path, predicates: Path | None) -> list[str | None]:
    return [row.rules[0].outcome for row in lawtrace.audit([RULE], log, TOOLS, predicates=predicates)]


def test_without_an_answer_the_rule_is_undetermined_and_says_so(log: Path) -> None:
    (row, *_) = lawtrace.audit([RULE], log, TOOLS)
    assert row.outcome == "undetermined"
    assert f'no model has judged whether message m1 says "{AGREES}"' in row.reason
    unusable = written(log.with_name("said.jsonl"), answer(TEXTS["1"], None))
    assert outcomes(log, unusable) == ["undetermined"] * 3
    assert outcomes(log, log.with_name("missing.jsonl")) == ["undetermined"] * 3


def test_answers_decide(log: Path) -> None:
    said = written(log.with_name("said.jsonl"), answer(TEXTS["1"], True), answer(TEXTS["2"], False))
    assert outcomes(log, said) == ["kept", "broken", "kept"]
    (first, *_) = lawtrace.audit([RULE], log, TOOLS, predicates=said)
    assert first.events[0].arguments["says"] == {AGREES: True}


def test_a_damaged_file_is_an_error_with_its_line(log: Path) -> None:
    said = written(log.with_name("said.jsonl"), answer("x", True), {"text": "y"})
    with pytest.raises(InputError, match=r"said\.jsonl, line 2"):
        lawtrace.audit([RULE], log, TOOLS, predicates=said)


def test_a_judge_and_a_guard_are_never_silent(tmp_path: Path) -> None:
    message, call = message_event("user", "Go ahead.", None), Event("pay", {})
    assert lawtrace.judge([RULE], [message, call]).undetermined
    known = Event("user", {**message.arguments, "says": {AGREES: True}})
    assert lawtrace.judge([RULE], [known, call]).kept
    with pytest.raises(InputError, match="rule 'agreed' asks what messages say, which a guard cannot judge"):
        Guard([RULE], TOOLS)
    for fallback in ("refuse", "allow"):
        with GuardLog(log := tmp_path / f"{fallback}.jsonl", "one") as opened:
            session = GuardedSession([RULE], opened, fallback=fallback)
            session.import_listed(TOOLS)
            decision = session.before(Call("pay", {"amount": 5}, "1"))
        assert isinstance(decision, Refuse if fallback == "refuse" else Allow)
        assert "rule 'agreed' cannot be checked" in log.read_text(encoding="utf-8")
        assert "asks what messages say" in str(decision.finding and decision.finding.reason)


def test_a_model_is_asked_once_about_each_text(
    log: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[str] = []

    def play(request: Mapping[str, Any]) -> str:
        system, message = (str(one["content"]) for one in request["messages"])
        assert f"The user {AGREES}" in system
        asked.append(message)
        return json.dumps({"says": "Go ahead" in message, "words": message[:8] if "Go ahead" in message else ""})

    monkeypatch.chdir(log.parent)
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    shell = Shell(monkeypatch, capsys)
    words = ["audit", "log.jsonl", "--tools", "tools.json", "--rules", "rules.jsonl", "--predicates", "said.jsonl"]
    with serving(play) as server:
        model = f"openai:judge@{server.base_url}"
        first = shell.json(*words, "--model", model, "--fail-on", "invalid")
        again = shell.json(*words, "--model", model, "--fail-on", "invalid", "--force")
    assert sorted(asked) == sorted(set(TEXTS.values()))
    assert first["outcomes"] == again["outcomes"] == {"lawful": 2, "unlawful": 1}
    found = [json.loads(line) for line in Path("said.jsonl").read_text(encoding="utf-8").splitlines()]
    assert {(one["text"], one["says"], one["words"]) for one in found} == {
        ("Go ahead with it.", True, "Go ahead"),
        ("Is that a yes?", False, ""),
    }
    assert all(one["model"] == model and len(one["prompt"]) == 64 for one in found)
    written(Path("said.jsonl"), *({**one, "label": True} for one in found))
    rates = shell.json(*words, "--fail-on", "invalid", "--force")["predicates"]["rates"][AGREES]
    assert (rates["findings"], rates["confirmed"], rates["bad"], rates["precision"], rates["recall"]) == (
        1,
        1,
        2,
        1,
        0.5,
    )
    code, _, err = shell(*words, "--model", "offline", "--force")
    assert (code, "name a model of an endpoint" in err) == (2, True)
