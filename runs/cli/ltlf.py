"""``lawtrace ltlf``: formulas on traces, and their automata."""

from pathlib import Path
from typing import Annotated

import typer
from pydantic import BaseModel, ConfigDict
from rich.table import Table

from lawtrace.environments.errors import FormulaError
from lawtrace.runs.cli.output import make_table, print_json, print_result
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.solver.ltlf import Atom, Automaton, compile_formula, parse, to_dot

app = typer.Typer(help="LTLf: verdicts on traces, and automata.", no_args_is_help=True, add_completion=False)


class _Case(BaseModel):
    model_config = ConfigDict(frozen=True, extra="allow")

    formula: str
    trace: tuple[tuple[str, ...], ...]


@app.command("verdicts")
def verdicts_command(
    file: Annotated[
        Path, typer.Argument(help='JSON lines {"formula", "trace"}; a step lists the atoms that are true.')
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Print each line with "holds": whether the formula holds on the trace."""
    holding = number = 0
    for number, case in enumerate(read_rows(file, _Case), 1):
        try:
            automaton = compile_formula(parse(case.formula), "free")
            holds = automaton.accepts([{_atom(name) for name in step} for step in case.trace])
        except FormulaError as error:
            raise FormulaError(f"{file}, line {number}: {error}") from error
        print_json({**case.model_dump(mode="json"), "holds": holds})
        holding += holds
    if as_json:
        print_json({"verdicts": number, "holding": holding})


def _atom(text: str) -> Atom:
    """An atom as formulas write it, with its condition if it has one."""
    atom = parse(text)
    if not isinstance(atom, Atom):
        raise FormulaError(f"`{text}` is no atom, and a step of a trace lists atoms")
    return atom


@app.command("dfa")
def dfa_command(
    formula: Annotated[str, typer.Argument(help="A formula, in symbols or in the published words.")],
    dot: Annotated[bool, typer.Option("--dot", help="Print a picture for Graphviz instead.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Print the states and transitions of the minimal automaton over tool calls.

    Of a quantified formula it is the automaton that each value goes through on its own.
    """
    automaton = compile_formula(parse(formula))
    if dot:
        typer.echo(to_dot(automaton))
    elif as_json:
        print_json(
            {
                "formula": str(automaton.formula),
                "letters": [automaton.alphabet.text(letter) for letter in automaton.letters],
                "table": [[*row] for row in automaton.table],
                "verdicts": [*automaton.verdicts],
            }
        )
    else:
        print_result(_table(automaton))


def _table(automaton: Automaton) -> Table:
    letters = [automaton.alphabet.text(letter) if letter else "any other call" for letter in automaton.letters]
    table = make_table("state", "verdict", *letters, title=str(automaton.formula))
    for state, row in enumerate(automaton.table):
        table.add_row(str(state), automaton.verdict(state), *map(str, row))
    return table
