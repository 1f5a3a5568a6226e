"""Stage files: atomic writes, and errors that name the line."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from pydantic import BaseModel, ConfigDict

from lawtrace.runs.report.table_files import write_table_files
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.runs.store.stage_store import copy_file
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


def test_a_link_beside_or_at_an_output_is_not_followed(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.write_text("mine", encoding="utf-8")
    source = tmp_path / "source.jsonl"
    write_rows(source, [Pebble(weight=1)])
    writers: dict[str, Callable[[Path], object]] = {
        "rows.jsonl": lambda path: write_rows(path, [Pebble(weight=1)]),
        "report.html": lambda path: write_page("a page", path),
        "copy.jsonl": lambda path: copy_file(source, path),
    }
    for name, write in writers.items():
        folder = tmp_path / f"of {name}"
        folder.mkdir()
        for linked in (name, f"{name}.partial", f".{name}.partial"):
            (folder / linked).symlink_to(mine)
        write(folder / name)
        assert not (folder / name).is_symlink()
    (tmp_path / "tables").symlink_to(tmp_path)
    with pytest.raises(OperationalError, match="it is a link"):
        write_table_files(tmp_path / "tables", [], [], {})
    assert mine.read_text(encoding="utf-8") == "mine"


def test_two_writers_of_one_file_do_not_meet(tmp_path: Path) -> None:
    path, plain = tmp_path / "rows.jsonl", tmp_path / "plain"

    def interrupted():
        yield Pebble(weight=1)
        write_rows(path, [Pebble(weight=7)])
        assert read_rows(path, Pebble) == [Pebble(weight=7)]
        yield Pebble(weight=2)

    assert write_rows(path, interrupted()) == 2
    assert read_rows(path, Pebble) == [Pebble(weight=1), Pebble(weight=2)]
    assert list(tmp_path.iterdir()) == [path]
    plain.touch()
    assert path.stat().st_mode == plain.stat().st_mode


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
