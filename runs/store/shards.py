"""Shards: parts of the units of a stage, made by separate processes and merged.

A unit is a piece of work that depends on no other unit of its stage: an attempt, a conversation to audit, a part of
the traces. Shard I of N has the units I, I + N, I + 2 N, ... in the order of the stage, so merged
shards are the file that one process writes. The record beside the rows of a shard says which job they are a part of.
"""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from importlib.metadata import version
from itertools import cycle, islice
from pathlib import Path
from typing import Literal, Self, TypeVar

from pydantic import BaseModel, ValidationError

from lawtrace.runs.store.stage_files import describe_row_error, file_digest, read_text, write_lines
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import StrictModel

Unit = TypeVar("Unit")
Options = TypeVar("Options", bound=BaseModel)

RECORD_SUFFIX = ".shard.json"


@dataclass(frozen=True, slots=True)
class Shard:
    """Part ``number`` of ``count``, counted from 1."""

    number: int
    count: int

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read ``I/N``. Raises InputError."""
        found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text.strip(), re.ASCII)
        number, count = (int(part) for part in found.groups()) if found else (0, 0)
        if not 1 <= number <= count:
            raise InputError(f"--shard {text!r}: write I/N with 1 <= I <= N, such as 2/8")
        return cls(number, count)

    def __str__(self) -> str:
        return f"{self.number}/{self.count}"

    @property
    def is_whole(self) -> bool:
        return self.count == 1

    def of(self, units: Sequence[Unit]) -> Sequence[Unit]:
        """Its units of all units."""
        return units[self.number - 1 :: self.count]


WHOLE = Shard(1, 1)


class ShardRecord(StrictModel):
    """What the rows of a shard are a part of. Written when the shard begins, and again when it ends.

    Attributes:
        written_by: the version of lawtrace.
        command: without `lawtrace`, such as ``audit``.
        key: a hash over all that the units depend on; shards with different keys are of different jobs.
        units: how many units all shards have together.
        unit_rows: how many rows a unit has; the last of all units may have fewer.
        file: the rows of the shard, in the folder of the record.
        sha256: of that file; empty while the shard is not finished.
        complete: False if a model did not answer.
        events: the folder of its event log, relative to the record; None without one.
        options: what `lawtrace merge` needs besides the rows.
    """

    schema_version: Literal["lawtrace.shard/1"] = "lawtrace.shard/1"
    written_by: str
    command: str
    number: int
    count: int
    key: str = ""
    units: int = 0
    unit_rows: int = 1
    file: str
    sha256: str = ""
    complete: bool = True
    events: str | None = None
    options: Mapping[str, Json] = {}

    @classmethod
    def of(cls, command: str, shard: Shard, file: Path, *, events: str | None = None) -> Self:
        """The record of a shard that begins. ``file``: of its rows."""
        return cls(
            written_by=version("lawtrace"),
            command=command,
            number=shard.number,
            count=shard.count,
            file=file.name,
            events=events,
        )

    def finish(
        self,
        file: Path,
        *,
        key: str,
        units: int,
        unit_rows: int = 1,
        complete: bool = True,
        options: BaseModel | None = None,
    ) -> None:
        """Write the record of a finished shard beside the file of its rows. ``units``: of all shards together."""
        ended = {
            "key": key,
            "units": units,
            "unit_rows": unit_rows,
            "complete": complete,
            "sha256": file_digest(file),
            "options": {} if options is None else options.model_dump(mode="json"),
        }
        self.model_copy(update=ended).write(file)

    def write(self, file: Path) -> None:
        """Write the record beside the file of the rows."""
        write_lines(record_path(file), [json.dumps(self.model_dump(mode="json"), indent=1, ensure_ascii=False)])

    @property
    def shard(self) -> Shard:
        return Shard(self.number, self.count)


def record_path(file: Path) -> Path:
    """The record beside the rows of a shard."""
    return file.with_suffix(RECORD_SUFFIX)


def read_record(path: Path) -> ShardRecord:
    """The record in a file. Raises InputError."""
    try:
        return ShardRecord.model_validate_json(read_text(path))
    except ValidationError as error:
        raise InputError(f"{path}: not the record of a shard: {describe_row_error(error)}") from error


@dataclass(frozen=True, slots=True)
class FoundShard:
    """A shard that was found: its record, and the file with its rows."""

    record: ShardRecord
    file: Path

    @property
    def events(self) -> Path | None:
        """The folder of its event log."""
        return None if self.record.events is None else self.file.parent / self.record.events

    def __str__(self) -> str:
        return f"{self.file} (shard {self.record.shard})"


def read_options(shard: FoundShard, model: type[Options]) -> Options:
    """What the record of a shard keeps for the merge. Raises InputError."""
    try:
        return model.model_validate(shard.record.options)
    except ValidationError as error:
        raise InputError(f"{shard}: its record cannot be read: {describe_row_error(error)}") from error


def find_shards(places: Sequence[Path]) -> list[FoundShard]:
    """The shards in folders, or of files with rows. Raises InputError for a place without one."""
    found: list[FoundShard] = []
    for place in places:
        records = sorted(place.rglob(f"*{RECORD_SUFFIX}")) if place.is_dir() else [record_path(place)]
        if not records or not records[0].is_file():
            raise InputError(f"{place}: there is no shard; a command with --shard I/N makes one")
        for path in records:
            record = read_record(path)
            found.append(FoundShard(record, path.with_name(Path(record.file).name)))
    return found


def record_in(run: Path) -> ShardRecord | None:
    """The record of the shard of a run that a folder has; None for a whole run."""
    return next((read_record(path) for path in sorted(run.glob(f"*{RECORD_SUFFIX}"))), None)


def check_shards(shards: Sequence[FoundShard]) -> list[FoundShard]:
    """All shards of one job, in order. Raises InputError for one that is missing, given twice, of another job,
    unfinished or changed, or made by another version than this."""
    first = shards[0].record
    for shard in shards:
        _check_same_job(shards[0], shard)
    by_number: dict[int, FoundShard] = {}
    for shard in shards:
        other = by_number.setdefault(shard.record.number, shard)
        if other is not shard:
            raise InputError(
                f"{other.file} and {shard.file} are both shard {shard.record.shard}: the same units; leave one out"
            )
    missing = [*islice((str(one) for one in range(1, first.count + 1) if one not in by_number), 11)]
    if missing:
        raise InputError(
            f"of {first.count} shards, {', '.join(missing[:10])}{' and others' if len(missing) > 10 else ''} "
            f"{'is' if len(missing) == 1 else 'are'} missing; run `lawtrace {first.command} --shard "
            f"{missing[0]}/{first.count}` as the others, and give its folder too"
        )
    for shard in shards:
        if not shard.file.is_file():
            raise InputError(f"{shard.file}: missing; the record of the shard is beside it, so copy both")
        if file_digest(shard.file) != shard.record.sha256:
            raise InputError(f"{shard}: changed since it was made; make it again")
    return [by_number[number] for number in sorted(by_number)]


def _check_same_job(first: FoundShard, other: FoundShard) -> None:
    one, two = first.record, other.record
    if not two.sha256:
        raise InputError(f"{other}: not finished; continue it with the same command, or `lawtrace resume` for a run")
    if two.written_by != version("lawtrace"):
        raise InputError(
            f"{other} was made by lawtrace {two.written_by}, and this is {version('lawtrace')}; merge with the version "
            "that made the shards"
        )
    if one.command != two.command:
        raise InputError(f"{first.file} is of `lawtrace {one.command}`, {other.file} of `lawtrace {two.command}`")
    if one.count != two.count:
        raise InputError(f"{first} and {other} belong to different divisions; all shards must have the same N")
    if (one.key, one.units, one.unit_rows) != (two.key, two.units, two.unit_rows):
        raise InputError(
            f"{other} is of another job than {first}: its inputs, options, models or rules differ; merge shards of "
            "one command"
        )


def merged_lines(shards: Sequence[FoundShard]) -> Iterator[str]:
    """The rows of all shards in the order of the units, as lines without their line feed.

    Raises InputError if a shard has not the rows of its units.
    """
    units, unit_rows = shards[0].record.units, shards[0].record.unit_rows
    with ExitStack() as stack:
        files = [stack.enter_context(shard.file.open(encoding="utf-8", newline="\n")) for shard in shards]
        for unit, (shard, file) in zip(range(units), cycle(zip(shards, files, strict=True)), strict=False):
            for row in range(unit_rows):
                line = file.readline()
                if line:
                    yield line.removesuffix("\n")
                elif row == 0 or unit < units - 1:
                    raise InputError(
                        f"{shard}: has fewer rows than its {len(shard.record.shard.of(range(units)))} units"
                    )
        for shard, file in zip(shards, files, strict=True):
            if file.readline():
                raise InputError(f"{shard}: has more rows than its {len(shard.record.shard.of(range(units)))} units")
