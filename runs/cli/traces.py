"""``lawtrace traces``: compliant traces from rules, and what they can cover."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.domains.loader import load_domain
from lawtrace.runs.cli.options import (
    ComplianceOption,
    DistanceOption,
    EnvironmentOption,
    ForbidOption,
    PairsOption,
    RequireOption,
    trace_constraints,
)
from lawtrace.runs.cli.output import ProgressBars, print_json, print_note, print_result
from lawtrace.runs.cli.traces_coverage import coverage_command
from lawtrace.runs.report.text import counted
from lawtrace.runs.stages.traces_stage import synthesize_traces
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.coverage.measures import measure_coverage
from lawtrace.solver.planner.trace_spec import TraceProfile
from lawtrace.solver.rules import check_rules, load_rules

app = typer.Typer(
    help="Traces: synthesise compliant sequences of calls, see what they cover.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command("synthesize")
def synthesize_command(
    env: EnvironmentOption = "banking",
    rules: Annotated[Path | None, typer.Option(help="A rule file; by default the curated set.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many traces.")] = 40,
    length: Annotated[int, typer.Option(min=1, help="Calls in each.")] = 8,
    profile: Annotated[TraceProfile, typer.Option(help="What the traces are for.")] = "tasks",
    require: RequireOption = None,
    forbid: ForbidOption = None,
    pairs: PairsOption = None,
    compliance: ComplianceOption = None,
    distance: DistanceOption = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("traces.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Synthesise compliant traces, each with its initial state and with arguments that a caller could know."""
    setting = load_domain(env)
    environment = setting.environment
    chosen = load_rules(rules or setting.rules_file)
    check_rules(chosen, environment, setting.regulation)
    wishes = trace_constraints(require, forbid, pairs, compliance, distance)
    with ProgressBars().stage("traces", count) as step:
        rows = synthesize_traces(
            environment, chosen, profile=profile, length=length, count=count, seed=seed, wishes=wishes, on_trace=step
        )
    write_rows(out, rows)
    coverage = measure_coverage(environment, ([call.event for call in row.calls] for row in rows))
    if as_json:
        print_json({"traces": len(rows), "out": str(out), "atc": coverage.atc, "critical": coverage.critical_share})
        return
    print_result(
        f"{counted(len(rows), 'trace')} of {counted(length, 'call')}, profile {profile}: ATC {coverage.atc:.1%} "
        f"({len(coverage.pairs)} of {coverage.all_pairs} pairs), S.C. coverage {coverage.critical_share:.0%}."
    )
    print_note(f"Written: {out}")


app.command("coverage")(coverage_command)
