"""Comparison of grading profiles on recorded programs: verdicts, differences and causes, stored in one folder."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from pathlib import Path

from benchmarks.published.difference_causes import DifferenceRow, against_records, between_profiles
from benchmarks.published.records import RecordedVerdict
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.store.stage_files import UsableRows, read_rows, read_usable_rows, write_rows
from lawtrace.runs.store.task_file import match_to_tasks, read_usable_tasks, write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt, AttemptKey
from lawtrace.schemas.choices import GRADING_PROFILES, GradingProfile
from lawtrace.schemas.errors import Problem
from lawtrace.schemas.recipe import BASELINES
from lawtrace.schemas.verdict_rows import PUBLISHED_PROFILES, Verdict

TASKS, ATTEMPTS, VERDICTS, RECORDED = "tasks.jsonl", "attempts.jsonl", "verdicts.{}.jsonl", "recorded.jsonl"
DIFFERENCES = "differences.jsonl"
"""An output for users, not read by lawtrace."""

RECORD_PROFILE: GradingProfile = "published-shared"
"""The profile that reproduces the records."""


@dataclass(frozen=True)
class ProfileComparison:
    """Attempts at imported tasks under all profiles.

    Attributes:
        verdicts: for each profile, in the order of the attempts.
        recorded: the available recorded verdicts.
        problems: rows of its files that could not be used; an attempt without the verdict of a profile is left out.
        differences: strict against published, attempt by attempt.
        unreproduced: the recorded verdicts that a published profile does not reproduce, by profile.
    """

    environment: Environment
    tasks: tuple[Task, ...]
    attempts: tuple[Attempt, ...]
    verdicts: Mapping[GradingProfile, tuple[Verdict, ...]]
    recorded: tuple[RecordedVerdict, ...]
    problems: tuple[Problem, ...] = ()

    @cached_property
    def differences(self) -> tuple[DifferenceRow, ...]:
        tasks = {task.id: task for task in self.tasks}
        return tuple(between_profiles(tasks, self.attempts, self.verdicts["strict"], self.verdicts["published"]))

    @cached_property
    def unreproduced(self) -> Mapping[GradingProfile, tuple[DifferenceRow, ...]]:
        profiles = sorted(PUBLISHED_PROFILES, key=lambda profile: profile != RECORD_PROFILE)
        return {profile: tuple(against_records(self.verdicts[profile], self.recorded)) for profile in profiles}


def compare_profiles(
    environment: Environment,
    tasks: Sequence[Task],
    attempts: Sequence[Attempt],
    verdicts: Mapping[GradingProfile, Sequence[Verdict]],
    recorded: Sequence[RecordedVerdict],
    folder: Path,
) -> Iterator[str]:
    """Write the comparison of judged attempts with the verdicts recorded on them; yield it in sentences.

    Of several records on one attempt the first one counts.
    """
    known = {(row.key.task, row.key.style, row.key.model) for row in attempts}
    first = {(row.task, row.style, row.model): row for row in reversed(recorded)}
    rows: dict[GradingProfile, tuple[Verdict, ...]] = {profile: tuple(of) for profile, of in verdicts.items()}
    of_attempts = tuple(row for key, row in reversed(first.items()) if key in known)
    comparison = ProfileComparison(environment, tuple(tasks), tuple(attempts), rows, of_attempts)
    write_comparison(comparison, folder)
    yield from _sentences(comparison)


def _sentences(comparison: ProfileComparison) -> Iterator[str]:
    recorded = len(comparison.recorded)
    for profile, rows in comparison.unreproduced.items():
        yield f"{recorded - len(rows)} of {recorded} recorded verdicts are reproduced by {profile}."
    sides = {f"recorded and {profile}": rows for profile, rows in comparison.unreproduced.items()}
    for names, rows in (*sides.items(), ("strict and published", comparison.differences)):
        ours = Counter(row.cause for row in rows if row.model in BASELINES)
        for cause, count in Counter(row.cause for row in rows).most_common():
            baselines = f" ({ours[cause]} of them baselines)" if ours[cause] else ""
            yield f"  {names}: {count} differ by {cause}{baselines}"


def write_comparison(comparison: ProfileComparison, folder: Path) -> None:
    """Write the stage files that `read_comparison` reads. Raises OperationalError."""
    write_tasks(folder / TASKS, comparison.tasks)
    write_rows(folder / ATTEMPTS, comparison.attempts)
    for profile, rows in comparison.verdicts.items():
        write_rows(folder / VERDICTS.format(profile), rows)
    write_rows(folder / RECORDED, comparison.recorded)
    write_rows(folder / DIFFERENCES, chain(comparison.differences, *comparison.unreproduced.values()))


def read_comparison(folder: Path, env: str | None = None) -> ProfileComparison:
    """Read the files of `write_comparison`; ``env`` is the folder of the environment, if it is not built in.

    Raises InputError with file and line.
    """
    tasks, domain = read_usable_tasks(folder / TASKS, env)
    attempts = match_to_tasks(tasks.rows, read_usable_rows(folder / ATTEMPTS, Attempt))
    verdicts: dict[GradingProfile, UsableRows[Verdict]] = {
        name: match_to_tasks(tasks.rows, read_usable_rows(folder / VERDICTS.format(name), Verdict))
        for name in GRADING_PROFILES
    }
    judged: dict[GradingProfile, dict[AttemptKey, Verdict]] = {
        profile: {row.key: row for row in read.rows} for profile, read in verdicts.items()
    }
    whole = [row for row in attempts.rows if all(row.key in rows for rows in judged.values())]
    verdicts_of_whole: dict[GradingProfile, tuple[Verdict, ...]] = {
        profile: tuple(rows[row.key] for row in whole) for profile, rows in judged.items()
    }
    lists = (tasks, attempts, *verdicts.values())
    return ProfileComparison(
        domain.environment,
        tuple(tasks.rows),
        tuple(whole),
        verdicts_of_whole,
        tuple(read_rows(folder / RECORDED, RecordedVerdict, empty=True)),
        tuple(problem for read in lists for problem in read.problems),
    )
