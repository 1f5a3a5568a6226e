"""Attempts of this process with more calls in flight, and a synthesis on one, two and four Ray workers.

    python -m benchmarks.cluster
    python -m benchmarks.cluster --workers 1 2 --trials 10 --in-flight 8

An attempt is one call of an endpoint that answers after 200 ms, and one program. Synthesized are contrast pairs under
some 70 rules in parts of six traces, measured from the first product of each worker to the last. Then what the event
log takes for an attempt, a merge of shards for an entry, and a shard of an audit for the events of other shards.
Needs the extra `lawtrace[ray]`.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path

from benchmarks.audit import conversations, traces
from lawtrace.runs.audit.sources.reading import find_transcripts
from lawtrace.runs.stages.artifacts import RULES as RULES_FILE
from lawtrace.runs.stages.cluster_jobs import Cluster
from lawtrace.runs.stages.stage_job import StageJob
from lawtrace.runs.stages.traces_stage import TracePlan, prepare_parts, synthesize_traces
from lawtrace.runs.store.event_log_file import EventLogFile, utc_now
from lawtrace.runs.store.merging import merge_event_logs
from lawtrace.schemas.log_entries import Context, Entry, MessageSent, ModelCalled, RequestMessage
from lawtrace.schemas.recipe import Recipe, TaskOptions
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules

TASKS = Path("docs/tasks/1.3/telehealth.jsonl")

PART_SIZE = 6
"""Of the synthesis: traces of a unit."""


def rate(folder: Path, environment: Mapping[str, str], *words: object) -> float:
    """Attempts per second from the first request to the last answer, which leaves out the start of the process."""
    out = folder / "out"
    command = [sys.executable, "-m", "lawtrace", "run", *map(str, words), "--out", str(out), "--json"]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if not out.exists():
        raise SystemExit(done.stderr)
    with EventLogFile.open(out) as event_log:
        query = "SELECT min(at) FILTER (WHERE kind = 'asked'), max(at) FILTER (WHERE kind = 'model_call') FROM entries"
        ((first, last),) = event_log.rows(query)
    seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    return json.loads(done.stdout.splitlines()[-1])["attempts"] / seconds


def pace(sizes: Iterator[int], workers: int = 1) -> float:
    """Size per second from the first product of each worker to the last of all."""
    for _ in range(max(1, workers)):
        next(sizes)
    begun = time.perf_counter()
    return sum(sizes) / (time.perf_counter() - begun)


@contextmanager
def workers_of(count: int) -> Generator[Cluster | None]:
    """A cluster of this machine; None for no workers."""
    if not count:
        yield None
        return
    import ray

    from lawtrace.runs.cluster.ray_cluster import RayCluster

    ray.init("local", num_cpus=count, include_dashboard=False, log_to_driver=False, logging_level="error")
    try:
        yield RayCluster()
    finally:
        ray.shutdown()


def synthesized(cluster: Cluster | None, workers: int, count: int, folder: Path) -> float:
    """Traces per second."""
    domain, recipe = load_domain("clinic"), Recipe(environment="clinic")
    recipe = recipe.model_copy(update={"tasks": TaskOptions(count=count, spare=0, part_size=PART_SIZE)})
    plan = TracePlan(mode="contrasts", length=8, count=count, seed=recipe.seed, part_size=PART_SIZE)
    rules, parts = load_rules(domain.rules_file), plan.parts()
    if cluster is None:
        return pace(len(synthesize_traces(domain.environment, rules, plan, part)) for part in parts)
    RULES_FILE.write(folder / RULES_FILE.name, rules)
    given = ((RULES_FILE, (folder / RULES_FILE.name).read_bytes()),)
    make = cluster.maker(StageJob[range, list[TraceRow]](recipe.model_dump(mode="json"), given, prepare_parts))
    begun: list[float] = []
    sizes: list[int] = []

    async def noted(part: range) -> None:
        rows = await make(part)
        begun.append(time.perf_counter())
        sizes.append(len(rows))

    async def all_parts() -> None:
        await asyncio.gather(*map(noted, parts))

    asyncio.run(all_parts())
    return sum(sizes[workers:]) / (begun[-1] - begun[workers - 1])


def skipped_microseconds(log: Path, events: int) -> float:
    """CPU time in which a shard finds the conversations of other shards, for an event."""
    begun = time.process_time()
    for _ in find_transcripts(log):
        pass
    return (time.process_time() - begun) / events * 1e6


def entries_of(task: str) -> list[tuple[str, Entry]]:
    """Four entries of an attempt, with texts of the size of a prompt and of a program."""
    context = Context(stage="attempts", role="executor", task=task)
    texts = ("s" * 8000, "u" * 1000 + task, "a" * 1000)
    call = ModelCalled(
        context=context,
        request=(RequestMessage(role="system", content=texts[0]), RequestMessage(role="user", content=texts[1])),
        request_hash=context.conversation_id,
        occurrence=0,
        answer=texts[2],
        finish_reason="stop",
        prompt_tokens=1,
        completion_tokens=1,
        latency_ms=1.0,
    )
    messages = [MessageSent(context=context.at(turn=turn), source="x", content=text) for turn, text in enumerate(texts)]
    return [(utc_now().isoformat(), entry) for entry in (*messages, call)]


def log_milliseconds(folder: Path, attempts: int) -> float:
    """CPU time in which an attempt of four entries is appended to an event log."""
    with EventLogFile.create(folder, recipe={}) as event_log:
        begun = time.process_time()
        for number in range(attempts):
            event_log.append(entries_of(f"task-{number}"))
        return (time.process_time() - begun) / attempts * 1000


def merge_milliseconds(folder: Path, attempts: int) -> float:
    """CPU time in which an entry of two shards is merged."""
    for shard in (1, 2):
        with EventLogFile.create(folder / str(shard), recipe={}) as log:
            for number in range(attempts):
                log.append(entries_of(f"task-{shard}-{number}"))
    one, two = (EventLogFile.open(folder / str(shard)) for shard in (1, 2))
    with one, two, EventLogFile.create(folder / "merged", recipe={}) as target:
        begun = time.process_time()
        merged = merge_event_logs(target, [one, two])
        return (time.process_time() - begun) / merged * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--workers", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--trials", type=int, default=5)
    parser.add_argument("--limit", type=int, default=30, help="tasks")
    parser.add_argument("--in-flight", type=int, nargs="+", default=[4, 16, 64], help="calls")
    parser.add_argument("--answer-seconds", type=float, default=0.2)
    parser.add_argument("--conversations", type=int, default=4000)
    parser.add_argument("--traces", type=int, default=60)
    asked = parser.parse_args()
    words = ("--tasks", TASKS, "--limit", asked.limit, "--model", "openai:loopback", "--trials", asked.trials)
    serve = ["-m", "benchmarks.conversations", "--serve", "--answer-seconds", str(asked.answer_seconds)]
    with (
        subprocess.Popen([sys.executable, *serve], stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as temporary,
    ):
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        environment = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "loopback"}
        folder = Path(temporary)
        try:
            for in_flight in asked.in_flight:
                found = rate(folder / str(in_flight), environment, *words, "--concurrency", in_flight)
                most = in_flight / asked.answer_seconds
                print(
                    f"{in_flight:3} in flight {found:6.1f} attempts/s of {most:4.0f} ({found / most:.0%})", flush=True
                )
        finally:
            server.terminate()
        log, events, known = folder / "log.jsonl", 0, traces("payments")
        with log.open("w", encoding="utf-8") as file:
            for one in conversations(known, asked.conversations, seed=1):
                file.write(json.dumps(one) + "\n")
                events += sum(message["role"] != "tool" for message in one["messages"])
        for workers in (0, *asked.workers):
            name = f"{workers} workers" if workers else "this process"
            with workers_of(workers) as cluster:
                made = synthesized(cluster, workers, asked.traces, folder)
            print(f"{name:13} {made:5.2f} traces/s", flush=True)
        print(f"audit, other shards {skipped_microseconds(log, events):5.2f} us of CPU time an event")
        print(f"event log          {log_milliseconds(folder / 'log', 2000):6.2f} ms of CPU time an attempt")
        print(f"merge of shards    {merge_milliseconds(folder / 'merge', 2000):6.2f} ms of CPU time an entry")
        print(f"cores {os.cpu_count()}, machine load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
