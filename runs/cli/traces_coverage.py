"""``lawtrace traces coverage``: what compliant traces can cover, what a suite of them does, and why not more."""

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table
from rich.text import Text

from lawtrace.agents.conversations.trace_writing import WrittenPrograms
from lawtrace.agents.model_spec import ModelParameters
from lawtrace.agents.models.stack import ModelClients
from lawtrace.environments.domains.loader import Domain, load_domain
from lawtrace.environments.errors import OperationalError
from lawtrace.environments.events import Json
from lawtrace.environments.sandbox import Jail
from lawtrace.runs.cache import coverage_of
from lawtrace.runs.cache_folder import cache_folder
from lawtrace.runs.cli.options import EnvironmentOption
from lawtrace.runs.cli.output import ProgressBars, make_table, print_json, print_note, print_result, silence_libraries
from lawtrace.runs.cli.stage_runs import open_stage_log
from lawtrace.runs.schemas.findings import ModelBaseline
from lawtrace.runs.stages.model_baseline import check_writer, measure_baseline, run_baseline, write_baseline_programs
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.solver.coverage.coverage_analysis import Certificate, CoverageAnalysis, RuleCoverage
from lawtrace.solver.planner.trace_spec import TRACE_PROFILES
from lawtrace.solver.rules import Rule, check_rules, load_rules


def coverage_command(
    env: EnvironmentOption = "banking",
    rules: Annotated[Path | None, typer.Option(help="A rule file; by default the curated set.")] = None,
    length: Annotated[int, typer.Option(min=2, help="Calls in each trace.")] = 8,
    count: Annotated[int, typer.Option(min=1, help="Traces in the suite.")] = 40,
    seed: Annotated[int, typer.Option(help="The same seed gives the same suite.")] = 1,
    proofs: Annotated[bool, typer.Option(help="Print the proof under each certificate.")] = False,
    model: Annotated[
        str | None, typer.Option(help="A model that writes as many programs under the same rules, as a baseline.")
    ] = None,
    out: Annotated[Path, typer.Option(help="The file for these programs and their calls.")] = Path("baseline.jsonl"),
    cache: Annotated[bool, typer.Option(help="Use what was found before, where nothing has changed.")] = True,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object as the last line.")] = False,
) -> None:
    """Decide which adjacent pairs of calls compliant traces can have, say why not, and cover them with a suite."""
    setting = load_domain(env)
    chosen = load_rules(rules or setting.rules_file)
    check_rules(chosen, setting.environment, setting.regulation)
    if model is not None:
        check_writer(model)
    analyses: list[CoverageAnalysis] = []
    for profile in TRACE_PROFILES:
        analysis, known = coverage_of(
            setting, chosen, profile=profile, length=length, count=count, seed=seed, stages=ProgressBars(), cached=cache
        )
        analyses.append(analysis)
        if known:
            print_note(f"Profile {profile}: found in {cache_folder('coverage')}; --no-cache makes it anew.")
    baseline = None if model is None else _baseline(setting, chosen, model, length, count, seed, out)
    if as_json:
        result: dict[str, Json] = {analysis.profile: _summary(analysis) for analysis in analyses}
        print_json(result if baseline is None else {**result, "baseline": baseline_summary(baseline)})
        return
    print_result(_ceilings(analyses))
    if baseline is not None:
        print_result(_baseline_table(baseline))
    print_result(_rules(analyses))
    for analysis in analyses:
        if analysis.certificates:
            print_result(_certificates(analysis, proofs=proofs))
        for first, second in analysis.undecided:
            print_result(f"{first} -> {second}: not decided; it counts as feasible.")
        for first, second in analysis.missing:
            print_result(f"{first} -> {second}: feasible, and not in the suite.")
    print_result(Text(f"What Z3 takes for granted: {'; '.join(analyses[0].assumptions)}.", style="dim"))


def _baseline(
    setting: Domain, rules: Sequence[Rule], model: str, length: int, count: int, seed: int, out: Path
) -> ModelBaseline:
    """Have the model write, run what it wrote, and keep both; what it answered is not asked again."""
    silence_libraries()

    async def ask(event_log: EventLogFile) -> WrittenPrograms:
        async with ModelClients(event_log, open_replay=EventLogFile.open, earlier=event_log) as clients:
            with ProgressBars().stage("programs by the model", count) as step:
                return await write_baseline_programs(
                    setting,
                    rules,
                    model,
                    length=length,
                    count=count,
                    seed=seed,
                    clients=clients,
                    parameters=ModelParameters(),
                    event_log=event_log,
                    on_program=step,
                )

    with Jail() as jail, open_stage_log(out, f"baseline by {model}") as event_log:
        written = asyncio.run(ask(event_log))
        rows = run_baseline(setting, rules, model, written.programs, jail, seed=seed)
    write_rows(out, rows)
    print_note(f"Written: {out} ({len(rows)} programs)")
    if written.failure is not None:
        raise OperationalError(
            f"only {len(rows)} of {count} programs were written: {written.failure}; the same command goes on from there"
        )
    return measure_baseline(setting, rows, model=model, length=length)


