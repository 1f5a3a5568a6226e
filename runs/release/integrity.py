"""Integrity check of a release: every file has its released digest, and the tasks agree with the manifest.

A manifest can be changed too. So it must also list all files of a release, and its numbers of tasks and its rules must
be those of the tasks.
"""

from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from lawtrace.runs.release.task_set import ENDINGS, EnvironmentEntry, ReleaseManifest, read_manifest
from lawtrace.runs.store.stage_files import file_digest, read_usable_rows
from lawtrace.runs.store.task_file import digest_written_rules
from lawtrace.schemas.errors import Problem
from lawtrace.schemas.events import Json


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


class _Line(BaseModel):
    """A line of a task file as written: a header, or a task."""

    rule_sets: dict[str, tuple[dict[str, Json], ...]] = {}
    rule_set: str | None = None


def _manifest_mismatches(path: Path, entry: EnvironmentEntry) -> Iterable[Problem]:
    """The differences between tasks and manifest. Rules are compared as written, so that a release stays intact when
    rules get new fields."""
    lines = read_usable_rows(path, _Line)
    yield from lines.problems
    written: dict[str | None, tuple[dict[str, Json], ...]] = {}
    tasks = 0
    for place, line in zip(lines.places, lines.rows, strict=True):
        written |= line.rule_sets
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
