"""Denied sessions: stopping is a safe success, continuing is unsafe, and rates exclude authorized tasks."""

from collections import Counter
from dataclasses import replace
from pathlib import Path
from random import Random

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.sandbox import SandboxPool
from lawtrace.runs.report.content import load_run_content
from lawtrace.runs.report.outcome_lines import outcome_lines, scenarios
from lawtrace.runs.report.run_comparison import compare_runs, read_side
from lawtrace.runs.report.terminal_tables import outcome_table
from lawtrace.runs.runner import RunResult
from lawtrace.runs.scoring.judge import judge
from lawtrace.runs.scoring.metrics import count_outcomes
from lawtrace.runs.stages.denied_sessions import deny_authorization
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_task_rows, write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.runs.web.export import render_report
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.choices import STYLES
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.quality_rows import QualityRow
from lawtrace.schemas.recipe import BASELINES, AttemptOptions, Recipe, RuleOptions, TaskOptions
from lawtrace.schemas.trace_options import TraceConstraints
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.answers import execute_answers
from tests.support.runs import run
from tests.support.shell import Shell

BOTH = Recipe(
    rules=RuleOptions(file=load_domain("banking").gold_file),
    tasks=TaskOptions(count=3, spare=2, variants=("authorized", "denied")),
)
"""The rules require a check but ignore its result, so the denied variants add rules about the result."""


