"""Releases of task sets: checked by the quality gate, written with a data card.

A release is a folder:

    README.md                   the data card; its front matter describes the files to Hugging Face `datasets`
    manifest.json               its inputs, and the SHA-256 of every other file
    SET.prompts.jsonl           what a model is told of each task, in each style
    ENVIRONMENT.system.md       what it is told besides: law, manual and tools
    references/SET.jsonl        the tasks with references, rules and proofs, as `lawtrace run --tasks` reads them
    references/SET.measured.json    the gate, habits, changes of references, decision points
    errata.jsonl                known defects, which may be added later
    validity/                   records of annotators and solvers, added later (`lawtrace.runs.release.validity`)

A set is named after its environment, or after the task file that it was given as. The same version, seed and code give
the same bytes. A task contains its rules and states, so a newer lawtrace can grade an older release as long as it can
read the schema version and the references still pass. `lawtrace tasks check` checks both, and that the files are those
of the manifest. A manifest can be changed too. So it must also list all files of a release, and its numbers of tasks,
its rules and the prompts must be those of the tasks. A copy of the public part has no folder ``references``.

Each file has the canary of the release, for which training data can be searched. Releases of ``release/2`` have none,
and their tasks with references are ``SET.jsonl``, beside tables.
"""

import datetime as dt
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Literal
from uuid import NAMESPACE_OID, uuid5

from jinja2 import Environment, StrictUndefined
from pydantic import ValidationError

from lawtrace.agents.prompt_context import PromptContext, RegulationText, program_system, request_text
from lawtrace.runs.stages.gate import habit_finding
from lawtrace.runs.store.stage_files import file_digest, read_rows, read_text, read_usable_rows, write_rows, write_text
from lawtrace.runs.store.task_file import ERRATA, REFERENCES, digest_rules, digest_written_rules, write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.errors import InputError, Problem, describe_validation_error
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import HabitRow, MutationKind
from lawtrace.schemas.models import FrozenModel, StrictModel
from lawtrace.schemas.quality_rows import CHECKS, QualityRow
from lawtrace.schemas.validity_rows import Changes, Erratum, MeasuredSet, Prompt
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.rules import Rule

ENDINGS = ("jsonl", "quality.jsonl", "parquet", "rules.parquet")
"""The files of one environment in releases of ``release/2``."""


@dataclass(frozen=True, slots=True)
class TaskSet:
    """Some tasks of one environment with the results of the gate, the best habit of each style, and the changes of
    references by kind.

    ``writers``: the role that wrote or read the instructions -> its model.
    """

    name: str
    domain: Domain
    rules: Sequence[Rule]
    tasks: Sequence[Task]
    quality: Sequence[QualityRow]
    habits: Sequence[HabitRow]
    changes: Mapping[MutationKind, Changes]
    writers: Mapping[str, str]

    @property
    def points(self) -> int:
        """How many decision points the contrast pairs have. Pairs on one of them are not independent."""
        return count_points(self.tasks)

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

    @property
    def entry(self) -> "EnvironmentEntry":
        environment = self.domain.environment
        return EnvironmentEntry(
            tasks=len(self.tasks),
            contrast_pairs=self.contrast_pairs,
            writers=self.writers,
            regulation=self.domain.regulation.title,
            rules=tuple(rule.id for rule in self.rules),
            rules_sha256=digest_rules(self.rules),
            environment=environment.name,
            environment_version=environment.version,
            decision_points=self.points,
            start_rows=count_start_rows(self.tasks),
        )

    def measured(self, canary: str) -> MeasuredSet:
        """What was measured, as it is released."""
        return MeasuredSet(
            canary=canary,
            findings=tuple(row for row in self.quality if row.findings),
            habits=tuple(self.habits),
            changes=self.changes,
        )


class EnvironmentEntry(StrictModel):
    """The manifest entry of one set of tasks, made under these rules.

    ``writers``: the role that wrote or read the instructions -> its model. ``environment`` and what follows: since
    ``release/3``; before it, a set is named after its environment.
    """

    tasks: int
    contrast_pairs: int
    writers: Mapping[str, str]
    regulation: str
    rules: tuple[str, ...]
    rules_sha256: str
    environment: str = ""
    environment_version: str = ""
    decision_points: int = 0
    start_rows: int = 0


