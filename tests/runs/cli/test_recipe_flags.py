"""A key of the recipe has the same effect in every command: commands differ only in the stages that they ask for."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs import full_run
from lawtrace.runs.cli import grade, rules_extract, tasks_build, tasks_check, tasks_release, traces_synthesize
from lawtrace.runs.cli.recipe_flags import ATTEMPT_FLAGS, DIFFICULTY, DOCKETS, FLAGS, MODEL_CALLS, SELECTION
from lawtrace.runs.recipe_checks import prepare_recipe
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.stages.resolve import ResolvedRecipe
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.rules import Rule
from tests.support.bank_law import write_bank_law
from tests.support.bank_task import make_task
from tests.support.shell import Shell

MODULES = (grade, rules_extract, tasks_build, tasks_check, tasks_release, traces_synthesize)
COMMANDS: dict[str, tuple[str, ...]] = {
    "run": ("run", "recipe.toml"),
    "rules extract": ("rules", "extract", "--recipe", "recipe.toml"),
    "traces synthesize": ("traces", "synthesize", "--recipe", "recipe.toml"),
    "tasks build": ("tasks", "build", "--recipe", "recipe.toml"),
    "tasks check": ("tasks", "check", "tasks.jsonl", "--recipe", "recipe.toml"),
    "tasks release": ("tasks", "release", "--out", "set", "--env", "banking", "--recipe", "recipe.toml"),
    "grade": ("grade", "--tasks", "tasks.jsonl", "--programs", "programs.jsonl", "--recipe", "recipe.toml"),
}
RECIPE = """
seed = 7
[rules]
source = "extracted"
[tasks]
count = 3
spare = 2
length = 9
[conversation]
rounds = 2
evaluator = false
[parameters]
temperature = 0.5
[budget]
messages = 50
[models]
trace_writer = "openai:writer"
policy_extractor = "openai:author"
[attempts]
models = ["baseline:noop"]
baselines = false
mode = "tools"
shield = "warn"
trials = 2
seconds = 3
"""
CONTRASTS, OF_CONTRASTS = ("--trace-mode", "contrasts"), {"tasks.trace_mode": "contrasts"}
VALUES: dict[str, tuple[tuple[str, ...], dict[str, Any]]] = {
    "rules": (("--rules", "rules.jsonl"), {"rules.file": "rules.jsonl", "rules.source": "curated"}),
    "count": (("--count", "4"), {"tasks.count": 4}),
    "length": (("--length", "7"), {"tasks.length": 7}),
    "require": (("--require", "PayBill"), {"tasks.constraints.require": ["PayBill"]}),
    "forbid": (("--forbid", "PayBill"), {"tasks.constraints.forbid": ["PayBill"]}),
    "pair": (("--pair", "PayBill,SearchPayee"), {"tasks.constraints.pairs": [["PayBill", "SearchPayee"]]}),
    "compliance": (("--compliance", "0.1", "0.3"), {"tasks.constraints.compliance": [0.1, 0.3]}),
    "distance": (("--distance", "2"), {"tasks.constraints.distance": 2}),
    "max_changes": ((*CONTRASTS, "--max-changes", "3"), {**OF_CONTRASTS, "tasks.difficulty.changes": 3}),
    "min_rules": ((*CONTRASTS, "--min-rules", "4"), {**OF_CONTRASTS, "tasks.difficulty.rules": 4}),
    "min_distance": ((*CONTRASTS, "--min-distance", "2"), {**OF_CONTRASTS, "tasks.difficulty.distance": 2}),
    "min_calls": ((*CONTRASTS, "--min-calls", "6"), {**OF_CONTRASTS, "tasks.difficulty.calls": 6}),
    "matters": (("--matters", "4"), {"tasks.docket": {"matters": 4, "slack": 0.3}, "tasks.trace_mode": "dockets"}),
    "slack": (("--slack", "0.5"), {"tasks.docket": {"matters": 6, "slack": 0.5}}),
    "trace_mode": (("--trace-mode", "coverage"), {"tasks.trace_mode": "coverage"}),
    "seed": (("--seed", "8"), {"seed": 8}),
    "model": (("--model", "baseline:refuse"), {"attempts.models": ["baseline:refuse"], "attempts.baselines": False}),
    "baselines": (("--baselines",), {"attempts.baselines": True}),
    "temperature": (("--temperature", "0.7"), {"parameters.temperature": 0.7}),
    "max_tokens": (("--max-tokens", "500"), {"parameters.max_tokens": 500}),
    "concurrency": (("--concurrency", "3"), {"conversation.concurrency": 3}),
    "mode": (("--mode", "tools"), {"attempts.mode": "tools"}),
    "shield": (("--shield", "refuse"), {"attempts.shield": "refuse"}),
    "trials": (("--trials", "4"), {"attempts.trials": 4}),
    "regulation": (("--regulation", "named"), {"attempts.regulation": "named"}),
    "regulation_words": (("--regulation-words", "0"), {"attempts.regulation_words": 0}),
    "hints": (("--hints",), {"attempts.hints": True}),
    "target_state": (("--target-state",), {"attempts.target_state": True}),
}
TAKEN = {
    # A whole run refuses the law of this test, which lacks provisions that the rules cite.
    "run": ("rules", "count", *(name for name in ATTEMPT_FLAGS if name != "regulation_file"), "seed"),
    "rules extract": MODEL_CALLS,
    "traces synthesize": (
        "rules",
        "count",
        "length",
        "trace_mode",
        "require",
        "forbid",
        "pair",
        "compliance",
        "distance",
    ),
    "tasks build": (
        *("rules", "count", "length", "trace_mode", "require", "pair", "distance"),
        *(*DIFFICULTY, *DOCKETS, *MODEL_CALLS),
    ),
    "tasks check": MODEL_CALLS,
    "tasks release": ("count", *MODEL_CALLS, "seed"),
    "grade": ("rules",),
}


class StopHereError(Exception):
    """Raised in place of the first stage."""


@pytest.fixture
def recipe_of(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., dict[str, Any]]:
    """The recipe that a command gives to the runner."""
    given: list[Recipe] = []

    def stop(recipe: Recipe | ResolvedRecipe, *_: object, **__: object) -> Awaitable[object]:
        given.append(recipe.recipe if isinstance(recipe, ResolvedRecipe) else recipe)
        raise StopHereError

    for module in MODULES:
        monkeypatch.setattr(module, "run_stages", stop)
    monkeypatch.setattr(full_run, "start_run", stop)
    task = make_task()
    write_tasks(tmp_path / "tasks.jsonl", [task])
    write_rows(tmp_path / "programs.jsonl", [Answer(task=task.id, style="goal", program="pass")])
    write_rows(tmp_path / "rules.jsonl", [Rule(id="mine", formula="G(PayBill -> O CheckAuthorization)")])
    write_bank_law(tmp_path)
    (tmp_path / "recipe.toml").write_text(RECIPE, encoding="utf-8")

    def find(*words: str) -> dict[str, Any]:
        with pytest.raises(StopHereError):
            lawtrace(*words)
        found: dict[str, Any] = json.loads(given.pop().model_dump_json())
        return found

    return find


def _changes(left: dict[str, Any], right: dict[str, Any], place: str = "") -> dict[str, Any]:
    """Dotted key -> the value on the right, where the two differ."""
    changes: dict[str, Any] = {}
    for key, value in right.items():
        if isinstance(value, dict) and isinstance(left.get(key), dict):
            changes |= _changes(left[key], right[key], f"{place}{key}.")
        elif value != left.get(key):
            changes[f"{place}{key}"] = value
    return changes


@pytest.mark.parametrize("command", COMMANDS)
def test_a_recipe_reaches_the_stages_unchanged(
    recipe_of: Callable[..., dict[str, Any]], tmp_path: Path, command: str
) -> None:
    whole = json.loads(prepare_recipe(load_recipe(tmp_path / "recipe.toml")).recipe.model_dump_json())
    assert _changes(whole, recipe_of(*COMMANDS[command])) == {}


@pytest.mark.parametrize("command", COMMANDS)
def test_a_flag_overrides_its_keys_and_no_other(
    recipe_of: Callable[..., dict[str, Any]], tmp_path: Path, command: str
) -> None:
    recipe = prepare_recipe(load_recipe(tmp_path / "recipe.toml")).recipe
    before = json.loads(recipe.model_dump_json())
    for name in TAKEN[command]:
        words, keys = VALUES[name]
        changes = _changes(before, recipe_of(*COMMANDS[command], *words))
        for pinned in ("regulation.sha256", "rules.sha256"):
            changes.pop(pinned, None)
        allowed = {"tasks.spare": 0} if (command, name) == ("traces synthesize", "count") else {}
        assert changes.items() <= {**keys, **allowed}.items(), name
        assert all(_value(before, key) == value or changes[key] == value for key, value in keys.items()), name


def _value(recipe: dict[str, Any], key: str) -> object:
    node: Any = recipe
    for part in key.split("."):
        node = node.get(part)
    return node


def test_every_flag_is_in_the_table() -> None:
    assert (
        set(VALUES)
        == {*FLAGS} - {"tasks", *SELECTION, "regulation_file"}
        == {name for names in TAKEN.values() for name in names}
    )


def test_an_option_for_a_key_that_the_recipe_varies_is_refused(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "recipe.toml").write_text('[ablation]\nenvironment = ["banking", "telehealth"]\n', encoding="utf-8")
    code, _, err = lawtrace("run", "recipe.toml", "--env", "smart_home", "--dry-run")
    assert (code, "environment: the recipe varies it in [ablation]" in err) == (2, True)
    assert "environment: the recipe varies it" in lawtrace("run", "recipe.toml", "--set", "environment=payments")[2]
    assert lawtrace("run", "recipe.toml", "--seed", 2, "--dry-run")[0] == 0


def test_a_model_and_its_settings_are_named_without_a_recipe(lawtrace: Shell) -> None:
    words = ("--model", "openai:a", "--model", "openai:b", "--trials", 2, "--count", 4)
    plan = lawtrace.json("run", *words, "--dry-run")
    asked = {(line["model"], line["expected"]) for line in plan["calls"] if not line["model"].startswith("replay:")}
    assert asked == {("openai:a", 16), ("openai:b", 16)}


def test_some_of_the_tasks_are_attempted(lawtrace: Shell, tmp_path: Path) -> None:
    first = make_task()
    write_tasks(tmp_path / "tasks.jsonl", [first.model_copy(update={"id": name}) for name in ("one", "two", "three")])
    words = ("run", "--tasks", "tasks.jsonl", "--model", "openai:a", "--dry-run")
    for chosen, calls in (((), 3), (("--limit", 2), 2), (("--task", "three", "--task", "one", "--limit", 1), 1)):
        assert lawtrace.json(*words, *chosen)["calls"][0]["expected"] == calls * len(first.styles)
    assert "tasks.jsonl: no task 'thre'; did you mean 'three'?" in lawtrace(*words, "--task", "thre")[2]
    assert "--limit choose from the tasks of --tasks FILE" in lawtrace("run", "--limit", 1)[2]


def test_what_is_no_recipe_says_what_to_write(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "recipes").mkdir()
    (tmp_path / "recipes" / "desk.toml").write_text("", encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    code, _, err = lawtrace("run", "desk")
    assert (code, "did you mean recipes/desk.toml?" in err) == (2, True)
    code, _, err = lawtrace("run", "recipes")
    assert (code, "write --env recipes for an environment" in err) == (2, True)
