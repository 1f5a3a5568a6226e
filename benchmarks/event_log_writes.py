"""Write speed of the event log: events per second, with each turn on disk before the next.

    python benchmarks/event_log_writes.py [--events 20000]

A turn is four events (tool results, call sent, answer, message) and one flush. Requests grow with their
conversations.
"""

import argparse
import asyncio
import tempfile
import time
from pathlib import Path

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import Context, MessageSent, ModelCalled, RequestMessage, RequestSent

TURNS = 25
TEXT = "I look the account up, check that the payment is authorized, and tell the user what I have done. " * 5


async def write(folder: Path, events: int) -> float:
    """Seconds to write the events, one turn after another."""
    with EventLogFile.create(folder, recipe=None) as event_log:
        begin = time.perf_counter()
        for conversation in range(events // 4 // TURNS):
            await _converse(event_log, conversation)
        return time.perf_counter() - begin


async def converse_all(folder: Path, events: int, at_once: int) -> float:
    """The same with concurrent conversations, which share flushes."""
    with EventLogFile.create(folder, recipe=None) as event_log:
        begin = time.perf_counter()
        numbers = iter(range(events // 4 // TURNS))

        async def work() -> None:
            for number in numbers:
                await _converse(event_log, number)

        await asyncio.gather(*(work() for _ in range(at_once)))
        return time.perf_counter() - begin


async def _converse(event_log: EventLogFile, conversation: int) -> None:
    place = Context(stage="attempts", role="executor", task=f"task-{conversation}", tested_model="openai:m")
    said = [RequestMessage(role="system", content=TEXT * 10)]
    for turn in range(TURNS):
        words = f"{conversation}.{turn} {TEXT}"
        event_log.record(MessageSent(context=place.at(role="tools", turn=2 * turn), source="tools", content=words))
        said.append(RequestMessage(role="tool", content=words))
        here, request_hash = place.at(model="openai:m", turn=turn), f"{conversation:032}{turn:032}"
        event_log.record(RequestSent(context=here, request_hash=request_hash, occurrence=0))
        await event_log.flush()
        answer = f"answer {words}"
        event_log.record(
            ModelCalled(
                context=here,
                request=tuple(said),
                request_hash=request_hash,
                occurrence=0,
                answer=answer,
                finish_reason="stop",
                prompt_tokens=1,
                completion_tokens=1,
                latency_ms=1.0,
            )
        )
        said.append(RequestMessage(role="assistant", content=answer))
        event_log.record(MessageSent(context=place.at(turn=2 * turn + 1), source="executor", content=answer))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--events", type=int, default=20_000)
    events: int = parser.parse_args().events
    with tempfile.TemporaryDirectory(dir=Path.cwd()) as folder:
        for name, measured in (
            ("one conversation after the other", write(Path(folder, "one"), events)),
            ("100 conversations at once", converse_all(Path(folder, "many"), events, 100)),
        ):
            seconds = asyncio.run(measured)
            print(f"{name}: {events / seconds:,.0f} events/s, {events / 4 / seconds:,.0f} flushed turns/s at least")
        size = Path(folder, "one", "events.sqlite").stat().st_size
        print(f"{size / events:,.0f} bytes per event")


if __name__ == "__main__":
    main()
