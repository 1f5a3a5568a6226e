"""Releases of task sets: built from a seed, checked by the quality gate, written with a data card.

A release is a folder:

    README.md               the data card; its front matter describes the files to Hugging Face `datasets`
    manifest.json           its inputs, and the SHA-256 of every other file
    ENVIRONMENT.jsonl       the tasks as `lawtrace grade` reads them
    ENVIRONMENT.parquet     one row per task and style
    ENVIRONMENT.rules.parquet   its rules by rule set, the column that both tables have
    ENVIRONMENT.quality.jsonl   the results of the gate

The same version, seed and code give the same bytes. A task contains its rules and states, so a newer lawtrace can grade
an older release as long as it can read the schema version and the references still pass. `lawtrace tasks check` checks
both, and that the files are those of the manifest. A manifest can be changed too. So it must also list all files of a
release, and its numbers of tasks and its rules must be those of the tasks.
"""

import importlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Literal

from jinja2 import Environment, StrictUndefined
from pydantic import ValidationError

from lawtrace.environments.domains.loader import Domain
from lawtrace.runs.store.stage_files import file_digest, read_text, read_usable_rows, replacing, write_rows
from lawtrace.runs.store.task_file import digest_rules, digest_written_rules, write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.errors import InputError, OperationalError, Problem, describe_validation_error
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import HabitRow
from lawtrace.schemas.models import FrozenModel, StrictModel
from lawtrace.schemas.quality_rows import CHECKS, QualityRow
from lawtrace.solver.habits.selection import BEST_SHARE
from lawtrace.solver.rules import Rule

