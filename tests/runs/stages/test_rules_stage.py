"""``lawtrace rules extract``, ``formalize`` and ``evaluate``: from a published law to rules."""

import json
import re
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.stages.artifacts import FORMALIZED
from lawtrace.solver.rules import load_rules
from tests.support.openai_server import serving
from tests.support.playing import CHECK_FIRST, RECORD_AFTER, play
from tests.support.shell import Shell

LAW = """\
Article 1
Care
1. A bank shall make sure that:
(a) an authorization check must come before a transfer of funds;
(b) every transfer of funds must afterwards be recorded as an audit event.
2. An authorization check must come before funds are transferred.
3. Member States shall lay down penalties.
Article 2
Interest
Interest shall be fair.
"""


@pytest.fixture
def lawtrace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "law.txt").write_text(LAW, encoding="utf-8")
    return Shell(monkeypatch, capsys)


EXTRACT = ("rules", "extract", "law.txt", "--model", "openai:some", "--out", "rules.jsonl")
FORMALIZE = ("rules", "formalize", "law.txt", "--models", "openai:some,openai:other", "--annotators", "openai:judge")


def test_an_endpoint_writes_the_rules_of_a_published_law(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(play) as server:
        server.connect(monkeypatch)
        result = lawtrace.json(*EXTRACT)
        asked = len(server.requests)
        assert asked == 4  # two articles, each with author and critic
        assert lawtrace.json(*EXTRACT) == result
        assert len(server.requests) == asked  # no request is repeated
    assert (result["rules"], result["groups"], result["unread"]) == (2, {"one formalizer": 2}, 0)
    rules = {rule.formula: rule for rule in load_rules(tmp_path / "rules.jsonl")}
    assert rules[CHECK_FIRST].provisions == ("Article 1(1)(a)", "Article 1(2)")
    assert rules[RECORD_AFTER].provisions == ("Article 1(1)(b)",)
    page = (tmp_path / "rules.html").read_text(encoding="utf-8")
    assert "lay down penalties" in page
    assert "calls do not show it" in page
    written = {path.name for path in tmp_path.iterdir()}
    assert {"rules.tables", "rules.events", "rules.formalized.jsonl"} < written
    assert "tables" not in written
    (table,) = {target.partition("/")[0] for target in re.findall(r'href="([^"#]*\.csv)"', page)} or {"rules.tables"}
    assert table == "rules.tables"
    found = lawtrace.json("traces", "synthesize", "--rules", "rules.jsonl", "--count", 8, "--out", "traces.jsonl")
    assert found["traces"] == 8


def test_independent_formalizations_are_compared_and_judged(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(play) as server:
        server.connect(monkeypatch)
        result = lawtrace.json(*FORMALIZE, "--provisions", "Article 1", "--env", "banking")
        assert result["groups"] == {"fits no class": 1}  # the judge finds all sessions lawful
        assert (result["rules"], result["questions"] > 0) == (0, True)
        (group,) = FORMALIZED.read(tmp_path / "rules.formalized.jsonl")
        assert group.classes == (("A", "B"),)
        code, _, err = lawtrace(*FORMALIZE, "--provisions", "Article 9")
    assert (code, "has no provision Article 9" in " ".join(err.split())) == (2, True)
    code, _, err = lawtrace("rules", "formalize", "law.txt", "--models", "openai:some")
    assert (code, "two models or more" in " ".join(err.split())) == (2, True)
    code, _, err = lawtrace("rules", "extract", "law.txt")
    assert (code, "name a model with --model" in " ".join(err.split())) == (2, True)


def differing(request: Mapping[str, Any]) -> str:
    """Two authors who read the order of check and transfer otherwise."""
    answer = play(request)
    return (
        answer.replace(CHECK_FIRST, "G(TransferFunds -> F CheckAuthorization)")
        if request["model"] == "other"
        else answer
    )


def test_people_answer_questions_and_what_is_open_is_read_both_ways(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = (*FORMALIZE[:5], "--provisions", "Article 1", "--out", "rules.jsonl")
    with serving(differing) as server:
        server.connect(monkeypatch)
        assert lawtrace.json(*command)["groups"] == {"open": 1}
        written = load_rules(tmp_path / "rules.jsonl")  # what both authors imply stands under no reading
        assert {rule.under["article-1"] for rule in written if rule.under} == {("A",), ("B",)}
        (group,) = FORMALIZED.read(tmp_path / "rules.formalized.jsonl")
        answer = {"session": group.sessions[0].id, "verdict": "unlawful", "words": "must come before", "by": "Ann"}
        others = {**answer, "verdict": "lawful"}, {**answer, "verdict": "lawful", "by": "Ben", "group": "Article 2"}
        lines = [json.dumps(one) + "\n" for one in (*others, answer)]  # of Ann's the last counts, Ben's is of others
        (tmp_path / "answers.jsonl").write_text("".join(lines))
        review = ("rules", "review", "rules.formalized.jsonl", "--opinions", "answers.jsonl", "--status")
        found = lawtrace.json(*review, "--document", "law.txt")
        assert found["reviewers"] == {"Ann": 1}
        asked = len(server.requests)
        told = lawtrace.json(*shlex.split(found["command"])[1:], "--set", "rules.feedback=prose")
        assert (told["groups"], told["questions"]) == ({"settled": 1}, 1)
        assert not any(rule.under for rule in load_rules(tmp_path / "rules.jsonl"))
        assert all("CheckAuthorization" in str(one["messages"]) for one in server.requests[asked:])


def test_a_budget_stops_cleanly_and_a_higher_one_continues(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with serving(play) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(*EXTRACT, "--budget", "messages=2", "--concurrency", "1")
        assert (code, "budget" in err) == (1, True)
        assert any(group.stopped for group in FORMALIZED.read(tmp_path / "rules.formalized.jsonl"))
        assert len(server.requests) == 2
        assert lawtrace.json(*EXTRACT, "--budget", "messages=100")["unread"] == 0
        assert len(server.requests) == 4


WRITER = "Write as rules"


def test_an_unusable_answer_loses_its_group_and_is_requested_again(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    talking: list[bool] = [True]

    def answer(request: Mapping[str, Any]) -> str:
        prompt = str(request["messages"][0]["content"])
        return (
            "These rules are fine."
            if WRITER in prompt and '"citation": "Article 1(3)"' in prompt and talking
            else play(request)
        )

    with serving(answer) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(*EXTRACT)
        assert (code, "Article 1 is not read" in " ".join(err.split())) == (1, True)
        asked = len(server.requests)
        talking.clear()
        assert lawtrace.json(*EXTRACT)["unread"] == 0
        again = server.requests[asked:]
    assert [WRITER in str(request["messages"][0]["content"]) for request in again] == [True, False]  # writer and critic
