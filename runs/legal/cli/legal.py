"""``lawtrace legal``: the benchmark of legal agents on data-protection decisions."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.implementation import implemented_by
from lawtrace.runs.cli.options import (
    ClusterOption,
    ForceOption,
    JsonOption,
    ReviewHostOption,
    ReviewPortOption,
    ReviewStatusOption,
    ShardOption,
)
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, recipe_flags

app = typer.Typer(help="Benchmark legal agents on data-protection decisions.", no_args_is_help=True)

_RecipeOption = Annotated[Path | None, typer.Option("--recipe", help="Legal recipe: models and prompts of the roles.")]
_Cases = Annotated[Path, typer.Option("--cases", help="Dataset: a folder or a file.")]


@app.command("check")
@implemented_by("lawtrace.runs.legal.cli.legal_check:check_dataset")
def check_command(cases: _Cases, as_json: JsonOption = False) -> None:
    """Check a dataset: contents, unusable rows, baselines without a model."""


@app.command("run")
@recipe_flags(*MODEL_CALLS, "seed", recipe=False, env=None, force=False)
@implemented_by("lawtrace.runs.legal.cli.legal_run:run")
def run_command(
    flags: RecipeFlags,
    cases: Annotated[Path | None, typer.Option(help="Dataset: a folder or a file.")] = None,
    recipe: Annotated[Path | None, typer.Option(help="Legal recipe (TOML); default: the published grid.")] = None,
    repeated: Annotated[Path | None, typer.Option("--from", help="Repeat this run with its recipe and cases.")] = None,
    reuse: Annotated[Path | None, typer.Option(help="Reuse stage files of this run with identical inputs.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the planned model calls and exit.")] = False,
    out: Annotated[Path | None, typer.Option(help="Run folder; default: a new one below logs/.")] = None,
    shard: ShardOption = None,
    on: ClusterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Answer all questions in every cell of the grid."""


@app.command("ingest")
@implemented_by("lawtrace.runs.legal.cli.legal_ingest:ingest_decision")
def ingest_command(
    document: Annotated[Path, typer.Argument(help="A decision: .pdf (extra pdf), .html or .txt.")],
    out: Annotated[Path, typer.Option(help="The case to write (JSON lines).")],
    parts: Annotated[Path | None, typer.Option(help="A corrected mapping file; replaces the section mapper.")] = None,
    recipe: _RecipeOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Turn a decision into a case with citable chunks."""


@app.command("import")
@implemented_by("lawtrace.runs.legal.cli.legal_import:import_task")
def import_command(
    task: Annotated[Path, typer.Argument(help="A task: a table (.tsv, .csv) or its folder.")],
    out: Annotated[Path, typer.Option(help="The case to write (JSON lines).")],
    instruction: Annotated[
        Path | None, typer.Option(help="Text with {{column}} names; default: base_prompt.txt.")
    ] = None,
    exact: Annotated[bool, typer.Option("--exact", help="Compare answers in words exactly.")] = False,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Turn a task of another benchmark into a case."""


@app.command("questions")
@implemented_by("lawtrace.runs.legal.cli.legal_questions:write_questions")
def questions_command(
    case: Annotated[Path, typer.Argument(help="A file of cases, from `lawtrace legal ingest`.")],
    out: Annotated[Path, typer.Option(help="The cases with their questions (JSON lines).")],
    recipe: _RecipeOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Write questions from the findings of each case."""


@app.command("review")
@implemented_by("lawtrace.runs.legal.cli.legal_review:review_questions")
def review_command(
    cases: _Cases,
    raters: Annotated[int, typer.Option(min=1, help="Number of raters.")] = 3,
    named: Annotated[
        list[str] | None, typer.Option("--rater", metavar="<str>", help="Name of a rater. Repeatable.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Number of questions in the sample.")] = 30,
    seed: Annotated[int, typer.Option(help="Seed of the sample.")] = 1,
    out: Annotated[Path, typer.Option(help="The ratings of all raters (JSON lines, append-only).")] = Path(
        "ratings.jsonl"
    ),
    status: ReviewStatusOption = False,
    host: ReviewHostOption = "127.0.0.1",
    port: ReviewPortOption = 8719,
    as_json: JsonOption = False,
) -> None:
    """Rate a sample of questions in the browser."""
