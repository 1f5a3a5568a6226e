"""The report in a real browser: any attempt's outcome, rule, provision and first bad event in three clicks."""

from pathlib import Path

import pytest
from playwright.sync_api import Page

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.labels import OUTCOME_LABELS
from lawtrace.runs.report.sections import make_run_report
from lawtrace.runs.web.export import export_report
from tests.support.browser import needs_browser, open_page

pytestmark = [pytest.mark.browser, needs_browser]


@pytest.fixture
def url(content: ReportContent, tmp_path: Path) -> str:
    path = tmp_path / "report.html"
    export_report(make_run_report(content), path)
    return path.as_uri()


def test_every_attempt_is_one_click_from_the_index(url: str, content: ReportContent) -> None:
    with open_page(url) as page:
        marks = page.locator("table.index .mark")
        assert marks.count() == len(content.verdicts)
        for number in range(marks.count()):
            mark = marks.nth(number)
            label = mark.get_attribute("aria-label")
            anchor = (mark.get_attribute("href") or "").removeprefix("#")
            mark.click()  # one
            card = page.locator(f"[id='{anchor}']")
            assert card.is_visible()
            assert label in [look.label for look in OUTCOME_LABELS.values()]
            assert label in card.locator("h4").inner_text()
            for rule in card.locator("td.end:has(strong)").all():
                words = rule.inner_text()
                assert "broken at" in words  # the first bad event, or the end
                assert "Article" in words  # the provision
            page.goto(url)


def test_a_broken_rule_links_to_its_provision(url: str) -> None:
    with open_page(url) as page:
        page.locator("table.index .mark[data-outcome=unsafe_success]").first.click()  # one
        page.locator("article:visible tr:has(td.end strong) th a").first.click()  # two
        target = page.evaluate("location.hash").removeprefix("#")
        row = page.locator(f"[id='{target}']")
        assert row.is_visible()
        assert "CheckAuthorization" in row.inner_text()


def test_the_index_is_filtered_by_keyboard(url: str) -> None:
    with open_page(url) as page:
        outcome = page.locator("select[name=outcome]")
        outcome.focus()
        page.keyboard.type("benign")
        assert outcome.input_value() == "benign_failure"
        page.keyboard.press("Tab")
        rows = page.locator("table.index tbody tr:visible")
        assert rows.count() == 1
        assert "1 of 2" in page.locator("#filter output").inner_text()


def column(page: Page, table: str, number: int) -> list[str]:
    return [cell.inner_text() for cell in page.locator(f"{table} tbody tr > :nth-child({number})").all()]


def test_a_table_is_sorted_by_a_click_and_by_keyboard(url: str) -> None:
    with open_page(url) as page:
        before, styles = column(page, "#verdicts table", 3), column(page, "#verdicts table", 2)
        header = page.locator("#verdicts thead th:has-text('Pass@1')")
        header.get_by_role("button").click()
        assert header.get_attribute("aria-sort") == "ascending"
        after = column(page, "#verdicts table", 3)
        assert after == sorted(before, key=lambda text: float(text.split()[0]))  # as numbers: 100 after 0
        assert column(page, "#verdicts table", 2) == styles[2:] + styles[:2]  # equal rows keep their order
        page.keyboard.press("Enter")
        assert header.get_attribute("aria-sort") == "descending"
        assert column(page, "#verdicts table", 3) == before
        other = page.locator("#verdicts thead th:has-text('Style')")
        other.get_by_role("button").focus()
        page.keyboard.press("Space")
        assert (header.get_attribute("aria-sort"), other.get_attribute("aria-sort")) == (None, "ascending")
        assert column(page, "#verdicts table", 2) == sorted(styles)


@pytest.mark.parametrize("width", [400, 1280])
def test_the_page_of_an_ablation_fits_the_window(ablated: Path, width: int) -> None:
    with open_page((ablated / "ablated" / "report.html").as_uri(), width=width) as page:
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        boxes = [figure.bounding_box() for figure in page.locator("figure svg").all()]
        assert boxes
        assert all(box is not None and box["width"] > 100 and box["height"] > 30 for box in boxes)