class ReleaseManifest(StrictModel):
    """The inputs of a release, its sets by name, and the SHA-256 of each other file."""

    schema_version: Literal["lawtrace.release/2", "lawtrace.release/3"] = "lawtrace.release/3"
    version: str
    lawtrace: str
    seed: int
    length: int
    canary: str = ""
    environments: Mapping[str, EnvironmentEntry]
    files: Mapping[str, str]

    @property
    def expected_files(self) -> tuple[str, ...]:
        """The files that it must list."""
        if self.schema_version == "lawtrace.release/2":
            return ("README.md", *(f"{name}.{ending}" for name in self.environments for ending in ENDINGS))
        systems = dict.fromkeys(f"{entry.environment}.system.md" for entry in self.environments.values())
        own = (
            file
            for name in self.environments
            for file in (f"{name}.prompts.jsonl", f"{REFERENCES}/{name}.jsonl", f"{REFERENCES}/{name}.measured.json")
        )
        return ("README.md", *systems, *own)

    def task_file(self, name: str) -> str:
        """The task file of a set, in the folder of the release."""
        return f"{name}.jsonl" if self.schema_version == "lawtrace.release/2" else f"{REFERENCES}/{name}.jsonl"


def count_points(tasks: Iterable[Task]) -> int:
    """How many decision points the contrast pairs among these tasks have."""
    return len({(task.environment, task.contrast.point) for task in tasks if task.contrast is not None})


def count_start_rows(tasks: Iterable[Task]) -> int:
    """How many different rows the sides of contrast pairs differ in, each with its state apart from the fact."""
    rows = set[str]()
    for task in tasks:
        if (contrast := task.contrast) is not None:
            table = task.initial_state[contrast.table]
            row = table.get(contrast.key) if isinstance(table, dict) else None
            others = {**row, contrast.field: None} if isinstance(row, dict) else {}
            rows.add(json.dumps([task.environment, contrast.table, contrast.key, others], sort_keys=True))
    return len(rows)


def canary_of(version: str, seed: int) -> str:
    """The canary of a release: a sentence that no other text has."""
    return (
        f"lawtrace tasks {version}, not for training: canary {uuid5(NAMESPACE_OID, f'lawtrace tasks {version} {seed}')}"
    )


def write_release(
    folder: Path, sets: Sequence[TaskSet], *, version: str, lawtrace: str, seed: int, length: int, command: str = ""
) -> ReleaseManifest:
    """Write a release. ``command``: what makes it from the seed; empty for given tasks.

    Raises InputError if a task fails the gate, a habit passes too many contrast pairs or tasks of theirs, or the folder
    holds another version of a release.
    """
    for released in sets:
        for habit in released.habits:
            if finding := habit_finding(habit):
                raise InputError(f"{released.name}: {finding} Raise tasks.spare, or leave out pairs of given tasks")
        if failed := [row.task for row in released.quality if not row.passed]:
            raise InputError(
                f"{released.name}: {len(failed)} tasks fail the gate, {failed[0]} first; only what passes is released, "
                "see `lawtrace tasks check`"
            )
    check_release_folder(folder, version)
    canary = canary_of(version, seed)
    for released in sets:
        write_rows(folder / f"{released.name}.prompts.jsonl", prompts_of(released.domain, released.tasks, canary))
        write_text(folder / f"{released.domain.environment.name}.system.md", _system_text(released.domain, canary))
        (folder / REFERENCES).mkdir(exist_ok=True)
        write_tasks(folder / REFERENCES / f"{released.name}.jsonl", released.tasks, canary)
        measured = released.measured(canary).model_dump_json(indent=1)
        write_text(folder / REFERENCES / f"{released.name}.measured.json", f"{measured}\n")
    write_text(folder / "README.md", _card(version, sets, seed, canary, command))
    manifest = ReleaseManifest(
        version=version,
        lawtrace=lawtrace,
        seed=seed,
        length=length,
        canary=canary,
        environments={released.name: released.entry for released in sets},
        files={},
    )
    files = {name: file_digest(folder / name) for name in manifest.expected_files}
    manifest = manifest.model_copy(update={"files": files})
    write_text(folder / "manifest.json", manifest.model_dump_json(indent=1) + "\n")
    return manifest


def prompts_of(domain: Domain, tasks: Sequence[Task], canary: str) -> list[Prompt]:
    """The public rows of tasks."""
    environment = domain.environment
    starts = [dt.datetime.fromtimestamp(environment.clock.start(task.initial(environment)), dt.UTC) for task in tasks]
    return [
        Prompt(
            id=f"{task.id}/{style}",
            task=task.id,
            environment=environment.name,
            environment_version=environment.version,
            style=style,
            session_start=f"{start:%Y-%m-%d %H:%M:%S}",
            prompt=request_text(task.instructions[style]),
            canary=canary,
        )
        for task, start in zip(tasks, starts, strict=True)
        for style in task.styles
    ]


