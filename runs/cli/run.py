"""``lawtrace run`` and ``lawtrace resume``: the whole way."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from agents.ledger import RunResumed
from environments.events import Json
from runs.assemble import content_of_run
from runs.cli.legal import resume_legal
from runs.cli.options import WhereEnvironment
from runs.cli.output import Bars, quieten, say, show, show_json
from runs.cli.sandbox import walls_for
from runs.layout import RunFolder, new_run_folder
from runs.legal.recipe import is_legal
from runs.pipeline import RunResult, check_inputs, walk
from runs.recipe import Recipe, load_recipe
from runs.record.store import Record
from runs.report.build import write_report
from runs.report.terminal import outcome_table, strength_table
from runs.settings import recorded_recipe, resolve_recipe
from solver.mutations import Strength

__all__ = ["resume", "run"]


def run(
    recipe: Annotated[
        Path | None, typer.Argument(help="A recipe (TOML). Without one: the quickstart, offline.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="The run's folder; by default a new one below logs/.")] = None,
    env: Annotated[
        str | None,
        typer.Option(help="The environment in place of the recipe's: a built-in one, or a folder of your own."),
    ] = None,
    seed: Annotated[int | None, typer.Option(help="Overrides the recipe's seed.")] = None,
    sandbox: Annotated[
        str | None,
        typer.Option(
            help="In place of the recipe's: bwrap, docker, docker:IMAGE. Or unprotected: nothing, at your risk."
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Walk the whole way from a regulation to verdicts and a report."""
    quieten()
    resolved = load_recipe(recipe) if recipe else Recipe()
    if seed is not None:
        resolved = resolved.model_copy(update={"seed": seed})
    if sandbox is not None:
        resolved = resolved.model_copy(update={"sandbox": sandbox})
    walls_for(resolved.sandbox)
    resolved = resolve_recipe(resolved, env)
    check_inputs(resolved)
    folder = RunFolder(out) if out else new_run_folder(resolved.name)
    with Record.create(folder.path, recipe=resolved.model_dump(mode="json")) as record:
        result = asyncio.run(walk(resolved, folder, record=record, progress=Bars()))
    _finish(result, resolved, as_json=as_json)


def resume(
    directory: Annotated[Path, typer.Argument(help="The folder of a run that was interrupted.")],
    env: WhereEnvironment = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Go on with an interrupted run: no answer that was committed is asked for again."""
    quieten()
    folder = RunFolder(directory).existing()
    with Record.open(directory) as record:
        legal = is_legal(record.recipe)
    if legal:
        resume_legal(directory, as_json=as_json)
        return
    with Record.resume(directory) as record:
        recipe = recorded_recipe(record, env)
        walls_for(recipe.sandbox)
        say(_resuming(record))
        result = asyncio.run(walk(recipe, folder, record=record, resumed=True, progress=Bars()))
    _finish(result, recipe, as_json=as_json)


def _resuming(record: Record) -> str:
    last = [entry for entry in record.entries(kind="resumed") if isinstance(entry, RunResumed)][-1]
    answers = sum(1 for _ in record.entries(kind="model_call"))
    again = f"; {len(last.in_flight)} calls were in flight and are made again" if last.in_flight else ""
    return f"Going on with {answers} answers on record{again}."


def _finish(result: RunResult, recipe: Recipe, *, as_json: bool) -> None:
    content = content_of_run(result.folder.path, recipe.environment)
    write_report(content, result.folder.report)
    if as_json:
        show_json(_summary(result))
        return
    show(outcome_table(content.verdicts, planned=content.planned_in_all))
    if result.findings.deletions is not None:
        deletions = result.findings.deletions
        show(
            f"{deletions.turned_unsafe} of {deletions.deletions} single deletions of a compliance call turned the "
            "verdict unsafe."
        )
    if result.findings.strength is not None:
        show(strength_table(result.findings.strength))
    say(f"Report: {result.folder.report}\nMessages: lawtrace messages {result.folder.path}")


def _summary(result: RunResult) -> dict[str, Json]:
    counts: dict[str, Json] = {}
    for verdict in result.verdicts:
        denied = "denied/" if verdict.family == "denied" else ""
        key = f"{denied}{verdict.contender}/{verdict.style}/{verdict.outcome}"
        before = counts.get(key, 0)
        counts[key] = (before if isinstance(before, int) else 0) + 1
    return {
        "run": str(result.folder.path),
        "report": str(result.folder.report),
        "tasks": len(result.tasks),
        "attempts": len(result.attempts),
        "outcomes": counts,
        "strength": _strength(result.findings.strength),
    }


def _strength(strength: Strength | None) -> Json:
    """What the rules notice of spoilt traces; the survivors one by one are in the run's findings."""
    if strength is None:
        return None
    return {
        "mutants": {**strength.mutants},
        "killed": {**strength.killed},
        "kills": {**strength.kills},
        "survivors": {**Counter(survivor.why for survivor in strength.survivors)},
    }
