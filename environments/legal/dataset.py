"""The dataset: cases from files, in our format or as published.

    *.jsonl, *.json   cases in our format, published rows (content, type, source), or questions in the plain format
                      (`lawtrace.environments.legal.question_sets`); one a line, or an array
    *.arrow           published rows, as the stream inside a dataset folder     (extra ``bench``)
    *.parquet         published rows                                            (extra ``bench``)

In a folder, the files directly in it are read; subfolders only if there are none, so that a dataset stored in two forms
side by side is not read twice.
"""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, cast

from pydantic import ValidationError

from lawtrace.environments.legal.case import AGENTS, Agent, Case
from lawtrace.environments.legal.case_rows import PlacedRow
from lawtrace.environments.legal.maslegalbench import parse_rows
from lawtrace.environments.legal.question_sets import parse_plain_rows
from lawtrace.schemas.errors import InputError, OperationalError, Problem, describe_validation_error, input_errors

_LINES = frozenset({".jsonl", ".json"})
_TABLES = frozenset({".arrow", ".parquet"})
_DATASET_NOTES = frozenset({"dataset_info.json", "state.json", "dataset_dict.json"})


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
    rows: list[PlacedRow] = []
    plain: dict[str, list[PlacedRow]] = {}
    for file in files:
        for place, raw in _line_rows(file, problems) if file.suffix in _LINES else _table_rows(file):
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


def _line_rows(file: Path, problems: list[Problem]) -> Iterator[PlacedRow]:
    """The objects of a file that is one JSON array, or else of its lines."""
    with input_errors(file):
        data = file.read_bytes()
    array = _array(data)
    lines = ((f"line {number}", line) for number, line in enumerate(data.splitlines(), 1) if line.strip())
    items = lines if array is None else ((f"item {number}", item) for number, item in enumerate(array, 1))
    for place, item in items:
        try:
            raw: object = json.loads(item) if isinstance(item, bytes) else item
        except (ValueError, RecursionError) as error:
            problems.append(Problem(f"{file.name}, {place}", f"not JSON: {error}"))
            continue
        if isinstance(raw, dict):
            yield f"{file.name}, {place}", cast("dict[str, Any]", raw)
        else:
            problems.append(Problem(f"{file.name}, {place}", "JSON, but not an object"))


def _array(data: bytes) -> list[object] | None:
    """The items of a JSON array; None for JSON lines, which tell what is wrong with them."""
    if not data.lstrip().startswith(b"["):
        return None
    try:
        found: object = json.loads(data)
    except (ValueError, RecursionError):
        return None
    return cast("list[object]", found) if isinstance(found, list) else None


def _table_rows(file: Path) -> Iterator[PlacedRow]:
    # An optional library without types.
    try:
        arrow: Any = import_module("pyarrow")
        ipc: Any = import_module("pyarrow.ipc")
        parquet: Any = import_module("pyarrow.parquet")
    except ImportError as error:
        raise OperationalError(f"{file}: reading it needs the extra: pip install 'lawtrace[bench]'") from error
    with input_errors(file, arrow.ArrowException):
        if file.suffix == ".parquet":
            table = parquet.read_table(file)
        else:
            with arrow.memory_map(str(file)) as source:
                table = ipc.open_stream(source).read_all()
        rows: list[dict[str, Any]] = table.to_pylist()
    for number, raw in enumerate(rows, 1):
        yield f"{file.name}, row {number}", raw
