"""The commands on traces."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.implementation import implemented_by
from lawtrace.runs.cli.options import ClusterOption, JsonOption, OutOption, ShardOption
from lawtrace.runs.cli.recipe_flags import DIFFICULTY, MODEL_CALLS, TRACE_CONSTRAINTS, RecipeFlags, recipe_flags

app = typer.Typer(help="Synthesize compliant traces and measure coverage.", no_args_is_help=True)


@app.command("synthesize")
@recipe_flags("rules", "count", "length", "trace_mode", *TRACE_CONSTRAINTS, *DIFFICULTY, "seed")
@implemented_by("lawtrace.runs.cli.traces_synthesize:synthesize_traces")
def synthesize_command(
    flags: RecipeFlags,
    shard: ShardOption = None,
    on: ClusterOption = None,
    out: OutOption = Path("traces.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Synthesize compliant traces.

    Each has its initial state and only arguments that a caller can know. A recipe without --count makes its spare
    traces too.
    """


@app.command("coverage")
@recipe_flags("rules", "count", "length", "writer", *MODEL_CALLS, "seed")
@implemented_by("lawtrace.runs.cli.traces_coverage:measure_coverage")
def coverage_command(
    flags: RecipeFlags,
    proofs: Annotated[bool, typer.Option(help="Print the proof under each certificate.")] = False,
    out: Annotated[Path, typer.Option(help="Output file for the model's programs and calls.")] = Path("baseline.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Measure what compliant traces can cover.

    Decides which adjacent pairs of calls compliant traces can have, explains the infeasible ones, and covers the others
    with a suite.
    """
