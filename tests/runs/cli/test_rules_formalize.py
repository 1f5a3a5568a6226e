"""`lawtrace rules formalize` against a scripted endpoint: files, answers of people, and what a second run asks."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.solver.rules import load_rules
from tests.support.openai_server import Say, serving
from tests.support.shell import Shell

WORDS = (
    "rules",
    "formalize",
    "--models",
    "openai:one,openai:two",
    "--provisions",
    "Article 97(1)(b)",
    "--out",
    "o.jsonl",
)
FORMULAS = {"one": "G(PayBill -> O CheckAuthorization)", "two": "G(PayBill -> F CheckAuthorization)"}


def play(request: Mapping[str, Any]) -> str:
    if request["model"] == "judge":
        return json.dumps({"verdict": "arguable", "words": "payment"})
    rule = {"id": "check", "formula": FORMULAS[request["model"]], "citation": "Article 97(1)(b)"}
    return json.dumps({"rules": [rule]})


def test_classes_questions_and_files(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(play) as server:
        server.connect(monkeypatch)
        told = lawtrace.json(*WORDS)
        assert (told["groups"], told["rules"], told["questions"]) == ({"open": 1}, 0, 0)
        page = (tmp_path / "o.md").read_text()
        assert "A and B: separated." in page
        assert "the agent called PayBill" in page
        (row,) = (json.loads(line) for line in (tmp_path / "o.jsonl").read_text().splitlines())
        separating = row["sessions"][0]
        answer = {"session": separating["id"], "verdict": "unlawful", "words": "payment", "by": "Ann"}
        (tmp_path / "answers.jsonl").write_text(json.dumps(answer) + "\n")
        asked = len(server.requests)
        assert asked == 2
        told = lawtrace.json(*WORDS, "--answers", "answers.jsonl")
        assert (told["groups"], told["rules"], told["questions"]) == ({"settled": 1}, 1, 1)
        assert len(server.requests) == asked  # recorded answers are used
    (rule,) = load_rules(tmp_path / "o.rules.jsonl")
    assert (rule.id[0], rule.provisions) == (
        next(name for name, outcome in separating["outcomes"].items() if outcome == "broken"),
        ("Article 97(1)(b)",),
    )


def test_a_group_without_answers_is_continued(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(play) as server:
        server.connect(monkeypatch)
        server.always("two", Say("I would rather not."))
        code, out, _ = lawtrace(*WORDS)
        assert (code, "not read" in out) == (1, True)
        server.always("two", None)
        before = len(server.requests)
        told = lawtrace.json(*WORDS)
        assert told["groups"] == {"open": 1}
        assert [request["model"] for request in server.requests[before:]] == ["two"]
    assert (tmp_path / "o.rules.jsonl").read_text() == ""


def test_a_used_up_budget_stops_and_a_higher_one_continues(lawtrace: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(play) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(*WORDS, "--budget", "messages=1", "--concurrency", "1")
        assert (code, "budget" in err.lower()) == (1, True)
        assert lawtrace.json(*WORDS)["groups"] == {"open": 1}
        assert len(server.requests) == 2


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--models", "openai:one"), "two models or more"),
        (("--models", "openai:one,offline"), "offline cannot write or judge rules"),
        (("--models", "openai:one,openai:two", "--provisions", "Article 999"), "has no provision Article 999"),
    ],
)
def test_wrong_options(lawtrace: Shell, words: tuple[str, ...], why: str) -> None:
    code, _, err = lawtrace("rules", "formalize", *words)
    assert (code, why in " ".join(err.split())) == (2, True)
