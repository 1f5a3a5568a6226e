"""``lawtrace traces``: compliant traces from rules, and what they can cover."""

from pathlib import Path
from typing import Annotated

import typer

from environments.catalogue import load_setting
from environments.events import Json
from runs.cli.options import WhichEnvironment
from runs.cli.output import Bars, make_table, say, show, show_json
from runs.cli.wishing import Compliance, Distance, Forbid, Pairs, Require, wishes_of
from runs.files import write_rows
from runs.stages.synthesize import synthesize_rows
from solver.certificates import CoverageAnalysis, analyse_coverage
from solver.coverage import measure_coverage
from solver.profiles import Profile
from solver.rules import check_rules, load_rules

__all__ = ["app"]

app = typer.Typer(help="Traces: synthesise compliant sequences of calls, see what they cover.", no_args_is_help=True)


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
        f"{len(rows)} traces of {length} calls, profile {profile}: ATC {coverage.atc:.1%} "
        f"({len(coverage.pairs)} of {coverage.all_pairs} pairs), S.C. coverage {coverage.critical_share:.0%}."
    )
    say(f"Written: {out}")


@app.command("coverage")
def coverage_command(
    env: WhichEnvironment = "banking",
    rules: Annotated[Path | None, typer.Option(help="A rule file; by default the curated set.")] = None,
    length: Annotated[int, typer.Option(min=2, help="Calls in each trace.")] = 8,
    count: Annotated[int, typer.Option(min=1, help="Traces in the suite.")] = 40,
    seed: Annotated[int, typer.Option(help="The same seed gives the same suite.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Decide which adjacent pairs of calls compliant traces can have, say why not, and cover them with a suite."""
    setting = load_setting(env)
    chosen = load_rules(rules or setting.rules_file)
    check_rules(chosen, setting.environment, setting.regulation)
    profiles: tuple[Profile, ...] = ("tasks", "coverage")
    analyses: list[CoverageAnalysis] = []
    with Bars().stage("deciding pairs", len(profiles)) as step:
        for profile in profiles:
            analyses.append(
                analyse_coverage(setting.environment, chosen, profile=profile, length=length, count=count, seed=seed)
            )
            step()
    if as_json:
        show_json({analysis.profile: _summary(analysis) for analysis in analyses})
        return
    table = make_table(
        "profile", "feasible pairs", "ceiling (ATC)", "suite", "S.C.", "traces needed", "at least", "undecided"
    )
    for analysis in analyses:
        table.add_row(
            analysis.profile,
            f"{len(analysis.feasible)} of {analysis.suite.all_pairs}",
            f"{len(analysis.feasible) / analysis.suite.all_pairs:.1%}",
            f"{analysis.suite.atc:.1%} with {analysis.suite.traces}",
            f"{analysis.suite.critical_share:.0%}",
            str(analysis.complete_after or f"not in {analysis.suite.traces}"),
            str(analysis.lower_bound),
            str(len(analysis.undecided)),
        )
    show(table)
    for analysis in analyses:
        show(f"Profile {analysis.profile}. Taken for granted: {'; '.join(analysis.assumptions)}.")
        for certificate in analysis.certificates:
            show(f"  {certificate}")
        for first, second in (*analysis.undecided, *analysis.missing):
            show(f"  {first} -> {second}: feasible or undecided, and not in the suite")


def _summary(analysis: CoverageAnalysis) -> dict[str, Json]:
    return {
        "length": analysis.length,
        "feasible": [[*pair] for pair in sorted(analysis.feasible)],
        "infeasible": [
            {
                "pair": [*certificate.pair],
                "obstacles": [f"{obstacle.kind}: {obstacle.text}" for obstacle in certificate.obstacles],
            }
            for certificate in analysis.certificates
        ],
        "undecided": [[*pair] for pair in analysis.undecided],
        "missing": [[*pair] for pair in analysis.missing],
        "assumptions": [*analysis.assumptions],
        "ceiling": len(analysis.feasible) / analysis.suite.all_pairs,
        "atc": analysis.suite.atc,
        "critical": analysis.suite.critical_share,
        "complete_after": analysis.complete_after,
        "lower_bound": analysis.lower_bound,
    }
