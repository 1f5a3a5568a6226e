"""``lawtrace audit``: judge recorded conversations against a rule set."""

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.runs.cli.audit_logs import audit_logs
from lawtrace.runs.cli.options import EnvironmentOption, ForceOption, JsonOption, OutOption, TimeUnitOption
from lawtrace.runs.cli.output import make_table, print_grouped, print_json, print_note, print_result
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.rules_import import seconds_of
from lawtrace.runs.cli.stage_runs import check_output
from lawtrace.runs.ingest.monpoly_logs import is_monpoly_log
from lawtrace.runs.ingest.transcript_audit import AuditRow, audit_transcript
from lawtrace.runs.ingest.transcripts import Transcript, read_transcripts
from lawtrace.runs.report.text import visible
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.ltlf.mfotl_signature import read_signature
from lawtrace.solver.rules import check_rules, load_rules


def audit_command(
    transcripts: Annotated[
        list[Path],
        typer.Argument(help="OpenAI messages, Inspect logs, JSON lines of events, or MonPoly logs."),
    ],
    env: EnvironmentOption = "banking",
    rules: Annotated[Path | None, typer.Option(help="Rule file; default: the curated set.")] = None,
    complete: Annotated[
        bool, typer.Option("--complete", help="The records are whole: open duties are broken.")
    ] = False,
    tools: Annotated[Path | None, typer.Option(help="LogSignature file, for MonPoly logs.")] = None,
    time_unit: TimeUnitOption = "1s",
    out: OutOption = Path("audit.jsonl"),
    force: ForceOption = False,
    as_json: JsonOption = False,
) -> None:
    """Judge recorded conversations or logs against rules."""
    check_output(out, force=force)
    if tools is not None or any(map(is_monpoly_log, transcripts)):
        kept = _audit_logs(transcripts, rules, tools, time_unit, out, complete=complete, as_json=as_json)
        raise typer.Exit(0 if kept else 1)
    domain = load_domain(env)
    chosen = load_rules(rules or domain.rules_file)
    check_rules(chosen, domain.environment, domain.regulation)
    conversations = [
        conversation
        for path in transcripts
        for conversation in _read_transcripts(path, only_file=len(transcripts) == 1)
    ]
    rows: list[AuditRow] = []
    with ProgressBars().stage("conversations", len(conversations)) as step:
        for conversation in conversations:
            rows.append(audit_transcript(domain.environment, chosen, conversation, complete=complete))
            step()
    write_rows(out, rows)
    print_grouped(
        (f"{visible(row.conversation)} ({visible(row.place)})", visible(note)) for row in rows for note in row.notes
    )
    outcomes = Counter(row.outcome for row in rows)
    broken = Counter(rule.rule for row in rows for rule in row.rules if rule.broken)
    undetermined = Counter(rule.rule for row in rows for rule in row.rules if rule.undetermined)
    triggered = Counter(rule.rule for row in rows for rule in row.rules if rule.triggered)
    for row in rows:
        if row.outcome != "kept":
            print_note(f"{visible(row.conversation)} ({visible(row.place)}): {row.outcome}: {visible(row.reason)}")
    if as_json:
        per_rule: dict[str, Json] = {
            rule.id: {
                "broken": broken[rule.id],
                "undetermined": undetermined[rule.id],
                "triggered": triggered[rule.id],
            }
            for rule in chosen
        }
        print_json({"conversations": len(rows), "outcomes": {**outcomes}, "rules": per_rule, "out": str(out)})
    else:
        table = make_table("rule", "triggered", "broken", "undetermined", "provisions")
        for rule in chosen:
            counts = (triggered[rule.id], broken[rule.id], undetermined[rule.id])
            cells = (rule.id, *map(str, counts), ", ".join(rule.provisions))
            table.add_row(*map(visible, cells))
        print_result(table)
        print_result(
            ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in ("kept", "broken", "undetermined", "invalid"))
        )
        print_note(f"Written: {out}")
    if rows and not triggered:
        print_note("Nothing was judged: the recorded calls trigger none of the rules.")
    raise typer.Exit(0 if triggered and set(outcomes) == {"kept"} else 1)


def _audit_logs(
    logs: list[Path],
    rules: Path | None,
    tools: Path | None,
    time_unit: str,
    out: Path,
    *,
    complete: bool,
    as_json: bool,
) -> bool:
    """Judge MonPoly logs. Returns whether all rules are kept."""
    if others := [path for path in logs if not is_monpoly_log(path)]:
        raise InputError(f"{others[0]}: not a MonPoly log, with lines such as `@100 pay(5);`")
    if tools is None or rules is None:
        raise InputError(f"{logs[0]}: for a MonPoly log, name the signature with --tools and the rules with --rules")
    signature, unit = read_signature(tools), seconds_of(time_unit)
    return audit_logs(logs, load_rules(rules), signature, unit, out, complete=complete, as_json=as_json)


def _read_transcripts(path: Path, *, only_file: bool) -> list[Transcript]:
    """The conversations of a file. An unreadable file among several counts as one invalid conversation."""
    try:
        return read_transcripts(path)
    except InputError as error:
        if only_file or not path.exists():
            raise
        return [Transcript(str(path), path.name, (), str(error).removeprefix(f"{path}: "))]
