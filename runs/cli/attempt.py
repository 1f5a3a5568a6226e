"""``lawtrace attempt``: run a model on a file of tasks."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.options import (
    BudgetOption,
    EnvironmentFolderOption,
    JsonOption,
    OutOption,
    RecipeOption,
    SandboxOption,
    with_budget,
)
from lawtrace.runs.cli.output import print_json, print_note, silence_libraries
from lawtrace.runs.cli.stage_runs import run_stages, stage_recipe
from lawtrace.runs.runner import Session
from lawtrace.runs.schemas.task_rows import ActingMode, Attempt
from lawtrace.runs.stages.pipeline import ATTEMPTS, TASKS
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.solver.shield import ShieldMode


def attempt(
    tasks: Annotated[Path, typer.Option(help="Task file (JSON lines).")],
    model: Annotated[
        str | None,
        typer.Option(help="Override the model under test, such as openai:NAME or baseline:literal."),
    ] = None,
    recipe: RecipeOption = None,
    env: EnvironmentFolderOption = None,
    mode: Annotated[ActingMode | None, typer.Option(help="Write one program, or call tools turn by turn.")] = None,
    shield: Annotated[ShieldMode | None, typer.Option(help="Warn of, or refuse, calls that break a rule.")] = None,
    trials: Annotated[int | None, typer.Option(min=1, help="Attempts at each task and style.")] = None,
    hints: Annotated[bool | None, typer.Option(help="Document when to call compliance tools.")] = None,
    target_state: Annotated[bool | None, typer.Option(help="Give the target state in the goal prompt.")] = None,
    sandbox: SandboxOption = None,
    budget: BudgetOption = None,
    out: OutOption = Path("attempts.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Run a model on tasks.

    For each task and style the model writes a program, which runs in the sandbox, or calls tools.
    """
    silence_libraries()
    rows, domain = read_tasks(tasks, env)
    values = {
        "attempts.models": (model,) if model else None,
        "attempts.baselines": False if model else None,
        "attempts.mode": mode,
        "attempts.shield": shield,
        "attempts.trials": trials,
        "attempts.hints": hints,
        "attempts.target_state": target_state,
        "sandbox": sandbox,
    }
    options = with_budget(stage_recipe(recipe, env or domain.environment.name, values), budget)

    async def work(session: Session) -> list[Attempt]:
        runner = session.runner(options)
        runner.give(TASKS, rows)
        return (await runner.make(ATTEMPTS))[ATTEMPTS]

    attempts = run_stages(options, out, f"attempt by {', '.join(options.attempts.all_models)}", work)
    ATTEMPTS.write(out, attempts)
    if as_json:
        print_json({"attempts": len(attempts), "out": str(out)})
    else:
        print_note(f"Written: {out} ({len(attempts)} attempts)")
