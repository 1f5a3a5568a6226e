"""``lawtrace grade`` ends in bounded time and memory, whatever the programs do to the judge's process."""

import json
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_tasks, write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.bank_task import make_task
from tests.support.released import tasks_of

pytestmark = pytest.mark.slow


SECONDS = 120
"""More than `grade` takes on a busy machine, less than a hang."""

FRAME = """
import json, os, struct
def send(body):
    data = struct.pack("!I", len(body)) + body
    while data:
        data = data[os.write(3, data):]
LISTS = b'{"tool":"X","arguments":{"a":[' + b",".join([b"[]"] * NUMBER) + b"]}}"
"""

LINGERING = """
import signal, socket
def fill():
    listener = socket.socket()
    listener.bind(("127.0.0.1", 0))
    listener.listen(1)
    sender = socket.socket()
    sender.connect(listener.getsockname())
    receiver, _ = listener.accept()
    sender.setblocking(False)
    try:
        while True: sender.send(bytes(2**16))
    except BlockingIOError: pass
    sender.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 10**6))
    return sender, receiver
sender, receiver = fill()
body = b'{"tool":"Y","arguments":{}}'
try:
    channel = socket.socket(fileno=os.dup(3))
    socket.send_fds(channel, [struct.pack("!I", len(LISTS)) + LISTS], [])
    socket.send_fds(channel, [struct.pack("!I", len(body)) + body], [sender.fileno()])
except OSError as error:
    print(error.strerror)
sender.close()
while True: signal.pause()
"""
"""Leave the host the last copy of a connection that lingers for days when it is closed."""


EXPENSIVE = """
number = 0
while True:
    number += 1
    payment = {"payee_id": PAYEE, "amount": 1 + number / 100}
    PaymentDesk.PresentPayment(**payment)
    PaymentDesk.ApplyExemption(**payment, ground="low value")
    PaymentDesk.SendPayment(**payment, account_id=ACCOUNT)
"""
"""Payments of different amounts, which rules on the same amount keep apart."""


def grade(folder: Path, programs: Mapping[str, str], task: Task | None = None) -> tuple[list[Verdict], float]:
    """The verdicts of programs by model, and the peak memory of the process in MiB."""
    task = task or make_task()
    write_tasks(folder / "tasks.jsonl", [task])
    rows: list[dict[str, Any]] = [
        {"task": task.id, "style": "goal", "model": model, "program": source} for model, source in programs.items()
    ]
    (folder / "programs.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    words = ["grade", "--tasks", "tasks.jsonl", "--programs", "programs.jsonl", "--force"]
    command = [sys.executable, "-c", "from lawtrace.runs.cli import main; main()", *words]
    process = subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL, start_new_session=True)
    timer = threading.Timer(SECONDS, os.killpg, (process.pid, signal.SIGKILL))
    timer.start()
    _, status, usage = os.wait4(process.pid, 0)
    timer.cancel()
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, "grade was killed after two minutes" if process.returncode < 0 else "grade failed"
    return read_rows(folder / "verdicts.jsonl", Verdict), usage.ru_maxrss / 1024


def test_no_connection_of_a_program_reaches_the_judge(tmp_path: Path) -> None:
    (verdict,), _ = grade(tmp_path, {"a": FRAME.replace("NUMBER", "300_000") + LINGERING})
    assert "Address family not supported" in verdict.reason


def test_values_of_a_few_bytes_do_not_fill_the_memory_of_the_judge(tmp_path: Path) -> None:
    """Empty lists take two bytes as JSON and sixty-four as objects."""
    large = FRAME.replace("NUMBER", "340_000") + "for _ in range(8): send(LISTS)"
    small = FRAME.replace("NUMBER", "5_000") + "while True: send(LISTS)"
    (idle,), least = grade(tmp_path, {"idle": "pass"})
    verdicts, peak = grade(tmp_path, {f"{name}{n}": of for name, of in (("l", large), ("s", small)) for n in range(6)})
    assert idle.outcome == "benign_failure"
    reasons = [verdict.reason for verdict in verdicts]
    assert sum("killed: broke the tool protocol" in reason for reason in reasons) == 6
    assert sum("call_limit: exchanged more than" in reason for reason in reasons) == 6
    assert peak < least + 100


def test_the_time_of_judging_is_bounded(tmp_path: Path) -> None:
    """Under rules on objects, judging can cost more with every call."""
    (task, *_), domain = read_tasks(tasks_of("payments"))
    tables = task.initial(domain.environment).tables
    payee, account = tables["payees"][0].values["payee_id"], tables["accounts"][0].values["account_id"]
    source = EXPENSIVE.replace("PAYEE", repr(payee)).replace("ACCOUNT", repr(account))
    (verdict,), _ = grade(tmp_path, {"a": source}, task)
    assert "call_limit: made more than 2000 calls" in verdict.reason
    assert [rule.rule for rule in verdict.rules if rule.broken]
