"""``lawtrace attempt``: one model at a file of tasks."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.model_spec import ModelParameters
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.sandbox import JailPool
from lawtrace.runs.cli.options import EnvironmentFolderOption, SandboxOption, open_sandbox
from lawtrace.runs.cli.output import ProgressBars, print_json, print_note, silence_libraries
from lawtrace.runs.cli.stage_runs import open_stage_log
from lawtrace.runs.recipe import AttemptOptions
from lawtrace.runs.recipe_file import validate_options
from lawtrace.runs.schemas.task_rows import ActingMode, Attempt
from lawtrace.runs.stages.attempts_stage import collect_answers, execute_answers
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.solver.shield import ShieldMode


def attempt(
    tasks: Annotated[Path, typer.Option(help="The tasks (JSON lines).")],
    model: Annotated[str, typer.Option(help="The model under test, such as openai:NAME or baseline:literal.")],
    env: EnvironmentFolderOption = None,
    mode: Annotated[ActingMode, typer.Option(help="It writes one program, or calls tools turn by turn.")] = "program",
    shield: Annotated[
        ShieldMode, typer.Option(help="Monitors in front of the tools warn of, or refuse, what would break a rule.")
    ] = "off",
    trials: Annotated[int, typer.Option(min=1, help="Attempts at each task and style.")] = 1,
    hints: Annotated[bool, typer.Option(help="Let the documentation say when to call compliance tools.")] = False,
    target_state: Annotated[bool, typer.Option(help="Hand the target state over in the goal prompt.")] = False,
    sandbox: SandboxOption = "bwrap",
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("attempts.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Put a model to each task in each style: it writes a program, which runs in the jail, or calls tools."""
    silence_libraries()
    rows, setting = read_tasks(tasks, env)
    asked = {
        "models": (model,),
        "mode": mode,
        "shield": shield,
        "trials": trials,
        "hints": hints,
        "target_state": target_state,
    }
    options = validate_options(AttemptOptions, asked, "attempt")
    total = sum(len(task.styles) for task in rows) * trials

    async def ask(event_log: EventLogFile) -> list[Attempt]:
        async with ModelClients(event_log, open_replay=EventLogFile.open, earlier=event_log) as clients:
            with ProgressBars().stage("answers", total) as step:
                return await collect_answers(
                    setting,
                    rows,
                    options,
                    clients=clients,
                    parameters=ModelParameters(),
                    event_log=event_log,
                    on_answer=step,
                )

    # Jail and record come first: no answer is paid for that could not be run or kept.
    with (
        JailPool(backend=open_sandbox(sandbox)) as jails,
        open_stage_log(out, f"attempt by {model}", sandbox) as event_log,
    ):
        answers = asyncio.run(ask(event_log))
        with ProgressBars().stage("programs in the jail", total) as step:
            attempts = execute_answers(setting.environment, rows, answers, jails, step, regulation=setting.regulation)
    write_rows(out, attempts)
    if as_json:
        print_json({"attempts": len(attempts), "out": str(out)})
    else:
        print_note(f"Written: {out} ({len(attempts)} attempts)")
