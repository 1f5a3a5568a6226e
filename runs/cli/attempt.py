"""``lawtrace attempt``: run a model on a file of tasks."""

from pathlib import Path

import typer

from lawtrace.runs.cli.output import print_note, print_outcome
from lawtrace.runs.cli.recipe_flags import RecipeFlags
from lawtrace.runs.cli.recipe_overrides import stage_recipe
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.attempt_rows import Attempt
from lawtrace.runs.stages.pipeline import ATTEMPTS, TASKS
from lawtrace.runs.store.task_file import read_tasks


def attempt(flags: RecipeFlags, *, tasks: Path, limit: int | None, out: Path, as_json: bool) -> None:
    """Run the models on the tasks, and write their attempts."""
    rows, domain = read_tasks(tasks, flags.env)
    recipe = stage_recipe(flags, domain.environment.name)

    async def work(session: Session) -> list[Attempt]:
        runner = session.runner(recipe)
        runner.give(TASKS, rows[:limit])
        return (await runner.make(ATTEMPTS))[ATTEMPTS]

    command = f"attempt by {', '.join(recipe.attempts.all_models)} on {tasks}{f', first {limit}' if limit else ''}"
    attempts = run_stages(recipe, out, command, work, force=flags.force)
    ATTEMPTS.write(out, attempts)
    missing = [row.invalid for row in attempts if row.invalid is not None]
    summary = {"attempts": len(attempts), "unanswered": len(missing)}
    print_outcome(summary, f"{len(attempts)} attempts.", as_json=as_json, out=out)
    if missing:
        print_note(f"{len(missing)} attempts have no answer to judge. The last: {missing[-1]}")
        print_note("The same command asks for these again, and for nothing else.")
    raise typer.Exit(1 if missing else 0)
