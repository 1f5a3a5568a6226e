"""``lawtrace ltlf``: show the automata of formulas."""

from typing import Annotated

import typer
from rich.table import Table

from lawtrace.runs.cli.output import make_table
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.solver.automata.automaton import Automaton
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse


def show_automaton(formula: Annotated[str, typer.Argument(help="Formula, in symbols or in words.")]) -> CommandResult:
    """Show the minimal automaton of a formula.

    For a quantified formula, the automaton of a single value.
    """
    automaton = compile_formula(parse(formula))
    return CommandResult(
        {
            "formula": str(automaton.formula),
            "letters": [automaton.alphabet.text(letter) for letter in automaton.letters],
            "table": [[*row] for row in automaton.table],
            "verdicts": [*automaton.verdicts],
        },
        [_table(automaton)],
    )


def _table(automaton: Automaton) -> Table:
    letters = [automaton.alphabet.text(letter) if letter else "any other call" for letter in automaton.letters]
    rows = ((state, automaton.verdicts[state], *row) for state, row in enumerate(automaton.table))
    return make_table(("state", "verdict", *letters), rows, title=str(automaton.formula))
