"""Releases of task sets: built from a seed, checked by the quality gate, written with a data card.

A release is a folder:

    README.md               the data card; its front matter describes the files to Hugging Face `datasets`
    manifest.json           its inputs, and the SHA-256 of every other file
    ENVIRONMENT.jsonl       the pairs as `lawtrace grade` reads them
    ENVIRONMENT.parquet     one row per task (a pair has two)
    ENVIRONMENT.rules.parquet   its rules by rule set, the column that both tables have
    ENVIRONMENT.quality.jsonl   the results of the gate

The same version, seed and code give the same bytes. A task contains its rules and states, so a newer lawtrace can grade
an older release as long as it can read the schema version and the references still pass. `lawtrace tasks check` checks
both, `lawtrace.runs.release.integrity` checks the files.
"""

import importlib
import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, StrictUndefined
from pydantic import BaseModel, ConfigDict, ValidationError

from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.errors import InputError, OperationalError, describe_validation_error
from lawtrace.runs.schemas.findings import HabitRow
from lawtrace.runs.schemas.task_rows import Task
from lawtrace.runs.stages.quality import CHECKS, QualityRow
from lawtrace.runs.store.stage_files import file_digest, read_text, write_rows
from lawtrace.runs.store.task_file import digest_rules, write_tasks
from lawtrace.solver.habits.selection import BEST_SHARE
from lawtrace.solver.rules import Rule

ENDINGS = ("jsonl", "quality.jsonl", "parquet", "rules.parquet")
"""The files of one environment."""


BY_HAND = "written by hand"
"""In place of a model: a person wrote the instructions."""


@dataclass(frozen=True, slots=True)
class TaskSet:
    """The tasks of one environment with the results of the gate and the best habit of each style."""

    domain: Domain
    rules: Sequence[Rule]
    tasks: Sequence[Task]
    quality: Sequence[QualityRow]
    habits: Sequence[HabitRow]

    @property
    def best_habit(self) -> float:
        """The share of tasks of both styles that the best habits pass."""
        return sum(len(row.passed) for row in self.habits) / sum(row.tasks for row in self.habits)


class EnvironmentEntry(BaseModel):
    """The manifest entry of one environment: ``pairs`` tasks in two styles, made under these rules."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    pairs: int
    regulation: str
    rules: tuple[str, ...]
    rules_sha256: str


class ReleaseManifest(BaseModel):
    """The inputs of a release. ``files``: the SHA-256 of each other file."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.release/1"] = "lawtrace.release/1"
    version: str
    lawtrace: str
    seed: int
    length: int
    roles: Mapping[str, str]
    environments: Mapping[str, EnvironmentEntry]
    files: Mapping[str, str]


def write_release(
    folder: Path,
    sets: Sequence[TaskSet],
    *,
    version: str,
    lawtrace: str,
    seed: int,
    length: int,
    roles: Mapping[str, str],
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
            pairs=len(released.tasks),
            regulation=released.domain.regulation.title,
            rules=tuple(rule.id for rule in released.rules),
            rules_sha256=digest_rules(released.rules),
        )
        for released in sets
    }
    _write_text(folder / "README.md", _card(version, sets, roles, seed))
    files["README.md"] = file_digest(folder / "README.md")
    manifest = ReleaseManifest(
        version=version, lawtrace=lawtrace, seed=seed, length=length, roles=roles, environments=entries, files=files
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
        raise OperationalError("Parquet needs the extra 'tables': pip install 'lawtrace[tables]'") from error
    columns: dict[str, list[Any]] = {name: [row[name] for row in rows] for name in rows[0]}
    parquet.write_table(tables.table(columns), path, compression="zstd")


def _task_table(released: TaskSet) -> list[dict[str, Any]]:
    """One row per task. States are JSON text, since their fields depend on the environment."""
    return [
        {
            "id": f"{task.id}/{style}",
            "pair": task.id,
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


def _card(version: str, sets: Sequence[TaskSet], roles: Mapping[str, str], seed: int) -> str:
    answers = [row.answer(check) for released in sets for row in released.quality for check in CHECKS]
    template = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 (Markdown)
    return template.from_string((Path(__file__).parent / "card.md.jinja").read_text(encoding="utf-8")).render(
        version=version,
        sets=sets,
        roles=roles,
        seed=seed,
        by_hand=BY_HAND in roles.values(),
        undecided=answers.count("undecided"),
    )


def _write_text(path: Path, text: str) -> None:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OperationalError(f"{path}: cannot be written: {error.strerror}") from error
