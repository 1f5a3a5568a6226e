"""Stage files: atomic writes, and errors that name the line."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.runs.web.export import write_page
from lawtrace.schemas.errors import InputError, OperationalError


class Pebble(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    weight: int
    name: str = "quartz"


def test_rows_come_back_in_order(tmp_path: Path) -> None:
    rows = [Pebble(weight=weight, name="größer") for weight in (3, 1, 2)]
    assert write_rows(tmp_path / "deep" / "rows.jsonl", rows) == 3
    assert read_rows(tmp_path / "deep" / "rows.jsonl", Pebble) == rows


def test_a_failed_write_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    write_rows(path, [Pebble(weight=1)])

    def breaking():
        yield Pebble(weight=2)
        raise RuntimeError("halfway")

    with pytest.raises(RuntimeError):
        write_rows(path, breaking())
    assert read_rows(path, Pebble) == [Pebble(weight=1)]
    assert list(tmp_path.iterdir()) == [path]


def test_a_device_or_pipe_is_never_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.jsonl")
    writers: list[Callable[[Path], object]] = [
        lambda path: write_rows(path, [Pebble(weight=1)]),
        lambda path: write_page("a page", path),
    ]
    for write in writers:
        with pytest.raises(OperationalError, match="it is a device or pipe"):
            write(tmp_path / "pipe.jsonl")
    assert (tmp_path / "pipe.jsonl").is_fifo()


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("", "no rows"),
        ('{"weight": 1}\n{"weight": \n', "line 2: Invalid JSON"),
        ('{"weight": 1}\n\n{"weight": "much"}\n', "line 3: field 'weight'"),
        ('{"weight": 1, "colour": "red"}\n', "line 1: field 'colour'"),
    ],
)
def test_bad_rows_are_named(tmp_path: Path, text: str, complaint: str) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        read_rows(path, Pebble)


def test_a_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "rows.jsonl"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(InputError, match="not UTF-8"):
        read_rows(path, Pebble)


def test_an_unwritable_path(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(OperationalError, match="cannot be written"):
        write_rows(tmp_path / "file" / "rows.jsonl", [Pebble(weight=1)])
