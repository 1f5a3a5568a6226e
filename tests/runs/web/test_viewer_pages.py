"""The viewer's pages without a browser: every link works, hostile text is escaped, other hosts are rejected."""

import os
import re
import shutil
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import MessageQuery, find_conversations
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.runs.web import page_lists
from lawtrace.runs.web.server import make_app, make_viewer
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event, Json
from lawtrace.schemas.log_entries import Context, MessageSent, RequestSent
from lawtrace.schemas.verdict_rows import OUTCOMES, Verdict
from lawtrace.solver.rules import Rule
from tests.runs.web.conftest import HOSTILE

LOOPBACK = "http://127.0.0.1:8718"


@pytest.fixture(scope="module")
def browse(runs: Path) -> TestClient:
    return TestClient(make_app(make_viewer(runs)), base_url=LOOPBACK)


def links(page: str, address: str) -> list[str]:
    found = [unescape(link).split("#")[0] for link in re.findall(r'href="([^"]+)"', page)]
    return [
        address.split("?")[0] + link if link.startswith("?") else link for link in found if link.startswith(("/", "?"))
    ]


@pytest.mark.slow
def test_every_link_works(browse: TestClient) -> None:
    waiting, seen = ["/", "/compare?run=small&run=small", "/compare"], dict[str, str]()
    while waiting:
        address = waiting.pop()
        if address in seen:
            continue
        answer = browse.get(address)
        assert answer.status_code == 200, address
        seen[address] = answer.text
        waiting += [] if address.endswith("/report.html") else links(answer.text, address)
    kinds = {re.sub(r"\?.*|\d+|(?<=messages/).*", "", address.removeprefix("/runs/small")) for address in seen}
    assert kinds >= {"/", "/attempts", "/attempts/", "/conversations", "/conversations/", "/messages/"}
    pages = [page for address, page in seen.items() if not re.search(r"/report.html$|/messages/", address)]
    assert not any("<script>" in page for page in pages)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "192.168.1.9:8718", ""])
def test_other_hosts_are_rejected(browse: TestClient, host: str) -> None:
    answer = browse.get("/", headers={"host": host})
    assert answer.status_code == 400
    assert "small" not in answer.text


@pytest.mark.parametrize("host", ["127.0.0.1:8718", "localhost", "[::1]:8718", "[::1]"])
def test_the_names_of_loopback_are_answered(browse: TestClient, host: str) -> None:
    assert browse.get("/", headers={"host": host}).status_code == 200


def test_content_security_policy(browse: TestClient) -> None:
    headers = browse.get("/").headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in browse.get("/runs/small/report.html").headers["content-security-policy"]
    assert "unsafe" not in browse.get("/nowhere").headers["content-security-policy"]


@pytest.mark.parametrize(
    "address",
    [
        "/runs/nobody/",
        "/runs/..%2f..%2fetc/",
        "/runs/small/attempts/999",
        "/runs/small/conversations/999",
        "/runs/small/messages/99999",
        "/runs/small/messages/99999999999999999999",
        "/static/..%2fpages.py",
        "/static/pages.py",
        "/runs/hostile/report.html",
    ],
)
def test_unknown_addresses_give_an_error_page(browse: TestClient, address: str) -> None:
    answer = browse.get(address)
    assert answer.status_code == 404
    assert "This page cannot be shown" in answer.text


@pytest.mark.parametrize("page", ["attempts", "conversations", "messages"])
def test_a_number_without_bound_in_an_address_is_refused(browse: TestClient, page: str) -> None:
    assert browse.get(f"/runs/small/{page}/{9:0<5000}").status_code == 414


