"""The commands ``attempt``, ``grade``, ``audit``, ``guard``, ``merge`` and ``doctor``."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.implementation import implemented_by
from lawtrace.runs.cli.options import (
    ClusterOption,
    EnvironmentFolderOption,
    EnvironmentOption,
    FailUnderOption,
    ForceOption,
    JsonOption,
    OutOption,
    RulesOption,
    ShardOption,
    TimeUnitOption,
)
from lawtrace.runs.cli.recipe_flags import ATTEMPTS, RecipeFlags, recipe_flags
from lawtrace.schemas.choices import AUDIT_FORMATS, Fallback, GradingProfile, GuardMode


@recipe_flags(*ATTEMPTS, "seed", "sandbox", env="folder")
@implemented_by("lawtrace.runs.cli.attempt:attempt")
def attempt(
    flags: RecipeFlags,
    tasks: Annotated[Path, typer.Option(help="Task file (JSON lines).")],
    limit: Annotated[int | None, typer.Option(min=1, help="Only this many tasks, from the first.")] = None,
    shard: ShardOption = None,
    on: ClusterOption = None,
    out: OutOption = Path("attempts.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Run a model on tasks.

    For each task and style the model writes a program, which runs in the sandbox, or calls tools. Exit code 1 if an
    attempt has no answer.
    """


@recipe_flags("rules", "sandbox", env="folder", budget=False)
@implemented_by("lawtrace.runs.cli.grade:grade")
def grade(
    flags: RecipeFlags,
    run: Annotated[Path | None, typer.Argument(help="Folder of a finished run to judge again.")] = None,
    tasks: Annotated[Path | None, typer.Option(help="Task file (JSON lines).")] = None,
    programs: Annotated[
        list[Path] | None,
        typer.Option(metavar="<path>", help='JSON lines {"task", "style", "program"}, attempts, or published records.'),
    ] = None,
    profile: Annotated[GradingProfile, typer.Option(help="Grading profile.")] = "strict",
    compare: Annotated[Path | None, typer.Option(help="Output folder for a comparison of all profiles.")] = None,
    out: OutOption = Path("verdicts.jsonl"),
    fail_under: FailUnderOption = None,
    shard: ShardOption = None,
    on: ClusterOption = None,
    as_json: JsonOption = False,
) -> None:
    """Judge programs or the attempts of a run.

    The rules are those of the tasks, unless --rules or the recipe names a rule file.

    Exit code 1 if a model has no judged attempt or too low a Pass@1, or if a row is unusable.
    """


@implemented_by("lawtrace.runs.cli.audit:audit")
def audit(
    sources: Annotated[
        list[Path],
        typer.Argument(help="Files or folders of recorded conversations, or MonPoly logs (docs/sources.md)."),
    ],
    env: EnvironmentOption = "banking",
    rules: RulesOption = None,
    against: Annotated[Path | None, typer.Option(help="Older rule file to compare with.")] = None,
    label: Annotated[
        str | None, typer.Option(metavar="<name>[<condition>]", help="Label that rules are compared with: 'reward<1'.")
    ] = None,
    marks: Annotated[Path | None, typer.Option(help="File of findings marked right or wrong.")] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="The records are whole: open duties are broken.")
    ] = False,
    tools: Annotated[
        list[str] | None,
        typer.Option(metavar="<file>", help="Tool schemas instead of --env, or MonPoly's signature. Repeatable."),
    ] = None,
    time_unit: TimeUnitOption = "1s",
    formats: Annotated[
        list[str] | None,
        typer.Option("--format", metavar=f"[{'|'.join(AUDIT_FORMATS)}]", help="Also write this format. Repeatable."),
    ] = None,
    fail_on: Annotated[
        list[str] | None,
        typer.Option(metavar="<outcome>[:<rule>]", help="Fail on this outcome; default: any but kept. Repeatable."),
    ] = None,
    shard: ShardOption = None,
    on: ClusterOption = None,
    out: OutOption = Path("audit.jsonl"),
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Judge recorded conversations or logs against rules.

    Exit code 1 if a rule is broken or undetermined, or if nothing is judged; see --fail-on.
    """


@implemented_by("lawtrace.runs.cli.guard:guard")
def guard(
    command: Annotated[
        list[str] | None,
        typer.Argument(metavar="-- <command>", help="Command that serves MCP on standard streams."),
    ] = None,
    url: Annotated[str | None, typer.Option(help="Address of an MCP server, instead of a command.")] = None,
    rules: Annotated[Path | None, typer.Option(help="Rule file; default: that of --env.")] = None,
    env: Annotated[
        str | None, typer.Option(help="Environment or folder whose regulation is cited (runs its Python).")
    ] = None,
    mode: Annotated[GuardMode, typer.Option(help="What happens to calls that break rules.")] = "refuse",
    fallback: Annotated[Fallback, typer.Option(help="What happens to calls that cannot be checked.")] = "refuse",
    log: Annotated[Path, typer.Option(help="Log of calls and decisions, for an audit; appended to.")] = Path(
        "guard.jsonl"
    ),
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for an answer, or for progress.")] = 300,
    as_json: JsonOption = False,
) -> None:
    """Enforce rules in front of an MCP server.

    An MCP server on standard input and output, which passes everything on to the server of the command or the address,
    except calls that rules do not allow. `LAWTRACE_TOKEN` is sent to the address as a bearer token.
    """


@implemented_by("lawtrace.runs.cli.merge:merge")
def merge(
    shards: Annotated[list[Path], typer.Argument(help="Folders with shards, or their files.")],
    out: Annotated[
        Path | None, typer.Option(help="Output file, or run folder; default as for the command of the shards.")
    ] = None,
    env: EnvironmentFolderOption = None,
    fail_under: FailUnderOption = None,
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Merge all shards of one command.

    Writes what the command writes without --shard, and ends with the same exit code.
    """


@implemented_by("lawtrace.runs.cli.doctor:doctor")
def doctor(
    as_json: JsonOption = False,
) -> None:
    """Check sandboxes, endpoints and versions.

    Exit code 3 if no sandbox works or an endpoint that is set up does not answer.
    """
