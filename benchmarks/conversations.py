"""CPU time and memory of up to a thousand concurrent conversations.

    python -m benchmarks.conversations
    python -m benchmarks.conversations --at-once 1000 --turns 4 --answer-seconds 1

A writing role and a check by code run through the full stack: AutoGen's team, event log on disk, request hash, limit,
deadline, retries, the OpenAI client over loopback. The endpoint is a separate process with a fixed delay. Budget: 20
ms of this process's CPU time per turn, and 1 GB at a thousand conversations.
"""

import argparse
import asyncio
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from lawtrace.agents.conversation import Utterance, run_conversation
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.participants import CodeCheck, Objections
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles.instruction_roles import INSTRUCTION_GENERATOR, Draft
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.call_options import CallOptions, ConversationOptions
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec, Parameters
from lawtrace.solver.declarations.loader import load_domain

SPEC = ModelSpec.parse("openai:loopback")
BANKING = load_domain("banking").environment


async def converse(clients: ModelClients, event_log: EventLogFile, number: int, turns: int) -> int:
    """Run one conversation in which the check rejects until the role has written `turns` times; return its turns."""
    context = Context(stage="benchmark", role="instruction_generator", task=f"task-{number}")
    models = RoleModels(clients, {"instruction_generator": SPEC}, Parameters())

    def check(_: Draft) -> Objections:
        return Objections(objections=("once more",))

    def next_speaker(said: Sequence[Utterance]) -> str | None:
        drafts = sum(isinstance(content, Draft) for _, content in said)
        if drafts >= turns:
            return None
        return "check" if isinstance(said[-1][1], Draft) else "instruction_generator"

    said = await run_conversation(
        [
            INSTRUCTION_GENERATOR.agent(models, context, style="goal", manner="", plan="[]", summary=BANKING.summary),
            CodeCheck("check", Draft, Objections, check),
        ],
        opening="Write the request.",
        next_speaker=next_speaker,
        context=context,
        event_log=event_log,
        most_messages=3 * turns,
    )
    return sum(isinstance(content, Draft) for _, content in said)


async def measure(folder: Path, address: str, at_once: int, turns: int) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds of this process, turns."""
    settings = CallOptions(conversation=ConversationOptions(deadline_seconds=600, concurrency=at_once))
    environment = {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "loopback"}
    with EventLogFile.create(folder, recipe={}) as event_log:
        async with ModelClients(event_log, settings=settings, environment=environment) as clients:
            await converse(clients, event_log, -1, 1)  # connections, imports
            wall, cpu = time.monotonic(), time.process_time()
            counts = await asyncio.gather(*(converse(clients, event_log, number, turns) for number in range(at_once)))
            return time.monotonic() - wall, time.process_time() - cpu, sum(counts)


REPLY = json.dumps(
    {
        "id": "loopback",
        "object": "chat.completion",
        "created": 0,
        "model": "loopback",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": json.dumps({"text": "Please pay the bill."})},
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110},
    }
).encode()


async def serve(seconds: float) -> None:
    """An endpoint that gives every request the same answer after a delay; prints its port."""

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while head := await reader.readuntil(b"\r\n\r\n"):
                fields = (line.split(b":", 1) for line in head.lower().split(b"\r\n") if b":" in line)
                size = next((int(value) for name, value in fields if name == b"content-length"), 0)  # 0: of a GET
                await reader.readexactly(size)
                await asyncio.sleep(seconds)
                writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
                writer.write(b"Content-Length: %d\r\n\r\n" % len(REPLY) + REPLY)
                await writer.drain()
        writer.close()

    server = await asyncio.start_server(talk, "127.0.0.1", 0, backlog=4096)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--at-once", type=int, default=1000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--answer-seconds", type=float, default=1.0)
    parser.add_argument("--serve", action="store_true", help="run the endpoint")
    asked = parser.parse_args()
    if asked.serve:
        asyncio.run(serve(asked.answer_seconds))
        return
    seconds = str(asked.answer_seconds)
    command = [sys.executable, "-m", "benchmarks.conversations", "--serve", "--answer-seconds", seconds]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server,
        tempfile.TemporaryDirectory() as folder,
    ):
        assert server.stdout is not None
        address = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        run = Path(folder) / "run"
        wall, cpu, turns = asyncio.run(measure(run, address, asked.at_once, asked.turns))
        size = (run / "events.sqlite").stat().st_size / 2**20
        server.terminate()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**10
    print(f"{asked.at_once} conversations at once, {turns} turns, an answer takes {asked.answer_seconds:g} s")
    print(f"wall {wall:.1f} s ({asked.turns * asked.answer_seconds:g} s of it waiting), CPU {cpu:.1f} s")
    print(f"own time per turn {1000 * cpu / turns:6.1f} ms   (budget 20 ms)")
    print(f"peak memory       {peak:6.0f} MB   (budget 1,024 MB)")
    print(f"record            {size:6.1f} MB   machine load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
