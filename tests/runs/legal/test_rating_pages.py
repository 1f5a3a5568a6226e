"""Three people rate a sample of questions on the review page, by form and by keyboard."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from playwright.sync_api import expect
from starlette.testclient import TestClient

from lawtrace.runs.legal.rating_pages import RatingPages
from lawtrace.runs.legal.ratings import RatingRow, draw_sample, rating_agreement
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.web.append_log import AppendLog
from lawtrace.runs.web.server import make_app
from tests.support.browser import needs_browser, open_page, serve_command
from tests.support.legal.small_cases import BOOK

SAMPLE = draw_sample(BOOK.cases, 2, seed=3)
GOOD = {"faithfulness": "yes", "clarity": "yes", "expertise": "no"}


def pages(path: Path, raters: int | tuple[str, ...] = 3) -> RatingPages:
    return RatingPages(SAMPLE, raters, AppendLog(path, RatingRow), clock=lambda: "2026-01-02T03:04:05+00:00")


def browser(made: RatingPages, name: str) -> TestClient:
    client = TestClient(make_app(made), base_url="http://127.0.0.1")
    client.post("/name", data={"name": name})
    return client


def test_three_raters_rate_the_same_questions_and_see_their_agreement(tmp_path: Path) -> None:
    made = pages(tmp_path / "ratings.jsonl")
    for name in ("ann", "bob", "cy"):
        client = browser(made, name)
        page = client.get("/next")
        for _, question in SAMPLE:
            assert question.text in page.text
            page = client.post(f"/items/{question.id}", data={**GOOD, "clarity": "no" if name == "cy" else "yes"})
        assert "You have rated all questions" in page.text
    rows = read_rows(tmp_path / "ratings.jsonl", RatingRow)
    assert [(row.rater, row.at[:4]) for row in rows] == [
        (name, "2026") for name in ("ann", "bob", "cy") for _ in SAMPLE
    ]
    assert {line.criterion: line.unanimous for line in rating_agreement(rows)} == {
        "faithfulness": 1.0,
        "clarity": 0.0,
        "expertise": 1.0,
    }
    assert "Fleiss" in page.text
    late = browser(made, "dee").get("/next")
    assert late.url.path == "/items"  # three have rated: a fourth would change the design


def test_incomplete_ratings_and_unknown_raters_are_rejected(tmp_path: Path) -> None:
    made = pages(tmp_path / "ratings.jsonl", ("ann",))
    client = browser(made, "ann")
    _, question = SAMPLE[0]
    refused = client.post(f"/items/{question.id}", data={"faithfulness": "yes"})
    assert (refused.status_code, "answer yes or no for clarity, expertise" in refused.text) == (400, True)
    assert client.get("/items/nothing").status_code == 404
    assert not (tmp_path / "ratings.jsonl").exists()
    stranger = TestClient(make_app(made), base_url="http://127.0.0.1")
    assert stranger.post("/name", data={"name": "eve"}).status_code == 400
    assert stranger.post(f"/items/{question.id}", data=GOOD).url.path == "/"


@pytest.mark.browser
@needs_browser
def test_a_question_is_rated_by_keyboard(tmp_path: Path) -> None:
    cases, out = tmp_path / "cases.jsonl", tmp_path / "ratings.jsonl"
    cases.write_text("".join(case.model_dump_json() + "\n" for case in BOOK.cases), encoding="utf-8")
    words = ["legal", "review", "--cases", str(cases), "--out", str(out), "--count", "2"]
    with serve_command(*words) as address, open_page(address) as page:
        page.keyboard.type("Ann")
        page.keyboard.press("Enter")
        page.wait_for_url("**/items/**")
        first = page.url
        for key in ("y", "n", "Backspace", "y", "n"):
            page.keyboard.press(key)
        expect(page.locator("#send")).to_be_focused()
        page.keyboard.press("Enter")
        page.wait_for_url(lambda url: url != first)
        page.keyboard.press("u")
        page.wait_for_url(first)
        expect(page.locator("#said")).to_be_visible()
        page.keyboard.press("Escape")
        page.wait_for_url("**/items")
        expect(page.locator("main")).to_contain_text("1 of 3")
    (row,) = read_rows(out, RatingRow)
    assert (row.rater, row.faithfulness, row.clarity, row.expertise) == ("Ann", True, True, False)
    command = [sys.executable, "-c", "from lawtrace.runs.cli import main; main()", *words, "--status", "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout.splitlines()[-1])["raters"]["Ann"]["rated"] == 1