def test_hostile_text_is_escaped(browse: TestClient) -> None:
    for address in ("/", "/runs/hostile/", "/runs/hostile/conversations", "/runs/hostile/conversations/1"):
        page = browse.get(address).text
        assert "<script>document" not in page
        assert "<img" not in page
        assert "\x1b" not in page
        assert "\u202e" not in page
        assert len(page) < 100_000
    assert HOSTILE[:30] in unescape(browse.get("/runs/hostile/conversations/1").text)
    assert "more characters" in browse.get("/runs/hostile/conversations/1").text
    _, huge, *_ = re.findall(r"/runs/hostile/messages/[\w-]+", browse.get("/runs/hostile/conversations/1").text)
    whole = browse.get(huge)
    assert whole.headers["content-type"].startswith("text/plain")
    assert len(whole.text) > 2_000_000


def test_an_attempt_shows_the_provision_and_the_message_that_broke_it(browse: TestClient) -> None:
    marks = re.findall(r"/runs/small/attempts/\d+", browse.get("/runs/small/attempts?outcome=unsafe_success").text)
    page = browse.get(marks[0]).text
    assert "Broken rules" in page
    assert "Strong customer authentication stands" in page
    cause = re.search(r'class="to-cause" href="([^"]+)#m([\w-]+)"', page)
    assert cause
    thread = browse.get(unescape(cause[1])).text
    (line,) = re.findall(rf'<li id="m{cause[2]}".*?</li>', thread, re.DOTALL)
    assert "Breaks <code>" in line


@pytest.mark.slow
def test_an_undetermined_rule_is_neither_kept_nor_broken_on_the_pages(runs: Path, tmp_path: Path) -> None:
    rule = Rule(id="answer-in-time", formula="forall p: G(Ask(person == p) -> F[<= 72h] Answer(person == p))")
    asked = Event("Ask", {"person": "Ann"}, time=1_772_787_600)
    (row,) = judge_rules([rule], [asked], (), end=1_772_791_200, explained=True)
    shutil.copytree(runs / "small", tmp_path / "small")
    file = tmp_path / "small" / "verdicts.jsonl"
    verdicts = read_rows(file, Verdict)
    row = row.model_copy(update={"states": ()})  # its trace is another one
    first = verdicts[0].model_copy(update={"outcome": "undetermined", "rules": (row,), "reason": "not decided"})
    write_rows(file, [first, *verdicts[1:]])
    browse = TestClient(make_app(make_viewer(tmp_path)), base_url=LOOPBACK)
    page = browse.get("/runs/small/attempts/1").text
    assert "Undetermined rules" in page
    assert "Broken rules" not in page
    assert "is due by 2026-03-09 09:00:00" in page
    assert "<td>due</td>" in page
    listed = re.sub("<[^>]+>", "", browse.get("/runs/small/attempts?rule=answer-in-time").text)
    assert "undetermined: answer-in-time" in listed
    assert "undetermined" in browse.get("/runs/small/").text


@pytest.mark.slow
def test_attempts_of_ablation_variants_are_separate(ablated: Path) -> None:
    browse = TestClient(make_app(make_viewer(ablated)), base_url=LOOPBACK)
    page = browse.get("/runs/ablated/").text
    assert page.count("shield=off") > 0
    assert page.count("shield=refuse") > 0
    refused = browse.get("/runs/ablated/attempts", params={"variant": "shield=refuse"}).text
    attempt = re.findall(r"/runs/ablated/attempts/\d+", refused)[0]
    talk = re.findall(r"/runs/ablated/conversations/\d+", browse.get(attempt).text)[0]
    assert "attempts · shield=refuse · " in browse.get(talk).text
    with EventLogFile.open(ablated / "ablated") as event_log:
        attempts = find_conversations(event_log, MessageQuery(stage="attempts"))
        assert {talk.place.variant for talk in attempts} == {"shield=off", "shield=refuse"}
        assert {talk.lines for talk in attempts} == {2}


