"""``lawtrace audit``: judge recorded conversations against a rule set."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.runs.cli.options import EnvironmentOption, JsonOption
from lawtrace.runs.cli.output import ProgressBars, make_table, print_grouped, print_json, print_note, print_result
from lawtrace.runs.ingest.transcript_audit import AuditRow, audit_transcript
from lawtrace.runs.ingest.transcripts import SPEAKERS, Transcript, read_transcripts
from lawtrace.runs.report.text import visible
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.rules import check_rules, load_rules


def audit_command(
    transcripts: Annotated[
        list[Path],
        typer.Argument(help="OpenAI messages, Inspect logs, or JSON lines of events."),
    ],
    env: EnvironmentOption = "banking",
    rules: Annotated[Path | None, typer.Option(help="Rule file; default: the curated set.")] = None,
    out: Annotated[Path, typer.Option(help="Output file (JSON lines).")] = Path("audit.jsonl"),
    as_json: JsonOption = False,
) -> None:
    """Judge recorded conversations against rules."""
    domain = load_domain(env)
    chosen = load_rules(rules or domain.rules_file)
    check_rules(chosen, domain.environment, domain.regulation, beside=SPEAKERS)
    conversations = [
        conversation
        for path in transcripts
        for conversation in _read_transcripts(path, only_file=len(transcripts) == 1)
    ]
    rows: list[AuditRow] = []
    with ProgressBars().stage("conversations", len(conversations)) as step:
        for conversation in conversations:
            rows.append(audit_transcript(domain.environment, chosen, conversation))
            step()
    write_rows(out, rows)
    print_grouped(
        (f"{visible(row.conversation)} ({visible(row.place)})", visible(note)) for row in rows for note in row.notes
    )
    outcomes = Counter(row.outcome for row in rows)
    broken = Counter(rule.rule for row in rows for rule in row.rules if not rule.kept)
    triggered = Counter(rule.rule for row in rows for rule in row.rules if rule.triggered)
    for row in rows:
        if row.outcome != "kept":
            print_note(f"{visible(row.conversation)} ({visible(row.place)}): {row.outcome}: {visible(row.reason)}")
    if as_json:
        per_rule: dict[str, Json] = {
            rule.id: {"broken": broken[rule.id], "triggered": triggered[rule.id]} for rule in chosen
        }
        print_json({"conversations": len(rows), "outcomes": {**outcomes}, "rules": per_rule, "out": str(out)})
    else:
        table = make_table("rule", "triggered", "broken", "provisions")
        for rule in chosen:
            cells = (rule.id, str(triggered[rule.id]), str(broken[rule.id]), ", ".join(rule.provisions))
            table.add_row(*map(visible, cells))
        print_result(table)
        print_result(", ".join(f"{outcomes[outcome]} {outcome}" for outcome in ("kept", "broken", "invalid")))
        print_note(f"Written: {out}")
    raise typer.Exit(1 if outcomes["broken"] or outcomes["invalid"] else 0)


def _read_transcripts(path: Path, *, only_file: bool) -> list[Transcript]:
    """The conversations of a file. An unreadable file among several counts as one invalid conversation."""
    try:
        return read_transcripts(path)
    except InputError as error:
        if only_file or not path.exists():
            raise
        return [Transcript(str(path), path.name, (), str(error).removeprefix(f"{path}: "))]
