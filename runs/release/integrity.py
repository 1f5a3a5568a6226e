"""Is the folder of a release whole: is every file the one that was released, and do the tasks bear the manifest out?

A manifest can be changed too. So it is not enough that the files it lists are as it says: it must list all that a
release has, and the pairs and rules that it speaks of must be those of the tasks.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from pydantic import BaseModel

from lawtrace.environments.errors import Problem
from lawtrace.environments.events import Json
from lawtrace.runs.release.task_set import ENDINGS, EnvironmentEntry, ReleaseManifest, read_manifest, rules_digest
from lawtrace.runs.store.stage_files import file_digest, read_usable_rows


def task_files(folder: Path) -> list[Path]:
    """The pairs of a release, one file for each environment. Raises InputError."""
    return [folder / f"{name}.jsonl" for name in read_manifest(folder).environments]


def check_release(folder: Path) -> list[Problem]:
    """What is not as the manifest says. Empty if the release is whole. Raises InputError without a manifest."""
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


class _TaskLine(BaseModel):
    """What a line of tasks says of its rules, as it was written."""

    rules: tuple[dict[str, Json], ...]


def _manifest_mismatches(path: Path, entry: EnvironmentEntry) -> Iterable[Problem]:
    """Where the tasks are not what the manifest says of them. Rules are held against it as they were written, so that
    a release stays whole when a rule can say more than it could then."""
    tasks = read_usable_rows(path, _TaskLine)
    yield from tasks.problems
    if len(tasks.rows) != entry.pairs:
        yield Problem(str(path), f"{len(tasks.rows)} pairs, and the manifest says {entry.pairs}")
    for place, task in zip(tasks.places, tasks.rows, strict=True):
        written = (json.dumps(rule, ensure_ascii=False, separators=(",", ":")) for rule in task.rules)
        names = tuple(rule.get("id") for rule in task.rules)
        if names != entry.rules or rules_digest(written) != entry.rules_sha256:
            yield Problem(place, "its rules are not those that the manifest speaks of")
