"""The dataset: cases from files, in our format or as published.

    *.jsonl, *.json   cases in our format, published rows (content, type, source), or questions in the plain format
                      (`lawtrace.environments.legal.question_sets`); one a line, or an array
    *.arrow           published rows, as the stream inside a dataset folder     (extra ``bench``)
    *.parquet         published rows                                            (extra ``bench``)

In a folder, the files directly in it are read; subfolders only if there are none, so that a dataset stored in two forms
side by side is not read twice.
"""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from lawtrace.environments.legal.case import AGENTS, Agent, Case
from lawtrace.environments.legal.maslegalbench import parse_rows
from lawtrace.environments.legal.question_sets import parse_plain_rows
from lawtrace.schemas.errors import InputError, OperationalError, Problem, describe_validation_error

_LINES = frozenset({".jsonl", ".json"})
_TABLES = frozenset({".arrow", ".parquet"})
_DATASET_NOTES = frozenset({"dataset_info.json", "state.json", "dataset_dict.json"})

_Row = tuple[str, Mapping[str, Any]]


@dataclass(frozen=True, slots=True)
class LegalDataset:
    """Cases, rows that could not be used, and agents without chunks.

    Attributes:
        cases: in the order of files and rows.
        problems: rows that were left out, each with its place.
    """

    cases: tuple[Case, ...]
    problems: tuple[Problem, ...] = ()

    @property
    def missing(self) -> tuple[tuple[str, Agent], ...]:
        """Pairs of a case and an agent without a chunk in it; contexts of that agent alone are empty there."""
        return tuple(
            (case.id, agent)
            for case in self.cases
            for agent in AGENTS
            if not any(chunk.agent == agent for chunk in case.chunks)
        )


def load_dataset(path: Path) -> LegalDataset:
    """The cases in a file or a folder. Raises InputError if there is none, OperationalError without the extra."""
    files = _files(path)
    cases: list[Case] = []
    problems: list[Problem] = []
    rows: list[_Row] = []
    plain: dict[str, list[_Row]] = {}
    for file in files:
        for place, raw in _rows(file, problems):
            if "schema_version" not in raw:
                (plain.setdefault(file.stem, []) if "question" in raw else rows).append((place, raw))
                continue
            try:
                cases.append(Case.model_validate(raw))
            except ValidationError as error:
                problems.append(Problem(place, describe_validation_error(error)))
    published, unusable = parse_rows(rows)
    problems += unusable
    for name, asked in plain.items():
        found, unusable = parse_plain_rows(asked, name)
        cases += found
        problems += unusable
    together = _remove_duplicates([*cases, *published], problems)
    if not any(case.questions or case.chunks for case in together):
        why = f"; the first problem: {problems[0]}" if problems else ""
        raise InputError(f"{path}: no case found{why}")
    return LegalDataset(together, tuple(problems))


def _remove_duplicates(cases: list[Case], problems: list[Problem]) -> tuple[Case, ...]:
    """Remove repeated cases, and questions whose id occurred before: answers are counted by id."""
    kept: dict[str, Case] = {}
    known: dict[str, str] = {}
    for case in cases:
        if case.id in kept:
            problems.append(Problem(case.id, "the case occurs twice; the first one is used"))
            continue
        twice = [question for question in case.questions if question.id in known]
        problems += [
            Problem(f"{case.id}, question {question.id}", f"the id is taken by a question of {known[question.id]}")
            for question in twice
        ]
        fresh = tuple(question for question in case.questions if question.id not in known)
        known |= {question.id: case.id for question in fresh}
        kept[case.id] = case.model_copy(update={"questions": fresh}) if twice else case
    return tuple(kept.values())


def _files(path: Path) -> list[Path]:
    if path.is_file():
        if path.suffix not in _LINES | _TABLES:
            raise InputError(
                f"{path}: a dataset is JSON lines (.jsonl), .arrow or .parquet; `lawtrace legal ingest` reads documents"
            )
        return [path]
    if not path.is_dir():
        raise InputError(f"{path}: cannot be read: No such file or directory")
    for pattern in ("*", "**/*"):
        found = sorted(
            file
            for file in path.glob(pattern)
            if file.suffix in _LINES | _TABLES and file.name not in _DATASET_NOTES and file.is_file()
        )
        if found:
            return found
    raise InputError(f"{path}: no dataset found (.jsonl, .arrow or .parquet)")


def _rows(file: Path, problems: list[Problem]) -> Iterator[_Row]:
    return _line_rows(file, problems) if file.suffix in _LINES else _table_rows(file)


def _line_rows(file: Path, problems: list[Problem]) -> Iterator[_Row]:
    array = _array(file)
    if array is not None:
        for number, raw in enumerate(array, 1):
            if isinstance(raw, dict):
                yield f"{file.name}, item {number}", cast("dict[str, Any]", raw)
            else:
                problems.append(Problem(f"{file.name}, item {number}", "JSON, but not an object"))
        return
    try:
        with file.open("rb") as lines:
            for number, line in enumerate(lines, 1):
                place = f"{file.name}, line {number}"
                if not line.strip():
                    continue
                try:
                    raw = json.loads(line.decode("utf-8"))
                except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
                    problems.append(Problem(place, f"not JSON: {error}"))
                    continue
                if isinstance(raw, dict):
                    yield place, raw
                else:
                    problems.append(Problem(place, "JSON, but not an object"))
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error


def _array(file: Path) -> list[object] | None:
    """The items of a file that is one JSON array; None for JSON lines."""
    try:
        with file.open("rb") as opened:
            if opened.read(1000).lstrip()[:1] != b"[":
                return None
            opened.seek(0)
            found: object = json.loads(opened.read().decode("utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        return None  # the lines are read, and tell what is wrong
    return cast("list[object]", found) if isinstance(found, list) else None


def _table_rows(file: Path) -> Iterator[_Row]:
    # An optional library without types.
    try:
        arrow: Any = import_module("pyarrow")
        ipc: Any = import_module("pyarrow.ipc")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise OperationalError(f"{file}: reading it needs the extra: pip install 'lawtrace[bench]'") from error
    try:
        if file.suffix == ".parquet":
            table = parquet.read_table(file)
        else:
            with arrow.memory_map(str(file)) as source:
                table = ipc.open_stream(source).read_all()
        rows: list[dict[str, Any]] = table.to_pylist()
    except (arrow.ArrowException, OSError) as error:
        raise InputError(f"{file}: not a table that can be read: {error}") from error
    for number, raw in enumerate(rows, 1):
        yield f"{file.name}, row {number}", raw
