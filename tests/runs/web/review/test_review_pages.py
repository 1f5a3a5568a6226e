"""Review pages in memory: content, forms and access control."""

import json
from pathlib import Path

from starlette.testclient import TestClient

from lawtrace.runs.web.append_log import AppendLog
from lawtrace.runs.web.review.decisions import OpinionRow
from lawtrace.runs.web.review.review_pages import ReviewPages
from lawtrace.runs.web.review.rule_items import RuleReview
from lawtrace.runs.web.server import make_app
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import Rule, RuleFile, load_rule_file, load_rules

BANKING = load_domain("banking")
FILE = load_rule_file(BANKING.rules_file)
RULES = FILE.rules[:2]
NOW = "2026-01-02T03:04:05+00:00"


def pages(tmp_path: Path, rules: tuple[Rule, ...] = RULES, needed: int = 1) -> ReviewPages:
    log = AppendLog(tmp_path / "opinions.jsonl", OpinionRow)
    return ReviewPages(RuleReview(RuleFile(rules, FILE.examples), BANKING), log, needed, clock=lambda: NOW)


def client(made: ReviewPages, token: str | None = None) -> TestClient:
    return TestClient(make_app(made, token=token), base_url="http://127.0.0.1")


def test_a_rule_page_shows_its_evidence_and_takes_an_opinion(tmp_path: Path) -> None:
    browser = client(pages(tmp_path))
    assert browser.get("/next").url.path == "/"
    page = browser.post("/name", data={"name": "Ada Ö."})
    assert page.url.path == f"/items/{RULES[0].id}"
    for words in ("Ada Ö.", "Article 97(1)(b)", RULES[0].formula, "violates it", "example of the rule file"):
        assert words in page.text
    digest = page.text.split('name="digest" value="')[1].split('"')[0]
    page = browser.post(page.url.path, data={"digest": digest, "decision": "accept", "comment": "clear"})
    assert page.url.path == f"/items/{RULES[1].id}"
    (row,) = map(json.loads, (tmp_path / "opinions.jsonl").read_text(encoding="utf-8").splitlines())
    assert (row["reviewer"], row["decision"], row["comment"], row["at"]) == ("Ada Ö.", "accept", "clear", NOW)
    again = browser.post(f"/items/{RULES[0].id}", data={"digest": "of other words", "decision": "reject"})
    assert (again.status_code, "has changed since" in again.text) == (400, True)


def test_an_invalid_edit_is_rejected_with_a_suggestion(tmp_path: Path) -> None:
    made = pages(tmp_path)
    browser = client(made)
    page = browser.post("/name", data={"name": "ada"})
    item = made.state.items[0]
    edit = {"digest": item.digest, "decision": "edit", "text": "!((!CheckAuthorization) U TransferFund)"}
    refused = browser.post(page.url.path, data=edit)
    assert (refused.status_code, "did you mean `TransferFunds`" in refused.text) == (200, True)
    assert "U TransferFund)</textarea>" in refused.text
    taken = browser.post(page.url.path, data={**edit, "text": "G(TransferFunds -> O CheckAuthorization)"})
    assert taken.status_code == 200
    assert made.state.items[0].words == "G(TransferFunds -> O CheckAuthorization)"
    assert RuleReview(FILE, BANKING).export(made.state.accepted(), tmp_path / "accepted.jsonl") == 1
    (kept,) = load_rules(tmp_path / "accepted.jsonl")
    assert (kept.id, kept.formula) == (RULES[0].id, "G(TransferFunds -> O CheckAuthorization)")
    assert kept.rationale.endswith("Edited by ada.")


def test_a_decision_can_be_changed_and_others_see_it_when_the_item_is_decided(tmp_path: Path) -> None:
    made = pages(tmp_path, needed=2)
    first = made.state.items[0]
    ada, ben = client(made), client(made)
    ada.post("/name", data={"name": "ada"})
    ada.post(f"/items/{first.id}", data={"digest": first.digest, "decision": "accept", "comment": "mine"})
    page = ada.get(f"/items/{first.id}")
    assert "Your decision: <strong>accept</strong>" in page.text
    assert ">mine</textarea>" in page.text
    ben.post("/name", data={"name": "ben"})
    assert "ada" not in ben.get(f"/items/{first.id}").text
    ada.post(f"/items/{first.id}", data={"digest": first.digest, "decision": "reject"})
    ben.post(f"/items/{first.id}", data={"digest": first.digest, "decision": "accept"})
    assert made.state.status(first) == "rejected"
    assert "ada: <strong>reject</strong>" in ben.get(f"/items/{first.id}").text
    said = [json.loads(line) for line in (tmp_path / "opinions.jsonl").read_text(encoding="utf-8").splitlines()]
    assert [(row["reviewer"], row["decision"]) for row in said] == [
        ("ada", "accept"),
        ("ada", "reject"),
        ("ben", "accept"),
    ]


def test_skipped_items_come_again_at_the_end(tmp_path: Path) -> None:
    browser = client(pages(tmp_path))
    browser.post("/name", data={"name": "ada"})
    one, two = (f"/items/{rule.id}" for rule in RULES)
    assert browser.get(f"/next?after={RULES[0].id}").url.path == two
    assert browser.get(f"/next?after={RULES[1].id}").url.path == one
    assert browser.get("/next?after=nothing").url.path == one


def test_hostile_text_is_escaped(tmp_path: Path) -> None:
    evil = "<script>alert(1)</script>"
    rule = Rule(id=evil, formula="G(PayBill -> F RecordAuditEvent)", provisions=(evil,), rationale=f'"{evil}')
    browser = client(pages(tmp_path, (rule,)))
    page = browser.post("/name", data={"name": evil})
    assert "<script>alert" not in page.text
    assert page.text.count("&lt;script&gt;") >= 3
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "unsafe" not in page.headers["content-security-policy"]


def test_foreign_hosts_and_origins_and_bad_forms_are_rejected(tmp_path: Path) -> None:
    browser = client(pages(tmp_path))
    assert browser.get("/", headers={"host": "evil.example"}).status_code == 400
    assert browser.post("/name", data={"name": "x"}, headers={"origin": "http://evil.example"}).status_code == 403
    assert browser.post("/name", data={"name": "x"}, headers={"origin": "null"}).status_code == 403
    assert browser.post("/name", data={"name": "x" * 300_000}).status_code == 400
    assert browser.get("/static/../pages.py").status_code == 404


def test_requests_without_the_token_are_rejected(tmp_path: Path) -> None:
    browser = client(pages(tmp_path), token="secret")
    assert browser.get("/").status_code == 401
    assert browser.get("/?token=wrong").status_code == 401
    entered = browser.get("/?token=secret")
    assert (entered.status_code, entered.url.query) == (200, b"")
    assert browser.get("/items").status_code == 200
