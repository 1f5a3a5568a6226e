"""``lawtrace traces synthesize``: synthesize compliant traces."""

from collections.abc import Sequence
from dataclasses import replace
from importlib.metadata import version
from pathlib import Path

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.cli.options import ClusterOption, OutOption, ShardOption
from lawtrace.runs.cli.output import print_note
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.recipe_flags import DIFFICULTY, TRACE_CONSTRAINTS, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.shards import cluster_at
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.text import counted
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import RULES, TRACES
from lawtrace.runs.stages.build import traces_depend
from lawtrace.runs.stages.resolve import resolve_recipe, with_allowed_environment
from lawtrace.runs.stages.traces_stage import TracePlan, make_traces
from lawtrace.runs.store.shards import WHOLE, FoundShard, Shard, ShardRecord, merged_lines, read_options
from lawtrace.runs.store.stage_files import write_lines
from lawtrace.runs.store.stage_store import stage_key
from lawtrace.runs.tasks import task_mode
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.solver.coverage.measures import measure_coverage


@recipe_flags("rules", "count", "length", "trace_mode", *TRACE_CONSTRAINTS, *DIFFICULTY, "seed")
def synthesize_traces(
    flags: RecipeFlags, shard: ShardOption = None, on: ClusterOption = None, out: OutOption = Path("traces.jsonl")
) -> CommandResult:
    """Synthesize compliant traces.

    Each has its initial state and only arguments that a caller can know. A recipe without --count makes its spare
    traces too.
    """
    part = None if shard is None else Shard.parse(shard)
    inputs = stage_recipe(flags)
    recipe = inputs.recipe
    if flags.recipe is None or "tasks.count" in flags.values:
        recipe = recipe.model_copy(update={"tasks": recipe.tasks.model_copy(update={"spare": 0})})
    extracts = recipe.rules.source == "extracted"
    if shard is not None and extracts:
        raise InputError(
            "--shard: each shard would extract rules of its own; run `lawtrace rules extract` once, and give --rules"
        )

    async def work(session: Session) -> tuple[list[TraceRow], TracePlan, str]:
        runner = session.runner(replace(inputs, recipe=recipe))
        products, context = await runner.make(RULES), runner.context
        plan = TracePlan.of(context)
        parts = plan.parts()
        own = (part or WHOLE).of(parts)
        _check_division(plan, parts, part or WHOLE, on)
        key = stage_key("traces", version("lawtrace"), traces_depend(context), products[RULES])
        with context.progress.stage("traces", sum(map(len, own)) * plan.rows) as step:
            return await make_traces(context, products, own, step), plan, key

    with cluster_at(on, shard) as cluster:
        rows, plan, key = run_stages(
            recipe,
            out,
            "traces synthesize",
            work,
            force=flags.force,
            sandbox=False,
            models=extracts,
            shard=part,
            cluster=cluster,
        )
    TRACES.write(out, rows)
    if part is None:
        return _result(recipe, inputs.domain.environment, rows, out)
    parts = plan.parts()
    record = ShardRecord.of("traces synthesize", part, out)
    unit_rows = len(parts[0]) * plan.rows
    record.finish(out, key=key, units=len(parts), unit_rows=unit_rows, options=_Options(recipe=recipe))
    shown = f"{counted(len(rows), 'trace')} (shard {part}). `lawtrace merge` joins all shards."
    return CommandResult({"traces": len(rows), "shard": str(part)}, [shown], out)


def _check_division(plan: TracePlan, parts: Sequence[range], shard: Shard, on: str | None) -> None:
    """Say if there is nothing to divide. Raises InputError for more shards than parts."""
    if plan.constraints.distance:
        why = "a distance between any two traces (--distance) makes them all one part"
    else:
        requests = -(-plan.part_size // plan.rows)
        why = f"a part has {counted(requests * plan.rows, 'trace')}"
        if requests > 1:
            why += "; --set tasks.part_size=N makes smaller ones, of other traces"
    if shard.count > len(parts):
        raise InputError(f"--shard {shard}: there are only {counted(len(parts), 'part')}; {why}")
    if on is not None and len(parts) == 1:
        print_note(f"--on: all traces are one part, so nothing is divided; {why}.")


class _Options(StrictModel):
    """What a merge needs besides the traces: the recipe, for the result that is printed."""

    recipe: Recipe


def merge_traces(shards: Sequence[FoundShard], out: Path, env: str | None, *, force: bool) -> CommandResult:
    """Join the traces of all shards."""
    recipe = with_allowed_environment(read_options(shards[0], _Options).recipe, env, shards[0].file)
    environment = resolve_recipe(recipe).inputs.domain.environment
    check_output(out, force=force)
    write_lines(out, merged_lines(shards))
    return _result(recipe, environment, TRACES.read(out), out)


def _result(recipe: Recipe, environment: Environment, rows: Sequence[TraceRow], out: Path) -> CommandResult:
    """How many traces there are, and what they cover."""
    mode = task_mode(recipe.tasks, environment)
    length = "" if mode in {"contrasts", "safe-harbour"} else f" of {counted(recipe.tasks.length, 'call')}"
    coverage = measure_coverage(environment, ([call.event for call in row.calls] for row in rows))
    sentence = (
        f"{counted(len(rows), 'trace')}{length}, "
        f"trace mode {mode}: ATC {coverage.atc:.1%} "
        f"({len(coverage.pairs)} of {coverage.all_pairs} pairs), S.C. coverage {coverage.critical_share:.0%}."
    )
    summary = {"traces": len(rows), "atc": coverage.atc, "critical": coverage.critical_share}
    return CommandResult(summary, [sentence], out)
