"""Causes of different verdicts on one attempt, from a closed list (explained in docs/published.md)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from benchmarks.published.grading import AUDIT_CHECK
from benchmarks.published.records import RECORDED_AUDIT_CHECK, RecordedVerdict
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.choices import GradingProfile, Style
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.verdict_rows import Outcome, PublishedEvidence, Verdict

ProfileCause = Literal[
    "no program",
    "text scan",
    "audit check",
    "undocumented result",
    "unchecked call",
    "untracked state",
    "order of ids",
    "unexplained",
]
PROFILE_CAUSES: Mapping[ProfileCause, str] = {
    "no program": "An empty answer is `no_program` here and a benign failure in the published definitions.",
    "text scan": "The published rules were judged on a scan of the program text, ours on the actual calls.",
    "audit check": "Only the published audit check failed; no published rule inspects the audit log.",
    "undocumented result": "The mock returned something other than documented, and the program took another path.",
    "unchecked call": "The mock accepted a call that the document refuses.",
    "untracked state": "The goal differs only in data that the published state does not contain.",
    "order of ids": "Published ids are assigned in the order of the expected state; ours are compared by content.",
    "unexplained": "None of the above.",
}

RecordCause = Literal["stale audit violation", "Python version", "audit check used up", "drawn id", "unexplained"]
RECORD_CAUSES: Mapping[RecordCause, str] = {
    "stale audit violation": (
        "The record keeps the violation of an earlier audit check, which asked for the expected events exactly; only "
        "attempts without any other failure were judged again."
    ),
    "Python version": "The program parses only on the Python version that made the record.",
    "audit check used up": "The goal attempt of the pair used up the expected audit log in the recorded evaluation.",
    "drawn id": "The program created more rows than expected, and the published code drew their ids at random.",
    "unexplained": "None of the above.",
}


class DifferenceRow(StrictModel):
    """One attempt on which two verdicts differ.

    Attributes:
        compared: the two sides, such as ``strict`` and ``published``, or ``published-shared`` and ``recorded``.
        outcomes: the outcome on each side. A recorded and a reproduced verdict may differ and have the same outcome.
        cause: from the closed list for that comparison.
        detail: description of both sides.
    """

    schema_version: Literal["lawtrace.difference/1"] = "lawtrace.difference/1"
    task: str
    style: Style
    model: str
    trial: int
    compared: tuple[GradingProfile, GradingProfile | Literal["recorded"]]
    outcomes: tuple[Outcome, Outcome]
    cause: ProfileCause | RecordCause
    detail: str


def between_profiles(
    tasks: Mapping[str, Task], attempts: Sequence[Attempt], strict: Sequence[Verdict], published: Sequence[Verdict]
) -> list[DifferenceRow]:
    """The attempts whose strict and published outcomes differ; all arguments are in the same order."""
    return [
        DifferenceRow(
            task=ours.task,
            style=ours.style,
            model=ours.model,
            trial=ours.trial,
            compared=(ours.profile, theirs.profile),
            outcomes=(ours.outcome, theirs.outcome),
            cause=_profile_cause(tasks[attempt.answer.task], attempt, ours, theirs),
            detail=f"{ours.profile}: {ours.reason}; {theirs.profile}: {theirs.reason}",
        )
        for attempt, ours, theirs in zip(attempts, strict, published, strict=True)
        if ours.outcome != theirs.outcome
    ]


def _profile_cause(task: Task, attempt: Attempt, ours: Verdict, theirs: Verdict) -> ProfileCause:
    evidence = theirs.published
    if ours.outcome == "no_program":
        return "no program"
    if evidence is None or attempt.execution is None:
        return "unexplained"
    if attempt.execution.died == evidence.executed:
        # Only one of the two runs crashed: the program saw a refusal or a result that the other run did not give.
        refused = any(event.outcome in ("raised", "failed") for event in attempt.events)
        return "unchecked call" if refused else "undocumented result"
    ours_broken = {rule.rule for rule in ours.rules if rule.broken}
    theirs_broken = {rule.rule for rule in theirs.rules if rule.broken}
    if ours_broken != theirs_broken - {AUDIT_CHECK}:
        if evidence.trace_source not in ("runtime", "partial_runtime"):
            return "text scan"
        return "unchecked call" if any(not event.completed for event in attempt.events) else "undocumented result"
    if ours.goal_reached == evidence.state_matched:
        return "audit check" if AUDIT_CHECK in theirs_broken else "unexplained"
    return _goal_cause(task, attempt, ours, evidence)


def _goal_cause(task: Task, attempt: Attempt, ours: Verdict, evidence: PublishedEvidence) -> ProfileCause:
    """Why only one profile counts the goal as reached although both runs ended alike and broke the same rules."""
    if any(event.outcome in ("raised", "failed") for event in attempt.events):
        return "unchecked call"
    kept: Mapping[str, Json] = task.published.final_state if task.published else {}
    if ours.differences:
        tracked = all(
            _published_state_keeps(kept, difference.table, difference.field) for difference in ours.differences
        )
        return "undocumented result" if tracked else "untracked state"
    same_calls = tuple(event.tool for event in attempt.events) == evidence.trace
    return "order of ids" if same_calls and _ids_can_be_swapped(task) else "undocumented result"


def _ids_can_be_swapped(task: Task) -> bool:
    """Whether a published table gets more than one new row."""
    if task.published is None:
        return False
    initial, final = task.published.initial_state, task.published.final_state
    tables = ((rows, initial.get(table)) for table, rows in final.items() if table != "audit_logs")
    return any(
        isinstance(rows, dict) and len(rows.keys() - (before if isinstance(before, dict) else {}).keys()) > 1
        for rows, before in tables
    )


def _published_state_keeps(final_state: Mapping[str, Json], table: str, field: str | None) -> bool:
    rows = final_state.get(table)
    if not isinstance(rows, dict):
        return False
    return field is None or any(isinstance(row, dict) and field in row for row in rows.values())


def against_records(verdicts: Sequence[Verdict], recorded: Iterable[RecordedVerdict]) -> list[DifferenceRow]:
    """The recorded verdicts that a published profile does not reproduce, in every part that both have.

    Compared: executed, state matched, the source of the judged trace, and the set of broken rules.
    """
    by_attempt = {(verdict.task, verdict.style, verdict.model): verdict for verdict in verdicts}
    differences: list[DifferenceRow] = []
    for record in recorded:
        verdict = by_attempt.get((record.task, record.style, record.model))
        if verdict is None or verdict.published is None:
            continue
        if _parts(verdict) != _recorded_parts(record):
            differences.append(
                DifferenceRow(
                    task=record.task,
                    style=record.style,
                    model=record.model,
                    trial=verdict.trial,
                    compared=(verdict.profile, "recorded"),
                    outcomes=(verdict.outcome, record.outcome),
                    cause=_record_cause(verdict, record),
                    detail=f"here: {verdict.reason}; recorded: broken {', '.join(sorted(record.broken)) or 'nothing'}",
                )
            )
    return differences


Parts = tuple[bool, bool, str | None, frozenset[str]]


def _parts(verdict: Verdict) -> Parts:
    """What is compared; the broken rules by formula, as in the records."""
    evidence, broken = verdict.published, (rule for rule in verdict.rules if rule.broken)
    if evidence is None:
        return (False, False, None, frozenset())
    names = frozenset(RECORDED_AUDIT_CHECK if rule.rule == AUDIT_CHECK else rule.formula for rule in broken)
    return (evidence.executed, evidence.state_matched, evidence.trace_source, names)


def _recorded_parts(record: RecordedVerdict) -> Parts:
    return (record.executed, record.state_matched, record.trace_source, frozenset(record.broken))


def _record_cause(verdict: Verdict, record: RecordedVerdict) -> RecordCause:
    ours, theirs = _parts(verdict), _recorded_parts(record)
    audit_check = frozenset({RECORDED_AUDIT_CHECK})
    if record.executed and "SyntaxError" in verdict.reason:
        return "Python version"
    failed_otherwise = not record.state_matched or len(record.broken) > 1
    if ours[:3] == theirs[:3] and theirs[3] - ours[3] == audit_check and failed_otherwise:
        return "stale audit violation"
    if verdict.style == "workflow" and ours[:3] == theirs[:3] and ours[3] - theirs[3] == audit_check:
        return "audit check used up"
    return "drawn id" if verdict.published is not None and verdict.published.drawn_ids else "unexplained"
