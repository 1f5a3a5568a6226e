"""From a run to the message that caused a verdict, in a real browser and by keyboard."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect

from tests.support.browser import needs_browser, open_page, serve_command

pytestmark = [pytest.mark.browser, needs_browser]


@pytest.fixture(scope="module")
def address(runs: Path) -> Iterator[str]:
    """The address of the served runs."""
    with serve_command("view", runs) as served:
        yield served


def test_navigation_from_a_run_to_the_message_that_caused_a_verdict(address: str) -> None:
    with open_page(address) as page:
        page.get_by_role("link", name="small", exact=True).click()
        row = (
            page.get_by_role("row")
            .filter(has_text="baseline:literal [tools]")
            .or_(page.get_by_role("row").filter(has_text="baseline:literal"))
        )
        row.filter(has_text="workflow").get_by_role("link").first.click()
        page.get_by_role("link", name="unsafe success").first.click()
        expect(page.get_by_role("heading", name="Broken rules")).to_be_visible()
        expect(page.locator("blockquote").first).to_contain_text("Article")
        expect(page.locator("table.monitor")).to_contain_text("V")
        page.get_by_role("link", name="Message that broke it").first.click()
        message = page.locator("li.asked-for")
        expect(message).to_be_in_viewport()
        expect(message).to_be_focused()
        expect(message).to_contain_text("Breaks ")
        expect(message).to_contain_text("executor")


def test_keyboard_navigation(address: str) -> None:
    with open_page(address) as page:
        page.keyboard.press("j")
        page.keyboard.press("j")
        page.keyboard.press("k")
        focused = page.locator(":focus")
        assert focused.evaluate("element => getComputedStyle(element).outlineStyle") == "solid"
        while focused.inner_text() != "small":
            page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/runs/small/")
        page.keyboard.press("/")
        page.keyboard.type("checkauth")
        page.keyboard.press("Enter")
        page.wait_for_url("**/conversations?text=checkauth")
        page.keyboard.press("j")
        page.keyboard.press("Enter")
        page.wait_for_url("**/conversations/*")
        page.keyboard.press("Escape")
        page.wait_for_url("**/runs/small/conversations")
        page.keyboard.press("Escape")
        page.wait_for_url("**/runs/small/")
        page.keyboard.press("Escape")
        page.wait_for_url(address)


def test_a_hostile_message_is_escaped(address: str) -> None:
    with open_page(f"{address}runs/hostile/conversations/1") as page:
        expect(page.locator("pre.words").first).to_contain_text('<script>document.title="owned"</script>')
        expect(page.locator("pre.words").first).to_contain_text("\\u001b[2J")
        assert page.title() != "owned"
        assert page.locator("img").count() == 0
        expect(page.locator("li.entry").filter(has_text="more characters").first).to_be_visible()
        width = page.evaluate("() => [document.documentElement.scrollWidth, innerWidth]")
        assert width[0] <= width[1]


def test_two_runs_are_chosen_and_compared_by_keyboard(address: str) -> None:
    with open_page(address) as page:
        for box in page.get_by_role("checkbox").all():
            box.focus()
            page.keyboard.press("Space")
        page.keyboard.press("Enter")
        page.wait_for_url("**/compare?run=*&run=*")
        expect(page.get_by_role("heading", level=1)).to_contain_text("compared with")
        page.get_by_role("link", name="Exchange the sides").click()
        expect(page.get_by_role("heading", name="Conversations that differ")).to_be_visible()
