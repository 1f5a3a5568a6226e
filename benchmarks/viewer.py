"""Response time of the viewer's pages for a run of 100,000 messages.

    python benchmarks/viewer.py [--messages 100000]

The run has attempts in tools mode of 25 messages each; tasks and verdicts are those of a small real run under other
names. A page is measured from request to last byte, in this process. The first page also indexes the run's files and
is listed separately.
"""

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from starlette.testclient import TestClient

from lawtrace.runs.report.verdict_index import VerdictIndex
from lawtrace.runs.runner import run_variants
from lawtrace.runs.stages.resolve import resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import file_digest, read_rows, write_rows
from lawtrace.runs.store.task_file import read_task_rows, write_tasks
from lawtrace.runs.web.server import make_app, make_viewer
from lawtrace.schemas.attempt_rows import Answer, Attempt
from lawtrace.schemas.log_entries import Context, FunctionCalled, MessageSent, StageFinished
from lawtrace.schemas.recipe import AttemptOptions, Recipe, TaskOptions
from lawtrace.schemas.verdict_rows import Verdict

A_CONVERSATION = 25
TIMES = 15
SMALL = Recipe(
    tasks=TaskOptions(count=4, spare=2),
    attempts=AttemptOptions(models=("baseline:literal", "baseline:reference"), mode="tools"),
)


def small_run(folder: Path) -> RunFolder:
    """A real run that provides tasks, attempts and verdicts."""
    files = RunFolder(folder)
    with EventLogFile.create(folder, recipe=SMALL.model_dump(mode="json")) as event_log:
        asyncio.run(run_variants(resolve_recipe(SMALL), event_log))
    return files


def large_run(small: RunFolder, folder: Path, messages: int) -> float:
    """Write a run with that many messages; return the seconds that the event log took."""
    attempts = messages // A_CONVERSATION
    tasks, tried = read_task_rows(small.tasks).rows, read_rows(small.attempts, Attempt)
    judged = read_rows(small.verdicts, Verdict)
    rounds = attempts // len(tried)
    files = RunFolder(folder)
    names = [[f"{task.id}-{number}" for task in tasks] for number in range(rounds)]
    of = {task.id: place for place, task in enumerate(tasks)}
    with EventLogFile.create(folder, recipe=SMALL.model_dump(mode="json")) as event_log:
        begin = time.perf_counter()
        for number in range(rounds):
            for attempt in tried:
                _converse(event_log, attempt.answer, names[number][of[attempt.answer.task]], number)
        seconds = time.perf_counter() - begin
        write_tasks(
            files.tasks, [t.model_copy(update={"id": n}) for row in names for t, n in zip(tasks, row, strict=True)]
        )
        answers = [
            attempt.answer.model_copy(
                update={
                    "task": names[n][of[attempt.answer.task]],
                    "id": _context(attempt.answer, names[n][of[attempt.answer.task]]).conversation_id,
                }
            )
            for n in range(rounds)
            for attempt in tried
        ]
        made = (
            attempt.model_copy(update={"answer": answer})
            for attempt, answer in zip(tried * rounds, answers, strict=True)
        )
        renamed = (
            verdict.model_copy(update={"task": answer.task, "answer": answer.id})
            for verdict, answer in zip(judged * rounds, answers, strict=True)
        )
        for path, rows in ((files.attempts, made), (files.verdicts, renamed)):
            count = write_rows(path, rows)
            event_log.record(StageFinished(stage=path.stem, file=path.name, sha256=file_digest(path), rows=count))
    return seconds


def _context(answer: Answer, task: str) -> Context:
    return Context(
        stage="attempts", role="executor", task=task, style=answer.style, tested_model=answer.model, trial=answer.trial
    )


def _converse(event_log: EventLogFile, answer: Answer, task: str, number: int) -> None:
    place = _context(answer, task)
    for turn in range(A_CONVERSATION):
        words = f"In round {number} of {task} the account was looked up in turn {turn}. " * 4
        call = FunctionCalled(id=f"c{turn}", name="GetAccountInformation", arguments='{"account_type": "checking"}')
        acts = turn % 2 == 1 and turn < A_CONVERSATION - 1
        source = "user" if turn == 0 else "executor" if turn % 2 else "tools"
        event_log.record(
            MessageSent(
                context=place.at(role=source, turn=turn),
                source=source,
                content=words,
                function_calls=(call,) if acts else (),
            )
        )


def measure(folder: Path, pages: Sequence[tuple[str, str]]) -> None:
    begin = time.perf_counter()
    browse = TestClient(make_app(make_viewer(folder)), base_url="http://127.0.0.1")
    browse.get("/runs/large/")
    print(f"{'first page, reads the files':<34} {1000 * (time.perf_counter() - begin):>8,.0f} ms")
    for label, address in pages:
        taken: list[float] = []
        length = 0
        for _ in range(TIMES):
            begin = time.perf_counter()
            answer = browse.get(address)
            taken.append(1000 * (time.perf_counter() - begin))
            length = len(answer.content)
            assert answer.status_code == 200, answer.text
        taken.sort()
        low, high = statistics.median(taken), taken[-2]
        print(f"{label:<34} {low:>8,.0f} ms  {high:>8,.0f} ms at 95 %  {length:,} bytes")


def _unsafe(folder: Path) -> int:
    """The number of an attempt in the middle that broke a rule."""
    verdicts = VerdictIndex(RunFolder(folder / "runs" / "large")).select(outcome="unsafe_success")
    return verdicts[len(verdicts) // 2].number


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--messages", type=int, default=100_000)
    messages: int = parser.parse_args().messages
    with tempfile.TemporaryDirectory() as folder:
        seconds = large_run(small_run(Path(folder, "small")), Path(folder, "runs", "large"), messages)
        conversations = messages // A_CONVERSATION
        print(
            f"{messages:,} messages in {conversations:,} conversations, written in {seconds:.0f} s; median of {TIMES}"
        )
        run, middle = "/runs/large", conversations // 2
        measure(
            Path(folder, "runs"),
            [
                ("runs", "/"),
                ("run with outcomes", f"{run}/"),
                ("progress", f"{run}/progress"),
                ("attempts", f"{run}/attempts"),
                ("attempts that broke a rule, page 9", f"{run}/attempts?outcome=unsafe_success&page=9"),
                ("one attempt that broke a rule", f"{run}/attempts/{_unsafe(Path(folder))}"),
                ("conversations, middle page", f"{run}/conversations?page={conversations // 100}"),
                ("conversations with a rare word", f"{run}/conversations?text=round+7"),
                ("one conversation", f"{run}/conversations/{middle}"),
                ("conversations with a common word", f"{run}/conversations?text=account"),
            ],
        )


if __name__ == "__main__":
    main()
