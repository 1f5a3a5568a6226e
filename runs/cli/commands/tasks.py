"""The commands on tasks."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from lawtrace.runs.cli.implementation import implemented_by
from lawtrace.runs.cli.options import (
    ClusterOption,
    EnvironmentFolderOption,
    ForceOption,
    JsonOption,
    OutOption,
    ReviewersOption,
    ReviewHostOption,
    ReviewOpinionsOption,
    ReviewOutOption,
    ReviewPortOption,
    ReviewStatusOption,
    SandboxOption,
    ShardOption,
)
from lawtrace.runs.cli.recipe_flags import DIFFICULTY, MODEL_CALLS, TRACE_CONSTRAINTS, RecipeFlags, recipe_flags
from lawtrace.schemas.choices import PublishedDomainName

app = typer.Typer(help="Build, import, check, review and release tasks, and check texts.", no_args_is_help=True)


@app.command("build")
@recipe_flags(
    "rules",
    "count",
    "length",
    "trace_mode",
    *TRACE_CONSTRAINTS,
    *DIFFICULTY,
    "texts",
    "variant",
    *MODEL_CALLS,
    "seed",
    "sandbox",
)
@implemented_by("lawtrace.runs.cli.tasks_build:build_tasks")
def build_command(
    flags: RecipeFlags,
    traces: Annotated[Path | None, typer.Option(help="Trace file (JSON lines); default: synthesize traces.")] = None,
    shard: ShardOption = None,
    on: ClusterOption = None,
    out: OutOption = Path("tasks.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Build tasks from traces, with checked instructions.

    Instructions are written in both styles and checked by code and by the reviewing roles.

    Exit code 1 if fewer tasks than requested were accepted.
    """


@app.command("check")
@recipe_flags(*MODEL_CALLS, "sandbox", env="folder")
@implemented_by("lawtrace.runs.cli.tasks_check:check_tasks")
def check_command(
    flags: RecipeFlags,
    file: Annotated[Path, typer.Argument(help="Task file (JSON lines), or release folder.")],
    out: OutOption = Path("quality.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Check the quality of tasks.

    Checks whether the reference passes and whether a task is complete, unambiguous, leak-free and needed, among others.

    The files of a release are first compared with the digests in its manifest; a changed file is not checked further.
    """


@app.command("import")
@implemented_by("lawtrace.runs.cli.tasks_import:import_published_tasks")
def import_command(
    source: Annotated[Literal["logisafetybench"], typer.Argument(help="Source format.")],
    directory: Annotated[Path, typer.Argument(help="Folder of the data, as published or flat.")],
    domain: Annotated[PublishedDomainName, typer.Option(help="Published domain.")] = "bank_manager",
    sandbox: SandboxOption = None,
    out: OutOption = Path("tasks.jsonl"),
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Import published tasks.

    Imports instructions, states and rules; repairs and runs the reference programs.
    """


@app.command("release")
@recipe_flags("count", *MODEL_CALLS, "seed", "sandbox", env=None)
@implemented_by("lawtrace.runs.cli.tasks_release:release_tasks")
def release_command(
    flags: RecipeFlags,
    out: Annotated[Path, typer.Option(help="Output folder.")],
    version: Annotated[str, typer.Option(help="Version of the task set.")] = "0.1",
    env: Annotated[
        list[str] | None,
        typer.Option(metavar="<str>", help="Environment; default: all built-in ones. Repeatable."),
    ] = None,
    sources: Annotated[
        Path | None, typer.Option(help="Folder with ENV.traces.jsonl and ENV.texts.toml to use, where it has them.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Build and check a task set for publication.

    Writes JSON lines and Parquet with a data card. Tasks that fail a check are replaced by spare ones. Given traces
    become tasks as they are.
    """


@app.command("review")
@implemented_by("lawtrace.runs.cli.review:review_tasks")
def review_command(
    file: Annotated[Path, typer.Argument(help="Task file to review.")],
    env: EnvironmentFolderOption = None,
    reviewers: ReviewersOption = 1,
    opinions: ReviewOpinionsOption = None,
    out: ReviewOutOption = None,
    force: ForceOption = False,
    status: ReviewStatusOption = False,
    host: ReviewHostOption = "127.0.0.1",
    port: ReviewPortOption = 8719,
    as_json: JsonOption = False,
) -> None:
    """Review tasks in the browser.

    Shows each instruction beside the calls of its reference. A pair passes if both instructions do.
    """


@app.command("texts")
@implemented_by("lawtrace.runs.cli.tasks_texts:check_written_texts")
def texts_command(
    file: Annotated[Path, typer.Argument(help="File of texts (TOML); written if missing.")],
    traces: Annotated[Path | None, typer.Option(help="Trace file (JSON lines) to write for.")] = None,
    tasks: Annotated[Path | None, typer.Option(help="Task file (JSON lines) to write for.")] = None,
    add: Annotated[bool, typer.Option("--add", help="Append empty entries for missing pairs.")] = False,
    env: EnvironmentFolderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Check instructions written by hand.

    Without an existing file, write one to fill in, with the asked calls of each pair. Exit code 1 if a text has a
    defect or is missing.
    """
