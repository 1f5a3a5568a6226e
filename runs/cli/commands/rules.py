"""The commands on rules."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.implementation import implemented_by
from lawtrace.runs.cli.options import (
    EnvironmentOption,
    ForceOption,
    JsonOption,
    OutOption,
    ReviewersOption,
    ReviewHostOption,
    ReviewOpinionsOption,
    ReviewOutOption,
    ReviewPortOption,
    ReviewStatusOption,
    RulesOption,
    SignatureOption,
    TimeUnitOption,
)
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, recipe_flags

app = typer.Typer(help="Extract, check and review rules.", no_args_is_help=True)
import_app = typer.Typer(help="Import formulas of other tools.", no_args_is_help=True)


@app.command("extract")
@recipe_flags(*MODEL_CALLS, "seed")
@implemented_by("lawtrace.runs.cli.rules_extract:extract")
def extract_command(
    flags: RecipeFlags,
    document: Annotated[
        Path | None,
        typer.Argument(help="Regulation, published or restated (TOML); default: the environment's."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Output rule file; log and page go next to it.")] = Path("rules.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Extract rules from a regulation, with their provenance.

    Exit code 1 if provisions are left unprocessed; run the command again to continue with them.
    """


@app.command("provenance")
@implemented_by("lawtrace.runs.cli.rules_extract:show_provenance")
def provenance_command(
    file: Annotated[Path, typer.Argument(help="Rule file, or its extraction log.")],
    rule: Annotated[str | None, typer.Option(help="Show one rule and its messages.")] = None,
    provision: Annotated[str | None, typer.Option(help="Show one provision (by citation) and its messages.")] = None,
    as_json: JsonOption = False,
) -> None:
    """Show the provenance of extracted rules.

    Shows the funnel and the fate of each provision, or the messages about one provision or rule.
    """


@app.command("evaluate")
@implemented_by("lawtrace.runs.cli.rules_evaluate:evaluate")
def evaluate_command(
    files: Annotated[list[Path], typer.Argument(help="Rule files to score side by side.")],
    gold: Annotated[Path | None, typer.Option(help="Gold rules; default: the published, else the curated set.")] = None,
    env: EnvironmentOption = "banking",
    baseline: Annotated[bool, typer.Option(help="Also score the offline baseline on the same text.")] = True,
    as_json: JsonOption = False,
) -> None:
    """Score rule sets against gold rules.

    A gold rule is found if an extracted rule has an equivalent automaton. Rules on time, several objects or sums
    must be written the same.
    """


@app.command("review")
@implemented_by("lawtrace.runs.cli.review:review_rules")
def review_command(
    file: Annotated[Path, typer.Argument(help="Rule file to review.")],
    env: EnvironmentOption = "banking",
    document: Annotated[Path | None, typer.Option(help="Regulation from which the rules were extracted.")] = None,
    reviewers: ReviewersOption = 1,
    opinions: ReviewOpinionsOption = None,
    out: ReviewOutOption = None,
    force: ForceOption = False,
    status: ReviewStatusOption = False,
    host: ReviewHostOption = "127.0.0.1",
    port: ReviewPortOption = 8719,
    as_json: JsonOption = False,
) -> None:
    """Review rules in the browser.

    Shows provision, formula, automaton and solver traces side by side.
    """


@app.command("check")
@implemented_by("lawtrace.runs.cli.rules_check:check_rule_set")
def check_command(
    env: EnvironmentOption = "banking",
    rules: RulesOption = None,
    mutate: Annotated[int, typer.Option(min=0, help="Mutate this many traces and count what the rules notice.")] = 0,
    seed: Annotated[int, typer.Option(help="Seed of the mutated traces.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Check a rule set.

    Checks that rules parse, name existing tools and fields, are satisfiable together, leave every tool reachable, are
    not redundant, and demand nothing that neither the provisions they cite nor the documentation of the tools say. With
    --mutate, also judges compliant traces with one change each.

    Exit code 1 if there are findings or undecided questions, except about provisions that are not there.
    """


@import_app.callback()
def import_group() -> None:
    """Import formulas of other tools."""


@import_app.command("mfotl")
@implemented_by("lawtrace.runs.cli.rules_import:import_formulas")
def mfotl_command(
    files: Annotated[list[Path], typer.Argument(help="Formulas in MonPoly's syntax, one a file.")],
    signature: SignatureOption,
    time_unit: TimeUnitOption = "1s",
    policy: Annotated[
        bool | None,
        typer.Option("--policy/--violations", help="Require the formula always, or forbid it; default: by its form."),
    ] = None,
    out: OutOption = Path("rules.jsonl"),
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Import metric first-order temporal formulas as rules.

    A formula without free variables, an implication, or one that begins with ALWAYS is a policy: it must be true at
    every time point. Any other formula lists violations: no values may make it true.
    """


app.add_typer(import_app, name="import")
