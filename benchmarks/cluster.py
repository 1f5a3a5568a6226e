"""Attempts on one, two and four Ray workers of this machine, against an endpoint that answers after 200 ms.

    python -m benchmarks.cluster
    python -m benchmarks.cluster --workers 1 2 --trials 10 --in-flight 8

An attempt is one call and one program in the jail. Each worker has the same number of calls in flight, so N workers
make at most N times as many attempts a second as one. Then what the event log of the driver takes for an attempt, and a
merge of shards for an entry. Needs the extra `lawtrace[ray]`.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path

from lawtrace.agents.event_log import Context, Entry, MessageSent, ModelCalled, RequestMessage
from lawtrace.runs.store.event_log_file import EventLogFile, utc_now
from lawtrace.runs.store.event_log_merge import merge_conversations, merge_event_logs

TASKS = Path("docs/tasks/1.1/clinic.jsonl")

COMMAND = """
import sys
from lawtrace.runs.cli import main
workers = int(sys.argv.pop(1))
if workers:
    import ray
    ray.init("local", num_cpus=workers, include_dashboard=False, log_to_driver=False, logging_level="error")
main()
"""


def rate(folder: Path, environment: Mapping[str, str], workers: int, *words: object) -> float:
    """Attempts per second from the first request to the last answer, which leaves out the start of the processes."""
    out = folder / f"{workers}.jsonl"
    on = ("--on", "ray") if workers else ()
    command = [
        sys.executable,
        "-c",
        COMMAND,
        str(workers),
        "attempt",
        *map(str, words),
        *on,
        "--out",
        str(out),
        "--json",
    ]
    done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True, check=False)
    if not out.exists():
        raise SystemExit(done.stderr)
    with EventLogFile.open(folder / f"{workers}.events") as event_log:
        query = "SELECT min(at) FILTER (WHERE kind = 'asked'), max(at) FILTER (WHERE kind = 'model_call') FROM entries"
        ((first, last),) = event_log.rows(query)
    seconds = (datetime.fromisoformat(last) - datetime.fromisoformat(first)).total_seconds()
    return json.loads(done.stdout.splitlines()[-1])["attempts"] / seconds


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


def driver_milliseconds(folder: Path, attempts: int) -> float:
    """CPU time in which the driver merges an attempt of four entries into its event log."""
    with EventLogFile.create(folder, recipe={}) as event_log:
        begun = time.process_time()
        for number in range(attempts):
            task = f"task-{number}"
            name = Context(stage="attempts", role="executor", task=task).conversation_id
            merge_conversations(event_log, (name,), entries_of(task))
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
    parser.add_argument("--in-flight", type=int, default=4, help="calls of each worker")
    parser.add_argument("--answer-seconds", type=float, default=0.2)
    asked = parser.parse_args()
    words = ("--tasks", TASKS, "--limit", asked.limit, "--model", "openai:loopback", "--trials", asked.trials)
    serve = ["-m", "benchmarks.conversations", "--serve", "--answer-seconds", str(asked.answer_seconds)]
    with (
        subprocess.Popen([sys.executable, *serve], stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as temporary,
    ):
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        environment = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "loopback", "RAY_USAGE_STATS_ENABLED": "0"}
        folder = Path(temporary)
        try:
            for workers in (0, *asked.workers):
                in_flight = asked.in_flight * max(1, workers)
                found = rate(folder, environment, workers, *words, "--concurrency", in_flight)
                most = in_flight / asked.answer_seconds
                name = f"{workers} workers" if workers else "this process"
                print(f"{name:13} {found:6.1f} attempts/s of {most:4.0f} ({found / most:.0%})", flush=True)
        finally:
            server.terminate()
        print(f"driver's event log {driver_milliseconds(folder / 'driver', 2000):6.2f} ms of CPU time an attempt")
        print(f"merge of shards    {merge_milliseconds(folder / 'merge', 2000):6.2f} ms of CPU time an entry")
        print(f"cores {os.cpu_count()}, machine load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
