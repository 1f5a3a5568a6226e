"""What keeps a finished command from exit code 0: attempts not judged, tasks not built, a Pass@1 that is too low."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lawtrace.agents.models.spending import ABANDONED
from lawtrace.runs.report.verdict_index import stage_folders
from lawtrace.runs.scoring.metrics import count_outcomes
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_usable_rows
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.recipe import BASELINES, Recipe
from lawtrace.schemas.verdict_rows import Verdict

if TYPE_CHECKING:  # a plan of the calls waits for no runner
    from lawtrace.runs.runner import RunResult

_NO_MODEL = "--fail-under needs a model under test; baseline policies have no bound"


def verdicts_of_run(folder: RunFolder) -> dict[str, Sequence[Verdict]]:
    """The verdicts of a finished run: those of each variant of an ablation by its name, others under an empty name."""
    parts = [(name or "", part.verdicts) for part, name in stage_folders(folder)]
    return {name: read_usable_rows(file, Verdict).rows for name, file in parts if file.exists()}


def check_bound(recipe: Recipe, fail_under: float | None) -> None:
    """Raises InputError for a bound on a run that judges baseline policies only."""
    if (
        fail_under is not None
        and "attempts.models" not in recipe.ablation
        and {*recipe.attempts.models} <= {*BASELINES}
    ):
        raise InputError(_NO_MODEL)


def find_shortfalls(verdicts: Mapping[str, Sequence[Verdict]], fail_under: float | None) -> list[str]:
    """One sentence for each model without a judged attempt, each whose endpoint stopped answering, and each model under
    test with a lower Pass@1.

    Baseline policies have no bound. Raises InputError if there is a bound and no other model.
    """
    found = [sentence for name, rows in verdicts.items() for sentence in _of_part(name, rows, fail_under)]
    under_test = {row.model for rows in verdicts.values() for row in rows} - set(BASELINES)
    if fail_under is not None and not under_test:
        raise InputError(_NO_MODEL)
    return found


def _of_part(name: str, verdicts: Iterable[Verdict], fail_under: float | None) -> Iterator[str]:
    by_model: defaultdict[str, list[Verdict]] = defaultdict(list)
    for row in verdicts:
        by_model[row.model].append(row)
    if not by_model:
        yield "nothing was judged: there is no attempt"
    for model, rows in by_model.items():
        counts = count_outcomes(rows)
        what = f"{name}: {model}" if name else model
        if counts.pass_at_1 is None:
            yield f"{what}: none of {len(rows)} attempts was judged; the first ended with: {rows[0].reason}"
        elif abandoned := [row.reason for row in rows if ABANDONED in row.reason]:
            yield f"{what}: {len(abandoned)} of {len(rows)} attempts were not made; {abandoned[-1]}"
        elif fail_under is not None and model not in BASELINES and counts.pass_at_1 < fail_under:
            yield f"{what}: Pass@1 is {counts.pass_at_1:.4f}, below {fail_under:g}"


def missing_tasks(result: "RunResult") -> list[str]:
    """A sentence if fewer tasks were built than the recipe asks for, with the reasons; else nothing."""
    wanted = result.recipe.tasks.count
    if result.recipe.tasks.file is not None or len(result.tasks) >= wanted:
        return []
    funnel = result.findings.funnel
    dropped = sorted(funnel.dropped.items(), key=lambda one: -one[1]) if funnel else []
    reasons = "; dropped: " + ", ".join(f"{number} {reason}" for reason, number in dropped) if dropped else ""
    return [
        f"{len(result.tasks)} of {wanted} tasks were built{reasons}; a greater tasks.spare gives more traces to try"
    ]
