"""An offline ablation end to end: shared stages run once, every variant is judged, differences are paired by task."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import pytest

from lawtrace import load_run
from lawtrace.runs.call_plan import plan_of
from lawtrace.runs.report.run_comparison import compare_runs, read_side
from lawtrace.runs.runner import VariantResult, run_variants
from lawtrace.runs.scoring.ablation import Ablation, read_ablation
from lawtrace.runs.stages.resolve import resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import measure_usage
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.schemas.log_entries import ModelCalled
from lawtrace.schemas.recipe import (
    AttemptOptions,
    Recipe,
    RegulationOptions,
    RoleModelOptions,
    RuleOptions,
    TaskOptions,
)
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import serving
from tests.support.playing import play
from tests.support.runs import run_recipe
from tests.support.shell import Shell

RECIPES = Path(__file__).parents[2] / "recipes"
RECIPE = Recipe(
    tasks=TaskOptions(count=3, spare=2),
    attempts=AttemptOptions(models=("baseline:reference", "baseline:literal"), baselines=False),
    ablation={"attempts.shield": ("off", "refuse"), "conversation.evaluator": (True, False)},
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return RunFolder(tmp_path_factory.mktemp("ablation") / "run")


@pytest.fixture(scope="module")
def results(folder: RunFolder) -> list[VariantResult]:
    with EventLogFile.create(folder.path, recipe=RECIPE.model_dump(mode="json")) as event_log:
        return asyncio.run(run_variants(resolve_recipe(RECIPE), event_log))


@pytest.fixture(scope="module")
def ablation(folder: RunFolder, results: list[VariantResult]) -> Ablation:
    assert len(results) == 4
    return read_ablation(folder.path)


def test_stages_with_the_same_inputs_are_computed_once(folder: RunFolder, results: list[VariantResult]) -> None:
    assert [one.row.made_by["tasks"] for one in results] == [1, 2, 1, 2]
    assert [one.row.made_by["traces"] for one in results] == [1, 1, 1, 1]
    # The tasks are the same with and without an evaluator, so their attempts are shared as well.
    assert [one.row.made_by["attempts"] for one in results] == [1, 1, 3, 3]
    with EventLogFile.open(folder.path) as event_log:
        calls = [entry for entry in event_log.entries(kind="model_call") if isinstance(entry, ModelCalled)]
    asked = [entry for entry in calls if entry.context.role == "executor"]
    assert len(asked) == 2 * 3 * 2 * 2  # shields, tasks, styles, models
    variants = {entry.context.variant for entry in calls if entry.context.role == "masking_evaluator"}
    assert variants == {"shield=off, evaluator=on"}


def test_every_variant_has_files_with_the_same_tasks(folder: RunFolder, results: list[VariantResult]) -> None:
    assert all(one.row.ended is None for one in results)
    ids = [[task.id for task in read_task_rows(folder.variant(number).tasks).rows] for number in (1, 2, 3, 4)]
    assert len(ids[0]) == 3
    assert all(other == ids[0] for other in ids)


def test_the_verdicts_of_all_variants_are_one_frame(folder: RunFolder, results: list[VariantResult]) -> None:
    verdicts = load_run(folder.path).verdicts
    frame: Any = verdicts.to_pandas()
    assert len(verdicts) == len(frame) == 4 * 3 * 2 * 2  # variants, tasks, styles, models
    assert set(frame["variant"]) == {one.row.name for one in results}
    assert set(frame["environment"]) == {"banking"}
    assert len(verdicts[:5].to_pandas()) == 5


def test_an_ablation_is_compared_as_a_whole(folder: RunFolder, results: list[VariantResult]) -> None:
    side = read_side(folder.path)
    assert side.variants == {"shield=off, evaluator=on", "shield=refuse, evaluator=on"}
    line, *_ = compare_runs(side, side, ("baseline:literal", "baseline:reference")).lines
    assert line.safe_success.pairs == 2 * 3 * 2  # variants with attempts of their own, tasks, styles
    assert line.safe_success.second == 1


def test_the_axes_are_compared_in_pairs(ablation: Ablation) -> None:
    shields = {(line.model, line.figure): line.compared for line in ablation.axes if line.axis == "attempts.shield"}
    reference = shields["baseline:reference", "Pass@1"]
    # The attempts are shared by the variants with and without an evaluator, so each counts once.
    assert (reference.pairs, reference.first, reference.second) == (6, 1.0, 1.0)
    gap = shields["baseline:literal", "gap"]
    assert (gap.first, gap.second, gap.p_value) == (1.0, 0.0, 2 / 2**6)
    evaluators = [line.compared for line in ablation.axes if line.axis == "conversation.evaluator"]
    assert {(one.pairs, one.difference, one.p_value) for one in evaluators} == {(12, 0.0, 1.0)}
    unshielded, _, shielded, _ = (line for line in ablation.lines if line.model == "baseline:literal")
    # A refused call does not succeed: the shielded literal policy violates no rule and reaches no goal.
    assert unshielded.workflow.inference_gap == 1.0
    assert shielded.workflow.inference_gap == 0.0
    assert shielded.against_first is not None
    assert shielded.against_first.pairs == 6


def test_each_setting_is_counted_over_the_variants_that_have_it(ablation: Ablation) -> None:
    counted = {(line.axis, line.value, line.model): line for line in ablation.settings}
    refusing = counted["attempts.shield", "refuse", "baseline:literal"]
    assert (refusing.outcomes.judged, refusing.outcomes.inference_gap, refusing.pairs.pairs) == (6, 0.0, 0)
    assert counted["attempts.shield", "off", "baseline:literal"].outcomes.inference_gap == 1.0
    # With and without a shield, the attempts differ.
    assert counted["conversation.evaluator", True, "baseline:reference"].outcomes.judged == 12


@pytest.mark.slow
def test_the_study_of_difficulty_can_be_planned(lawtrace: Shell) -> None:
    plan = lawtrace.json("run", str(RECIPES / "difficulty.toml"), "--dry-run")
    assert plan["variants"] == 5


@pytest.mark.slow
def test_a_failed_variant_is_reported(tmp_path: Path) -> None:
    recipe = RECIPE.model_copy(update={"ablation": {"tasks.length": (8, 2)}})
    folder = RunFolder(tmp_path / "run")
    with EventLogFile.create(folder.path, recipe=recipe.model_dump(mode="json")) as event_log:
        whole, broken = asyncio.run(run_variants(resolve_recipe(recipe), event_log))
    assert whole.result is not None
    assert broken.result is None
    assert broken.row.ended is not None
    assert read_ablation(folder.path).variants[1].ended == broken.row.ended


def test_the_plan_counts_shared_stages_once() -> None:
    recipe = Recipe(
        tasks=TaskOptions(count=10, spare=5),
        models=RoleModelOptions(instruction_generator="openai:a", masking_evaluator="openai:b"),
        attempts=AttemptOptions(models=("openai:c", "baseline:literal"), trials=2),
        ablation={"conversation.evaluator": (True, False), "attempts.shield": ("off", "refuse")},
    )
    plan = plan_of(resolve_recipe(recipe))
    lines = {line.role: line for line in plan.calls}
    assert plan.variants == 4
    assert lines["instruction_generator"].expected == 2 * 20  # with an evaluator and without, for both shields
    assert lines["instruction_generator"].most == 2 * 2 * 15 * 3 * 2
    assert lines["masking_evaluator"].expected == 20
    assert lines["executor"].expected == 4 * 10 * 2 * 2
    assert lines["independent_reader"].expected == 2 * 20  # it has the generator's model
    assert set(lines) == {"instruction_generator", "independent_reader", "masking_evaluator", "executor"}


def test_the_plan_estimates_cost_and_duration_beside_the_most() -> None:
    recipe = Recipe.model_validate(
        {
            "tasks": {"count": 10},
            "attempts": {"models": ["openai:c"], "baselines": False},
            "parameters": {"max_tokens": 4000},
            "prices": {"openai:c": {"input": 1.0, "output": 10.0}},
            "conversation": {"concurrency": 4, "deadline_seconds": 60},
        }
    )
    plan = plan_of(resolve_recipe(recipe))
    assert plan.expected == plan.most == 20
    assert plan.cost is not None
    assert plan.ceiling is not None
    answers = 20 * 600 * 10 / 1_000_000
    assert answers < plan.cost < plan.ceiling / 3
    assert (plan.seconds, plan.most_seconds) == (20 * 10 / 4, 20 * 60 / 4)
    unpriced = plan_of(resolve_recipe(recipe.model_copy(update={"prices": {}})))
    assert (unpriced.cost, unpriced.ceiling) == (None, None)
    conversation = recipe.conversation.model_copy(update={"requests_per_minute": 10})
    rated = plan_of(resolve_recipe(recipe.model_copy(update={"conversation": conversation})))
    assert rated.least_seconds == rated.seconds == 20 * 60 / 10


@pytest.mark.slow
def test_a_run_sends_the_planned_requests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every answer is accepted at once, so each role, extraction included, gets the expected number of requests."""
    everybody = RoleModelOptions(
        policy_extractor="openai:a",
        ltl_critic="openai:a",
        instruction_generator="openai:a",
        masking_evaluator="openai:a",
        independent_reader="openai:a",
    )
    recipe = RECIPE.model_copy(
        update={
            "models": everybody,
            "ablation": {},
            "attempts": AttemptOptions(models=("openai:b",), baselines=False),
            "rules": RuleOptions(regulation="text"),
            "regulation": RegulationOptions(files=(write_bank_law(tmp_path),)),
        }
    )
    folder = RunFolder(tmp_path / "run")
    with serving(play) as server, EventLogFile.create(folder.path, recipe=recipe.model_dump(mode="json")) as event_log:
        server.connect(monkeypatch)
        asyncio.run(run_recipe(recipe, event_log))
        used = {(line.role, line.model): line.asked for line in measure_usage(event_log, {})}
    assert used == {(line.role, line.model): line.expected for line in plan_of(resolve_recipe(recipe)).calls}
    assert len(used) == 6


