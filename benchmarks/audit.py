"""Speed and memory of ``lawtrace audit``: events a minute with twenty rules, as the log grows.

    python -m benchmarks.audit [--environment payments] [--rules 20] [--conversations 2000] [--times 1 4]

The transcripts are reference traces of the released tasks, with their results, talk between the calls, and one in ten
without one of its calls. They are written as OpenAI messages, one conversation a line, and audited by the command in a
process of its own: wall time, processor time and the largest memory of all its processes together.
"""

import argparse
import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from lawtrace.runs.store.task_file import read_task_rows
from lawtrace.runs.tasks import Task
from lawtrace.schemas.events import Event
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules
from lawtrace.solver.traces import replay

TASKS = Path("docs/tasks")
TALK = ("Yes, please go on.", "I would like the rest done as well.", "No, leave that as it is.", "Thank you.")


def traces(environment: str) -> list[Sequence[Event]]:
    """The events of the reference traces of the released tasks."""
    domain = load_domain(environment)
    file = next(TASKS.rglob(f"{environment}.jsonl"))
    tasks: list[Task] = read_task_rows(file).rows
    return [replay(domain.environment, task.initial(domain.environment), task.planned).events for task in tasks]


def conversations(known: Sequence[Sequence[Event]], count: int, seed: int) -> Iterator[dict[str, Any]]:
    """Conversations with their messages, made of three traces each."""
    random_ = random.Random(seed)
    for number in range(count):
        messages: list[dict[str, Any]] = [{"role": "user", "content": random_.choice(TALK)}]
        events = [event for trace in random_.sample(known, 3) for event in trace]
        if number % 10 == 0:
            del events[random_.randrange(len(events))]
        for place, event in enumerate(events):
            function = {"name": event.tool, "arguments": json.dumps(event.arguments)}
            call = {"id": str(place), "type": "function", "function": function}
            messages.append({"role": "assistant", "content": None, "tool_calls": [call]})
            messages.append({"role": "tool", "tool_call_id": str(place), "content": json.dumps(event.result)})
            if random_.random() < 0.3:
                messages.append({"role": "user", "content": random_.choice(TALK)})
        yield {"id": str(number), "messages": messages}


def measure(log: Path, environment: str, rules: Path, out: Path) -> tuple[float, float, float, dict[str, Any]]:
    """Wall time, processor time, peak memory in MB and the printed summary of one audit."""
    command = [sys.executable, "-m", "lawtrace", "audit", str(log), "--env", environment, "--rules", str(rules)]
    before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    done = subprocess.run(
        [*command, "--out", str(out), "--force", "--json"], capture_output=True, text=True, check=False, env=os.environ
    )
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return wall, used, after.ru_maxrss / 1024, json.loads(done.stdout.splitlines()[-1])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--environment", default="payments")
    options.add_argument("--rules", type=int, default=20)
    options.add_argument("--conversations", type=int, default=2000)
    options.add_argument("--times", type=int, nargs="+", default=[1, 4])
    given = options.parse_args()
    known = traces(given.environment)
    chosen = load_rules(load_domain(given.environment).rules_file)[: given.rules]
    with tempfile.TemporaryDirectory() as folder:
        rules = Path(folder) / "rules.jsonl"
        rules.write_text("".join(rule.model_dump_json() + "\n" for rule in chosen), encoding="utf-8")
        for times in given.times:
            log = Path(folder) / f"log{times}.jsonl"
            with log.open("w", encoding="utf-8") as file:
                for one in conversations(known, given.conversations * times, seed=times):
                    file.write(json.dumps(one) + "\n")
            wall, used, memory, summary = measure(log, given.environment, rules, Path(folder) / "audit.jsonl")
            events = summary["calls"] + summary["messages"]
            print(
                f"{log.stat().st_size / 2**20:7.1f} MB, {summary['conversations']} conversations, {events} events, "
                f"{len(chosen)} rules: {wall:.1f} s wall, {used:.1f} s processor, {memory:.0f} MB; "
                f"{events / wall * 60:,.0f} events a minute; {summary['outcomes']}"
            )


if __name__ == "__main__":
    main()
