"""``lawtrace attempt``: one model at a file of tasks."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.agents.clients.spec import ModelParameters
from lawtrace.agents.clients.stack import ModelClients
from lawtrace.environments.jail import Jails
from lawtrace.runs.cli.options import WhereEnvironment
from lawtrace.runs.cli.output import Bars, quieten, say, show_json
from lawtrace.runs.cli.sandbox import WhichSandbox, walls_for
from lawtrace.runs.cli.talking import record_beside
from lawtrace.runs.files import write_rows
from lawtrace.runs.recipe import AttemptOptions
from lawtrace.runs.recipe_file import checked
from lawtrace.runs.record.store import Record
from lawtrace.runs.stages.attempt import ask_for_attempts, run_answers
from lawtrace.runs.stages.rows import AttemptRow, Mode
from lawtrace.runs.tasks import read_tasks
from lawtrace.solver.shield import ShieldMode


def attempt(
    tasks: Annotated[Path, typer.Option(help="The tasks (JSON lines).")],
    model: Annotated[str, typer.Option(help="The model under test, for instance openai:NAME or business.")],
    env: WhereEnvironment = None,
    mode: Annotated[Mode, typer.Option(help="It writes one program, or calls tools turn by turn.")] = "program",
    shield: Annotated[
        ShieldMode, typer.Option(help="Monitors in front of the tools warn of, or refuse, what would break a rule.")
    ] = "off",
    trials: Annotated[int, typer.Option(min=1, help="Attempts at each task and style.")] = 1,
    hints: Annotated[bool, typer.Option(help="Let the documentation say when to call compliance tools.")] = False,
    target_state: Annotated[bool, typer.Option(help="Hand the target state over in the goal prompt.")] = False,
    sandbox: WhichSandbox = "bwrap",
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("attempts.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Put a model to each task in each style: it writes a program, which runs in the jail, or calls tools."""
    quieten()
    rows, setting = read_tasks(tasks, env)
    asked = {
        "models": (model,),
        "mode": mode,
        "shield": shield,
        "trials": trials,
        "hints": hints,
        "target_state": target_state,
    }
    options = checked(AttemptOptions, asked, "attempt")
    total = sum(len(task.styles) for task in rows) * trials

    async def ask(record: Record) -> list[AttemptRow]:
        async with ModelClients(record, open_replay=Record.open, earlier=record) as clients:
            with Bars().stage("answers", total) as step:
                return await ask_for_attempts(
                    setting,
                    rows,
                    options,
                    clients=clients,
                    parameters=ModelParameters(),
                    ledger=record,
                    on_answer=step,
                )

    # Jail and record come first: no answer is paid for that could not be run or kept.
    with Jails(walls=walls_for(sandbox)) as jails, record_beside(out, f"attempt by {model}", sandbox) as record:
        answers = asyncio.run(ask(record))
        with Bars().stage("programs in the jail", total) as step:
            attempts = run_answers(setting.environment, rows, answers, jails, step, regulation=setting.regulation)
    write_rows(out, attempts)
    if as_json:
        show_json({"attempts": len(attempts), "out": str(out)})
    else:
        say(f"Written: {out} ({len(attempts)} attempts)")
