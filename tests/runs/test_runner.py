"""The stage runner and the store on two small stages, without models."""

from collections.abc import Mapping
from pathlib import Path

import pytest
from pydantic import BaseModel

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.runs.runner import Runner
from lawtrace.runs.stages.stage import EmptyStageError, Made, Stage
from lawtrace.runs.store.stage_store import Products, StageFile, StageStore
from lawtrace.schemas.errors import InputError


class Row(BaseModel):
    value: int


NUMBERS = StageFile("numbers.jsonl", Row)
SUMS = StageFile("sums.jsonl", Row)


class Settings:
    """The settings that the stages depend on, and the names of the stages that ran."""

    def __init__(self, count: int = 3, factor: int = 1, *, complete: bool = True) -> None:
        self.count, self.factor, self.complete = count, factor, complete
        self.runs: list[str] = []

    def count_key(self) -> Mapping[str, object]:
        return {"count": self.count}

    def factor_key(self) -> Mapping[str, object]:
        return {"factor": self.factor}


async def make_numbers(settings: Settings, _: Products) -> Made:
    settings.runs.append("numbers")
    error = None if settings.count else EmptyStageError("no number")
    return Made(complete=settings.complete, error=error).add(NUMBERS, [Row(value=n) for n in range(settings.count)])


async def add_numbers(settings: Settings, products: Products) -> Made:
    settings.runs.append("sums")
    return Made().add(SUMS, [Row(value=settings.factor * sum(row.value for row in products[NUMBERS]))])


STAGES = (
    Stage(name="numbers", produces=(NUMBERS,), depends=Settings.count_key, run=make_numbers),
    Stage(name="sums", produces=(SUMS,), needs=lambda _: (NUMBERS,), depends=Settings.factor_key, run=add_numbers),
)


def runner(
    settings: Settings, folder: Path, store: StageStore, log: MemoryEventLog, reuse: StageStore | None = None
) -> Runner[Settings]:
    return Runner(STAGES, settings, folder=folder, store=store, event_log=log, reuse=reuse)


async def test_a_stage_runs_after_its_dependencies(tmp_path: Path) -> None:
    settings = Settings()
    made = await runner(settings, tmp_path, StageStore(tmp_path), MemoryEventLog()).make(SUMS)
    assert settings.runs == ["numbers", "sums"]
    assert [row.value for row in made[SUMS]] == [3]
    assert SUMS.read(tmp_path / "sums.jsonl") == made[SUMS]


async def test_the_store_is_restored_from_the_event_log(tmp_path: Path) -> None:
    log = MemoryEventLog()
    await runner(Settings(), tmp_path, StageStore(tmp_path), log).make(SUMS)
    again = Settings()
    made = await runner(again, tmp_path, StageStore(tmp_path, log.entries), log).make(SUMS)
    assert (again.runs, [row.value for row in made[SUMS]]) == ([], [3])


async def test_a_changed_option_reruns_only_dependent_stages(tmp_path: Path) -> None:
    log = MemoryEventLog()
    store = StageStore(tmp_path)
    await runner(Settings(), tmp_path / "1", store, log).make(SUMS)
    other = Settings(factor=2)
    made = await runner(other, tmp_path / "2", store, log).make(SUMS)
    assert (other.runs, [row.value for row in made[SUMS]]) == (["sums"], [6])
    assert (tmp_path / "2" / "numbers.jsonl").read_bytes() == (tmp_path / "1" / "numbers.jsonl").read_bytes()


async def test_a_changed_file_is_made_again(tmp_path: Path) -> None:
    log = MemoryEventLog()
    await runner(Settings(), tmp_path, StageStore(tmp_path), log).make(SUMS)
    (tmp_path / "numbers.jsonl").write_text('{"value": 5}\n', encoding="utf-8")
    again = Settings()
    made = await runner(again, tmp_path, StageStore(tmp_path, log.entries), log).make(SUMS)
    assert (again.runs, [row.value for row in made[SUMS]]) == (["numbers"], [3])


async def test_files_of_another_run_are_reused(tmp_path: Path) -> None:
    log = MemoryEventLog()
    await runner(Settings(), tmp_path / "old", StageStore(tmp_path / "old"), log).make(SUMS)
    other = Settings(factor=2)
    reuse = StageStore(tmp_path / "old", log.entries)
    await runner(other, tmp_path / "new", StageStore(tmp_path / "new"), MemoryEventLog(), reuse=reuse).make(SUMS)
    assert other.runs == ["sums"]


async def test_an_incomplete_stage_is_reused_in_one_session_only(tmp_path: Path) -> None:
    log, store = MemoryEventLog(), StageStore(tmp_path)
    first, second = Settings(complete=False), Settings(complete=False)
    await runner(first, tmp_path / "1", store, log).make(SUMS)
    await runner(second, tmp_path / "2", store, log).make(SUMS)
    assert (first.runs, second.runs) == (["numbers", "sums"], [])
    resumed = Settings()
    await runner(resumed, tmp_path / "1", StageStore(tmp_path, log.entries), log).make(SUMS)
    assert resumed.runs == ["numbers"]


async def test_a_failed_stage_stops_its_dependents(tmp_path: Path) -> None:
    settings = Settings(count=0)
    made = await runner(settings, tmp_path, StageStore(tmp_path), MemoryEventLog()).make(NUMBERS, incomplete=True)
    assert made[NUMBERS] == []
    with pytest.raises(InputError, match="no number"):
        await runner(settings, tmp_path, StageStore(tmp_path), MemoryEventLog()).make(SUMS)


async def test_given_rows_replace_a_stage(tmp_path: Path) -> None:
    settings = Settings()
    one = runner(settings, tmp_path, StageStore(tmp_path), MemoryEventLog())
    one.give(NUMBERS, [Row(value=7)])
    assert [row.value for row in (await one.make(SUMS))[SUMS]] == [7]
    assert settings.runs == ["sums"]
