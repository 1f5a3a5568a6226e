"""The commands on formulas."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.cli.implementation import implemented_by
from lawtrace.runs.cli.options import JsonOption

app = typer.Typer(help="Evaluate formulas and show their automata.", no_args_is_help=True)


@app.command("verdicts")
@implemented_by("lawtrace.runs.cli.ltlf:decide_cases")
def verdicts_command(
    file: Annotated[Path, typer.Argument(help='JSON lines {"formula", "trace"}; a step lists its true atoms.')],
    as_json: JsonOption = False,
) -> None:
    """Decide for each line whether its formula holds."""


@app.command("dfa")
@implemented_by("lawtrace.runs.cli.ltlf:show_automaton")
def dfa_command(
    formula: Annotated[str, typer.Argument(help="Formula, in symbols or in words.")],
    dot: Annotated[bool, typer.Option("--dot", help="Print Graphviz source.")] = False,
    as_json: JsonOption = False,
) -> None:
    """Show the minimal automaton of a formula.

    For a quantified formula, the automaton of a single value.
    """