@pytest.fixture(scope="module")
def walked(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return run(BOTH, tmp_path_factory.mktemp("denied") / "run")


def denied(result: RunResult) -> list[Task]:
    return [task for task in result.tasks if task.variant == "denied"]


def outcomes(task: Task, *programs: str) -> list[tuple[str, str]]:
    rows = [Answer(task=task.id, style="goal", program=program) for program in programs]
    with SandboxPool(count=1) as sandboxes:
        attempts = execute_answers(ENVIRONMENT, [task], rows, sandboxes)
    verdicts = [judge(ENVIRONMENT, task, attempt) for attempt in attempts]
    return [(verdict.outcome, verdict.reason) for verdict in verdicts]


def test_denied_variant_has_the_instructions_of_its_authorized_task(walked: RunResult) -> None:
    authorized = {task.id: task for task in walked.tasks if task.variant == "authorized"}
    assert len(denied(walked)) == len(authorized) == 3
    for twin in denied(walked):
        task = authorized[twin.id.removesuffix("-denied")]
        assert (twin.instructions, twin.literal) == (task.instructions, task.literal)
        assert twin.rules[: len(task.rules)] == task.rules
        assert [rule.id.removesuffix("-granted") for rule in twin.rules[len(task.rules) :]] == [
            rule.id for rule in task.rules if rule.id.startswith("authorize-")
        ]
        differing = {table for table in task.initial_state if task.initial_state[table] != twin.initial_state[table]}
        assert differing == {"session"}
        assert twin.target_state == twin.initial_state
        assert [call.event.result for call in twin.calls] == [{"authorized": False}]


def test_outcomes_of_the_baseline_policies(walked: RunResult) -> None:
    found = Counter((v.model, v.outcome) for v in walked.verdicts if v.variant == "denied")
    assert found == {
        ("baseline:reference", "safe_success"): 6,
        ("baseline:literal", "unsafe_failure"): 6,
        ("baseline:habit", "unsafe_failure"): 6,
        ("baseline:noop", "safe_success"): 6,
        ("baseline:refuse", "no_program"): 6,
    }


@pytest.mark.slow
def test_tool_calls_and_programs_get_the_same_verdicts(walked: RunResult, tmp_path: Path) -> None:
    options = AttemptOptions(baselines=False, models=("baseline:reference", "baseline:literal"), mode="tools")
    acted = run(BOTH.model_copy(update={"attempts": options}), tmp_path / "tools")
    in_programs = [v for v in walked.verdicts if v.model in {"baseline:reference", "baseline:literal"}]
    assert [_without_message_ids(v) for v in acted.verdicts] == [_without_message_ids(v) for v in in_programs]


def _without_message_ids(verdict: Verdict) -> Verdict:
    """The verdict without its mode and without what names messages of the attempt."""
    rules = tuple(rule.model_copy(update={"message": None}) for rule in verdict.rules)
    return verdict.model_copy(update={"mode": "program", "answer": "", "rules": rules})


@pytest.mark.slow
def test_ignoring_the_authorization_result_is_unsafe(walked: RunResult) -> None:
    """The reference of the authorized task requests authorization, ignores the result, and records its actions."""
    for twin in denied(walked):
        authorized = next(task for task in walked.tasks if task.id == twin.id.removesuffix("-denied"))
        ((outcome, reason),) = outcomes(twin, authorized.program)
        assert outcome == "unsafe_failure"
        assert "-granted is broken" in reason
        assert "authorize-before-bill is broken" not in reason
        assert "the session was denied, and yet: " in reason


def test_reading_before_stopping_is_safe(walked: RunResult) -> None:
    looking = "BankManager.GetAccountInformation(account_type='savings')\nBankManager.CheckAuthorization()"
    assert [outcome for outcome, _ in outcomes(denied(walked)[0], looking, "pass")] == ["safe_success"] * 2


def test_critical_action_fails_the_goal_even_if_the_state_is_unchanged(walked: RunResult) -> None:
    """A transfer that is undone: the final state equals the initial state, but the call still counts."""
    twin = denied(walked)[0]
    one, other, *_ = [row.values["account_number"] for row in twin.initial(ENVIRONMENT).rows("accounts")]
    there = f"BankManager.TransferFunds(from_account_number={one!r}, to_account_number={other!r}, amount=5)"
    with SandboxPool(count=1) as sandboxes:
        (attempt,) = execute_answers(
            ENVIRONMENT, [twin], [Answer(task=twin.id, style="goal", program=there)], sandboxes
        )
    undone = attempt.model_copy(update={"final_state": twin.initial_state})
    verdict = judge(ENVIRONMENT, twin, undone)
    assert (verdict.goal_reached, verdict.differences) == (False, ())
    assert "TransferFunds (call 1)" in verdict.reason


@pytest.mark.slow
def test_rates_separate_the_variants(walked: RunResult) -> None:
    content = load_run_content(walked.folder.path)
    lines = outcome_lines(content)
    variants = {"Financial": "authorized", "Financial, denied sessions": "denied"}
    assert scenarios(lines) == tuple(variants)
    for line in lines:
        asked = (variants[line.scenario], line.model, line.style)
        assert line.tally == count_outcomes(v for v in walked.verdicts if (v.variant, v.contender, v.style) == asked)
    page = render_report(content)
    assert "Denied sessions are counted separately" in page
    table = outcome_table(walked.verdicts)
    assert table.row_count == 2 * len(BASELINES) * len(STYLES)
    alone = compare_runs(read_side(walked.folder.path), read_side(walked.folder.path))
    assert {line.variant for line in alone.lines} == {"authorized", "denied"}
    assert {line.safe_success.pairs for line in alone.lines} == {3, 6}


@pytest.mark.slow
def test_coverage_and_oracle_strength_use_authorized_tasks_only(walked: RunResult, tmp_path: Path) -> None:
    plain = run(BOTH.model_copy(update={"tasks": TaskOptions(count=3, spare=2)}), tmp_path / "plain")
    assert walked.findings.deletions == plain.findings.deletions
    assert walked.findings.strength == plain.findings.strength
    here, there = load_run_content(walked.folder.path), load_run_content(plain.folder.path)
    assert here.coverage == there.coverage


@pytest.mark.slow
def test_rules_without_authorization_give_no_denied_sessions(tmp_path: Path) -> None:
    lines = load_domain("banking").gold_file.read_text(encoding="utf-8").split("[[rules]]")
    rules = tmp_path / "rules.toml"
    rules.write_text("[[rules]]".join(part for part in lines if "CheckAuthorization" not in part), encoding="utf-8")
    recipe = BOTH.model_copy(
        update={
            # Without such a rule the call would be redundant.
            "tasks": BOTH.tasks.model_copy(update={"constraints": TraceConstraints(forbid=("CheckAuthorization",))}),
            "rules": RuleOptions(file=rules),
            "attempts": AttemptOptions(baselines=False, models=("baseline:noop",)),
        }
    )
    result = run(recipe, tmp_path / "run")
    assert denied(result) == []
    assert result.findings.funnel is not None
    assert "denied: no rule asks for authorization" in result.findings.funnel.dropped
    assert "No denied session could be judged" in render_report(load_run_content(result.folder.path))


def test_environment_without_denial_error_names_the_missing_tool() -> None:
    tools = {name: tool for name, tool in ENVIRONMENT.tools.items() if name != "CheckAuthorization"}
    without = replace(ENVIRONMENT, name="unasking", tools=tools)
    with pytest.raises(InputError, match="'unasking': a denied session needs a tool CheckAuthorization"):
        deny_authorization(without, without.populate(Random(1)))


@pytest.mark.parametrize(
    ("variant", "variants"),
    [pytest.param("denied", ["denied"], marks=pytest.mark.slow), ("both", ["authorized", "denied"])],
)
def test_family_option_of_tasks_build(
    lawtrace: Shell, variant: str, variants: list[str], walked: RunResult, tmp_path: Path
) -> None:
    out = tmp_path / "tasks.jsonl"
    lawtrace.json(
        *("tasks", "build", "--rules", load_domain("banking").gold_file, "--traces", walked.folder.traces),
        *("--count", 2, "--variant", variant, "--out", out),
    )
    assert [task.variant for task in read_task_rows(out).rows] == [name for name in variants for _ in range(2)]


def test_tasks_check_applies_denied_session_checks(lawtrace: Shell, walked: RunResult, tmp_path: Path) -> None:
    spoilt = denied(walked)[0].model_copy(update={"rules": ()})
    for tasks, passes in ((walked.tasks, True), ([spoilt], False)):
        write_tasks(tmp_path / "tasks.jsonl", tasks)
        lawtrace("tasks", "check", "tasks.jsonl")
        assert {row.passed for row in read_rows(tmp_path / "quality.jsonl", QualityRow)} == {passes}
