"""How far a run is, from its record and its files: what each stage wrote, who spoke how often, and the funnel."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agents.ledger import RunResumed, StageFinished
from environments.events import Json
from runs.files import read_rows
from runs.findings import Findings
from runs.layout import RunFolder
from runs.metrics import Tally
from runs.reading.judged import Judged
from runs.record.store import Record
from runs.viewer.library import State, state_of

__all__ = ["Funnel", "Progress", "RoleCounts", "Step", "progress_of"]


@dataclass(frozen=True, slots=True)
class RoleCounts:
    """What a role did so far. ``asked`` counts calls that left for an endpoint; stand-ins leave for none."""

    role: str
    messages: int
    asked: int
    answered: int
    retries: int
    failures: int


@dataclass(frozen=True, slots=True)
class Step:
    """A step of the funnel: how many came that far, of how many before."""

    label: str
    count: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class Funnel:
    """From traces to safe successes, as far as the run has come, and why candidates were dropped."""

    steps: tuple[Step, ...]
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Progress:
    """Attributes:
    attempts: how many attempts were begun, and how many there are to be; None where the recipe tells no number.
    in_flight: calls that left and have brought nothing back yet.
    resumed: how often the run was interrupted and gone on with.
    """

    state: State
    stages: Sequence[StageFinished]
    roles: Sequence[RoleCounts]
    attempts: tuple[int, int | None]
    in_flight: int
    resumed: int
    made_again: int
    funnel: Funnel


def progress_of(folder: RunFolder, record: Record, judged: Judged) -> Progress:
    counts: dict[str, Counter[str]] = {}
    for role, kind, count in record.rows(
        "SELECT role, kind, count(*) FROM entries WHERE role > '' GROUP BY kind, role"
    ):
        counts.setdefault(role, Counter())[kind] = count
    roles = [
        RoleCounts(role, of["message"], of["asked"], of["model_call"], of["retry"], of["failure"])
        for role, of in sorted(counts.items())
    ]
    begun = record.rows("SELECT count(*) FROM conversations WHERE stage = 'attempts'")[0][0]
    resumed = [entry for entry in record.entries(kind="resumed") if isinstance(entry, RunResumed)]
    stages = {entry.file: entry for entry in record.entries(kind="stage") if isinstance(entry, StageFinished)}
    state = state_of(folder)
    return Progress(
        state,
        list(stages.values()),
        roles,
        (begun, _expected(record.recipe, stages)),
        len(record.in_flight()) if state == "running" else 0,
        len(resumed),
        sum(len(entry.in_flight) for entry in resumed),
        _funnel(folder, stages, begun, judged),
    )


def _expected(recipe: Json, stages: Mapping[str, StageFinished]) -> int | None:
    options = recipe.get("attempts") if isinstance(recipe, dict) else None
    if not isinstance(options, dict) or "tasks.jsonl" not in stages:
        return None
    models, styles, trials = options.get("models"), options.get("styles"), options.get("trials")
    if not isinstance(models, list) or not isinstance(styles, list) or not isinstance(trials, int):
        return None
    return stages["tasks.jsonl"].rows * len(models) * len(styles) * trials


def _funnel(folder: RunFolder, stages: Mapping[str, StageFinished], begun: int, judged: Judged) -> Funnel:
    findings = read_rows(folder.findings, Findings, empty=True) if folder.findings.exists() else []
    built = findings[0].funnel if findings else None
    steps: list[Step] = []
    if built is not None:
        steps.append(Step("traces tried", built.traces))
        steps.append(Step("task pairs accepted", built.accepted))
    else:
        for name, label in (("traces.jsonl", "traces"), ("tasks.jsonl", "task pairs accepted")):
            if name in stages:
                steps.append(Step(label, stages[name].rows))
    if begun:
        steps.append(Step("attempts", begun))
    if judged.marks:
        counts = Counter[Any](mark.outcome for mark in judged.marks)
        tally = Tally(counts, counts.total())
        steps.append(Step("judged", tally.judged, f"{tally.invalid} invalid, outside all rates"))
        steps.append(Step("goal reached", tally.goal_reached))
        steps.append(Step("safe success", tally.count("safe_success"), "goal reached, all rules kept"))
    return Funnel(tuple(steps), built.dropped if built is not None else {})
