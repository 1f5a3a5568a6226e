"""``lawtrace tasks``: building tasks from traces, importing published ones, and the gate on both."""

import asyncio
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Annotated, Literal

import typer

from lawtrace.environments.catalogue import BUILT_IN, load_setting
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.jail import Jail
from lawtrace.runs.cli.gate import check_tasks_command
from lawtrace.runs.cli.options import WhichEnvironment
from lawtrace.runs.cli.output import Bars, quieten, say, say_grouped, say_problems, show, show_json
from lawtrace.runs.cli.reviewing import review_tasks
from lawtrace.runs.cli.sandbox import WhichSandbox, walls_for
from lawtrace.runs.cli.talking import record_beside, role_clients
from lawtrace.runs.cli.wishing import Compliance, Distance, Forbid, Pairs, Require, wishes_of
from lawtrace.runs.files import read_rows, write_rows
from lawtrace.runs.published.domains import Domain
from lawtrace.runs.published.logisafetybench import import_tasks
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.record.store import Record
from lawtrace.runs.release.making import WRITING_ROLES, make_set
from lawtrace.runs.release.writing import ReleasedSet, check_place, write_release
from lawtrace.runs.stages.build import Built, build_tasks
from lawtrace.runs.stages.denied import in_families
from lawtrace.runs.stages.rows import Family, TraceRow
from lawtrace.runs.stages.synthesize import synthesize_rows
from lawtrace.solver.demands import NO_WISHES
from lawtrace.solver.profiles import Profile
from lawtrace.solver.rules import check_rules, load_rules

app = typer.Typer(
    help="Tasks: build them from traces, import published ones, put them through the gate.",
    no_args_is_help=True,
    add_completion=False,
)

app.command("check")(check_tasks_command)
app.command("review")(review_tasks)


