"""The report file: numbers, evidence, safety, links, determinism, size."""

from base64 import b64encode
from collections import Counter
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser
from pathlib import Path

import pytest

from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.sections import make_run_report
from lawtrace.runs.web.export import export_report, render_report
from lawtrace.schemas.errors import InputError, OperationalError

VOID = {"meta", "br", "input", "img", "link", "hr", "wbr"}


class Page(HTMLParser):
    """A parsed page: tags in order with their attributes, ids, links, table rows as text."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.rows: list[list[str]] = []
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" in self.open or "script" in self.open:
            return
        self.text += data
        if self.rows and {"td", "th"} & set(self.open):
            self.rows[-1][-1] += data

    def row(self, *beginning: str) -> list[str]:
        """The only row that begins with those cells."""
        rows = [row for row in self.rows if tuple(row[: len(beginning)]) == beginning]
        assert len(rows) == 1, rows
        return rows[0]


@pytest.fixture(scope="module")
def page(content: ReportContent) -> Page:
    return Page(render_report(content))


def test_the_verdict_table(page: Page):
    assert page.row("baseline:reference", "goal") == [
        "baseline:reference", "goal", "100.0 % [34.2–100.0]",
        "2 100 %", "0 0 %", "0 0 %", "0 0 %", "0 0 %", "2 of 2", "0", "0", "0.0 %", "0.0 %",
    ]  # fmt: skip
    # One attempt is invalid: it is shown, but not part of any rate.
    assert page.row("baseline:reference", "workflow")[2:4] == ["100.0 % [20.7–100.0]", "1 100 %"]
    assert page.row("baseline:reference", "workflow")[8:11] == [
        "1 of 2",
        "1",
        "0",
    ]  # judged of planned, invalid, missing
    assert page.row("$m_1$ [big]", "goal") == [
        "$m_1$ [big]", "goal", "0.0 % [0.0–65.8]",
        "0 0 %", "1 50 %", "0 0 %", "1 50 %", "0 0 %", "2 of 2", "0", "0", "50.0 %", "100.0 %",
    ]  # fmt: skip
    assert page.row("$m_1$ [big]", "workflow")[2:] == [
        "0.0 % [0.0–65.8]", "0 0 %", "0 0 %", "1 50 %", "0 0 %", "1 50 %", "2 of 2", "0", "0", "0.0 %", "–",
    ]  # fmt: skip
    assert "1 of 8 attempts are invalid" in page.text


def test_failure_modes_are_shares_with_goals_first(page: Page):
    rows = [row for row in page.rows if row[0] == "$m_1$ [big]" and len(row) == 6]
    assert rows == [
        ["$m_1$ [big]", "0 %", "0 %", "0 %", "50 %", "2 of 2"],
        ["$m_1$ [big]", "0 %", "50 %", "50 %", "50 %", "2 of 2 1 no program"],
    ]


def test_coverage_names_mode_and_length(page: Page):
    assert page.row("Financial", "tasks", "3") == [
        "Financial", "tasks", "3", "2", "4.7 % 3/64", "75.0 % 3/4",
        "not measured", "not measured", "not measured",
    ]  # fmt: skip


def test_the_funnel_and_the_strength_of_the_rules(page: Page):
    text = " ".join(page.text.split())
    assert "2 pairs accepted: an acceptance rate of 50.0 %" in text
    assert page.row("compliance step dropped") == ["compliance step dropped", "4", "3", "1 the rules allow it"]
    assert "banking-1: CheckAuthorization, call 1, dropped" in text


def test_the_inference_gap_by_rule_and_provision_and_style(page: Page):
    # The invalid workflow and the workflow without a program have no trace.
    assert page.row("Financial", "record-bill")[2:] == ["0 % 0 of 2", "0 % 0 of 1", "0 % 0 of 2", "0 % 1 of 1"]
    assert page.row("Financial", "authorize-before-bill")[4:] == ["50 % 1 of 2", "0 % 1 of 1"]
    assert page.row("Financial", "Article 97(1)(b)")[5:] == ["50 % 1 of 2", "0 % 1 of 1"]


def test_an_attempt_shows_its_evidence(page: Page):
    text = " ".join(page.text.split())
    assert "did not end normally: exception, KeyError: 'payees', line 2, after 1 call" in text
    assert (
        "broken at call 3: call 3 is PayBill, and CheckAuthorization was not completed before it (Article 97(1)(b))"
        in text
    )
    assert "broken at the end" in text
    assert "InvalidRequestException: no such payee" in text
    assert ["accounts", "1", "balance", "87.5", "100.0"] in page.rows
    assert page.row("transactions", "(created)", "(whole row)", '{"amount": 12.5}', "missing")
    assert "I thought about it." in text


def test_the_monitor_state_after_each_event(page: Page):
    rows = [row for row in page.rows if row[0] == "authorize-before-bill A"]
    assert ["authorize-before-bill A", "k", "K", "K", "K", "kept"] in rows
    assert any(row[1:5] == ["k", "k", "k", "V"] for row in rows)


def test_hostile_text_is_escaped(content: ReportContent):
    html = render_report(content)
    page = Page(html)
    assert "img" not in {tag for tag, _ in page.tags}
    assert not any(name.startswith("on") for _, attributes in page.tags for name in attributes)
    assert html.count("</script>") == 1
    assert html.count("</style>") == 1
    assert "</script></style><img src=x onerror=alert(1)>" in page.text
    # Bidirectional controls are escaped.
    assert "\u202e" not in html
    assert "\\u202e" in page.text


@pytest.mark.slow
def test_the_content_policy_allows_only_the_script_of_the_page(content: ReportContent):
    html = render_report(content)
    page = Page(html)
    policies = [attributes["content"] for _, attributes in page.tags if attributes.get("http-equiv")]
    assert len(policies) == 1
    script = html.split("<script>")[1].split("</script>")[0]
    digest = b64encode(sha256(script.encode()).digest()).decode()
    assert policies[0] == f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'"
    links = [attributes.get("src") or attributes.get("href") or "#" for _, attributes in page.tags]
    assert all(link.startswith(("#", "tables/")) for link in links)


def test_links_have_targets_and_ids_are_unique(page: Page):
    ids = Counter(attributes["id"] for _, attributes in page.tags if "id" in attributes)
    assert [name for name, count in ids.items() if count > 1] == []
    links = {
        (attributes.get("href") or attributes.get("xlink:href") or "")
        for _, attributes in page.tags
        if "href" in attributes or "xlink:href" in attributes
    }
    assert {link[1:] for link in links if not link.startswith("tables/")} <= set(ids)
    assert "#task-banking-2-b" in links


def test_the_links_to_files_are_the_files_of_the_folder(content: ReportContent, tmp_path: Path):
    export_report(make_run_report(content), tmp_path / "report.html")
    page = Page((tmp_path / "report.html").read_text(encoding="utf-8"))
    links = {str(attributes.get("href")) for tag, attributes in page.tags if tag == "a"}
    written = {f"tables/{path.name}" for path in (tmp_path / "tables").iterdir()}
    assert {link for link in links if link.startswith("tables/")} == written


def test_an_empty_run_has_a_report(empty: ReportContent):
    page = Page(render_report(empty))
    assert "No attempt was judged in this run." in page.text
    assert "There are no tasks in this run." in page.text


def test_a_verdict_on_an_unknown_task_is_an_error(content: ReportContent):
    with pytest.raises(InputError, match="banking/2"):
        render_report(replace(content, tasks=content.tasks[:1]))


def test_a_report_that_cannot_be_written_is_an_error_with_its_path(content: ReportContent, tmp_path: Path):
    (tmp_path / "file").write_text("")
    with pytest.raises(OperationalError, match=r"file.report\.html"):
        export_report(make_run_report(content), tmp_path / "file" / "report.html")
