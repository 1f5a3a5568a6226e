"""Shards: their units, what is refused, and merged event logs."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from lawtrace.environments.progress import NoProgress
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import merge_event_logs, merge_shards
from lawtrace.runs.store.shards import (
    WHOLE,
    FoundShard,
    Shard,
    ShardRecord,
    check_shards,
    find_shards,
    merged_lines,
    record_path,
)
from lawtrace.runs.store.stage_files import write_lines
from lawtrace.runs.store.stage_store import StageFile
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import Context, Entry, MessageSent, RequestSent, StageFinished


def make(folder: Path, number: int, count: int = 3, *, key: str = "job", units: int = 7) -> Path:
    """A finished shard with one line for each unit."""
    shard, file = Shard(number, count), folder / f"{number}.jsonl"
    write_lines(file, map(str, shard.of(range(units))))
    ShardRecord.of("audit", shard, file).finish(file, key=key, units=units)
    return file


@pytest.mark.parametrize("text", ["0/2", "3/2", "1", "1/0", "a/b", "-1/2", "1/2/3", "", "١/٢"])
def test_a_shard_is_written_as_i_of_n(text: str) -> None:
    with pytest.raises(InputError, match="write I/N"):
        Shard.parse(text)
    assert Shard.parse(" 2/8") == Shard(2, 8)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 9])
def test_merged_shards_have_all_units_in_order(tmp_path: Path, count: int) -> None:
    for number in range(1, count + 1):
        make(tmp_path, number, count)
    assert [*merged_lines(check_shards(find_shards([tmp_path])))] == [*map(str, range(7))]


def test_shards_may_be_given_as_files_in_any_order(tmp_path: Path) -> None:
    files = [make(tmp_path / str(number), number) for number in (3, 1, 2)]
    assert [one.record.number for one in check_shards(find_shards(files))] == [1, 2, 3]


def refusal(places: Sequence[Path]) -> str:
    with pytest.raises(InputError) as refused:
        list(merged_lines(check_shards(find_shards(places))))
    return str(refused.value)


def test_a_missing_shard_is_refused(tmp_path: Path) -> None:
    files = [make(tmp_path, number) for number in (1, 3)]
    assert "of 3 shards, 2 is missing; run `lawtrace audit --shard 2/3`" in refusal(files)


def test_a_shard_given_twice_is_refused(tmp_path: Path) -> None:
    files = [make(tmp_path / name, number) for name, number in (("a", 1), ("b", 2), ("c", 3), ("d", 2))]
    assert "are both shard 2/3: the same units" in refusal(files)


def test_a_shard_of_another_job_is_refused(tmp_path: Path) -> None:
    files = [make(tmp_path, 1), make(tmp_path, 2, key="other"), make(tmp_path, 3)]
    assert "is of another job" in refusal(files)


def test_a_shard_of_another_division_is_refused(tmp_path: Path) -> None:
    assert "the same N" in refusal([make(tmp_path, 1), make(tmp_path, 2, count=4)])


def test_shards_of_another_version_are_refused(tmp_path: Path) -> None:
    file = make(tmp_path, 1, 1)
    path = record_path(file)
    path.write_text(
        path.read_text(encoding="utf-8").replace('"written_by": "', '"written_by": "0.0.'), encoding="utf-8"
    )
    assert "merge with the version that made the shards" in refusal([file])


def test_a_shard_that_is_not_finished_is_refused(tmp_path: Path) -> None:
    files = [make(tmp_path, number) for number in (1, 2, 3)]
    ShardRecord.of("audit", Shard(2, 3), files[1]).write(files[1])
    assert "not finished" in refusal(files)


def test_a_shard_that_changed_is_refused(tmp_path: Path) -> None:
    files = [make(tmp_path, number) for number in (1, 2, 3)]
    files[2].write_text("9\n9\n", encoding="utf-8")
    assert "changed since it was made" in refusal(files)
    files[2].unlink()
    assert "missing" in refusal(files)


def test_a_shard_with_too_few_or_too_many_rows_is_refused(tmp_path: Path) -> None:
    for rows, word in ((1, "fewer"), (3, "more")):
        files = [make(tmp_path, number) for number in (1, 2, 3)]
        write_lines(files[2], ["9"] * rows)
        ShardRecord.of("audit", Shard(3, 3), files[2]).finish(files[2], key="job", units=7)
        assert f"has {word} rows than its 2 units" in refusal(files)


def test_a_place_without_a_shard_is_refused(tmp_path: Path) -> None:
    assert "there is no shard" in refusal([tmp_path])
    assert "there is no shard" in refusal([tmp_path / "nothing.jsonl"])
    record_path(tmp_path / "x.jsonl").write_text("{}", encoding="utf-8")
    assert "not the record of a shard" in refusal([tmp_path])


def test_a_record_names_only_files_beside_it(tmp_path: Path) -> None:
    make(tmp_path, 1, 1)
    path = record_path(tmp_path / "1.jsonl")
    path.write_text(path.read_text(encoding="utf-8").replace("1.jsonl", "../1.jsonl"), encoding="utf-8")
    (found,) = find_shards([tmp_path])
    assert found == FoundShard(found.record, tmp_path / "1.jsonl")


def said(task: str, turn: int) -> MessageSent:
    return MessageSent(context=Context(stage="attempts", role="executor", task=task, turn=turn), source="x", content="")


def asked(task: str) -> RequestSent:
    context = Context(stage="attempts", role="executor", task=task)
    return RequestSent(context=context, request_hash="h", occurrence=0)


def log(folder: Path, entries: Sequence[Entry]) -> EventLogFile:
    event_log = EventLogFile.create(folder, recipe={})
    for entry in entries:
        event_log.record(entry)
    return event_log


def test_merged_event_logs_have_each_entry_once_and_merging_again_adds_nothing(tmp_path: Path) -> None:
    shared = StageFinished(stage="tasks", key="k", file="tasks.jsonl", sha256="s", rows=1)
    one = log(tmp_path / "1", [shared, asked("a"), asked("a"), said("a", 1)])
    two = log(tmp_path / "2", [shared, said("b", 0), asked("a")])
    with one, two, log(tmp_path / "merged", []) as target:
        assert merge_event_logs(target, [one, two]) == 5
        assert merge_event_logs(target, [two, one]) == 0
        found = [entry.model_dump_json() for entry in target.entries()]
        expected = [shared, asked("a"), asked("a"), said("a", 1), said("b", 0)]
        assert sorted(found) == sorted(entry.model_dump_json() for entry in expected)
        times = [at for at, _ in target.timed_entries()]
        assert times == sorted(times)


def test_a_merge_that_fails_leaves_no_run(tmp_path: Path) -> None:
    file = tmp_path / "1" / "rows.jsonl"
    with log(file.parent, [said("a", 0)]):
        write_lines(file, ["1"])
    ShardRecord.of("run", WHOLE, file, events=".").finish(file, key="job", units=2)

    def merge() -> Path:
        file = StageFile("rows.jsonl", Context)
        shards, folder = find_shards([tmp_path / "1"]), tmp_path / "merged"
        return merge_shards(shards, folder, recipe={}, stage="attempts", file=file, progress=NoProgress())

    with pytest.raises(InputError, match="fewer rows than its 2 units"):
        merge()
    assert [*(tmp_path / "merged").iterdir()] == []
    write_lines(file, ["1", "2"])
    merged = merge()
    assert merged.read_text(encoding="utf-8") == "1\n2\n"
    assert {path.name for path in merged.parent.iterdir()} == {"rows.jsonl", "events.sqlite"}
    with EventLogFile.open(merged.parent) as event_log:
        assert [entry.kind for entry in event_log.entries()] == ["message", "stage"]
