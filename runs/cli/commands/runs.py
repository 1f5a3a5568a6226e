"""The commands on runs: ``run``, ``resume``, ``report``, ``compare``, ``messages`` and ``view``."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.implementation import implemented_by
from lawtrace.runs.cli.options import ClusterOption, EnvironmentFolderOption, FailUnderOption, JsonOption, ShardOption
from lawtrace.runs.cli.recipe_flags import ATTEMPTS, RecipeFlags, recipe_flags


@recipe_flags("rules", "count", *ATTEMPTS, "seed", "sandbox", recipe=False, force=False)
@implemented_by("lawtrace.runs.cli.run:run")
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
    as_json: JsonOption = False,
) -> None:
    """Run the full pipeline.

    From regulation to report, or the recipe of a plug-in.

    Exit code 1 if a model has no judged attempt or too low a Pass@1, or if fewer tasks were built than asked for.
    """


@recipe_flags(recipe=False, env="folder", settings=False, force=False)
@implemented_by("lawtrace.runs.cli.run:resume")
def resume(
    flags: RecipeFlags,
    directory: Annotated[Path, typer.Argument(help="Folder of an interrupted run.")],
    on: ClusterOption = None,
    fail_under: FailUnderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Continue an interrupted run.

    Answers in the event log are not requested again.
    """


@implemented_by("lawtrace.runs.cli.report:report")
def report(
    directories: Annotated[list[Path], typer.Argument(help="Folders of finished runs or of comparisons.")],
    env: EnvironmentFolderOption = None,
    parquet: Annotated[bool, typer.Option("--parquet", help="Write the tables as Parquet, too.")] = False,
    inspect: Annotated[bool, typer.Option("--inspect", help="Write the verdicts as logs of Inspect, too.")] = False,
    fail_under: FailUnderOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the report and tables of each run.

    Exit code 1 if a model of a run has no judged attempt or too low a Pass@1.
    """


@implemented_by("lawtrace.runs.cli.compare:compare")
def compare(
    first: Annotated[Path, typer.Argument(help="Folder of a run, an ablation or `grade --compare`.")],
    second: Annotated[Path | None, typer.Argument(help="Second folder; default: the first.")] = None,
    model: Annotated[str | None, typer.Option(help="Model of the first run.")] = None,
    against: Annotated[str | None, typer.Option(help="Model of the second run.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Compare two runs or two models, attempt by attempt."""


@implemented_by("lawtrace.runs.cli.messages:messages")
def messages(
    directory: Annotated[Path, typer.Argument(help="The folder of a run.")],
    stage: Annotated[str | None, typer.Option(help="Only conversations of this stage, such as tasks.")] = None,
    task: Annotated[str | None, typer.Option(help="Only conversations about this task.")] = None,
    unit: Annotated[str | None, typer.Option(help="Only conversations about this part of the input.")] = None,
    style: Annotated[str | None, typer.Option(help="Only conversations in this style.")] = None,
    model: Annotated[str | None, typer.Option(help="Only conversations of this model, in a role or tested.")] = None,
    trial: Annotated[int | None, typer.Option(help="Only this trial, from 0.")] = None,
    variant: Annotated[str | None, typer.Option(help="Only this variant of an ablation.")] = None,
    verdict: Annotated[
        str | None, typer.Option(help="Only attempts with this outcome, such as unsafe_success.")
    ] = None,
    rule: Annotated[str | None, typer.Option(help="Only attempts that broke this rule or left it undecided.")] = None,
    role: Annotated[str | None, typer.Option(help="Only messages of this role.")] = None,
    turn: Annotated[int | None, typer.Option(help="Only messages of this turn, from 0.")] = None,
    message: Annotated[str | None, typer.Option(help="Only the message with this id.")] = None,
    prompts: Annotated[bool, typer.Option("--prompts", help="Print what the models were sent, too.")] = False,
    text: Annotated[str | None, typer.Option(help="Only messages with words that begin like these.")] = None,
    limit: Annotated[int, typer.Option(min=1, help="Maximum number of conversations.")] = 1000,
    follow: Annotated[bool, typer.Option("--follow", help="Follow a run in progress.")] = False,
    diff: Annotated[
        Path | None, typer.Option(help="Another run: show the first difference of each conversation.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Read the conversations of a run."""


@implemented_by("lawtrace.runs.cli.view:view")
def view(
    directory: Annotated[Path, typer.Argument(help="Run folder, or a folder of runs.")] = Path("logs"),
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port on loopback; 0 picks a free port.")] = 8718,
    as_json: Annotated[bool, typer.Option("--json", help="Print the address as one JSON object.")] = False,
) -> None:
    """Browse runs in the browser.

    Serves pages on this machine only, until Ctrl-C.
    """
