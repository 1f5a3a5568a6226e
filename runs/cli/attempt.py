"""``lawtrace attempt``: run a model on a file of tasks."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import JsonOption, OutOption
from lawtrace.runs.cli.output import print_note, print_outcome
from lawtrace.runs.cli.recipe_flags import RecipeFlags, recipe_flags
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.attempt_rows import Attempt
from lawtrace.runs.stages.pipeline import ATTEMPTS, TASKS
from lawtrace.runs.store.task_file import read_tasks


@recipe_flags(
    *("model", "mode", "shield", "trials", "regulation_file", "regulation", "regulation_words"),
    *("hints", "target_state", "seed", "sandbox"),
    env="folder",
)
def attempt(
    flags: RecipeFlags,
    tasks: Annotated[Path, typer.Option(help="Task file (JSON lines).")],
    out: OutOption = Path("attempts.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Run a model on tasks.

    For each task and style the model writes a program, which runs in the sandbox, or calls tools. Exit code 1 if an
    attempt has no answer.
    """
    rows, domain = read_tasks(tasks, flags.env)
    recipe = flags.resolve(domain.environment.name)

    async def work(session: Session) -> list[Attempt]:
        runner = session.runner(recipe)
        runner.give(TASKS, rows)
        return (await runner.make(ATTEMPTS))[ATTEMPTS]

    attempts = run_stages(
        recipe, out, f"attempt by {', '.join(recipe.attempts.all_models)} on {tasks}", work, force=flags.force
    )
    ATTEMPTS.write(out, attempts)
    missing = [row.invalid for row in attempts if row.invalid is not None]
    summary = {"attempts": len(attempts), "unanswered": len(missing)}
    print_outcome(summary, f"{len(attempts)} attempts.", as_json=as_json, out=out)
    if missing:
        print_note(f"{len(missing)} attempts have no answer to judge. The last: {missing[-1]}")
        print_note("The same command asks for these again, and for nothing else.")
    raise typer.Exit(1 if missing else 0)
