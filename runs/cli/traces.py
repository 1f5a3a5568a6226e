"""``lawtrace traces``: compliant traces from rules, and what they can cover."""

from pathlib import Path
from typing import Annotated

import typer

from lawtrace.environments.catalogue import load_setting
from lawtrace.runs.cli.coverage import coverage_command
from lawtrace.runs.cli.options import WhichEnvironment
from lawtrace.runs.cli.output import Bars, say, show, show_json
from lawtrace.runs.cli.wishing import Compliance, Distance, Forbid, Pairs, Require, wishes_of
from lawtrace.runs.files import write_rows
from lawtrace.runs.report.texts import counted
from lawtrace.runs.stages.synthesize import synthesize_rows
from lawtrace.solver.coverage import measure_coverage
from lawtrace.solver.profiles import Profile
from lawtrace.solver.rules import check_rules, load_rules

app = typer.Typer(
    help="Traces: synthesise compliant sequences of calls, see what they cover.",
    no_args_is_help=True,
    add_completion=False,
)


@app.command("synthesize")
def synthesize_command(
    env: WhichEnvironment = "banking",
    rules: Annotated[Path | None, typer.Option(help="A rule file; by default the curated set.")] = None,
    count: Annotated[int, typer.Option(min=1, help="How many traces.")] = 40,
    length: Annotated[int, typer.Option(min=1, help="Calls in each.")] = 8,
    profile: Annotated[Profile, typer.Option(help="What the traces are for.")] = "tasks",
    require: Require = None,
    forbid: Forbid = None,
    pairs: Pairs = None,
    compliance: Compliance = None,
    distance: Distance = 0,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bytes.")] = 1,
    out: Annotated[Path, typer.Option(help="The file to write (JSON lines).")] = Path("traces.jsonl"),
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Synthesise compliant traces, each with its initial state and with arguments that a caller could know."""
    setting = load_setting(env)
    environment = setting.environment
    chosen = load_rules(rules or setting.rules_file)
    check_rules(chosen, environment, setting.regulation)
    wishes = wishes_of(require, forbid, pairs, compliance, distance)
    with Bars().stage("traces", count) as step:
        rows = synthesize_rows(
            environment, chosen, profile=profile, length=length, count=count, seed=seed, wishes=wishes, on_trace=step
        )
    write_rows(out, rows)
    coverage = measure_coverage(environment, ([call.event for call in row.calls] for row in rows))
    if as_json:
        show_json({"traces": len(rows), "out": str(out), "atc": coverage.atc, "critical": coverage.critical_share})
        return
    show(
        f"{counted(len(rows), 'trace')} of {counted(length, 'call')}, profile {profile}: ATC {coverage.atc:.1%} "
        f"({len(coverage.pairs)} of {coverage.all_pairs} pairs), S.C. coverage {coverage.critical_share:.0%}."
    )
    say(f"Written: {out}")


app.command("coverage")(coverage_command)
