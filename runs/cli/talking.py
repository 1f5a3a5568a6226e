"""What the stages that talk to models have in common when they run alone: a record, and who plays which role."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from lawtrace.agents.casting import FixedCasting
from lawtrace.agents.clients.stack import ModelClients
from lawtrace.runs.cli.output import say
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.record.storage import record_path
from lawtrace.runs.record.store import Record


def record_beside(out: Path, what: str, sandbox: str | None = None) -> Record:
    """The record beside an output file, so that no answer is paid for and lost.

    ``sandbox``: what programs run behind, if any do. One that an interrupted call left behind is gone on with.
    """
    name = out.stem if out.suffix == ".jsonl" else out.name  # the folder of a release may be called 1.0.0
    folder = out.with_name(f"{name}.record")
    if record_path(folder).exists():
        say(f"Going on with {folder}: what it holds is not asked again.")
        return Record.resume(folder)
    return Record.create(folder, recipe={"stage": what, "sandbox": sandbox})


@asynccontextmanager
async def role_clients(recipe: Recipe, record: Record) -> AsyncGenerator[FixedCasting]:
    """The roles as the recipe casts them, each call recorded."""
    async with ModelClients(
        record, settings=recipe.call_settings(), open_replay=Record.open, earlier=record
    ) as clients:
        yield FixedCasting(clients, recipe.models.specs(), recipe.parameters, recipe.prompts.prompts())
