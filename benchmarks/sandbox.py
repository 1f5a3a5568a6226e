"""Start time of the sandbox, and time of a program with eight tool calls.

    python benchmarks/sandbox.py [--programs 500] [--starts 20]

Prints medians in milliseconds, also for the same source run by ``exec`` in this process. The difference is the cost of
isolation.
"""

import argparse
import json
import statistics
import time
from collections.abc import Callable

from lawtrace.environments.sandbox import Program, Reply, Returned, Sandbox, Toolset
from lawtrace.schemas.events import Json

SOURCE = """
accounts = Bank.GetAccounts(owner="Ada")["accounts"]
for account in accounts:
    balance = Bank.GetBalance(account["id"])["balance"]
    if balance > 100:
        Bank.Transfer(account["id"], "savings", amount=balance - 100)
Bank.RecordAuditEvent(events=["TRANSFER"])
"""

TOOLS: dict[str, tuple[str, ...]] = {
    "GetAccounts": ("owner",),
    "GetBalance": ("account_id",),
    "Transfer": ("source", "target", "amount"),
    "RecordAuditEvent": ("events",),
}

RESULTS: dict[str, Json] = {
    "GetAccounts": {"accounts": [{"id": "A1"}, {"id": "A2"}, {"id": "A3"}]},
    "GetBalance": {"balance": 250.0},
    "Transfer": {"success": True},
    "RecordAuditEvent": {"success": True},
}

CALLS = 8


def answer(tool: str, _arguments: dict[str, Json]) -> Reply:
    return Returned(RESULTS[tool])


class Bank:
    """The same tools without isolation."""

    def __getattr__(self, tool: str) -> Callable[..., Json]:
        return lambda *_positional, **_arguments: RESULTS[tool]


def milliseconds(work: Callable[[], object], times: int) -> float:
    durations: list[float] = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        durations.append((time.perf_counter() - started) * 1000)
    return statistics.median(durations)


def start() -> None:
    with Sandbox():
        pass


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=int, default=500)
    parser.add_argument("--starts", type=int, default=20)
    options = parser.parse_args()
    program = Program(SOURCE, Toolset.untyped("Bank", TOOLS))
    with Sandbox() as sandbox:
        execution = sandbox.run(program, answer)
        assert (execution.status, execution.calls) == ("finished", CALLS), execution
        in_sandbox = milliseconds(lambda: sandbox.run(program, answer), options.programs)
    in_process = milliseconds(lambda: exec(SOURCE, {"Bank": Bank()}), options.programs)
    figures = {
        "start_and_stop_ms": milliseconds(start, options.starts),
        "program_with_8_calls_ms": in_sandbox,
        "same_in_process_ms": in_process,
    }
    print(json.dumps({name: round(value, 3) for name, value in figures.items()}))


if __name__ == "__main__":
    main()