ENDINGS = ("jsonl", "quality.jsonl", "parquet", "rules.parquet")
"""The files of one environment."""


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of one environment with the results of the gate and the best habit of each style.

    ``writers``: the role that wrote or read the instructions -> its model.
    """

    domain: Domain
    rules: Sequence[Rule]
    tasks: Sequence[Task]
    quality: Sequence[QualityRow]
    habits: Sequence[HabitRow]
    writers: Mapping[str, str]

    @property
    def contrast_pairs(self) -> int:
        """How many contrast pairs the tasks are the sides of."""
        return len({task.contrast.pair for task in self.tasks if task.contrast is not None})

    @property
    def declined(self) -> int:
        """In how many tasks the lawful outcome is to decline a change."""
        return sum(bool(task.declined) for task in self.tasks)

    @property
    def facts(self) -> Mapping[str, int]:
        """The facts that the sides of contrast pairs differ in -> their number of pairs, the commonest first."""
        by_pair = {task.contrast.pair: task.contrast.fact for task in self.tasks if task.contrast is not None}
        return dict(Counter(by_pair.values()).most_common())

    @property
    def kinds(self) -> Mapping[str, int]:
        """The kinds of rules -> their number, the commonest first."""
        return dict(Counter(rule.kind for rule in self.rules if rule.kind is not None).most_common())

    def spread(self, of: Literal["changes", "rules", "calls"]) -> str:
        """The least, median and greatest number of changes asked for, rules that apply, or calls of the reference."""
        changing = self.domain.environment.changing_tools
        numbers = {
            "changes": [sum(call.event.tool in changing for call in task.requested) for task in self.tasks],
            "rules": [len(task.applicable) for task in self.tasks],
            "calls": [len(task.calls) for task in self.tasks],
        }[of]
        return f"{min(numbers)}, {round(median(numbers))}, {max(numbers)}"

    @property
    def best_habit(self) -> float:
        """The share of tasks of both styles that the best habits pass."""
        return sum(len(row.passed) for row in self.habits) / sum(row.tasks for row in self.habits)


class EnvironmentEntry(StrictModel):
    """The manifest entry of one environment: tasks in two styles, made under these rules.

    ``writers``: the role that wrote or read the instructions -> its model.
    """

    tasks: int
    contrast_pairs: int
    writers: Mapping[str, str]
    regulation: str
    rules: tuple[str, ...]
    rules_sha256: str


class ReleaseManifest(StrictModel):
    """The inputs of a release. ``files``: the SHA-256 of each other file."""

    schema_version: Literal["lawtrace.release/2"] = "lawtrace.release/2"
    version: str
    lawtrace: str
    seed: int
    length: int
    environments: Mapping[str, EnvironmentEntry]
    files: Mapping[str, str]


def write_release(
    folder: Path, sets: Sequence[TaskSet], *, version: str, lawtrace: str, seed: int, length: int
) -> ReleaseManifest:
    """Write a release.

    Raises InputError if a task fails the gate, a habit passes too many contrast pairs or tasks of theirs, or the folder
    holds another version of a release.
    """
    for released in sets:
        for habit in released.habits:
            if habit.pairs and max(habit.rate, len(habit.pairs_passed) / habit.pairs) > BEST_SHARE:
                raise InputError(
                    f"{released.domain.environment.name}: {habit.sentence} At most 10 % may; raise tasks.spare"
                )
        if failed := [row.task for row in released.quality if not row.passed]:
            raise InputError(
                f"{released.domain.environment.name}: {len(failed)} tasks fail the gate, {failed[0]} first; only what "
                "passes is released, see `lawtrace tasks check`"
            )
    check_release_folder(folder, version)
    files: dict[str, str] = {}
    for released in sets:
        name = released.domain.environment.name
        write_tasks(folder / f"{name}.jsonl", released.tasks)
        write_rows(folder / f"{name}.quality.jsonl", released.quality)
        _write_parquet(folder / f"{name}.parquet", _task_table(released))
        _write_parquet(folder / f"{name}.rules.parquet", _rule_table(released.tasks))
        for ending in ENDINGS:
            files[f"{name}.{ending}"] = file_digest(folder / f"{name}.{ending}")
    entries = {
        released.domain.environment.name: EnvironmentEntry(
            tasks=len(released.tasks),
            contrast_pairs=released.contrast_pairs,
            writers=released.writers,
            regulation=released.domain.regulation.title,
            rules=tuple(rule.id for rule in released.rules),
            rules_sha256=digest_rules(released.rules),
        )
        for released in sets
    }
    _write_text(folder / "README.md", _card(version, sets, seed))
    files["README.md"] = file_digest(folder / "README.md")
    manifest = ReleaseManifest(
        version=version, lawtrace=lawtrace, seed=seed, length=length, environments=entries, files=files
    )
    _write_text(folder / "manifest.json", manifest.model_dump_json(indent=1) + "\n")
    return manifest


def read_manifest(folder: Path) -> ReleaseManifest:
    """The manifest of a release. Raises InputError."""
    path = folder / "manifest.json"
    if not path.is_file():
        raise InputError(f"{folder}: not a release: it has no manifest.json")
    try:
        return ReleaseManifest.model_validate_json(read_text(path))
    except ValidationError as error:
        raise InputError(f"{path}: not the manifest of a release: {describe_validation_error(error)}") from error


def check_release_folder(folder: Path, version: str) -> None:
    """Check before a build that this version may be written to the folder. Raises InputError."""
    if not re.fullmatch(r"\d+\.\d+(\.\d+)?", version):
        raise InputError(f"version {version!r}: a version is MAJOR.MINOR or MAJOR.MINOR.PATCH, such as 0.1")
    if not (folder / "manifest.json").exists():
        return
    there = read_manifest(folder).version
    if there != version:
        raise InputError(
            f"{folder}: holds version {there}; a release is never overwritten by another, choose a new folder"
        )


def _write_parquet(path: Path, rows: Sequence[Mapping[str, Any]]) -> None:
    try:
        tables: Any = importlib.import_module("pyarrow")
        parquet: Any = importlib.import_module("pyarrow.parquet")
    except ImportError as error:
        raise OperationalError("Parquet needs the extra 'bench': pip install 'lawtrace[bench]'") from error
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    parquet.write_table(tables.table(columns), path, compression="zstd")


def _task_table(released: TaskSet) -> list[dict[str, Any]]:
    """One row per task and style. States are JSON text, since their fields depend on the environment."""
    return [
        {
            "id": f"{task.id}/{style}",
            "task": task.id,
            "contrast_pair": "" if task.contrast is None else task.contrast.pair,
            "fact": "" if task.contrast is None else task.contrast.fact,
            "declined": bool(task.declined),
            "environment": task.environment,
            "style": style,
            "instruction": task.instructions[style].text,
            "variables": _as_json(task.instructions[style].variables),
            "initial_state": _as_json(task.initial_state),
            "target_state": _as_json(task.target_state),
            "rule_set": digest_rules(task.rules),
            "applicable": list(task.applicable),
            "reference_program": task.program,
            "critical_tools": len(released.domain.environment.critical_tools),
        }
        for task in released.tasks
        for style in task.styles
    ]


def _rule_table(tasks: Sequence[Task]) -> list[dict[str, Any]]:
    """One row per rule and rule set."""
    return [
        {"rule_set": digest_rules(rules), **rule.model_dump(mode="json", exclude={"schema_version"})}
        for rules in dict.fromkeys(task.rules for task in tasks)
        for rule in rules
    ]


def _as_json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _card(version: str, sets: Sequence[TaskSet], seed: int) -> str:
    answers = [row.answer(check) for released in sets for row in released.quality for check in CHECKS]
    template = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 (Markdown)
    return template.from_string((Path(__file__).parent / "card.md.jinja").read_text(encoding="utf-8")).render(
        version=version,
        sets=sets,
        kinds=list(dict.fromkeys(kind for released in sets for kind in released.kinds)),
        writers={writer for released in sets for writer in released.writers.values()},
        seed=seed,
        undecided=answers.count("undecided"),
    )


def _write_text(path: Path, text: str) -> None:
    with replacing(path) as partial:
        partial.write_text(text, encoding="utf-8", newline="\n")


def task_files(folder: Path) -> list[Path]:
    """The task files of a release, one for each environment. Raises InputError."""
    return [folder / f"{name}.jsonl" for name in read_manifest(folder).environments]


def check_release(folder: Path) -> list[Problem]:
    """The differences from the manifest; empty if the release is intact. Raises InputError without a manifest."""
    manifest = read_manifest(folder)
    problems = [*_unlisted_files(folder, manifest), *_changed_files(folder, manifest)]
    touched = {problem.place for problem in problems}
    for name, entry in manifest.environments.items():
        path = folder / f"{name}.jsonl"
        if str(path) not in touched:
            problems += _manifest_mismatches(path, entry)
    return problems


def _unlisted_files(folder: Path, manifest: ReleaseManifest) -> Iterable[Problem]:
    if not manifest.environments:
        yield Problem(str(folder / "manifest.json"), "names no environment")
    for name in ("README.md", *(f"{name}.{ending}" for name in manifest.environments for ending in ENDINGS)):
        if name not in manifest.files:
            yield Problem(str(folder / name), "the manifest has no SHA-256 of it")


def _changed_files(folder: Path, manifest: ReleaseManifest) -> Iterable[Problem]:
    for name, expected in manifest.files.items():
        path = folder / name
        if not path.is_file():
            yield Problem(str(path), "missing")
        elif file_digest(path) != expected:
            yield Problem(str(path), "not the file that was released; its SHA-256 differs")


class _Line(FrozenModel):
    """A line of a task file as written: a header, or a task."""

    rule_sets: Mapping[str, tuple[dict[str, Json], ...]] = {}
    rule_set: str | None = None


def _manifest_mismatches(path: Path, entry: EnvironmentEntry) -> Iterable[Problem]:
    """The differences between tasks and manifest. Rules are compared as written, so that a release stays intact when
    rules get new fields."""
    lines = read_usable_rows(path, _Line)
    yield from lines.problems
    written: dict[str | None, tuple[dict[str, Json], ...]] = {}
    tasks = 0
    for place, line in zip(lines.places, lines.rows, strict=True):
        written |= {**line.rule_sets}
        yield from (
            Problem(place, f"rule set {digest!r} does not match its rules")
            for digest, rules in line.rule_sets.items()
            if digest_written_rules(rules) != digest
        )
        if line.rule_set is not None:
            tasks += 1
            names = tuple(rule.get("id") for rule in written.get(line.rule_set, ()))
            if names != entry.rules or line.rule_set != entry.rules_sha256:
                yield Problem(place, "its rules are not those in the manifest")
    if tasks != entry.tasks:
        yield Problem(str(path), f"{tasks} tasks, and the manifest says {entry.tasks}")
