"""``lawtrace rules extract``, ``provenance`` and ``evaluate``: from a published law to rules with provenance."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.provenance_file import read_provenance
from lawtrace.schemas.choices import EXTRACTION_ROLES
from lawtrace.solver.rules import load_rules
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import serving
from tests.support.playing import play
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


def test_a_published_law_becomes_rules_with_provenance(lawtrace: Shell, tmp_path: Path) -> None:
    result = lawtrace.json("rules", "extract", "law.txt", "--env", "banking", "--out", "rules.jsonl")
    assert result["funnel"] == {
        "provisions": 5, "in_scope": 3, "refined": 3, "candidates": 3, "valid": 3, "distinct": 2, "accepted": 2,
        "not_understood": 0,
    }  # fmt: skip
    assert (result["precision"], result["recall"]) == (None, None)  # the gold rules cite other provisions
    rules = {rule.formula: rule for rule in load_rules(tmp_path / "rules.jsonl")}
    assert rules["!((!CheckAuthorization) U TransferFunds)"].provisions == ("Article 1(1)(a)", "Article 1(2)")
    provenance = read_provenance(tmp_path / "rules.provenance.jsonl")
    assert [provision.fate.fate for provision in provenance.provisions] == ["rule"] * 3 + ["out_of_scope"] * 2
    assert all(quote.checked for row in provenance.rules for quote in row.quotes)
    page = (tmp_path / "rules.html").read_text(encoding="utf-8")
    assert "Roles without a model" in page
    assert "Article 1(1)(a)" in page


def test_provenance_is_shown_in_the_terminal(lawtrace: Shell) -> None:
    lawtrace.json("rules", "extract", "law.txt", "--out", "rules.jsonl")
    code, out, _ = lawtrace("rules", "provenance", "rules.jsonl")
    assert (code, "accepted" in out, "not checkable on tool calls" in " ".join(out.split())) == (0, True, True)
    code, out, _ = lawtrace("rules", "provenance", "rules.jsonl", "--provision", "Article 1(3)")
    assert "lay down penalties" in out
    assert "scope_aligner" in out
    code, out, _ = lawtrace("rules", "provenance", "rules.jsonl", "--rule", "checkauthorization-before-transferfunds")
    assert "quote found in the text" in " ".join(out.split())
    # The rule cites two provisions: the text of the merged rule's provision is shown as well.
    assert "Article 1(2): “An authorization check must come before funds are" in " ".join(out.split())
    code, _, err = lawtrace("rules", "provenance", "rules.jsonl", "--rule", "nobody")
    assert (code, "has no rule 'nobody'" in " ".join(err.split())) == (2, True)
    code, _, err = lawtrace("rules", "provenance", "law.txt")
    assert code == 2


def test_accepted_rules_load_into_search_and_oracle(lawtrace: Shell, tmp_path: Path) -> None:
    lawtrace.json("rules", "extract", "law.txt", "--out", "rules.jsonl")
    found = lawtrace.json("traces", "synthesize", "--rules", "rules.jsonl", "--count", 8, "--out", "traces.jsonl")
    assert found["traces"] == 8
    code, _, _ = lawtrace("rules", "check", "--rules", "rules.jsonl")
    assert code == 0
    built = lawtrace.json("tasks", "build", "--rules", "rules.jsonl", "--count", 1, "--length", 6, "--out", "t.jsonl")
    assert built["tasks"] == 1


@pytest.mark.slow
def test_an_endpoint_can_play_every_role(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recipe.toml").write_text(
        '[models]\npolicy_extractor = "openai:some"\nltl_critic = "openai:some"\n', encoding="utf-8"
    )
    with serving(play) as server:
        server.connect(monkeypatch)
        words = ("rules", "extract", "law.txt", "--recipe", "recipe.toml", "--out", "rules.jsonl")
        assert lawtrace.json(*words)["funnel"]["accepted"] == 2
        asked = len(server.requests)
        assert asked >= len(EXTRACTION_ROLES)
        assert lawtrace.json(*words)["funnel"]["accepted"] == 2
        assert len(server.requests) == asked  # no request is repeated
    assert set(read_provenance(tmp_path / "rules.provenance.jsonl").head.models.values()) == {"openai:some"}
    lawtrace.json("rules", "extract", "law.txt", "--out", "offline.jsonl")
    assert (tmp_path / "offline.jsonl").read_bytes() == (tmp_path / "rules.jsonl").read_bytes()


def test_a_budget_stops_cleanly_and_a_higher_one_continues(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recipe.toml").write_text(
        '[models]\npolicy_extractor = "openai:some"\nltl_critic = "openai:some"\n', encoding="utf-8"
    )
    with serving(play) as server:
        server.connect(monkeypatch)
        words = ("rules", "extract", "law.txt", "--recipe", "recipe.toml", "--out", "rules.jsonl")
        code, _, err = lawtrace(*words, "--budget", "messages=2")
        assert (code, "budget" in err) == (1, True)
        provenance = read_provenance(tmp_path / "rules.provenance.jsonl")
        assert provenance.head.stopped is not None
        assert {row.fate.fate for row in provenance.provisions} == {"unread", "out_of_scope"}
        assert len(server.requests) == 2
        assert lawtrace.json(*words, "--budget", "messages=100")["unread"] == 0
        assert len(server.requests) == 5


WRITER = "Write compliance rules over tool calls"


def test_an_unusable_answer_loses_its_batch_and_is_requested_again(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "recipe.toml").write_text(
        '[models]\npolicy_extractor = "openai:some"\nltl_critic = "openai:some"\n', encoding="utf-8"
    )
    words = ("rules", "extract", "law.txt", "--recipe", "recipe.toml", "--out", "rules.jsonl")
    talking: list[bool] = [True]

    def answer(request: Mapping[str, Any]) -> str:
        writes = WRITER in str(request["messages"][0]["content"])
        return "These rules are fine." if writes and talking else play(request)

    with serving(answer) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(*words)
        assert (code, "no JSON object for a Proposal" in " ".join(err.split())) == (1, True)
        provenance = read_provenance(tmp_path / "rules.provenance.jsonl")
        assert (provenance.funnel.in_scope, provenance.funnel.refined, len(provenance.unread)) == (3, 3, 3)
        asked = len(server.requests)
        talking.clear()
        assert lawtrace.json(*words)["unread"] == 0
        again = server.requests[asked:]
    assert [WRITER in str(request["messages"][0]["content"]) for request in again] == [True, False]  # writer and critic


OWN_POLICY = """\
# Policy of Northfjord Bank
1. A statement of an account must not be retrieved before the authorisation has been checked.
2. After every transfer of funds the assistant must record an audit event.
3. The assistant must be polite before it pays a bill.
4. A payment must not be made before the authorisation has been checked.
5. Opening hours are posted.
"""


def test_a_sentence_that_is_not_understood_says_why(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "policy.md").write_text(OWN_POLICY, encoding="utf-8")
    code, out, _ = lawtrace("rules", "extract", "policy.md", "--out", "rules.jsonl")
    shown = " ".join(out.split())
    assert code == 0
    assert "4 of them in scope, 2 understood, 2 not understood; 2 rules" in shown
    assert "There are no gold rules for this document, so there is no score." in shown
    assert {rule.formula for rule in load_rules(tmp_path / "rules.jsonl")} == {
        "!((!CheckAuthorization) U GetAccountStatement)",
        "G(TransferFunds -> F RecordAuditEvent)",
    }
    code, out, _ = lawtrace("rules", "provenance", "rules.jsonl")
    shown = " ".join(out.split())
    assert "Of 4 provisions in scope the offline baseline understood 2; 2 are not understood." in shown
    assert "not understood" in shown
    code, out, _ = lawtrace(*("rules", "provenance", "rules.jsonl"), "--provision", "1(3)")
    rule = ("rules", "provenance", "rules.jsonl", "--rule", "recordauditevent-after-transferfunds")
    shown = " ".join(lawtrace(*rule)[1].split())
    assert "second: “record an audit event” (RecordAuditEvent" in shown
    page = (tmp_path / "rules.html").read_text(encoding="utf-8")
    assert "in scope, but not understood" in page
    assert "record an audit event" in page
    code, _, err = lawtrace("rules", "evaluate", "rules.jsonl")
    assert (code, "name them with --gold" in " ".join(err.split())) == (2, True)


@pytest.mark.slow
def test_a_model_is_compared_with_other_sets(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recipe.toml").write_text('[models]\npolicy_extractor = "openai:some"\n', encoding="utf-8")
    law = write_bank_law(tmp_path)

    def inventing(request: Mapping[str, Any]) -> str:
        text = play(request)
        return text.replace("!((!SearchPayee) U PayBill)", "!((!PayBill) U SearchPayee)")

    with serving(inventing) as server:
        server.connect(monkeypatch)
        extract = ("rules", "extract", law, "--recipe", "recipe.toml", "--out", "model.jsonl")
        code, out, err = lawtrace(*extract)
    assert (code, "Offline baseline, same text" in " ".join(out.split())) == (0, True)
    assert "the provision demands another rule: !((!SearchPayee) U PayBill)" in " ".join(err.split())
    lawtrace.json("rules", "extract", law, "--out", "plain.jsonl")
    model, plain = lawtrace.json("rules", "evaluate", "model.jsonl", "plain.jsonl", "--count", 2)["sets"]
    assert (model["name"], plain["name"]) == ("model.jsonl", "plain.jsonl")
    assert model["mutants"]["count"] < plain["mutants"]["count"]
