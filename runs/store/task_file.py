"""Task files, and rows that refer to their tasks: answers, attempts, verdicts.

A task file starts with a header, which has each rule set of its tasks once, by digest; a task names the digest:

    {"schema_version": "lawtrace.task_file/1", "rule_sets": {"<sha256>": [<rule>, ...]}}
    {"schema_version": "lawtrace.task/2", "id": "...", ..., "rule_set": "<sha256>"}

The digest is the SHA-256 of the rules as compact JSON, one a line. A file may have further headers, so task files can
be concatenated.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Sequence
from difflib import get_close_matches
from functools import cache, partial
from itertools import chain
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import Field

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.store.stage_files import UsableRows, describe_row_error, numbered_lines, write_rows
from lawtrace.runs.store.stage_store import StageFile
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Attempt, AttemptKey
from lawtrace.schemas.errors import InputError, Problem, near_names
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.recipe import TaskOptions
from lawtrace.schemas.task_rows import TaskRow
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, Domain, load_domain
from lawtrace.solver.interpretations import question_groups
from lawtrace.solver.rules import Rule, check_rules

HEADER_SCHEMA = "lawtrace.task_file/1"


class TaskFileHeader(StrictModel):
    """The first line of a task file: digest -> rules. ``canary``: of a release, which no training data should have."""

    schema_version: Literal["lawtrace.task_file/1"] = HEADER_SCHEMA
    canary: str = Field(default="", exclude_if=lambda value: not value)
    rule_sets: dict[str, tuple[Rule, ...]]


def digest_rules(rules: Iterable[Rule]) -> str:
    """The digest of a rule set."""
    return digest_written_rules(rule.model_dump(mode="json") for rule in rules)


def digest_written_rules(rules: Iterable[object]) -> str:
    """The digest of rules as written in a file. It stays the same when rules get new fields."""
    lines = (json.dumps(rule, ensure_ascii=False, separators=(",", ":")) for rule in rules)
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


def _rule_sets(line: str) -> dict[str, tuple[Rule, ...]] | None:
    """The rule sets of a header; None if the line is no header. Raises ValueError for an invalid one."""
    written: Any = json.loads(line) if '"lawtrace.task_file/' in line else {}
    if "rule_sets" not in written:
        return None
    header = TaskFileHeader.model_validate(written)
    for digest in header.rule_sets:
        if (found := digest_written_rules(written["rule_sets"][digest])) != digest:
            raise ValueError(f"rule set {digest!r} does not match its rules, whose digest is {found}")
    return header.rule_sets


def write_tasks(path: Path, tasks: Sequence[Task], canary: str = "") -> int:
    """Write a task file atomically and return the number of tasks. Raises OperationalError."""
    digests = {rules: digest_rules(rules) for rules in dict.fromkeys(task.rules for task in tasks)}
    header = TaskFileHeader(canary=canary, rule_sets={digest: rules for rules, digest in digests.items()})
    return write_rows(path, chain([header], (task.row(digests[task.rules]) for task in tasks))) - 1


def read_task_rows(path: Path) -> UsableRows[Task]:
    """The valid rows of a task file. Raises InputError if it cannot be read, or a header is missing or invalid."""
    usable = UsableRows[Task]()
    rule_sets: dict[str, tuple[Rule, ...]] | None = None
    for number, line in numbered_lines(path):
        place = f"{path}, line {number}"
        try:
            found = _rule_sets(line)
        except ValueError as error:
            raise InputError(f"{place}: invalid header: {describe_row_error(error)}") from error
        if found is not None:
            rule_sets = {**(rule_sets or {}), **found}
            continue
        if rule_sets is None:
            raise InputError(
                f"{place}: not the header of a task file ({HEADER_SCHEMA}); an older lawtrace or another program wrote "
                "this file: build, import or release the tasks again"
            )
        try:
            row = TaskRow.model_validate_json(line)
            if row.rule_set not in rule_sets:
                raise ValueError(f"field 'rule_set': no header has the rule set {row.rule_set!r}")
            usable.add(place, Task.of(row, rule_sets[row.rule_set]))
        except ValueError as error:
            usable.problems.append(Problem(place, describe_row_error(error)))
    return usable


class TaskFile(StageFile[Task]):
    """A stage file of tasks."""

    def __init__(self, name: str) -> None:
        super().__init__(name, Task)

    def read(self, path: Path) -> list[Task]:
        return read_task_rows(path).valid()

    def write(self, path: Path, rows: Sequence[Task]) -> int:
        return write_tasks(path, rows)


RELEASES = Path("docs/tasks")
"""Where a checkout has releases, by their names."""
REFERENCES = "references"
"""The folder of a release that has the tasks with their references, apart from the prompts."""
ERRATA = "errata.jsonl"
"""The file of a release with its known defects."""


def find_release(place: Path) -> Path:
    """The folder of a release that is meant by its name; another path as it is."""
    named = RELEASES / place
    return named if place.name == str(place) and not place.exists() and named.is_dir() else place


def find_task_file(place: Path, environment: str) -> Path:
    """The task file that is meant by a file, a run, or the folder or name of a release, there for an environment.

    Raises InputError if a folder has none, or none of the environment.
    """
    place = find_release(place)
    if not place.exists():
        releases = (path.name for path in RELEASES.glob("*") if path.is_dir())
        raise InputError(f"{place}: no such task file, run or release{near_names(place.name, releases)}")
    if not place.is_dir():
        return place
    released = (place / "manifest.json").exists()
    place = place / REFERENCES if (place / REFERENCES).is_dir() else place
    files = place.glob("*.jsonl" if released else "tasks.jsonl")
    names = sorted(path.stem for path in files if "." not in path.stem and path.name != ERRATA)
    if not names:
        raise InputError(f"{place}: no task file in this folder; name a file, a release or a run")
    chosen = names[0] if len(names) == 1 else Path(environment).name
    if chosen not in names:
        raise InputError(f"{place}: has tasks of {', '.join(names)}; choose one of these with --env")
    return place / f"{chosen}.jsonl"


def find_tasks(tasks: Sequence[Task], name: str, place: object) -> list[Task]:
    """The task with an id, or the sides of a contrast pair. Raises InputError if there is none."""
    found = [task for task in tasks if name == task.id or (task.contrast and name == task.contrast.pair)]
    if not found:
        nearest = get_close_matches(name, [task.id for task in tasks], 1) or [tasks[0].id]
        raise InputError(f"{place}: no task {name!r}; did you mean {nearest[0]!r}?")
    return found


def select_tasks(tasks: Sequence[Task], options: TaskOptions, place: object) -> list[Task]:
    """The tasks that the options choose, in order. Raises InputError for an unknown id."""
    chosen = {task.id for name in options.ids for task in find_tasks(tasks, name, place)}
    return [task for task in tasks if not chosen or task.id in chosen][: options.limit]


def read_tasks(path: Path, env: str | None = None) -> tuple[list[Task], Domain]:
    """The tasks of a file and their environment; ``env`` is its folder, if it is not built in. That of dockets has the
    entries of the manual that hold in dockets.

    Raises InputError with file and task for a repeated id, a second environment, a rule about an unknown tool or an
    invalid state: a verdict on such a task would be meaningless.
    """
    usable, domain = read_usable_tasks(path, env)
    return usable.valid(), domain


def read_usable_tasks(path: Path, env: str | None = None) -> tuple[UsableRows[Task], Domain]:
    """Like `read_tasks`, with a problem for each invalid task. Raises InputError if no task is valid, or their
    environment is not found or is another one."""
    path = find_task_file(path, env or "")
    read = read_task_rows(path)
    if not read.rows:
        reason = read.problems[0] if read.problems else "run the stage that writes it first"
        raise InputError(f"{path}: no valid task; {reason}")
    domain = recorded_domain(path, "tasks", read.rows[0].environment, env)
    usable = UsableRows[Task](problems=read.problems)
    seen: set[str] = set()
    check = cache(partial(check_rules, environment=domain.environment))  # the tasks of a file mostly share their rules
    for place, task in zip(read.places, read.rows, strict=True):
        problem = _task_problem(domain.environment, task, seen, check)
        if problem is None:
            usable.add(place, task)
            seen.add(task.id)
        else:
            usable.problems.append(Problem(f"{place}, task {task.id!r}", problem))
    if not usable.rows:
        raise InputError(f"{path}: no valid task; {usable.problems[0]}")
    return usable, domain.for_dockets() if any(task.docket for task in usable.rows) else domain


def recorded_domain(path: Path, rows: str, name: str, env: str | None) -> Domain:
    """The environment of this name, which the rows of a file are about; ``env`` is its folder, if it is not built in.

    Raises InputError if it is not found or is another one.
    """
    if env is None and name not in BUILT_IN_DOMAINS:
        raise InputError(
            f"{path}: its {rows} are about the environment {name!r}, which is not built in; say where its folder is: "
            f"--env ./{name}"
        )
    domain = load_domain(env or name)
    if domain.environment.name != name:
        raise InputError(f"{path}: its {rows} are about {name!r}, not about {domain.environment.name!r} as named")
    return domain


def _task_problem(
    environment: Environment, task: Task, seen: set[str], check: Callable[[tuple[Rule, ...]], None]
) -> str | None:
    if task.id in seen:
        return "this id occurs twice; a verdict would be ambiguous"
    if task.environment != environment.name:
        return f"its environment is {task.environment!r}, others are {environment.name!r}"
    if task.environment_version != environment.version:
        return (
            f"it is for version {task.environment_version} of {environment.name!r}, and here is version "
            f"{environment.version}, with other tools and rules; use the lawtrace of its release, or build tasks again"
        )
    try:
        check(task.rules)
        task.initial(environment)
        task.end_states(environment)
        question_groups(task.rules, {name for end in task.ends for name in end.under})
    except InputError as error:
        return str(error)
    return None


RowAboutTask = TypeVar("RowAboutTask", bound=Answer | Attempt | Verdict)


def match_to_tasks(tasks: Sequence[Task], read: UsableRows[RowAboutTask]) -> UsableRows[RowAboutTask]:
    """The rows about known tasks and styles, one for each attempt; the others become problems.

    Of two rows about the same attempt the first is used.
    """
    by_id = {task.id: task for task in tasks}
    first: dict[AttemptKey, str] = {}
    usable = UsableRows[RowAboutTask](problems=[*read.problems])
    for place, row in zip(read.places, read.rows, strict=True):
        key = row.key
        before = first.setdefault(key, place)
        if key.task not in by_id:
            usable.problems.append(Problem(place, f"no task {key.task!r} in the task file"))
        elif key.style not in by_id[key.task].instructions:
            usable.problems.append(Problem(place, f"task {key.task!r} has no {key.style} instruction"))
        elif before != place:
            usable.problems.append(Problem(place, f"the same attempt of {key.task!r} by {key.model!r} as in {before}"))
        else:
            usable.add(place, row)
    return usable
