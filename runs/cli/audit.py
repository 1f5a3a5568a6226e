"""``lawtrace audit``: judge recorded conversations against a rule set."""

from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

import typer

from lawtrace.environments.choices import AUDIT_FORMATS, AuditFormat
from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.errors import InputError, LawtraceError
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.tool_schemas.reading import is_tool_source, read_tool_schemas
from lawtrace.environments.tool_schemas.schemas import ToolSchema, make_environment
from lawtrace.runs.cli.audit_logs import audit_logs
from lawtrace.runs.cli.audit_shards import (
    AuditArguments,
    end_shard,
    judged_audit,
    merged_audit,
    read_all,
    write_shard,
)
from lawtrace.runs.cli.audit_tables import print_backtest, print_rates, print_summary
from lawtrace.runs.cli.output import print_json, print_note
from lawtrace.runs.cli.output_files import check_output
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.rules_import import seconds_of
from lawtrace.runs.cli.shards import cluster_at
from lawtrace.runs.ingest.audit_run import AuditJob
from lawtrace.runs.ingest.audit_summary import AuditSummary
from lawtrace.runs.ingest.label_rates import LabelChoice, read_label_choice
from lawtrace.runs.ingest.monpoly.mfotl_signature import read_signature
from lawtrace.runs.ingest.monpoly_logs import is_monpoly_log
from lawtrace.runs.ingest.rule_changes import compare_rules
from lawtrace.runs.ingest.sources.reading import find_files
from lawtrace.runs.report.audit_exports import Audit, export_audit, export_file
from lawtrace.runs.stages.cluster_jobs import Cluster
from lawtrace.runs.store.shards import FoundShard, Shard, record_path
from lawtrace.runs.store.stage_files import write_lines
from lawtrace.runs.web.audit_export import write_audit_page
from lawtrace.solver.rules import Rule, check_rules, load_rules

FAILURES = ("broken", "undetermined", "invalid")
"""The outcomes on which the command fails unless told otherwise."""


def audit(
    *,
    sources: list[Path],
    env: str,
    rules: Path | None,
    against: Path | None,
    label: str | None,
    marks: Path | None,
    complete: bool,
    tools: list[str] | None,
    time_unit: str,
    formats: list[str] | None,
    fail_on: list[str] | None,
    shard: str | None,
    on: str | None,
    out: Path,
    force: bool,
    as_json: bool,
) -> None:
    """Judge the transcripts or logs, or a shard of them, and write their verdicts."""
    arguments = AuditArguments(
        sources=sources,
        env=env,
        rules=rules,
        against=against,
        label=label,
        marks=marks,
        complete=complete,
        tools=tools,
        time_unit=time_unit,
        formats=formats,
        fail_on=fail_on,
    )
    part = None if shard is None else Shard.parse(shard)
    with cluster_at(on, shard) as cluster:
        audit_by(arguments, out, part, cluster=cluster, force=force, as_json=as_json)