def test_a_run_in_progress_shows_its_progress(runs: Path, tmp_path: Path) -> None:
    recipe: Json = {"attempts": {"models": ["openai:m"], "styles": ["goal"], "trials": 1}}
    with EventLogFile.create(tmp_path / "live", recipe=recipe) as event_log:
        context = Context(stage="attempts", role="executor", task="t", style="goal", tested_model="openai:m")
        event_log.record(MessageSent(context=context, source="user", content="please"))
        event_log.record(RequestSent(context=context, request_hash="h", occurrence=0))
        browse = TestClient(make_app(make_viewer(tmp_path)), base_url=LOOPBACK)
        assert 'data-live="/runs/live/progress"' in browse.get("/runs/live/").text
        part = browse.get("/runs/live/progress").text
        assert "running" in part
        assert "1 call in flight" in part
        assert part.startswith("<section") or "<html" not in part
    assert "data-live" not in browse.get("/runs/live/progress").text


def test_a_missing_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such folder"):
        make_app(make_viewer(tmp_path / "nowhere"))
    assert "There are no runs here yet" in TestClient(make_app(make_viewer(tmp_path)), base_url=LOOPBACK).get("/").text


def test_a_damaged_run_does_not_hide_other_runs(tmp_path: Path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "events.sqlite").write_bytes(b"no database at all" * 100)
    EventLogFile.create(tmp_path / "good", recipe=None).close()
    browse = TestClient(make_app(make_viewer(tmp_path)), base_url=LOOPBACK)
    page = browse.get("/").text
    assert "not an event log of lawtrace" in page
    assert "/runs/good/" in page
    assert browse.get("/runs/broken/").status_code == 404


def test_a_message_leads_to_what_the_model_was_sent(browse: TestClient) -> None:
    page = browse.get("/runs/small/conversations/1").text
    address = re.findall(r'href="(/runs/small/messages/[\w-]+/request)"', page)[0]
    sent = browse.get(address).text
    assert sent.startswith("[system]\n")
    assert "[user]" in sent
    assert browse.get("/runs/small/messages/nothing-0/request").status_code == 404
    found = browse.get("/runs/small/conversations?model=baseline:literal").text
    assert "baseline:literal" in found
    assert "No conversation matches" in browse.get("/runs/small/conversations?model=openai:none").text


def rows(page: str) -> list[str]:
    return re.findall(r"<tr>(?!<th scope=.col).*?</tr>", page, re.DOTALL)


