"""Recorded programs judged by every profile, what differs and why: one folder, from which its report is drawn."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from lawtrace.environments.declaration import Environment
from lawtrace.environments.jail import Jail
from lawtrace.environments.problems import Problem
from lawtrace.runs.files import Usable, read_rows, read_usable_rows, write_rows
from lawtrace.runs.grading.judge import judge
from lawtrace.runs.grading.verdict import PROFILES, PUBLISHED_PROFILES, Profile, VerdictRow
from lawtrace.runs.published.differences import DifferenceRow, against_records, between_profiles
from lawtrace.runs.published.grading import judge_pairs_published
from lawtrace.runs.published.records import RecordedVerdict
from lawtrace.runs.stages.rows import AttemptRow, TaskRow
from lawtrace.runs.tasks import read_usable_tasks, sift

FROM_RECORDS: Profile = "published-shared"
"""The profile by which the records were made, and which is held against them."""


@dataclass(frozen=True)
class Comparison:
    """Attempts at imported tasks under all profiles.

    Attributes:
        verdicts: for each profile, in the order of the attempts.
        recorded: the recorded verdicts that are at hand.
        problems: rows of its files that could not be used; an attempt without the verdict of a profile is left out.
        differences: strict against published, attempt by attempt.
        unreproduced: the recorded verdicts that `FROM_RECORDS` does not reproduce.
    """

    environment: Environment
    tasks: tuple[TaskRow, ...]
    attempts: tuple[AttemptRow, ...]
    verdicts: Mapping[Profile, tuple[VerdictRow, ...]]
    recorded: tuple[RecordedVerdict, ...]
    problems: tuple[Problem, ...] = ()

    @cached_property
    def differences(self) -> tuple[DifferenceRow, ...]:
        tasks = {task.id: task for task in self.tasks}
        return tuple(between_profiles(tasks, self.attempts, self.verdicts["strict"], self.verdicts["published"]))

    @cached_property
    def unreproduced(self) -> tuple[DifferenceRow, ...]:
        return tuple(against_records(self.verdicts[FROM_RECORDS], self.recorded))


def compare_profiles(
    environment: Environment,
    tasks: Sequence[TaskRow],
    attempts: Sequence[AttemptRow],
    recorded: Sequence[RecordedVerdict],
    jail: Jail,
    on_program: Callable[[], None] = lambda: None,
) -> Comparison:
    """Judge attempts that have run in our simulator by every profile; each published one runs them again."""
    by_id = {task.id: task for task in tasks}
    verdicts: dict[Profile, tuple[VerdictRow, ...]] = {
        "strict": tuple(judge(environment, by_id[attempt.task], attempt) for attempt in attempts),
        **{
            profile: tuple(judge_pairs_published(by_id, attempts, jail, profile, on_program))
            for profile in PUBLISHED_PROFILES
        },
    }
    return Comparison(environment, tuple(tasks), tuple(attempts), verdicts, tuple(recorded))


def write_comparison(comparison: Comparison, folder: Path) -> None:
    """Keep it as stage files, from which `read_comparison` makes it again. Raises CannotCarryOut."""
    files = _Files(folder)
    write_rows(files.tasks, comparison.tasks)
    write_rows(files.attempts, comparison.attempts)
    for profile, rows in comparison.verdicts.items():
        write_rows(files.verdicts(profile), rows)
    write_rows(files.recorded, comparison.recorded)
    write_rows(files.differences, (*comparison.differences, *comparison.unreproduced))


def is_comparison(folder: Path) -> bool:
    """Whether the folder holds one, rather than a run."""
    return _Files(folder).recorded.exists()


def read_comparison(folder: Path, env: str | None = None) -> Comparison:
    """What `write_comparison` kept; ``env`` says where its environment is, if it is not built in.

    Raises InputError naming the file and line."""
    files = _Files(folder)
    tasks, setting = read_usable_tasks(files.tasks, env)
    attempts = sift(tasks.rows, read_usable_rows(files.attempts, AttemptRow))
    verdicts: dict[Profile, Usable[VerdictRow]] = {
        name: sift(tasks.rows, read_usable_rows(files.verdicts(name), VerdictRow)) for name in PROFILES
    }
    judged: dict[Profile, dict[_Try, VerdictRow]] = {
        profile: {_try(row): row for row in read.rows} for profile, read in verdicts.items()
    }
    whole = [row for row in attempts.rows if all(_try(row) in rows for rows in judged.values())]
    verdicts_of_whole: dict[Profile, tuple[VerdictRow, ...]] = {
        profile: tuple(rows[_try(row)] for row in whole) for profile, rows in judged.items()
    }
    lists = (tasks, attempts, *verdicts.values())
    return Comparison(
        setting.environment,
        tuple(tasks.rows),
        tuple(whole),
        verdicts_of_whole,
        tuple(read_rows(files.recorded, RecordedVerdict, empty=True)),
        tuple(problem for read in lists for problem in read.problems),
    )


_Try = tuple[str, str, str, int]


def _try(row: AttemptRow | VerdictRow) -> _Try:
    return (row.task, row.style, row.model, row.trial)


@dataclass(frozen=True, slots=True)
class _Files:
    folder: Path

    @property
    def tasks(self) -> Path:
        return self.folder / "tasks.jsonl"

    @property
    def attempts(self) -> Path:
        return self.folder / "attempts.jsonl"

    def verdicts(self, profile: Profile) -> Path:
        return self.folder / f"verdicts.{profile}.jsonl"

    @property
    def recorded(self) -> Path:
        return self.folder / "recorded.jsonl"

    @property
    def differences(self) -> Path:
        """For people and their scripts; nothing here reads it back."""
        return self.folder / "differences.jsonl"
