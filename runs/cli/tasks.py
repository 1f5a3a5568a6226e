"""``lawtrace tasks``: building tasks from traces, importing published ones, and the gate on both."""

import asyncio
from importlib.metadata import version as distribution_version
from pathlib import Path
from typing import Annotated, Literal

import typer

from lawtrace.environments.domains.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.sandbox import Jail
from lawtrace.runs.cli.options import (
    ComplianceOption,
    DistanceOption,
    EnvironmentOption,
    ForbidOption,
    PairsOption,
    RequireOption,
    SandboxOption,
    open_sandbox,
    trace_constraints,
)
from lawtrace.runs.cli.output import (
    ProgressBars,
    print_grouped,
    print_json,
    print_note,
    print_problems,
    print_result,
    silence_libraries,
)
from lawtrace.runs.cli.review import review_tasks
from lawtrace.runs.cli.stage_runs import open_role_models, open_stage_log
from lawtrace.runs.cli.tasks_check import check_tasks_command
from lawtrace.runs.ingest.logisafetybench import import_tasks
from lawtrace.runs.ingest.published_domains import PublishedDomainName
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.recipe_file import load_recipe
from lawtrace.runs.release.build_release import WRITING_ROLES, build_task_set
from lawtrace.runs.release.task_set import TaskSet, check_release_folder, write_release
from lawtrace.runs.schemas.task_rows import Family, TraceRow
from lawtrace.runs.stages.denied_sessions import add_denied_sessions
from lawtrace.runs.stages.tasks_stage import BuiltTasks, build_tasks
from lawtrace.runs.stages.traces_stage import synthesize_traces
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.solver.planner.trace_spec import NO_CONSTRAINTS, TraceProfile
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
    env: EnvironmentOption = "banking",
    rules: Annotated[Path | None, typer.Option(help="A rule file; by default the curated set.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many pairs.")] = 40,
    length: Annotated[int, typer.Option(min=1, help="Calls in each trace.")] = 8,
    profile: Annotated[TraceProfile, typer.Option(help="What the traces are for.")] = "tasks",
    require: RequireOption = None,
    forbid: ForbidOption = None,
    pairs: PairsOption = None,
    compliance: ComplianceOption = None,
    distance: DistanceOption = 0,
    seed: Annotated[int, typer.Option(help="Of the traces.")] = 1,
    family: Annotated[
        Literal["ordinary", "denied", "both"] | None,
        typer.Option(help="Ordinary tasks, denied sessions (their twins, where stopping is right), or both."),
    ] = None,
    recipe: Annotated[Path | None, typer.Option(help="A recipe that names the models of the roles.")] = None,
    sandbox: SandboxOption = "bwrap",
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("tasks.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Turn traces into paired tasks: instructions in both styles, checked by code and by conversation."""
    silence_libraries()
    options = load_recipe(recipe) if recipe else Recipe()
    setting = load_domain(env)
    chosen = load_rules(rules or setting.rules_file)
    check_rules(chosen, setting.environment, setting.regulation)
    wishes = trace_constraints(require, forbid, pairs, compliance, distance)
    if traces is not None and wishes != NO_CONSTRAINTS:
        raise InputError("--traces gives the traces, so nothing can be wished of them; leave out one or the other")
    if traces is not None:
        rows = read_rows(traces, TraceRow)
    else:
        wanted = count + options.tasks.spare
        with ProgressBars().stage("traces", wanted) as step:
            rows = synthesize_traces(
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

    async def build(event_log: EventLogFile, jail: Jail) -> BuiltTasks:
        async with open_role_models(options, event_log) as role_models:
            with ProgressBars().stage("tasks", count) as step:
                return await build_tasks(
                    setting.environment,
                    chosen,
                    rows,
                    count=count,
                    role_models=role_models,
                    event_log=event_log,
                    jail=jail,
                    most_rounds=options.conversation.rounds,
                    concurrency=options.conversation.concurrency,
                    on_task=step,
                )

    families = _families(family) or options.tasks.families
    with Jail(backend=open_sandbox(sandbox)) as jail, open_stage_log(out, "tasks build", sandbox) as event_log:
        built = add_denied_sessions(setting.environment, asyncio.run(build(event_log, jail)), families, jail)
    write_rows(out, built.tasks)
    if as_json:
        print_json({"tasks": len(built.tasks), "traces": built.traces, "dropped": {**built.dropped}, "out": str(out)})
    else:
        dropped = "".join(f"\n  dropped {number}: {reason}" for reason, number in sorted(built.dropped.items()))
        print_result(f"{len(built.tasks)} paired tasks from {built.traces} traces.{dropped}")
        print_note(f"Written: {out}")
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
    domain: Annotated[PublishedDomainName, typer.Option(help="The published domain.")] = "bank_manager",
    sandbox: SandboxOption = "bwrap",
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("tasks.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Import published tasks: their instructions, states and rules; reference programs repaired and run."""
    if source != "logisafetybench":
        raise typer.BadParameter(f"{source!r} is not known; it must be logisafetybench")
    with Jail(backend=open_sandbox(sandbox)) as jail, ProgressBars().stage("tasks", None) as step:
        imported = import_tasks(directory, domain, jail, step)
    write_rows(out, imported.tasks)
    noted = [f"{task.id}: {note}" for task in imported.tasks for note in task.notes]
    if as_json:
        print_json(
            {
                "tasks": len(imported.tasks),
                "empty": [*imported.empty],
                "invalid": [str(problem) for problem in imported.problems],
                "notes": [*noted],
                "out": str(out),
            }
        )
    else:
        print_result(
            f"{len(imported.tasks)} paired tasks imported, {len(imported.empty)} rows empty as published, "
            f"{len(imported.problems)} invalid."
        )
        for line in imported.empty:
            print_note(f"  {line}")
        print_grouped((task.id, note) for task in imported.tasks for note in task.notes)
        print_note(f"Written: {out}")
    print_problems(imported.problems)
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
    sandbox: SandboxOption = "bwrap",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Make a task set for others: built from a seed, put through the gate, as JSON lines and Parquet with a card."""
    silence_libraries()
    check_release_folder(out, version)
    base = load_recipe(recipe) if recipe else Recipe()
    options = base.model_copy(update={"seed": seed, "tasks": base.tasks.model_copy(update={"count": count})})
    settings = [load_domain(name) for name in env or BUILT_IN_DOMAINS]

    async def make(event_log: EventLogFile, jail: Jail) -> list[TaskSet]:
        async with open_role_models(options, event_log) as role_models:
            return [
                await build_task_set(
                    setting,
                    options,
                    role_models=role_models,
                    event_log=event_log,
                    jail=jail,
                    stage=ProgressBars().stage,
                )
                for setting in settings
            ]

    with Jail(backend=open_sandbox(sandbox)) as jail, open_stage_log(out, "tasks release", sandbox) as event_log:
        sets = asyncio.run(make(event_log, jail))
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
        print_json({"version": version, "tasks": 2 * total, "pairs": pairs, "out": str(out)})
    else:
        print_result(f"{2 * total} tasks ({total} pairs) in {len(sets)} environments, version {version}.")
        print_note(f"Written: {out}")
