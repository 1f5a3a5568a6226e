"""``lawtrace rules import``: make rules from formulas in the syntax of other tools."""

import re
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.errors import FormulaError, InputError, describe_read_error
from lawtrace.environments.events import Json
from lawtrace.runs.cli.options import JsonOption, OutOption, SignatureOption, TimeUnitOption
from lawtrace.runs.cli.output import make_table, print_outcome
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.ltlf.mfotl import ImportedFormula, Reading, import_mfotl
from lawtrace.solver.ltlf.mfotl_signature import read_signature
from lawtrace.solver.ltlf.windows import SECONDS
from lawtrace.solver.rules import Rule

app = typer.Typer(help="Import formulas of other tools.", no_args_is_help=True, add_completion=False)


@app.callback()
def import_group() -> None:
    """Import formulas of other tools."""


@app.command("mfotl")
def mfotl_command(
    files: Annotated[list[Path], typer.Argument(help="Formulas in MonPoly's syntax, one a file.")],
    signature: SignatureOption,
    time_unit: TimeUnitOption = "1s",
    policy: Annotated[
        bool | None,
        typer.Option("--policy/--violations", help="Require the formula always, or forbid it; default: by its form."),
    ] = None,
    out: OutOption = Path("rules.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Import metric first-order temporal formulas as rules.

    A formula without free variables, an implication, or one that begins with ALWAYS is a policy: it must be true at
    every time point. Any other formula lists violations: no values may make it true.
    """
    predicates = read_signature(signature)
    unit = seconds_of(time_unit)
    reading: Reading | None = None if policy is None else "policy" if policy else "violations"
    imported: dict[str, ImportedFormula] = {}
    rules: list[Rule] = []
    for file in files:
        if file.stem in imported:
            raise InputError(f"{file}: another file has the name {file.stem}, which becomes the id of its rule")
        text = _read(file)
        try:
            found = import_mfotl(text, predicates, time_unit=unit, reading=reading)
        except FormulaError as error:
            raise FormulaError(f"{file}: {error}") from error
        imported[file.stem] = found
        rules.append(Rule(id=file.stem, formula=str(found.rule), rationale=_rationale(text, found.reading)))
    write_rows(out, rules)
    readings: dict[str, Json] = {name: found.reading for name, found in imported.items()}
    table = make_table("rule", "read as", "formula")
    for rule in rules:
        table.add_row(rule.id, _READINGS[imported[rule.id].reading], rule.formula)
    print_outcome({"rules": len(rules), "readings": readings}, table, as_json=as_json, out=out)


_READINGS = {"policy": "policy: true at every time point", "violations": "violations: true for no values"}


def _rationale(text: str, reading: Reading) -> str:
    return f"Imported as {'a policy' if reading == 'policy' else 'a list of violations'}: {' '.join(text.split())}"


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{file}: cannot be read: {describe_read_error(error)}") from error


def seconds_of(span: str) -> int:
    """The seconds of a span such as ``1d`` or ``30``. Raises InputError."""
    found = re.fullmatch(r"([0-9]+)([a-z]*)", span.strip())
    seconds = int(found[1]) * SECONDS.get(found[2] or "s", 0) if found else 0
    if not seconds:
        raise InputError(f"--time-unit {span!r}: write a span such as 1d, 1h, 1min or 1s")
    return seconds