@pytest.mark.slow
def test_ablation_on_the_command_line(tmp_path: Path, lawtrace: Shell) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text(
        '[tasks]\ncount = 2\nspare = 1\n[attempts]\nmodels = ["baseline:literal"]\n'
        '[ablation]\n"attempts.shield" = ["off", "refuse"]\n',
        encoding="utf-8",
    )
    plan = lawtrace.json("run", str(recipe), "--dry-run")
    assert plan["variants"] == 2
    assert not (tmp_path / "run").exists()
    done = lawtrace.json("run", str(recipe), "--out", str(tmp_path / "run"))
    assert [one["name"] for one in done["variants"]] == ["shield=off", "shield=refuse"]
    page = (tmp_path / "run" / "report.html").read_text(encoding="utf-8")
    assert "variants/02/report.html" in page
    assert (tmp_path / "run" / "variants" / "02" / "report.html").exists()
    (tmp_path / "run" / "report.html").unlink()
    code, out, _ = lawtrace("report", str(tmp_path / "run"))
    assert code == 0
    assert re.search(r"2 *\n +refuse .*\n +baseline:literal", out)
    assert (tmp_path / "run" / "report.html").exists()
    again = lawtrace.json("run", "--from", str(tmp_path / "run"), "--out", str(tmp_path / "again"))
    strip = ("run", "report")
    assert json.dumps([{k: v for k, v in one.items() if k not in strip} for one in again["variants"]]) == json.dumps(
        [{k: v for k, v in one.items() if k not in strip} for one in done["variants"]]
    )
