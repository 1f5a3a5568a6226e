"""``lawtrace traces coverage``: feasible pairs of calls, a suite that covers them, and certificates."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.runs.cli.output import make_table, print_note
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.recipe_flags import MODEL_CALLS, RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.cli.stage_runs import run_stages
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.runner import Session
from lawtrace.runs.stages.artifacts import BASELINE, RULES
from lawtrace.runs.stages.model_baseline import measure_baseline
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.runs.store.stage_store import Products
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import ModelBaseline
from lawtrace.schemas.trace_options import TRACE_MODES
from lawtrace.solver.coverage.coverage_analysis import Certificate, CoverageAnalysis, RuleCoverage, analyse_coverage
from lawtrace.solver.rules import Rule


@recipe_flags("rules", "count", "length", "writer", *MODEL_CALLS, "seed")
def measure_coverage(
    flags: RecipeFlags,
    proofs: Annotated[bool, typer.Option(help="Print the proof under each certificate.")] = False,
    out: Annotated[Path, typer.Option(help="Output file for the model's programs and calls.")] = Path("baseline.jsonl"),
) -> CommandResult:
    """Measure what compliant traces can cover.

    Decides which adjacent pairs of calls compliant traces can have, explains the infeasible ones, and covers the others
    with a suite.
    """
    inputs = stage_recipe(flags)
    recipe, domain, tasks = inputs.recipe, inputs.domain, inputs.recipe.tasks
    rules, baseline = _make(inputs, out, force=flags.force)
    analyses = [
        analyse_coverage(
            domain.environment,
            rules,
            mode=mode,
            length=tasks.length,
            count=tasks.count,
            seed=recipe.seed,
            stages=ProgressBars(),
        )
        for mode in TRACE_MODES
    ]
    result: dict[str, Json] = {analysis.mode: _summary(analysis) for analysis in analyses}
    beside = {} if baseline is None else {"baseline": baseline_summary(baseline)}
    return CommandResult({**result, **beside}, _shown(analyses, baseline, proofs=proofs))


def _shown(
    analyses: Sequence[CoverageAnalysis], baseline: ModelBaseline | None, *, proofs: bool
) -> Iterator[RenderableType]:
    yield _ceilings(analyses)
    if baseline is not None:
        yield _baseline_table(baseline)
    yield _rules(analyses)
    for analysis in analyses:
        if analysis.certificates:
            yield _certificates(analysis, proofs=proofs)
        for first, second in analysis.undecided:
            yield f"{first} -> {second}: undecided; counted as feasible."
        for first, second in analysis.missing:
            yield f"{first} -> {second}: feasible but not in the suite."
    yield Text(f"Assumptions in Z3: {'; '.join(analyses[0].assumptions)}.", style="dim")


def _make(inputs: StageInputs, out: Path, *, force: bool) -> tuple[Sequence[Rule], ModelBaseline | None]:
    """The rules, and the baseline if a model writes one. The same command again requests only what is missing."""
    recipe = inputs.recipe
    model = recipe.models.trace_writer

    async def work(session: Session) -> Products:
        return await session.runner(inputs).make(RULES, *((BASELINE,) if model else ()), incomplete=model is not None)

    asks = model is not None or recipe.rules.source == "extracted"
    made = run_stages(
        recipe, out, "traces coverage", work, force=force or model is None, sandbox=model is not None, models=asks
    )
    if model is None:
        return made[RULES], None
    rows = made[BASELINE]
    BASELINE.write(out, rows)
    print_note(f"Written: {out} ({len(rows)} programs)")
    if len(rows) < recipe.tasks.count:
        raise OperationalError(
            f"only {len(rows)} of {recipe.tasks.count} programs were written; run the command again to continue"
        )
    return made[RULES], measure_baseline(inputs.domain, rows, model=model, length=recipe.tasks.length)


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
    measured = (
        ("all", baseline.programs, baseline.coverage),
        ("completed and compliant", baseline.compliant, baseline.compliant_coverage),
    )
    rows = ((words, count, f"{of.atc:.1%}", f"{of.critical_share:.0%}") for words, count, of in measured)
    return make_table(("model-written", "programs", "ATC", "S.C."), rows, title=baseline.model)


def _ceilings(analyses: Sequence[CoverageAnalysis]) -> Table:
    rows = (
        (
            analysis.mode,
            f"{len(analysis.feasible)} of {suite.all_pairs}",
            f"{analysis.ceiling:.1%}",
            f"{suite.atc:.1%} with {suite.traces}",
            f"{suite.critical_share:.0%}",
            analysis.needed or f"more than {suite.traces}",
        )
        for analysis in analyses
        for suite in (analysis.suite,)
    )
    return make_table(("trace mode", "feasible pairs", "ceiling (ATC)", "suite", "S.C.", "traces needed"), rows)


def _rules(analyses: Sequence[CoverageAnalysis]) -> Table:
    """For each rule and trace mode: the number of suite traces that trigger it, and its covered transitions."""
    modes = [analysis.mode for analysis in analyses]
    columns = ("rule", *(f"{name}: triggered in" for name in modes), f"transitions ({'; '.join(modes)})")
    rules = zip(*(analysis.rules for analysis in analyses), strict=True)
    rows = ((of[0].rule, *(line.triggered for line in of), "; ".join(map(_covered, of))) for of in rules)
    return make_table(columns, rows)


def _covered(line: RuleCoverage) -> str:
    if line.transitions is None:
        return f"no automaton; {'; '.join(line.exercised)}" if line.exercised else "no automaton"
    return f"{line.covered} of {line.possible or f'at most {line.transitions}'}"


def _certificates(analysis: CoverageAnalysis, *, proofs: bool) -> Table:
    rows = (
        [Text.assemble(str(certificate), (f"\n{certificate.proof}" if proofs else "", "dim"))]
        for certificate in analysis.certificates
    )
    return make_table([f"trace mode {analysis.mode}: infeasible, with reason"], rows)


def _summary(analysis: CoverageAnalysis) -> dict[str, Json]:
    """The JSON summary, documented in docs/files.md."""
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
        "rules": [asdict(line) for line in analysis.rules],
    }


def _certificate(certificate: Certificate) -> Json:
    obstacles = certificate.obstacles
    return {
        "pair": [*certificate.pair],
        "scope": certificate.scope,
        "causes": [*certificate.causes],
        "message": str(certificate),
        "proof": certificate.proof,
        "without": {part: [*steps] for part, steps in certificate.without.items()},
        "shortest": None if certificate.shortest is None else [*certificate.shortest],
        "obstacles": None if obstacles is None else [f"{obstacle.kind}: {obstacle.text}" for obstacle in obstacles],
    }
