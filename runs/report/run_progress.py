"""Progress of a run from its event log: rows per stage, and counts per role."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pydantic import ValidationError

from lawtrace.runs.report.run_index import RunState, state_of
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.schemas.events import Json
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


_ANSWERED = """
    SELECT count(*) FROM entries JOIN (
        SELECT max(seq) AS last FROM entries JOIN conversations ON conversations.id = conversation
        WHERE stage = 'attempts' AND kind IN ('message', 'failure') GROUP BY conversation
    ) ON seq = last WHERE role = 'executor' AND (kind = 'failure' OR payload ->> '$.function_calls' = '[]')
"""
"""The attempts whose last message is an answer, not a call of a tool or a message to the model."""


def measure_progress(folder: RunFolder, event_log: EventLogFile) -> RunProgress:
    counts: dict[str, Counter[str]] = {}
    for role, kind, count in event_log.rows(
        "SELECT role, kind, count(*) FROM entries WHERE role > '' GROUP BY kind, role"
    ):
        counts.setdefault(role, Counter())[kind] = count
    roles = [
        RoleCounts(role, of["message"], of["asked"], of["model_call"], of["retry"], of["failure"])
        for role, of in sorted(counts.items())
    ]
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