@app.command("build")
def build_command(
    traces: Annotated[
        Path | None, typer.Option(help="The traces (JSON lines); without them, traces are synthesised as below.")
    ] = None,
    env: WhichEnvironment = "banking",
    rules: Annotated[Path | None, typer.Option(help="A rule file; by default the curated set.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 40,
    length: Annotated[int, typer.Option(min=1, help="Calls in each trace.")] = 8,
    profile: Annotated[Profile, typer.Option(help="What the traces are for.")] = "tasks",
    require: Require = None,
    forbid: Forbid = None,
    pairs: Pairs = None,
    compliance: Compliance = None,
    distance: Distance = 0,
    seed: Annotated[int, typer.Option(help="Of the traces.")] = 1,
    family: Annotated[
        Literal["ordinary", "denied", "both"] | None,
        typer.Option(help="Ordinary tasks, denied sessions (their twins, where stopping is right), or both."),
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe that names the models of the roles.")] = None,
    sandbox: WhichSandbox = "bwrap",
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("tasks.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Turn traces into paired tasks: instructions in both styles, checked by code and by conversation."""
    quieten()
    options = load_recipe(recipe) if recipe else Recipe()
    setting = load_setting(env)
    chosen = load_rules(rules or setting.rules_file)
    check_rules(chosen, setting.environment, setting.regulation)
    wishes = wishes_of(require, forbid, pairs, compliance, distance)
    if traces is not None and wishes != NO_WISHES:
        raise InputError("--traces gives the traces, so nothing can be wished of them; leave out one or the other")
    if traces is not None:
        rows = read_rows(traces, TraceRow)
    else:
        wanted = count + options.tasks.spare
        with Bars().stage("traces", wanted) as step:
            rows = synthesize_rows(
                setting.environment,
                chosen,
                profile=profile,
                length=length,
                count=wanted,
                seed=seed,
                wishes=wishes,
                on_trace=step,
            )
        write_rows(out.with_suffix(".traces.jsonl"), rows)

    async def build(record: Record, jail: Jail) -> Built:
        async with role_clients(options, record) as casting:
            with Bars().stage("tasks", count) as step:
                return await build_tasks(
                    setting.environment,
                    chosen,
                    rows,
                    count=count,
                    casting=casting,
                    ledger=record,
                    jail=jail,
                    most_rounds=options.conversation.rounds,
                    concurrency=options.conversation.concurrency,
                    on_task=step,
                )

    families = _families(family) or options.tasks.families
    with Jail(walls=walls_for(sandbox)) as jail, record_beside(out, "tasks build", sandbox) as record:
        built = in_families(setting.environment, asyncio.run(build(record, jail)), families, jail)
    write_rows(out, built.tasks)
    if as_json:
        show_json({"tasks": len(built.tasks), "traces": built.traces, "dropped": {**built.dropped}, "out": str(out)})
    else:
        dropped = "".join(f"\n  dropped {number}: {reason}" for reason, number in sorted(built.dropped.items()))
        show(f"{len(built.tasks)} paired tasks from {built.traces} traces.{dropped}")
        say(f"Written: {out}")
    raise typer.Exit(0 if len(built.tasks) == count * len(families) else 1)


def _families(family: Literal["ordinary", "denied", "both"] | None) -> tuple[Family, ...]:
    match family:
        case None:
            return ()
        case "both":
            return ("ordinary", "denied")
        case _:
            return (family,)


@app.command("import")
def import_command(
    source: Annotated[str, typer.Argument(help="What is imported: logisafetybench.")],
    directory: Annotated[Path, typer.Argument(help="The folder, as published or flat.")],
    domain: Annotated[Domain, typer.Option(help="The published domain.")] = "bank_manager",
    sandbox: WhichSandbox = "bwrap",
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("tasks.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Import published tasks: their instructions, states and rules; reference programs repaired and run."""
    if source != "logisafetybench":
        raise typer.BadParameter(f"{source!r} is not known; it must be logisafetybench")
    with Jail(walls=walls_for(sandbox)) as jail, Bars().stage("tasks", None) as step:
        imported = import_tasks(directory, domain, jail, step)
    write_rows(out, imported.tasks)
    noted = [f"{task.id}: {note}" for task in imported.tasks for note in task.notes]
    if as_json:
        show_json(
            {
                "tasks": len(imported.tasks),
                "empty": [*imported.empty],
                "invalid": [str(problem) for problem in imported.problems],
                "notes": [*noted],
                "out": str(out),
            }
        )
    else:
        show(
            f"{len(imported.tasks)} paired tasks imported, {len(imported.empty)} rows empty as published, "
            f"{len(imported.problems)} invalid."
        )
        for line in imported.empty:
            say(f"  {line}")
        say_grouped((task.id, note) for task in imported.tasks for note in task.notes)
        say(f"Written: {out}")
    say_problems(imported.problems)
    raise typer.Exit(1 if imported.problems else 0)


@app.command("release")
def release_command(
    out: Annotated[Path, typer.Option(help="The folder to write.")],
    version: Annotated[str, typer.Option(help="Of the task set, as MAJOR.MINOR.PATCH.")] = "1.0.0",
    env: Annotated[
        list[str] | None, typer.Option(help="An environment; repeatable. By default all that are built in.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="How many pairs in each environment.")] = 40,
    seed: Annotated[int, typer.Option(help="Of the traces.")] = 1,
    recipe: Annotated[Path | None, typer.Option(help="A recipe that names the models of the roles.")] = None,
    sandbox: WhichSandbox = "bwrap",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Make a task set for others: built from a seed, put through the gate, as JSON lines and Parquet with a card."""
    quieten()
    check_place(out, version)
    base = load_recipe(recipe) if recipe else Recipe()
    options = base.model_copy(update={"seed": seed, "tasks": base.tasks.model_copy(update={"count": count})})
    settings = [load_setting(name) for name in env or BUILT_IN]

    async def make(record: Record, jail: Jail) -> list[ReleasedSet]:
        async with role_clients(options, record) as casting:
            return [
                await make_set(setting, options, casting=casting, ledger=record, jail=jail, stage=Bars().stage)
                for setting in settings
            ]

    with Jail(walls=walls_for(sandbox)) as jail, record_beside(out, "tasks release", sandbox) as record:
        sets = asyncio.run(make(record, jail))
    manifest = write_release(
        out,
        sets,
        version=version,
        lawtrace=distribution_version("lawtrace"),
        seed=seed,
        length=options.tasks.length,
        roles={role: str(model) for role, model in options.models.model_dump().items() if role in WRITING_ROLES},
    )
    total = sum(entry.pairs for entry in manifest.environments.values())
    if as_json:
        pairs: dict[str, Json] = {name: entry.pairs for name, entry in manifest.environments.items()}
        show_json({"version": version, "tasks": 2 * total, "pairs": pairs, "out": str(out)})
    else:
        show(f"{2 * total} tasks ({total} pairs) in {len(sets)} environments, version {version}.")
        say(f"Written: {out}")
