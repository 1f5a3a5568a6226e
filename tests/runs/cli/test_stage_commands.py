"""A key of the recipe has the same effect in a stage command as in a whole run."""

from pathlib import Path

from lawtrace.runs.store.event_log_file import EventLogFile
from tests.support.shell import Shell


def test_tasks_build_omits_the_evaluator_if_the_recipe_disables_it(lawtrace: Shell, tmp_path: Path) -> None:
    recipe = tmp_path / "recipe.toml"
    recipe.write_text("[conversation]\nevaluator = false\n[tasks]\ncount = 1\nspare = 1\n", encoding="utf-8")
    assert lawtrace.json("tasks", "build", "--recipe", recipe)["tasks"] == 1
    with EventLogFile.open(tmp_path / "tasks.events") as event_log:
        assert list(event_log.entries(role="masking_evaluator")) == []
        assert list(event_log.entries(role="instruction_generator")) != []
