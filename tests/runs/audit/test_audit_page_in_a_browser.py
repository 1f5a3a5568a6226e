"""The page of an audit in a real browser: a finding opens its conversation at the message."""

from pathlib import Path

import pytest

from lawtrace.runs.audit.annotations import read_annotations
from tests.support.audited_payments import conversation, write_log, write_rules
from tests.support.browser import needs_browser, open_page
from tests.support.shell import Shell

pytestmark = [pytest.mark.browser, needs_browser]

HOSTILE = "</pre></script><img src=x onerror=alert(1)>\u202eevil\x00"


@pytest.fixture
def url(lawtrace: Shell, tmp_path: Path) -> str:
    log = write_log(
        tmp_path / "log.jsonl",
        conversation("good", "CheckAuthorization", "PayBill", "RecordAuditEvent", reward=1),
        conversation(f"bad {HOSTILE}", f"user: {HOSTILE}", "PayBill", "RecordAuditEvent", reward=0),
        conversation("open", "CheckAuthorization", "user: Go on.", "PayBill", reward=0),
        conversation("other", "Unknown" + HOSTILE),
    )
    rules = write_rules(tmp_path / "rules.toml")
    code, out, err = lawtrace("audit", log, "--rules", rules, "--out", tmp_path / "a.jsonl", "--format", "html")
    assert code == 1, err
    assert "Written:" in err or "Written:" in out
    return (tmp_path / "a.html").as_uri()


def test_a_finding_opens_its_conversation_at_the_message(url: str) -> None:
    with open_page(url) as page:
        assert "4 conversations with 7 calls" in " ".join(page.locator(".lead").inner_text().split())
        assert page.locator(".task:visible").count() == 0
        page.locator("#rules").get_by_role("link", name="checked").click()
        page.locator("#rule-checked td, #rule-checked th").get_by_role("link").click()
        event = page.locator(":target")
        assert event.is_visible()
        assert page.locator(".task:visible").count() == 1
        assert page.locator(".summary").is_hidden()
        words = event.inner_text()
        assert "call 1 message 2" in words
        assert "Breaks checked" in words
        assert "Article 97(1)(b)" in words
        assert "CheckAuthorization was not completed before it" in words
        assert page.evaluate("document.activeElement.id") == event.get_attribute("id")
        page.keyboard.press("Escape")
        assert page.locator("#findings").is_visible()


def test_text_of_a_record_is_only_text(url: str) -> None:
    with open_page(url) as page:
        assert page.locator("img").count() == 0
        page.locator("#rule-checked tbody").get_by_role("link").click()
        words = page.locator(".task:visible").inner_text()
        assert "</pre></script><img src=x onerror=alert(1)>\\u202eevil\\u0000" in words
        assert "\u202e" not in page.content()


def test_marks_are_kept_and_saved_to_a_file(url: str, tmp_path: Path) -> None:
    with open_page(url) as page:
        assert page.locator("#marks").is_hidden()
        page.locator("#rule-checked tbody").get_by_role("link").click()
        page.locator(":target").get_by_label("wrong").check()
        page.reload()
        assert page.locator(":target").get_by_label("wrong").is_checked()
        assert page.locator("#marks output").inner_text() == "1 finding marked"
        with page.expect_download() as download:
            page.get_by_role("button", name="Save marks").click()
        download.value.save_as(tmp_path / "marks.jsonl")
    (mark,) = read_annotations(tmp_path / "marks.jsonl").values()
    assert (mark.rule, mark.call, mark.mark) == ("checked", "1", "wrong")
    assert mark.place.endswith("log.jsonl, line 5")
