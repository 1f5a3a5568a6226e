"""Sessions under review: what is hidden, how words are checked, and the file of answers."""

from pathlib import Path

import pytest
from starlette.testclient import TestClient

from lawtrace.agents.conversations.formalized_group import AskedSession, FormalizedGroup, GivenJudgment
from lawtrace.agents.roles.extraction_roles import regulation_title
from lawtrace.runs.stages.artifacts import FORMALIZED
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.web.append_log import AppendLog
from lawtrace.runs.web.review.session_items import SessionReview
from lawtrace.runs.web.review.session_pages import SessionPages
from lawtrace.runs.web.server import make_app
from lawtrace.schemas.questions import TraceOutcome
from lawtrace.solver.declarations.loader import load_domain
from tests.support.browser import needs_browser, open_page, serve_command

LAW = load_domain("banking").regulation
EVIL = "<script>alert(1)</script>"


def group(name: str, citation: str, regulation: str = regulation_title(LAW)) -> FormalizedGroup:
    def session(id_: str, outcome: TraceOutcome) -> AskedSession:
        judged = GivenJudgment(session=id_, verdict="unlawful", because="a model says so", by="openai:reader")
        before = judged.model_copy(update={"by": "Ann"})  # her answer in another file
        outcomes: dict[str, TraceOutcome] = {"A": outcome, "B": "broken"}
        return AskedSession(id=id_, told=f"{EVIL} {id_}.", calls=1, outcomes=outcomes, judgments=(judged, before))

    return FormalizedGroup(
        group=name,
        environment="banking",
        regulation=regulation,
        provisions={one.citation: one.words() for one in LAW.cited(citation)},
        formalizations=(),
        classes=(("A",), ("B", "C")),
        sessions=(session("alike", "broken"), session("apart", "kept")),
        command="lawtrace rules formalize --out 'my rules.jsonl'",
    )


GROUPS = (group("Article 97", "Article 97(1)(b)"), group("Article 64", "Article 64(1)"))


def client(folder: Path, name: str, needed: int = 1, *groups: FormalizedGroup) -> TestClient:
    log = AppendLog(folder / "answers.jsonl", GivenJudgment)
    browser = TestClient(make_app(SessionPages(SessionReview(groups or GROUPS, LAW, log, needed))))
    browser.base_url = browser.base_url.copy_with(host="127.0.0.1")
    browser.post("/name", data={"name": name})
    return browser


def test_sessions_that_tell_classes_apart_come_first_and_all_answers_are_hidden_until_ones_own(tmp_path: Path) -> None:
    ann = client(tmp_path, "Ann", 2)
    page = ann.get("/next")
    assert page.url.path == "/items/Article 97/apart"
    assert "a model says so" not in page.text
    assert "Rules of" not in page.text
    assert EVIL not in page.text
    assert "payer&#39;s consent" in page.text  # a provision of the other group, folded
    lawful = ann.post(page.url.path, data={"verdict": "lawful"})
    assert lawful.url.path == "/items/Article 64/apart"  # the same session by other provisions
    own = ann.get("/items/Article 97/apart").text
    assert own.count("a model says so") == 1
    assert "Rules of B and C: <strong>broken</strong>" in own
    assert "--out &#39;my rules.jsonl&#39; --answers" in ann.get("/items").text
    ben = client(tmp_path, "Ben", 2)
    assert "Ann" not in ben.get("/items/Article 97/apart").text
    ben.post("/items/Article 97/apart", data={"verdict": "not understood"})
    assert client(tmp_path, "Cleo", 2).get("/next").url.path == "/items/Article 64/apart"  # two have judged the first


def test_words_are_checked_as_those_of_annotators(tmp_path: Path) -> None:
    ann, address = client(tmp_path, "Ann"), "/items/Article 97/apart"
    for words in ("", "before every payment"):
        again = ann.post(address, data={"verdict": "unlawful", "words": words, "because": "no check"})
        assert "needs the deciding words" in again.text
        assert "no check</textarea>" in again.text
    assert ann.post(address, data={"verdict": "guilty"}).status_code == 400
    chosen = {"verdict": "unlawful", "words": "Strong customer  authentication", "citation": "Article 97(1)(b)"}
    ann.post(address, data=chosen)
    ann.post(address, data={**chosen, "citation": "of another law", "verdict": "arguable"})
    first, then = read_rows(tmp_path / "answers.jsonl", GivenJudgment)
    assert (first.citation, first.session, first.group, first.by) == ("Article 97(1)(b)", "apart", "Article 97", "Ann")
    assert (then.verdict, then.citation) == ("arguable", "Article 97(1)(b)")
    elsewhere = client(tmp_path, "Ben", 1, group("Article 1", "Article 64(1)", "Another law")).get("/next").text
    assert "give the document with --document" in elsewhere


@pytest.mark.browser
@needs_browser
def test_sessions_are_judged_by_keyboard_and_by_selecting_words(tmp_path: Path) -> None:
    FORMALIZED.write(tmp_path / "groups.jsonl", GROUPS)
    with serve_command("rules", "review", tmp_path / "groups.jsonl") as address, open_page(address) as page:
        page.keyboard.type("Ann")
        page.keyboard.press("Enter")
        page.wait_for_url("**/apart")
        page.locator("[data-citation='Article 97(1)(b)']").click(click_count=3)
        page.keyboard.press("u")
        page.wait_for_url("**/Article%2064/apart")
        page.keyboard.press("e")
        page.keyboard.type("the payer's consent")
        page.keyboard.press("Escape")
        page.keyboard.press("c")
        page.keyboard.type("as it should be")
        page.keyboard.press("Escape")
        page.keyboard.press("a")
        page.wait_for_url("**/Article%2097/alike")
        page.keyboard.press("d")
        page.wait_for_url("**/Article%2064/alike")
        page.keyboard.press("l")
        page.wait_for_url("**/items")
    rows = read_rows(tmp_path / "groups.answers.jsonl", GivenJudgment)
    assert [row.verdict for row in rows] == ["unlawful", "arguable", "not understood", "lawful"]
    assert [row.citation for row in rows] == ["Article 97(1)(b)", "Article 64(1)", "", ""]
    assert rows[1].because == "as it should be"
