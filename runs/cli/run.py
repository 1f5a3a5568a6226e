"""``lawtrace run`` and ``lawtrace resume``. What a plan of the calls does not need is imported when a run begins."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, cast

import typer

from lawtrace.environments.toml_file import read_toml
from lawtrace.runs.call_plan import plan_of
from lawtrace.runs.cli.options import ClusterOption, FailUnderOption, ShardOption
from lawtrace.runs.cli.output import print_note
from lawtrace.runs.cli.output_files import check_folder
from lawtrace.runs.cli.recipe_flags import ATTEMPT_FLAGS, SELECTION, RecipeFlags, override, recipe_flags
from lawtrace.runs.cli.shards import cluster_at, shard_result_of
from lawtrace.runs.cli.thresholds import check_bound
from lawtrace.runs.recipe_checks import check_access, check_prices, models_of_recipe, prepare_recipe
from lawtrace.runs.recipe_file import check_parameter_models, load_recipe, parse_settings, quickstart, with_values
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.run_kinds import RunKind, find_run_kind
from lawtrace.runs.report.terminal_tables import plan_table
from lawtrace.runs.stages.resolve import recorded_recipe, resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder, new_run_folder
from lawtrace.runs.store.shards import Shard, read_record, record_path
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import RunResumed
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import is_folder

if TYPE_CHECKING:
    from lawtrace.runs.full_run import FinishedRun
    from lawtrace.runs.runner import ShardResult

_KEYS_OF_EVERY_KIND = ("seed", "parameters.", "conversation.")


def _check_recipe_file(path: Path) -> None:
    """Raises InputError that says what to write for what is no recipe file."""
    if path.is_dir():
        raise InputError(f"{path}: a folder; write --env {path} for an environment, --tasks {path} for tasks or a run")
    if not path.exists():
        recipes = {one.stem: one for folder in (path.parent, Path("recipes")) for one in sorted(folder.glob("*.toml"))}
        if near := get_close_matches(path.stem, recipes, 3):
            raise InputError(f"{path}: no such file; did you mean {' or '.join(str(recipes[name]) for name in near)}?")


@recipe_flags("tasks", *SELECTION, "rules", "count", *ATTEMPT_FLAGS, "seed", recipe=False, force=False)
def run(
    flags: RecipeFlags,
    recipe: Annotated[Path | None, typer.Argument(help="Recipe (TOML); default: the offline quickstart.")] = None,
    repeated: Annotated[Path | None, typer.Option("--from", help="Repeat this run in a new folder.")] = None,
    reuse: Annotated[Path | None, typer.Option(help="Reuse stage files of this run with identical inputs.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the planned model calls and exit.")] = False,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: a new one below logs/.")] = None,
    shard: ShardOption = None,
    on: ClusterOption = None,
    fail_under: FailUnderOption = None,
) -> CommandResult:
    """Run the full pipeline.

    From regulation to report, or the recipe of a plug-in.

    Exit code 1 if a model has no judged attempt or too low a Pass@1, or if fewer tasks were built than asked for.
    """
    part = None if shard is None else Shard.parse(shard)
    if recipe is not None:
        _check_recipe_file(recipe)
    if recipe is not None and repeated is None and (kind := find_run_kind(read_toml(recipe))):
        _check_flags(kind, flags, {"--fail-under": fail_under, "--shard": shard})
        values = {**parse_settings(flags.settings), **flags.values}
        return kind.start(recipe, values=values, budget=flags.budget, reuse=reuse, dry_run=dry_run, out=out, on=on)
    env, file = flags.env, flags.values.get("tasks.file")
    if isinstance(file, Path) and env is None:
        env = read_tasks(file)[1].environment.name
    default = Recipe(name=Path(env).name) if env and file else quickstart(env)
    written = _requested_recipe(recipe, repeated, env, default)
    asked = override(flags, written)
    if recipe is not None:
        check_parameter_models(written, asked)
    resolved = prepare_recipe(asked, env)
    check_bound(resolved.recipe, fail_under)
    if dry_run:
        plan = plan_of(resolved)
        return CommandResult(plan.model_dump(mode="json"), [plan_table(plan)])
    from lawtrace.runs.full_run import start_run

    if out is not None:
        check_folder(out)
    folder = RunFolder(out) if out else new_run_folder(resolved.recipe.name)
    return _carry_out(partial(start_run, resolved, folder, reuse=reuse), folder, part, on, fail_under)


@recipe_flags("model", recipe=False, env="folder", settings=False, force=False)
def resume(
    flags: RecipeFlags,
    directory: Annotated[Path, typer.Argument(help="Folder of an interrupted run, or of one to add models to.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the calls of the added models and exit.")] = False,
    on: ClusterOption = None,
    fail_under: FailUnderOption = None,
) -> CommandResult:
    """Continue an interrupted run, or add models.

    Answers in the event log are not requested again. With --model the run goes on with one more model under test.
    """
    from lawtrace.runs.full_run import continue_run

    folder = RunFolder(directory).existing()
    with EventLogFile.open(directory) as event_log:
        kind = find_run_kind(event_log.recipe)
        begun = None if kind else recorded_recipe(event_log, flags.env)
    if kind is not None:
        return kind.resume(directory, budget=flags.budget, on=on)
    assert begun is not None
    if flags.env is not None and not is_folder(begun.environment):
        raise InputError(f"{directory}: its environment is {begun.environment}, built in; leave out --env {flags.env}")
    added = [str(model) for model in cast("list[str]", flags.values.get("attempts.models", []))]
    if there := {*added} & {*begun.attempts.all_models}:
        raise InputError(
            f"{min(there)} is in this run already: `lawtrace resume {directory}` asks what is missing; "
            f"`lawtrace run --tasks {directory} --model {min(there)}` attempts the tasks anew"
        )
    record = record_path(folder.attempts)
    part = read_record(record).shard if record.is_file() else None
    if added and part is not None:
        raise InputError(f"{directory}: a shard; merge all shards, then add models")
    models = {"attempts.models": [*begun.attempts.models, *added]} if added else {}
    recipe = override(replace(flags, values=models), begun)
    if dry_run:
        return _planned_attempts(recipe, added)
    resolved = resolve_recipe(recipe)
    check_prices(recipe, models_of_recipe(recipe))
    check_access(plan_of(resolved), directory.name, recipe.attempts.models)
    with EventLogFile.resume(directory, models=added) as event_log:
        print_note(_resuming(event_log))
        return _carry_out(partial(continue_run, resolved, event_log), folder, part, on, fail_under)


def _planned_attempts(recipe: Recipe, models: Sequence[str]) -> CommandResult:
    """The calls of models that are added to a finished run."""
    if not models:
        raise InputError("--dry-run shows the calls of added models: name them with --model")
    plan = plan_of(resolve_recipe(with_values(recipe, {"attempts.models": models, "attempts.baselines": False}, "")))
    plan = plan.model_copy(update={"calls": tuple(one for one in plan.calls if one.role in {"executor", "user"})})
    return CommandResult(plan.model_dump(mode="json"), [plan_table(plan)])


def _carry_out(
    work: "Callable[..., FinishedRun | ShardResult]",
    folder: RunFolder,
    part: Shard | None,
    on: str | None,
    fail_under: float | None,
) -> CommandResult:
    """Start or continue a run, or a shard of one."""
    from lawtrace.runs.cli.progress import ProgressBars
    from lawtrace.runs.cli.run_results import run_result_of
    from lawtrace.runs.cli.stage_runs import resumable
    from lawtrace.runs.runner import ShardResult

    if part is not None and fail_under is not None:
        raise InputError("--fail-under is about all attempts, and a shard has only its own; leave it out")
    with resumable(folder.path), cluster_at(on, part) as cluster:
        made = work(progress=ProgressBars(), shard=part, cluster=cluster)
    if isinstance(made, ShardResult):
        assert part is not None
        return shard_result_of(made, part, folder.path)
    return run_result_of(made, fail_under)


def _check_flags(kind: RunKind, flags: RecipeFlags, others: Mapping[str, object]) -> None:
    """Check that no flag was given that has no meaning for a run of this kind. Raises InputError."""
    options = {"--env": flags.env, **others}
    given = [name for name, value in options.items() if value is not None]
    given += [key for key in flags.values if not key.startswith(_KEYS_OF_EVERY_KIND)]
    if given:
        raise InputError(f"{given[0]} has no meaning for a {kind.name} recipe")


def _requested_recipe(recipe: Path | None, repeated: Path | None, env: str | None, default: Recipe) -> Recipe:
    if repeated is None:
        return load_recipe(recipe) if recipe else default
    if recipe is not None:
        raise InputError(f"give a recipe or --from {repeated}, not both")
    with EventLogFile.open(repeated) as event_log:
        if kind := find_run_kind(event_log.recipe):
            raise InputError(f"{repeated} is a {kind.name} run; `{kind.repeat_command} {repeated}` repeats it")
        return recorded_recipe(event_log, env)


def _resuming(event_log: EventLogFile) -> str:
    last = [entry for entry in event_log.entries(kind="resumed") if isinstance(entry, RunResumed)][-1]
    answers = sum(1 for _ in event_log.entries(kind="model_call"))
    again = f"; {len(last.in_flight)} interrupted calls are repeated" if last.in_flight else ""
    return f"Continuing with {answers} recorded answers{again}."