def _system_text(domain: Domain, canary: str) -> str:
    """What a model that writes programs is told in every task, with the law restated."""
    context = PromptContext(law=RegulationText("whole", domain.regulation.text(), domain.regulation.manual_text()))
    return f"{program_system(domain.environment, context)}\n<!-- {canary} -->\n"


def read_manifest(folder: Path) -> ReleaseManifest:
    """The manifest of a release. Raises InputError."""
    path = folder / "manifest.json"
    if not path.is_file():
        meant = f"; did you mean {folder / 'tasks.jsonl'}?" if (folder / "tasks.jsonl").is_file() else ""
        raise InputError(f"{folder}: not a release: it has no manifest.json{meant}")
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


def _card(version: str, sets: Sequence[TaskSet], seed: int, canary: str, command: str) -> str:
    answers = [row.answer(check) for released in sets for row in released.quality for check in CHECKS]
    template = Environment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701 (Markdown)
    return template.from_string((Path(__file__).parent / "card.md.jinja").read_text(encoding="utf-8")).render(
        version=version,
        sets=sets,
        kinds=list(dict.fromkeys(kind for released in sets for kind in released.kinds)),
        writers={writer for released in sets for writer in released.writers.values()},
        seed=seed,
        canary=canary,
        command=command,
        undecided=answers.count("undecided"),
    )


def task_files(folder: Path) -> list[Path]:
    """The task files of a release, one for each set; none in a copy without references. Raises InputError."""
    manifest = read_manifest(folder)
    files = [folder / manifest.task_file(name) for name in manifest.environments]
    return files if _has_references(folder, manifest) else []


def _has_references(folder: Path, manifest: ReleaseManifest) -> bool:
    return manifest.schema_version == "lawtrace.release/2" or (folder / REFERENCES).is_dir()


def read_measured(folder: Path, name: str) -> MeasuredSet | None:
    """What was measured of a set of a release; None before ``release/3``. Raises InputError."""
    file = folder / REFERENCES / f"{name}.measured.json"
    if not file.is_file():
        return None
    try:
        return MeasuredSet.model_validate_json(read_text(file))
    except ValidationError as error:
        raise InputError(f"{file}: {describe_validation_error(error)}") from error


def read_errata(folder: Path) -> list[Erratum]:
    """The known defects of a release. Raises InputError."""
    file = folder / ERRATA
    return read_rows(file, Erratum) if file.is_file() else []


def check_release(folder: Path) -> list[Problem]:
    """The differences from the manifest; empty if the release is intact. Raises InputError without a manifest."""
    manifest = read_manifest(folder)
    problems = [*_unlisted_files(folder, manifest), *_changed_files(folder, manifest)]
    touched = {problem.place for problem in problems}
    for name, entry in manifest.environments.items():
        path = folder / manifest.task_file(name)
        if str(path) not in touched and path.is_file():
            problems += _manifest_mismatches(path, entry)
    return problems


def check_prompts(folder: Path, name: str, tasks: Sequence[Task], domain: Domain) -> list[Problem]:
    """The public rows of a set that are not those of its tasks. Raises InputError."""
    manifest = read_manifest(folder)
    if manifest.schema_version == "lawtrace.release/2":
        return []
    file = folder / f"{name}.prompts.jsonl"
    expected, found = prompts_of(domain, tasks, manifest.canary), read_rows(file, Prompt)
    wrong = [row.id for row in found if row not in expected] + [row.id for row in expected if row not in found]
    return [Problem(str(file), f"its prompts are not those of the tasks: {wrong[0]} first")] if wrong else []


def _unlisted_files(folder: Path, manifest: ReleaseManifest) -> Iterable[Problem]:
    if not manifest.environments:
        yield Problem(str(folder / "manifest.json"), "names no environment")
    for name in manifest.expected_files:
        if name not in manifest.files:
            yield Problem(str(folder / name), "the manifest has no SHA-256 of it")


def _changed_files(folder: Path, manifest: ReleaseManifest) -> Iterable[Problem]:
    for name, expected in manifest.files.items():
        path = folder / name
        if name.startswith(f"{REFERENCES}/") and not _has_references(folder, manifest):
            continue
        if not path.is_file():
            yield Problem(str(path), "missing")
        elif file_digest(path) != expected:
            yield Problem(str(path), "not the file that was released; its SHA-256 differs")
        elif manifest.canary and manifest.canary not in read_text(path):
            yield Problem(str(path), "has not the canary of the manifest")


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
