"""Judges logs with timestamps for ``lawtrace audit``."""

from collections.abc import Sequence
from dataclasses import asdict
from functools import partial
from pathlib import Path

from lawtrace.environments.events import Json, count_off
from lawtrace.runs.cli.output import make_table, print_json, print_note, print_result
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.ingest.log_audit import LogAudit, LogAuditRow, audit_log, prepare_rules
from lawtrace.runs.ingest.monpoly.mfotl_signature import LogSignature
from lawtrace.runs.ingest.monpoly_logs import read_monpoly_log
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.monitoring.evidence import format_time
from lawtrace.solver.rules import Rule

_SHOWN = 3
"""How many violations of a rule are printed."""


def audit_logs(
    logs: Sequence[Path],
    rules: Sequence[Rule],
    signature: LogSignature,
    time_unit: int,
    out: Path,
    *,
    complete: bool,
    as_json: bool,
) -> bool:
    """Judge logs in MonPoly's format, write the rows, print the result. Returns whether all rules are kept."""
    prepared = prepare_rules(rules, signature)
    audits: list[LogAudit] = []
    with ProgressBars().stage("logs", len(logs)) as step:
        for path in logs:
            read = partial(read_monpoly_log, path, signature, time_unit=time_unit)
            audits.append(audit_log(str(path), prepared, read, complete=complete))
            step()
    rows = [row for audit in audits for row in audit.rows]
    write_rows(out, rows)
    for row in rows:
        for sentence in _sentences(row, time_unit):
            print_note(sentence)
    if as_json:
        verdicts: list[Json] = [
            {
                "log": row.log,
                "rule": row.rule,
                "outcome": row.outcome,
                "violations": row.violations,
                "open": row.open,
                "first": [asdict(found) for found in row.first],
            }
            for row in rows
        ]
        counted: dict[str, Json] = {
            "time_points": sum(audit.time_points for audit in audits),
            "events": sum(audit.events for audit in audits),
        }
        print_json({"logs": len(logs), **counted, "verdicts": verdicts, "out": str(out)})
    else:
        several = len(logs) > 1
        table = make_table(*(("log",) if several else ()), "rule", "outcome", "violations", "open", "triggered")
        for row in rows:
            cells = (row.rule, row.outcome, str(row.violations), str(row.open), str(row.triggered))
            table.add_row(*((row.log,) if several else ()), *cells)
        print_result(table)
        print_note(f"Written: {out}")
    return all(row.outcome == "kept" for row in rows)


def _time_points(steps: Sequence[int]) -> str:
    return count_off("time point", [str(step) for step in steps])


def _sentences(row: LogAuditRow, time_unit: int) -> list[str]:
    """The first violations of a row, or what is open, in words."""
    if row.outcome == "kept":
        return []
    kind, total = ("violation", row.violations) if row.outcome == "broken" else ("open", row.open)
    sentences: list[str] = []
    for found in row.first[:_SHOWN]:
        stamp = "" if found.time is None else f" (@{found.time // time_unit}, {format_time(found.time)})"
        sentences.append(
            f"{row.log}: {row.rule}: {kind} at time point {found.step}{stamp}: {found.sentence(_time_points)}"
        )
    if total > len(sentences):
        sentences.append(f"{row.log}: {row.rule}: {total} in all")
    return sentences
