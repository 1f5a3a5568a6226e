"""``lawtrace rules import``: make rules from formulas in the syntax of other tools."""

import re
from pathlib import Path

from lawtrace.environments.errors import FormulaError, InputError, describe_read_error
from lawtrace.environments.events import Json
from lawtrace.runs.cli.output import make_table, print_outcome
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.ingest.monpoly.mfotl import ImportedFormula, Reading, import_mfotl
from lawtrace.runs.ingest.monpoly.mfotl_signature import read_signature
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.logic.windows import SECONDS
from lawtrace.solver.rules import Rule


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