def baseline_summary(baseline: ModelBaseline) -> Json:
    return {
        "model": baseline.model,
        "programs": baseline.programs,
        "finished": baseline.finished,
        "compliant": baseline.compliant,
        "atc": baseline.coverage.atc,
        "critical": baseline.coverage.critical_share,
        "compliant_atc": baseline.compliant_coverage.atc,
        "compliant_critical": baseline.compliant_coverage.critical_share,
    }


def _baseline_table(baseline: ModelBaseline) -> Table:
    table = make_table("model-written", "programs", "ATC", "S.C.", title=baseline.model)
    for words, programs, coverage in (
        ("all", baseline.programs, baseline.coverage),
        ("run to the end, all rules kept", baseline.compliant, baseline.compliant_coverage),
    ):
        table.add_row(words, str(programs), f"{coverage.atc:.1%}", f"{coverage.critical_share:.0%}")
    return table


def _ceilings(analyses: Sequence[CoverageAnalysis]) -> Table:
    table = make_table("profile", "feasible pairs", "ceiling (ATC)", "suite", "S.C.", "traces needed")
    for analysis in analyses:
        suite = analysis.suite
        table.add_row(
            analysis.profile,
            f"{len(analysis.feasible)} of {suite.all_pairs}",
            f"{analysis.ceiling:.1%}",
            f"{suite.atc:.1%} with {suite.traces}",
            f"{suite.critical_share:.0%}",
            str(analysis.needed or f"more than {suite.traces}"),
        )
    return table


def _rules(analyses: Sequence[CoverageAnalysis]) -> Table:
    """For each rule and profile: in how many traces of the suite it is triggered, and its transitions."""
    profiles = [analysis.profile for analysis in analyses]
    table = make_table("rule", *(f"{name}: triggered in" for name in profiles), f"transitions ({'; '.join(profiles)})")
    for lines in zip(*(analysis.rules for analysis in analyses), strict=True):
        covered = [f"{line.covered} of {line.possible or f'at most {line.transitions}'}" for line in lines]
        table.add_row(lines[0].rule, *(str(line.triggered) for line in lines), "; ".join(covered))
    return table


def _certificates(analysis: CoverageAnalysis, *, proofs: bool) -> Table:
    table = make_table(f"profile {analysis.profile}: what cannot be, and why")
    for certificate in analysis.certificates:
        proof = f"\n{certificate.proof}" if proofs else ""
        table.add_row(Text.assemble(str(certificate), (proof, "dim")))
    return table


def _summary(analysis: CoverageAnalysis) -> dict[str, Json]:
    """The shape is documented in docs/files.md."""
    return {
        "length": analysis.length,
        "feasible": [[*pair] for pair in sorted(analysis.feasible)],
        "infeasible": [_certificate(certificate) for certificate in analysis.certificates],
        "undecided": [[*pair] for pair in analysis.undecided],
        "missing": [[*pair] for pair in analysis.missing],
        "assumptions": [*analysis.assumptions],
        "ceiling": analysis.ceiling,
        "traces": analysis.suite.traces,
        "atc": analysis.suite.atc,
        "critical": analysis.suite.critical_share,
        "complete_after": analysis.needed,
        "rules": [_rule(line) for line in analysis.rules],
    }


def _certificate(certificate: Certificate) -> Json:
    return {
        "pair": [*certificate.pair],
        "scope": certificate.scope,
        "causes": [*certificate.causes],
        "message": str(certificate),
        "proof": certificate.proof,
        "without": {part: [*steps] for part, steps in certificate.without.items()},
        "shortest": None if certificate.shortest is None else [*certificate.shortest],
        "obstacles": None
        if certificate.obstacles is None
        else [f"{obstacle.kind}: {obstacle.text}" for obstacle in certificate.obstacles],
    }


def _rule(line: RuleCoverage) -> Json:
    return {
        "rule": line.rule,
        "transitions": line.transitions,
        "possible": line.possible,
        "covered": line.covered,
        "missing": [*line.missing],
        "triggered": line.triggered,
    }