def audit_by(
    arguments: AuditArguments,
    out: Path,
    part: Shard | None = None,
    merged: Sequence[FoundShard] = (),
    *,
    cluster: Cluster | None = None,
    force: bool,
    as_json: bool,
) -> None:
    """Audit by the arguments of the command. ``merged``: the shards that have the verdicts already.
    ``cluster``: other processes that judge."""
    sources, tools, rules, against = arguments.sources, arguments.tools, arguments.rules, arguments.against
    label, marks, complete = arguments.label, arguments.marks, arguments.complete
    check_output(out, *((record_path(out),) if part else ()), force=force)
    chosen_formats: list[AuditFormat] = [_format(text) for text in arguments.formats or ()]
    for form in chosen_formats:
        check_output(export_file(out, form), force=force)
    if not merged and any(map(is_monpoly_log, sources)):
        if part is not None or cluster is not None:
            option = "--on" if part is None else "--shard"
            raise InputError(f"{option} divides conversations, and {sources[0]} is a MonPoly log: one trace")
        if against is not None or label is not None or marks is not None:
            raise InputError("--against, --label and --marks are about conversations, not about MonPoly logs")
        kept = _audit_logs(sources, rules, tools or [], arguments.time_unit, out, complete=complete, as_json=as_json)
        raise typer.Exit(0 if kept else 1)
    domain = None if tools else load_domain(arguments.env)
    schemas = () if domain else _read_tools(sources, tools or [])
    environment = domain.environment if domain else make_environment("tools", schemas)
    regulation = domain.regulation if domain else None
    rules = rules or (domain and domain.rules_file)
    if rules is None:
        raise InputError("--tools: name the rules with --rules")
    chosen = load_rules(rules)
    check_rules(chosen, environment, regulation)
    failing = _failing(arguments.fail_on or FAILURES, chosen)
    older = None if against is None else _older_rules(against, environment, regulation)
    choice = LabelChoice() if label is None else read_label_choice(label)
    job = AuditJob(schemas or arguments.env, rules, complete, against, choice, marks)
    changes = None if older is None else compare_rules(older, chosen)
    summary = AuditSummary((rule.id for rule in chosen), changes, choice, job.read_marks())
    with ProgressBars().stage("conversations", None, lambda: f"{summary.outcomes['broken']} broken") as step:
        if merged:
            write_lines(out, merged_audit(merged, summary, step))
        elif part is None:
            files = find_files(sources)
            write_lines(out, judged_audit(job, read_all(files), files, summary, step, cluster))
        else:
            write_shard(arguments, part, job, out, summary, step)
            end_shard(summary, part, out, as_json=as_json)
    print_summary(summary, chosen)
    print_rates(summary.rate_tables())
    if summary.backtest is not None and against is not None:
        print_backtest(summary.backtest, against)
    finished = Audit(out, chosen, environment.name, regulation.id if regulation else rules.name, older or ())
    exported = [export_file(out, form) for form in chosen_formats]
    for form in chosen_formats:
        if form == "html":
            page = export_file(out, form)
            versions = None if against is None else (against, job.rules)
            write_audit_page(page, finished, summary, regulation, sources, complete=complete, versions=versions)
        else:
            export_audit(finished, form)
    if as_json:
        print_json({**summary.as_json(), "out": str(out), "exports": [*map(str, exported)]})
    else:
        print_note(f"Written: {', '.join(map(str, (out, *exported)))}")
    if summary.conversations and not summary.triggered:
        print_note("Nothing was judged: the recorded calls trigger none of the rules.")
    raise typer.Exit(0 if summary.triggered and not any(_count(summary, *one) for one in failing) else 1)


def _older_rules(path: Path, environment: Environment, regulation: Regulation | None) -> tuple[Rule, ...]:
    rules = load_rules(path)
    try:
        check_rules(rules, environment, regulation)
    except LawtraceError as error:
        raise InputError(f"{path}: {error}") from error
    return rules


def _read_tools(sources: Sequence[Path], tools: Sequence[str]) -> tuple[ToolSchema, ...]:
    if other := next((one for one in tools if not is_tool_source(one)), None):
        raise InputError(
            f"--tools {other}: no tool schemas (JSON or Python); the signature of a MonPoly log needs such a log, and "
            f"{sources[0]} is none"
        )
    return tuple(read_tool_schemas(tools))


def _format(text: str) -> AuditFormat:
    if text not in AUDIT_FORMATS:
        raise InputError(f"--format {text!r}: choose {', '.join(AUDIT_FORMATS)}")
    return text


def _failing(texts: Sequence[str], rules: Sequence[Rule]) -> list[tuple[str, str]]:
    """What the command fails on: outcomes, each with a rule or with an empty text for any."""
    found: list[tuple[str, str]] = []
    for text in texts:
        outcome, _, rule = text.partition(":")
        if outcome not in FAILURES or (rule and outcome == "invalid"):
            raise InputError(f"--fail-on {text!r}: write {', '.join(FAILURES)}, or broken:RULE, undetermined:RULE")
        if rule and rule not in {one.id for one in rules}:
            nearest = get_close_matches(rule, [one.id for one in rules], 1)
            meant = f"; did you mean {nearest[0]!r}?" if nearest else ""
            raise InputError(f"--fail-on {text!r}: there is no rule {rule!r}{meant}")
        found.append((outcome, rule))
    return found


def _count(summary: AuditSummary, outcome: str, rule: str) -> int:
    """How many conversations have the outcome, or the rule has it in."""
    if outcome == "invalid":
        return summary.outcomes["invalid"]
    counts = [summary.rules[rule]] if rule else [*summary.rules.values()]
    return sum(one.broken if outcome == "broken" else one.undetermined for one in counts)


def _audit_logs(
    logs: list[Path],
    rules: Path | None,
    tools: Sequence[str],
    time_unit: str,
    out: Path,
    *,
    complete: bool,
    as_json: bool,
) -> bool:
    """Judge MonPoly logs. Returns whether all rules are kept."""
    if others := [path for path in logs if not is_monpoly_log(path)]:
        raise InputError(f"{others[0]}: not a MonPoly log, with lines such as `@100 pay(5);`")
    if len(tools) != 1 or rules is None:
        raise InputError(f"{logs[0]}: for a MonPoly log, name the signature with --tools and the rules with --rules")
    signature, unit = read_signature(Path(tools[0])), seconds_of(time_unit)
    return audit_logs(logs, load_rules(rules), signature, unit, out, complete=complete, as_json=as_json)
