"""``lawtrace rules import``: make rules from formulas in the syntax of other tools."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.runs.audit.monpoly.import_rules import import_rules
from lawtrace.runs.cli.options import ForceOption, OutOption, SignatureOption, TimeUnitOption
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.store.stage_files import write_rows

_READINGS = {"policy": "policy: true at every time point", "violations": "violations: true for no values"}


def import_formulas(
    files: Annotated[list[Path], typer.Argument(help="Formulas in MonPoly's syntax, one a file.")],
    signature: SignatureOption,
    time_unit: TimeUnitOption = "1s",
    policy: Annotated[
        bool | None,
        typer.Option("--policy/--violations", help="Require the formula always, or forbid it; default: by its form."),
    ] = None,
    out: OutOption = Path("rules.jsonl"),
    force: ForceOption = False,
) -> CommandResult:
    """Import metric first-order temporal formulas as rules.

    A formula without free variables, an implication, or one that begins with ALWAYS is a policy: it must be true at
    every time point. Any other formula lists violations: no values may make it true.
    """
    check_output(out, force=force)
    reading = None if policy is None else "policy" if policy else "violations"
    imported = import_rules(files, signature, time_unit, reading)
    write_rows(out, [one.rule for one in imported])
    rows = ((one.rule.id, _READINGS[one.reading], one.rule.formula) for one in imported)
    readings = {one.rule.id: one.reading for one in imported}
    return CommandResult(
        {"rules": len(imported), "readings": readings}, [make_table(("rule", "read as", "formula"), rows)], out
    )
