"""``lawtrace ltlf``: evaluate formulas on traces and show their automata."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict
from rich.table import Table

from lawtrace.runs.cli.output import make_table, print_json
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.errors import FormulaError
from lawtrace.solver.automata.automaton import Automaton, to_dot
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Atom


class _Case(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    formula: str
    trace: tuple[tuple[str, ...], ...]


def decide_cases(
    file: Annotated[Path, typer.Argument(help='JSON lines {"formula", "trace"}; a step lists its true atoms.')],
) -> CommandResult:
    """Decide for each line whether its formula holds."""
    holding = number = 0
    for number, case in enumerate(read_rows(file, _Case), 1):
        try:
            automaton = compile_formula(parse(case.formula), "free")
            holds = automaton.accepts([{_atom(name) for name in step} for step in case.trace])
        except FormulaError as error:
            raise FormulaError(f"{file}, line {number}: {error}") from error
        print_json({**case.model_dump(mode="json"), "holds": holds})
        holding += holds
    return CommandResult({"verdicts": number, "holding": holding})


def _atom(text: str) -> Atom:
    """Parse one atom, with its condition if it has one."""
    atom = parse(text)
    if not isinstance(atom, Atom):
        raise FormulaError(f"`{text}` is not an atom; a step of a trace lists atoms")
    return atom


def show_automaton(
    formula: Annotated[str, typer.Argument(help="Formula, in symbols or in words.")],
    dot: Annotated[bool, typer.Option("--dot", help="Print Graphviz source.")] = False,
) -> CommandResult | None:
    """Show the minimal automaton of a formula.

    For a quantified formula, the automaton of a single value.
    """
    automaton = compile_formula(parse(formula))
    if dot:
        typer.echo(to_dot(automaton))
        return None
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
