"""The report on a profile comparison (four baselines, two recorded models) leads to the evidence on each attempt."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator

from benchmarks.published.comparison import ProfileComparison
from benchmarks.published.comparison_report import comparison_content, make_report
from benchmarks.published.logisafetybench import import_tasks
from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.sandbox import Sandbox, SandboxPool
from lawtrace.runs.report.labels import OUTCOME_LABELS
from lawtrace.runs.stages.baseline_answers import baseline_programs
from lawtrace.runs.stages.submitted_programs import read_programs
from lawtrace.runs.web.export import export_report
from lawtrace.schemas.recipe import BASELINES, without_habit
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.answers import execute_answers
from tests.support.browser import needs_browser, open_page
from tests.support.profile_comparison import compare_profiles

PUBLISHED = Path(__file__).parents[4] / "shared" / "data" / "logisafety"
pytestmark = [
    pytest.mark.browser,
    pytest.mark.shared,
    needs_browser,
    pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published data are not beside the checkout"),
]
RECORDS = ("Qwen_Qwen2.5-Coder-7B", "tensorblock_gpt-5-mini")


@pytest.fixture(scope="module")
def comparison() -> Iterator[ProfileComparison]:
    paths = [path for name in RECORDS for path in PUBLISHED.glob(f"records/eval_bank_manager_{name}*")]
    with Sandbox() as sandbox, SandboxPool(count=1) as sandboxes:
        tasks = import_tasks(PUBLISHED, "bank_manager", sandbox).tasks
        programs = [row for path in paths for row in read_programs(path).usable.rows] + baseline_programs(
            ENVIRONMENT, tasks
        )
        attempts = execute_answers(ENVIRONMENT, tasks, programs, sandboxes)
        recorded = [verdict for path in paths for verdict in read_programs(path).recorded]
        yield compare_profiles(ENVIRONMENT, tasks, attempts, recorded, sandbox)


def test_any_attempt_shows_outcome_rule_provision_and_first_bad_event(
    comparison: ProfileComparison, tmp_path: Path
) -> None:
    """One click leads to all four, a second one to the rule."""
    content = comparison_content(comparison)
    export_report(make_report(content, comparison), tmp_path / "report.html")
    models = list(dict.fromkeys(verdict.model for verdict in content.verdicts))
    assert len(models) == 6
    assert set(without_habit(BASELINES)) < set(models)
    order = {task.id: number for number, task in enumerate(content.tasks)}
    # One attempt for each combination of model, style, outcome and number of broken rules.
    kinds = {
        (one.model, one.style, one.outcome, sum(not rule.kept for rule in one.rules)): one for one in content.verdicts
    }
    assert len(kinds) > 20
    with open_page((tmp_path / "report.html").as_uri()) as page:
        assert page.locator("table.index .mark").count() == len(content.verdicts)
        rows = page.locator("table.index tbody tr")
        for one in kinds.values():
            mark = rows.nth(order[one.task]).locator(
                f".mark[data-model='{models.index(one.model)}'][data-style='{one.style}']"
            )
            mark.click()  # one
            card = page.locator("article:target")
            _shows(card, one)
            broken = card.locator("tr:has(td.end strong) th a")
            if broken.count():
                broken.first.click()  # two
                rule = page.locator("tr:target")
                assert rule.is_visible()
                assert next(rule.formula for rule in one.rules if not rule.kept) in rule.inner_text()
                page.go_back()
            page.go_back()


def _shows(card: Locator, verdict: Verdict) -> None:
    assert card.is_visible()
    heading = card.locator("h4").inner_text()
    assert OUTCOME_LABELS[verdict.outcome].label in heading
    assert verdict.model in heading
    shown = {row.locator("th a").inner_text(): row.locator("td.end").inner_text() for row in _broken_rows(card)}
    broken = [rule for rule in verdict.rules if not rule.kept]
    assert set(shown) == {rule.rule for rule in broken}
    for rule in broken:
        assert all(provision in shown[rule.rule] for provision in rule.provisions)
        assert rule.provisions
        where = "at the end" if rule.broken_at is None else f"at call {rule.broken_at + 1}"
        assert f"broken {where}" in shown[rule.rule]
        if rule.broken_at is not None:
            calls = card.locator("table.calls tr.bad td.n").all_inner_texts()
            assert str(rule.broken_at + 1) in calls


def _broken_rows(card: Locator) -> list[Locator]:
    return card.locator("table.monitor tbody tr:has(td.end strong)").all()
