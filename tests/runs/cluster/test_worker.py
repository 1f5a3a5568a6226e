"""A worker and the server of limits, without Ray."""

import asyncio
from pathlib import Path

from lawtrace.agents.models.budget import CallSize
from lawtrace.agents.models.call_settings import Budget, CallSettings, Spending, call_settings
from lawtrace.runs.cluster.rate_server import RateServer
from lawtrace.runs.cluster.worker import MadeUnit, Worker, WorkerLog
from lawtrace.runs.runner import RunResult
from lawtrace.runs.stages.artifacts import ATTEMPTS, HABITS, TASKS
from lawtrace.runs.stages.cluster_jobs import Unit
from lawtrace.runs.stages.evaluate import prepare_attempts
from lawtrace.runs.stages.stage_job import StageJob
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.log_entries import Context, Entry, ModelCalled
from lawtrace.schemas.recipe import AttemptOptions, Recipe

LITERAL = "baseline:literal"
SIZE = CallSize(Context(stage="attempts", role="executor", model="openai:m"), 10, 10)


def started(
    small_run: RunResult, folder: Path, *, folder_is_there: bool = True
) -> tuple[Worker[str, Attempt], str | None]:
    """A worker for the attempts of the literal policy at the tasks of the run, and why it refuses, if it does."""
    recipe = Recipe(attempts=AttemptOptions(models=(LITERAL,), baselines=False))
    files = tuple((file, (small_run.folder.path / file.name).read_bytes()) for file in (TASKS, HABITS))
    job: StageJob[str, Attempt] = StageJob(recipe.model_dump(mode="json"), files, prepare_attempts)
    worker = Worker(job, WorkerLog(folder / "workers" / "one", call_settings(recipe)), ask)
    if folder_is_there and not (folder / "workers").exists():
        (folder / "workers").mkdir()
    return worker, asyncio.run(begin(worker))


async def begin(worker: Worker[str, Attempt]) -> str | None:
    return worker.start()


async def ask(method: str, *values: object) -> object:
    raise AssertionError("a policy asks for no grant")


def test_a_worker_makes_the_attempts_of_a_run(small_run: RunResult, tmp_path: Path) -> None:
    worker, refusal = started(small_run, tmp_path)
    assert refusal is None
    try:
        for expected in ATTEMPTS.read(small_run.folder.attempts):
            if expected.answer.model == LITERAL:
                key = expected.answer.id
                made = asyncio.run(worker.make(Unit(key, (key,))))
                assert isinstance(made, MadeUnit)
                assert made.product == expected
                assert {entry.kind for _, entry in made.entries} == {"message", "model_call"}
        assert asyncio.run(worker.recorded(wait=True)) is None
    finally:
        asyncio.run(worker.close())
    assert (tmp_path / "workers" / "one" / "events.sqlite").exists()


def test_a_worker_that_cannot_write_refuses_with_the_reason(small_run: RunResult, tmp_path: Path) -> None:
    (tmp_path / "workers").write_text("a file", encoding="utf-8")
    _, refusal = started(small_run, tmp_path)
    assert refusal is not None
    assert "cannot make" in refusal


def test_a_worker_of_another_machine_records_in_a_folder_of_its_own(small_run: RunResult, tmp_path: Path) -> None:
    worker, refusal = started(small_run, tmp_path, folder_is_there=False)
    assert refusal is None
    key = next(row.answer.id for row in ATTEMPTS.read(small_run.folder.attempts) if row.answer.model == LITERAL)
    made = asyncio.run(worker.make(Unit(key, (key,))))
    assert isinstance(made, MadeUnit)
    assert asyncio.run(worker.recorded(wait=True)) == made.entries
    assert asyncio.run(worker.recorded(wait=False)) == []
    asyncio.run(worker.close())
    assert asyncio.run(worker.recorded(wait=True)) == []
    assert [*tmp_path.iterdir()] == []


def test_what_a_lost_worker_held_is_free_again() -> None:
    async def work() -> None:
        grants = RateServer(CallSettings(budget=Budget(messages=2), concurrency=1))
        await grants.acquire("lost")
        assert await grants.reserve("lost", SIZE) == Spending(1, 20)
        other = asyncio.create_task(grants.acquire("other"))
        late = asyncio.create_task(grants.acquire("lost"))
        await asyncio.sleep(0)
        assert not other.done()
        await grants.lose("lost")
        await asyncio.wait_for(other, 1)
        await grants.release("other")
        await asyncio.wait_for(late, 1)
        await asyncio.wait_for(grants.acquire("other"), 1)
        assert isinstance(await grants.reserve("other", SIZE), Spending)
        await grants.settle("other", Spending(1, 20), Spending(1, 5))
        assert "budget of 2 messages is used up" in str(await grants.reserve("other", SIZE))
        assert [entry.kind for entry in await grants.take_entries()] == ["budget"]

    asyncio.run(work())


def test_a_worker_uses_the_answers_from_before_an_interruption(small_run: RunResult, tmp_path: Path) -> None:
    key = next(row.answer.id for row in ATTEMPTS.read(small_run.folder.attempts) if row.answer.model == LITERAL)
    known: list[Entry] = []
    for folder in (tmp_path / "lost", tmp_path / "other"):
        folder.mkdir()
        worker, refusal = started(small_run, folder)
        assert refusal is None
        made = asyncio.run(worker.make(Unit(key, (key,)), known))
        asyncio.run(worker.close())
        assert isinstance(made, MadeUnit)
        calls = [entry for _, entry in made.entries if isinstance(entry, ModelCalled)]
        assert bool(calls) != bool(known)
        known = [*calls]


def test_the_next_job_begins_with_what_the_run_used() -> None:
    async def work() -> None:
        grants = RateServer(CallSettings(budget=Budget(messages=2), concurrency=1))
        await grants.begin(Spending())
        await grants.acquire("first")
        late = await grants.reserve("first", SIZE)
        await grants.begin(Spending(1, 5))
        await asyncio.wait_for(grants.acquire("second"), 1)
        assert isinstance(late, Spending)
        await grants.settle("first", late, Spending(1, 5))  # which the driver has counted
        assert isinstance(await grants.reserve("second", SIZE), Spending)
        await grants.settle("second", Spending(1, 20), Spending(1, 5))
        assert "used up" in str(await grants.reserve("second", SIZE))

    asyncio.run(work())