def test_a_list_is_sorted_over_all_its_pages(browse: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes = [re.findall(r"chip (\w+)", row)[0] for row in rows(browse.get("/runs/small/attempts").text)]
    monkeypatch.setattr(page_lists, "PAGE_SIZE", 6)
    found: list[str] = []
    address = "/runs/small/attempts?sort=-outcome"
    while address:
        page = browse.get(address).text
        assert 'aria-sort="descending"><a class="sort" href="?sort=outcome">Outcome' in page
        found += [re.findall(r"chip (\w+)", row)[0] for row in rows(page)]
        following = re.findall(r'rel="next" href="([^"]+)"', page)
        address = "/runs/small/attempts" + unescape(following[0]) if following else ""
    assert found == sorted(outcomes, key=OUTCOMES.index, reverse=True)


def test_the_list_of_runs_has_environments_models_and_rates(browse: TestClient) -> None:
    (row,) = (row for row in rows(browse.get("/").text) if "/runs/small/" in row)
    text = re.sub(r"<[^>]+>", " ", row)
    assert re.search(r"finished\s+\S+ \S+\s+small\s+banking\s+baseline:reference \[tools\]", text)
    assert re.findall(r"[\d.]+ %", text) == ["100.0 %", "0.0 %"]
    names = [re.findall(r'href="/runs/(\w+)/"', row)[0] for row in rows(browse.get("/?sort=-rate").text)]
    assert names == ["small", "hostile"]
    assert [re.findall(r'href="/runs/(\w+)/"', row)[0] for row in rows(browse.get("/?sort=name").text)] == names[::-1]


@pytest.mark.slow
def test_the_list_begins_with_the_run_that_was_started_last(tmp_path: Path) -> None:
    for name in ("b", "c", "a"):
        EventLogFile.create(tmp_path / name, recipe=None).close()
    os.utime(tmp_path / "b" / "events.sqlite", (2**32, 2**32))  # written to since, as a resumed run is
    page = TestClient(make_app(make_viewer(tmp_path)), base_url=LOOPBACK).get("/").text
    assert re.findall(r'class="entry" href="/runs/(\w)/', page) == ["a", "c", "b"]
    assert 'aria-sort="descending"' in page


def test_an_ablation_is_listed_with_its_environments_and_compared_as_a_whole(ablated: Path, tmp_path: Path) -> None:
    recipe: Json = {"name": "three", "environment": "banking", "ablation": {"environment": ["banking", "telehealth"]}}
    EventLogFile.create(tmp_path / "three", recipe=recipe).close()
    assert (
        "<td>banking, telehealth</td>" in TestClient(make_app(make_viewer(tmp_path)), base_url=LOOPBACK).get("/").text
    )
    models = {"run": ["ablated", "ablated"], "model": "baseline:literal", "against": "baseline:reference"}
    page = TestClient(make_app(make_viewer(ablated)), base_url=LOOPBACK).get("/compare", params=models).text
    assert "ablated (baseline:literal) compared with ablated (baseline:reference)" in page
    assert "shield=off: banking-" in page
    assert "shield=refuse: banking-" in page


def test_two_models_of_a_run_are_compared_and_both_are_named(browse: TestClient) -> None:
    page = browse.get("/compare?run=small&run=small&model=baseline:literal&against=baseline:reference").text
    assert "small (baseline:literal) compared with small (baseline:reference)" in page
    titles = re.findall(r"<li><b>(attempts · .*?)</b>", page)
    assert titles
    assert all(title.endswith("baseline:literal / baseline:reference") for title in titles)
    assert "in small (baseline:literal)" in page
    assert "in small (baseline:reference)" in page
    one = browse.get("/compare?run=small").text
    assert "Choose two runs over the same tasks" in one
    assert '<option value="small" selected>' in one
    assert 'href="/compare?run=small"' in browse.get("/runs/small/").text


def test_a_comparison_has_both_reasons_of_each_attempt_and_filters_by_change(browse: TestClient) -> None:
    address = "/compare?run=small&run=small&model=baseline:literal&against=baseline:reference"
    page = browse.get(address).text
    shown = [row for row in rows(page) if "unsafe_success" in row or "unsafe success" in row]
    assert len(shown) == 4
    assert all(row.count('<td class="why">') == 2 for row in shown)
    assert "rule" in re.sub(r"<[^>]+>", " ", shown[0])
    assert not [row for row in rows(browse.get(address + "&change=none").text) if 'class="why"' in row]
    chosen = browse.get(address + "&change=unsafe_success → safe_success").text
    assert len([row for row in rows(chosen) if 'class="why"' in row]) == 4


def test_the_list_of_attempts_offers_all_that_fail(browse: TestClient) -> None:
    assert '<option value="failing">failing</option>' in browse.get("/runs/small/attempts").text
    failing = rows(browse.get("/runs/small/attempts?outcome=failing").text)
    assert failing
    assert not [row for row in failing if "chip safe_success" in row]


def test_an_attempt_leads_to_the_ones_beside_it_and_folds_rules_that_did_not_trigger(browse: TestClient) -> None:
    first, second = (browse.get(f"/runs/small/attempts/{number}").text for number in (1, 2))
    assert 'rel="prev"' not in first
    assert '<a rel="next" href="/runs/small/attempts/2">' in first
    assert '<a rel="prev" href="/runs/small/attempts/1">' in second
    assert "The same task: " in first
    (number, names) = re.findall(r"<summary>(\d+) rules not triggered</summary><p>(.*?)</p>", first)[0]
    assert names.count("<a href") == int(number)
    assert ", not triggered" not in first
    assert re.search(r"<title>.*baseline.*, small</title>", first)


@pytest.mark.parametrize("file", ["..%2freport.html", "report.html", "none.csv", "events.sqlite"])
def test_nothing_but_tables_is_served_from_the_folder_of_tables(browse: TestClient, file: str) -> None:
    assert browse.get(f"/runs/small/tables/{file}").status_code == 404
