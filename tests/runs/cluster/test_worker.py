"""A worker and the server of limits, without Ray."""

import asyncio
from collections.abc import Sequence

from lawtrace.agents.models.budget import CallSize
from lawtrace.agents.models.spending import Spending
from lawtrace.runs.cluster.rate_server import RateServer
from lawtrace.runs.cluster.worker import MadeUnit, RecordedEntries, Worker, WorkerLog
from lawtrace.runs.runner import RunResult
from lawtrace.runs.stages.artifacts import ATTEMPTS, HABITS, TASKS
from lawtrace.runs.stages.cluster_jobs import Unit
from lawtrace.runs.stages.evaluate import prepare_attempts
from lawtrace.runs.stages.stage_job import StageJob
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.call_options import BudgetOptions
from lawtrace.schemas.log_entries import Context, Entry, ModelCalled, RequestSent
from lawtrace.schemas.recipe import AttemptOptions, Recipe
from tests.support.call_limits import call_limits

LITERAL = "baseline:literal"
ASKED = RequestSent(context=Context(stage="attempts", role="executor"), request_hash="h", occurrence=0)
SIZE = CallSize(Context(stage="attempts", role="executor", model="openai:m"), 10, 10)


def started(small_run: RunResult) -> Worker:
    """A worker for the attempts of the literal policy at the tasks of the run."""
    recipe = Recipe(attempts=AttemptOptions(models=(LITERAL,), baselines=False))
    files = tuple((file, (small_run.folder.path / file.name).read_bytes()) for file in (TASKS, HABITS))
    job: StageJob[str, Attempt] = StageJob(recipe.model_dump(mode="json"), files, prepare_attempts)
    worker = Worker()
    assert asyncio.run(worker.start(job, recipe, ask)) is None
    return worker


async def ask(method: str, *values: object) -> object:
    raise AssertionError("a policy asks for no grant")


def make(worker: Worker, key: str, known: Sequence[Entry] = ()) -> MadeUnit[Attempt]:
    made = asyncio.run(worker.make(Unit(key, (key,)), known))
    assert isinstance(made, MadeUnit)
    return made


def test_a_worker_makes_the_attempts_of_a_run(small_run: RunResult) -> None:
    worker = started(small_run)
    received = 0
    try:
        for expected in ATTEMPTS.read(small_run.folder.attempts):
            if expected.answer.model == LITERAL:
                made = make(worker, expected.answer.id)
                assert made.product == expected
                entries = made.recorded.entries[received - made.recorded.first :]
                assert {entry.kind for _, entry in entries} == {"message", "model_call"}
                assert asyncio.run(worker.recorded(received)).entries == entries
                received += len(entries)
    finally:
        asyncio.run(worker.end())
    assert asyncio.run(worker.recorded(received)) == RecordedEntries(received, [])


def test_a_worker_waits_until_its_entries_are_received() -> None:
    async def work() -> None:
        log = WorkerLog()
        asking = asyncio.create_task(log.after(0, wait=True))
        await asyncio.sleep(0)
        log.record(ASKED)
        flushing = asyncio.create_task(log.flush())
        recorded = await asyncio.wait_for(asking, 1)
        assert (recorded.first, [entry for _, entry in recorded.entries]) == (0, [ASKED])
        assert not flushing.done()
        asking = asyncio.create_task(log.after(1, wait=True))
        await asyncio.wait_for(flushing, 1)
        assert (await log.after(0, wait=False)).first == 1  # a late request takes nothing back
        log.record(ASKED)
        flushing = asyncio.create_task(log.flush())
        assert (await asyncio.wait_for(asking, 1)).first == 1
        log.close()
        await asyncio.wait_for(flushing, 1)
        assert len((await log.after(1, wait=True)).entries) == 1

    asyncio.run(work())


def test_what_a_lost_worker_held_is_free_again() -> None:
    async def work() -> None:
        grants = RateServer(call_limits(budget=BudgetOptions(messages=2), concurrency=1))
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


def test_a_worker_uses_the_answers_from_before_an_interruption(small_run: RunResult) -> None:
    key = next(row.answer.id for row in ATTEMPTS.read(small_run.folder.attempts) if row.answer.model == LITERAL)
    known: list[Entry] = []
    for _ in ("lost", "other"):
        worker = started(small_run)
        made = make(worker, key, known)
        asyncio.run(worker.end())
        calls = [entry for _, entry in made.recorded.entries if isinstance(entry, ModelCalled)]
        assert bool(calls) != bool(known)
        known = [*calls]


def test_the_next_job_begins_with_what_the_run_used() -> None:
    async def work() -> None:
        grants = RateServer(call_limits(budget=BudgetOptions(messages=2), concurrency=1))
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
