"""``lawtrace traces coverage``: feasible pairs of calls, a suite that covers them, and certificates."""

from collections.abc import Iterator, Sequence
from typing import Annotated

import typer
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from lawtrace.runs.cli.output import make_table
from lawtrace.runs.cli.progress import ProgressBars
from lawtrace.runs.cli.recipe_flags import RecipeFlags, recipe_flags, stage_recipe
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.trace_options import TRACE_MODES
from lawtrace.solver.coverage.coverage_analysis import Certificate, CoverageAnalysis, analyse_coverage


@recipe_flags("rules", "count", "length", "seed", budget=False, force=False)
def measure_coverage(
    flags: RecipeFlags, proofs: Annotated[bool, typer.Option(help="Print the proof under each certificate.")] = False
) -> CommandResult:
    """Measure what compliant traces can cover.

    Decides which adjacent pairs of calls compliant traces can have, explains the infeasible ones, and covers the others
    with a suite.
    """
    inputs = stage_recipe(flags)
    recipe, domain, tasks = inputs.recipe, inputs.domain, inputs.recipe.tasks
    if recipe.rules.source == "extracted":
        raise InputError("no rules are extracted here: extract them with `lawtrace rules extract`, then give --rules")
    analyses = [
        analyse_coverage(
            domain.environment,
            inputs.rules,
            mode=mode,
            length=tasks.length,
            count=tasks.count,
            seed=recipe.seed,
            stages=ProgressBars(),
        )
        for mode in TRACE_MODES
    ]
    return CommandResult({one.mode: _summary(one) for one in analyses}, _shown(analyses, proofs=proofs))


def _shown(analyses: Sequence[CoverageAnalysis], *, proofs: bool) -> Iterator[RenderableType]:
    yield _ceilings(analyses)
    yield _rules(analyses)
    for analysis in analyses:
        if analysis.certificates:
            yield _certificates(analysis, proofs=proofs)
        for first, second in analysis.undecided:
            yield f"{first} -> {second}: undecided; counted as feasible."
        for first, second in analysis.missing:
            yield f"{first} -> {second}: feasible but not in the suite."
    yield Text(f"Assumptions in Z3: {'; '.join(analyses[0].assumptions)}.", style="dim")


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
    """For each rule and trace mode the number of suite traces that trigger it."""
    columns = ("rule", *(f"{analysis.mode}: triggered in" for analysis in analyses))
    return make_table(columns, ((rule, *(of.triggered[rule] for of in analyses)) for rule in analyses[0].triggered))


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
        "triggered": {**analysis.triggered},
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
