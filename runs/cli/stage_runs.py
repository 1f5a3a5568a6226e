"""Running stages from the command line: event log, session, and what Ctrl-C prints."""

import asyncio
from collections.abc import Awaitable, Callable, Generator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TypeVar

from typer._click.globals import get_current_context

from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.runs.cli.output import print_note
from lawtrace.runs.cli.output_files import check_output, stage_log_folder
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.runner import Session, open_session
from lawtrace.runs.stages.cluster_jobs import Cluster
from lawtrace.runs.store.event_log_database import event_log_path
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import other_requests
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.shards import Shard, record_path
from lawtrace.schemas.recipe import Recipe

Result = TypeVar("Result")


def run_stages(
    recipe: Recipe,
    out: Path,
    command: str,
    work: Callable[[Session], Awaitable[Result]],
    *others: Path,
    force: bool = False,
    sandbox: bool = True,
    models: bool = True,
    shard: Shard | None = None,
    cluster: Cluster | None = None,
) -> Result:
    """Run stages in the folder with the event log, beside the output file. The same command again continues there.

    Args:
        others: files that the command writes next to the output file.
        force: whether the output file may be replaced; it may anyway if the same command wrote it.
        sandbox: the stages run programs.
        models: the stages call models; otherwise nothing needs to be kept, and the folder is temporary.
        shard: the part that is made of the units, with its record beside the output file; None for all.
        cluster: other processes that make units.

    Raises InputError if the output file exists and may not be replaced.
    """
    if shard is not None:
        command, others = f"{command}, shard {shard}", (*others, record_path(out))
    check_output(out, *others, command=command, force=force)

    async def run(event_log: EventLogFile) -> Result:
        async with open_session(
            recipe, event_log, progress=ProgressBars(), sandbox=sandbox, shard=shard, cluster=cluster
        ) as session:
            return await work(session)

    with ExitStack() as stack:
        if models:
            event_log = stack.enter_context(open_stage_log(out, command, recipe.sandbox if sandbox else None))
        else:
            folder = Path(stack.enter_context(TemporaryDirectory()))
            event_log = stack.enter_context(EventLogFile.create(folder, recipe={"stage": command}))
        try:
            made = asyncio.run(run(event_log))
            _note_other_requests(event_log)
            return made
        except KeyboardInterrupt:
            kept = f"; every answer is in {stage_log_folder(out)}, the same command continues there" if models else ""
            raise KeyboardInterrupt(f"stopped before {out} was written{kept}") from None


def open_stage_log(out: Path, what: str, sandbox: str | None = None) -> EventLogFile:
    """The event log beside an output file. The log of an interrupted command is continued.

    Args:
        sandbox: the sandbox of programs, if any run.
    """
    folder = stage_log_folder(out)
    if event_log_path(folder).exists():
        print_note(f"Continuing {folder}: recorded answers are reused.")
        return EventLogFile.resume(folder)
    return EventLogFile.create(folder, recipe={"stage": what, "sandbox": sandbox})


@contextmanager
def resumable(folder: Path) -> Generator[None]:
    """A context around a run: on Ctrl-C or without budget, say how to resume it; at the end, how a recording was
    replayed."""

    def partial_report() -> str:
        return f"; `lawtrace report {folder}` shows what is judged" if RunFolder(folder).stopped_early else ""

    try:
        yield
        with EventLogFile.open(folder) as event_log:
            _note_other_requests(event_log)
    except BudgetExhausted as error:
        text = str(error).replace("lawtrace resume RUN", f"lawtrace resume {folder}")
        raise BudgetExhausted(text + partial_report()) from error
    except KeyboardInterrupt:
        kept = event_log_path(folder).exists()
        way_on = f"every answer is in the event log, and `lawtrace resume {folder}` continues the run"
        stopped = f"stopped; {way_on}{partial_report()}" if kept else "stopped; nothing was written"
        raise KeyboardInterrupt(stopped) from None


def _note_other_requests(event_log: EventLogFile) -> None:
    """Print it at the end of the command, after its result."""
    command, note = get_current_context(silent=True), other_requests(event_log)
    if command is not None and note is not None:
        command.call_on_close(partial(print_note, note))
