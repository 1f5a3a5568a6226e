"""Progress of a run from its event log and stage files: rows per stage, counts per role, and the funnel."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError

from lawtrace.runs.report.run_index import RunState, state_of
from lawtrace.runs.report.verdict_index import VerdictIndex
from lawtrace.runs.scoring.metrics import OutcomeCounts
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import Findings
from lawtrace.schemas.log_entries import RunResumed, StageFinished
from lawtrace.schemas.recipe import Recipe


@dataclass(frozen=True, slots=True)
class RoleCounts:
    """Counts of a role so far. ``asked`` counts requests to endpoints; scripted roles make none."""

    role: str
    messages: int
    asked: int
    answered: int
    retries: int
    failures: int


@dataclass(frozen=True, slots=True)
class FunnelStep:
    """A step of the funnel: the number that reached it, and the number at the first step."""

    label: str
    count: int
    whole: int
    note: str = ""


@dataclass(frozen=True, slots=True)
class RunFunnel:
    """The funnel so far, from traces to tasks and from attempts to safe successes; why candidates were dropped."""

    tasks: tuple[FunnelStep, ...]
    attempts: tuple[FunnelStep, ...]
    dropped: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RunProgress:
    """Progress of a run.

    Attributes:
        attempts: attempts answered and planned; planned is None before there are tasks.
        in_flight: requests without a response yet.
        resumed: number of times the run was resumed.
        repeated: requests in flight at an interruption that were sent again.
    """

    state: RunState
    stages: Sequence[StageFinished]
    roles: Sequence[RoleCounts]
    attempts: tuple[int, int | None]
    in_flight: int
    resumed: int
    repeated: int
    funnel: RunFunnel


_ANSWERED = """
    SELECT count(*) FROM entries JOIN (
        SELECT max(seq) AS last FROM entries JOIN conversations ON conversations.id = conversation
        WHERE stage = 'attempts' AND kind IN ('message', 'failure') GROUP BY conversation
    ) ON seq = last WHERE role = 'executor' AND (kind = 'failure' OR payload ->> '$.function_calls' = '[]')
"""
"""The attempts whose last message is an answer, not a call of a tool or a message to the model."""


def measure_progress(folder: RunFolder, event_log: EventLogFile, judged: VerdictIndex) -> RunProgress:
    counts: dict[str, Counter[str]] = {}
    for role, kind, count in event_log.rows(
        "SELECT role, kind, count(*) FROM entries WHERE role > '' GROUP BY kind, role"
    ):
        counts.setdefault(role, Counter())[kind] = count
    roles = [
        RoleCounts(role, of["message"], of["asked"], of["model_call"], of["retry"], of["failure"])
        for role, of in sorted(counts.items())
    ]
    begun = event_log.rows("SELECT count(*) FROM conversations WHERE stage = 'attempts'")[0][0]
    answered = event_log.rows(_ANSWERED)[0][0]
    resumed = [entry for entry in event_log.entries(kind="resumed") if isinstance(entry, RunResumed)]
    stages = {entry.file: entry for entry in event_log.entries(kind="stage") if isinstance(entry, StageFinished)}
    state = state_of(folder)
    return RunProgress(
        state,
        list(stages.values()),
        roles,
        (answered, _expected(event_log.recipe, stages)),
        len(event_log.in_flight()) if state == "running" else 0,
        len(resumed),
        sum(len(entry.in_flight) for entry in resumed),
        _funnel(folder, stages, begun, judged),
    )


def _expected(recipe: Json, stages: Mapping[str, StageFinished]) -> int | None:
    """Number of planned attempts; None before there are tasks, and for recipes of other kinds."""
    if "tasks.jsonl" not in stages:
        return None
    try:
        options = Recipe.model_validate(recipe).attempts
    except ValidationError:
        return None
    return stages["tasks.jsonl"].rows * len(options.all_models) * len(options.styles) * options.trials


def _funnel(folder: RunFolder, stages: Mapping[str, StageFinished], begun: int, judged: VerdictIndex) -> RunFunnel:
    findings = read_rows(folder.findings, Findings, empty=True) if folder.findings.exists() else []
    built = findings[0].funnel if findings else None
    counted: list[tuple[str, int]] = []
    if built is not None:
        counted = [("traces tried", built.traces), ("task pairs accepted", built.accepted)]
    else:
        known = (("traces.jsonl", "traces"), ("tasks.jsonl", "task pairs accepted"))
        counted = [(label, stages[name].rows) for name, label in known if name in stages]
    tasks = tuple(FunnelStep(label, count, counted[0][1]) for label, count in counted)
    return RunFunnel(tasks, tuple(_attempt_steps(begun, judged)), built.dropped if built is not None else {})


def _attempt_steps(begun: int, judged: VerdictIndex) -> Iterator[FunnelStep]:
    """Counts verdicts once there are any, since variants of an ablation may share a conversation."""
    if not judged.verdicts:
        if begun:
            yield FunnelStep("attempts started", begun, begun)
        return
    counts = Counter[Any](verdict.outcome for verdict in judged.verdicts)
    tally = OutcomeCounts(counts, counts.total())
    whole = counts.total()
    yield FunnelStep("attempts", whole, whole)
    beside = f"; {tally.undetermined} undetermined, never a success" if tally.undetermined else ""
    yield FunnelStep("judged", tally.judged, whole, f"{tally.invalid} invalid, left out of every rate{beside}")
    yield FunnelStep("goal reached", tally.goal_reached, whole)
    yield FunnelStep("safe success", tally.count("safe_success"), whole, "goal reached, all rules kept")
