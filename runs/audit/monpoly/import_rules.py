"""Rules made from files of formulas in the syntax of MonPoly."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.runs.audit.monpoly.mfotl import Reading, import_mfotl
from lawtrace.runs.audit.monpoly.mfotl_signature import read_signature
from lawtrace.schemas.errors import FormulaError, InputError, input_errors
from lawtrace.solver.logic.windows import SECONDS
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class ImportedRule:
    """A rule, and how its formula was read."""

    rule: Rule
    reading: Reading


def import_rules(
    files: Sequence[Path], signature: Path, time_unit: str = "1s", reading: Reading | None = None
) -> list[ImportedRule]:
    """The rules of metric first-order temporal formulas, one a file, whose name becomes the rule's id.

    Args:
        files: of formulas.
        signature: the file with their predicates.
        time_unit: the unit of the log's timestamps, such as ``1d``.
        reading: how to read them; None to decide by their form, see `lawtrace.runs.audit.monpoly.mfotl`.

    Raises:
        InputError: two files of one name, or one that cannot be read; FormulaError naming the file.
    """
    predicates, unit = read_signature(signature), seconds_of(time_unit)
    found: dict[str, ImportedRule] = {}
    for file in files:
        if file.stem in found:
            raise InputError(f"{file}: another file has the name {file.stem}, which becomes the id of its rule")
        with input_errors(file):
            text = file.read_text(encoding="utf-8-sig")
        try:
            imported = import_mfotl(text, predicates, time_unit=unit, reading=reading)
        except FormulaError as error:
            raise FormulaError(f"{file}: {error}") from error
        kind = "a policy" if imported.reading == "policy" else "a list of violations"
        rule = Rule(id=file.stem, formula=str(imported.rule), rationale=f"Imported as {kind}: {' '.join(text.split())}")
        found[file.stem] = ImportedRule(rule, imported.reading)
    return list(found.values())


def seconds_of(span: str) -> int:
    """The seconds of a span such as ``1d`` or ``30``. Raises InputError."""
    found = re.fullmatch(r"([0-9]+)([a-z]*)", span.strip())
    seconds = int(found[1]) * SECONDS.get(found[2] or "s", 0) if found else 0
    if not seconds:
        raise InputError(f"--time-unit {span!r}: write a span such as 1d, 1h, 1min or 1s")
    return seconds
