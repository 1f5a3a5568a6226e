"""``lawtrace run`` and ``lawtrace resume``. What a plan of the calls does not need is imported when a run begins."""

from collections.abc import Mapping
from pathlib import Path

from lawtrace.environments.toml_file import read_toml
from lawtrace.runs.call_plan import plan_of
from lawtrace.runs.cli.output import print_note, print_outcome
from lawtrace.runs.cli.output_files import check_folder
from lawtrace.runs.cli.recipe_flags import RecipeFlags
from lawtrace.runs.cli.recipe_overrides import override
from lawtrace.runs.cli.shards import cluster_at, end_shard, refuse_with_shard
from lawtrace.runs.cli.shortfalls import check_bound
from lawtrace.runs.recipe_checks import check_access, check_prices, models_of_recipe, prepare_recipe
from lawtrace.runs.recipe_file import load_recipe, parse_settings
from lawtrace.runs.report.run_kinds import RunKind, find_run_kind
from lawtrace.runs.report.terminal_tables import plan_table
from lawtrace.runs.stages.resolve import recorded_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder, new_run_folder
from lawtrace.runs.store.shards import Shard, read_record, record_path
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import RunResumed
from lawtrace.schemas.recipe import Recipe

_KEYS_OF_EVERY_KIND = ("seed", "parameters.", "conversation.")


def run(
    flags: RecipeFlags,
    *,
    recipe: Path | None,
    repeated: Path | None,
    reuse: Path | None,
    dry_run: bool,
    out: Path | None,
    shard: str | None,
    on: str | None,
    fail_under: float | None,
    as_json: bool,
) -> None:
    """Run a recipe or a shard of it, or print its plan."""
    part = None if shard is None else Shard.parse(shard)
    if recipe is not None and repeated is None and (kind := find_run_kind(read_toml(recipe))):
        _check_flags(kind, flags, {"--fail-under": fail_under})
        values = {**parse_settings(flags.settings), **flags.values}
        kind.start(
            recipe,
            values=values,
            budget=flags.budget,
            reuse=reuse,
            dry_run=dry_run,
            out=out,
            shard=part,
            on=on,
            as_json=as_json,
        )
        return
    resolved = prepare_recipe(override(flags, _requested_recipe(recipe, repeated, flags.env)), flags.env)
    check_bound(resolved, fail_under)
    if dry_run:
        plan = plan_of(resolved)
        print_outcome(plan.model_dump(mode="json"), plan_table(plan), as_json=as_json)
        return
    from lawtrace.runs.cli.progress import ProgressBars
    from lawtrace.runs.cli.run_results import end_run
    from lawtrace.runs.cli.stage_runs import resumable
    from lawtrace.runs.full_run import start_run, start_shard

    if out is not None:
        check_folder(out)
    folder = RunFolder(out) if out else new_run_folder(resolved.name)
    if part is not None:
        refuse_with_shard({"--fail-under": fail_under, "--on": on})
        with resumable(folder.path):
            made = start_shard(resolved, folder, part, progress=ProgressBars(), reuse=reuse)
        end_shard(made, part, folder.path, as_json=as_json)
    with resumable(folder.path), cluster_at(on) as cluster:
        finished = start_run(resolved, folder, progress=ProgressBars(), reuse=reuse, cluster=cluster)
    end_run(finished, resolved, fail_under, as_json=as_json)


def resume(flags: RecipeFlags, *, directory: Path, on: str | None, fail_under: float | None, as_json: bool) -> None:
    """Continue an interrupted run."""
    from lawtrace.runs.cli.progress import ProgressBars
    from lawtrace.runs.cli.run_results import end_run
    from lawtrace.runs.cli.stage_runs import resumable
    from lawtrace.runs.full_run import continue_run, continue_shard

    folder = RunFolder(directory).existing()
    with EventLogFile.open(directory) as event_log:
        kind = find_run_kind(event_log.recipe)
        begun = None if kind else recorded_recipe(event_log, flags.env)
    if kind is not None:
        kind.resume(directory, budget=flags.budget, on=on, as_json=as_json)
        return
    assert begun is not None
    recipe = override(flags, begun)
    with EventLogFile.resume(directory) as event_log:
        check_prices(recipe, models_of_recipe(recipe))
        check_access(plan_of(recipe))
        print_note(_resuming(event_log))
        if record_path(folder.attempts).is_file():
            part = read_record(record_path(folder.attempts)).shard
            refuse_with_shard({"--fail-under": fail_under, "--on": on})
            with resumable(folder.path):
                made = continue_shard(recipe, folder, event_log, part, progress=ProgressBars())
            end_shard(made, part, folder.path, as_json=as_json)
        with resumable(folder.path), cluster_at(on) as cluster:
            finished = continue_run(recipe, folder, event_log, progress=ProgressBars(), cluster=cluster)
    end_run(finished, recipe, fail_under, as_json=as_json)


def _check_flags(kind: RunKind, flags: RecipeFlags, others: Mapping[str, object]) -> None:
    """Check that no flag was given that has no meaning for a run of this kind. Raises InputError."""
    options = {"--env": flags.env, **others}
    given = [name for name, value in options.items() if value is not None]
    given += [key for key in flags.values if not key.startswith(_KEYS_OF_EVERY_KIND)]
    if given:
        raise InputError(f"{given[0]} has no meaning for a {kind.name} recipe")


def _requested_recipe(recipe: Path | None, repeated: Path | None, env: str | None) -> Recipe:
    if repeated is None:
        return load_recipe(recipe) if recipe else Recipe()
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
