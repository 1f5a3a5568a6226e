"""``lawtrace rules import``: make rules from formulas in the syntax of other tools."""

from pathlib import Path

from lawtrace.runs.audit.monpoly.import_rules import import_rules
from lawtrace.runs.cli.output import make_table, print_outcome
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.store.stage_files import write_rows

_READINGS = {"policy": "policy: true at every time point", "violations": "violations: true for no values"}


def import_formulas(
    *,
    files: list[Path],
    signature: Path,
    time_unit: str,
    policy: bool | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Import metric first-order temporal formulas, and write their rules."""
    check_output(out, force=force)
    reading = None if policy is None else "policy" if policy else "violations"
    imported = import_rules(files, signature, time_unit, reading)
    write_rows(out, [one.rule for one in imported])
    table = make_table("rule", "read as", "formula")
    for one in imported:
        table.add_row(one.rule.id, _READINGS[one.reading], one.rule.formula)
    readings = {one.rule.id: one.reading for one in imported}
    print_outcome({"rules": len(imported), "readings": readings}, table, as_json=as_json, out=out)
