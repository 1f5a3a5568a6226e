"""Ctrl-C in the middle of a search: the command ends soon, with one sentence, whether it is pressed once or twice."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

RULES = "".join(
    f'[[rules]]\nid = "r{n}"\nformula = "G({first} -> count({second} since {third}) >= {3 + n % 4})"\n'
    f'rationale = "Reason {n}."\n\n'
    for n, (first, second, third) in enumerate(
        [
            ("SearchPayee", "TransferFunds", "PayBill"),
            ("TransferFunds", "PayBill", "GetAccountStatement"),
            ("PayBill", "GetAccountStatement", "CheckAuthorization"),
            ("GetAccountStatement", "CheckAuthorization", "SearchTransactions"),
            ("CheckAuthorization", "SearchTransactions", "GetAccountInformation"),
            ("SearchTransactions", "GetAccountInformation", "RecordAuditEvent"),
            ("GetAccountInformation", "RecordAuditEvent", "SearchPayee"),
        ]
    )
)
COMMANDS = {
    "events": "rules check --env banking --rules rules.toml",
    "Z3": "traces synthesize --env payments --count 40 --trace-mode contrasts --out traces.jsonl",
}


def hear_interrupts() -> None:
    """Restore the default SIGINT handling: background processes of a shell ignore SIGINT."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def processor_seconds(process: int) -> float:
    """What a process has used so far."""
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return int(fields[11]) / os.sysconf("SC_CLK_TCK")


@pytest.mark.slow
@pytest.mark.parametrize("presses", [1, 2])
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_ctrl_c_in_a_search_ends_the_command(command: str, presses: int, tmp_path: Path) -> None:
    (tmp_path / "rules.toml").write_text(RULES, encoding="utf-8")
    process = subprocess.Popen(
        [Path(sys.executable).with_name("lawtrace"), *command.split()],
        cwd=tmp_path,
        stderr=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
        preexec_fn=hear_interrupts,
    )
    deadline = time.monotonic() + 60
    while processor_seconds(process.pid) < 6 and time.monotonic() < deadline:
        time.sleep(0.1)
    assert process.poll() is None
    for _ in range(presses):
        os.killpg(process.pid, signal.SIGINT)
        time.sleep(0.05)
    pressed = time.monotonic()
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert err.count("lawtrace: stopped") == 1
    assert "Traceback" not in err
    assert time.monotonic() - pressed < 5  # on a busy machine; else within a second


FINALIZED = """
import os, signal
from lawtrace.runs import cli

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        [None for _ in range(100)]

def app(**_):
    Finalized()
    while True:
        pass

cli.app = app
cli.main()
"""


def test_ctrl_c_while_an_object_is_finalized_comes_again() -> None:
    process = subprocess.run(
        [sys.executable, "-c", FINALIZED],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
        preexec_fn=hear_interrupts,
    )
    assert process.returncode == -signal.SIGINT
    assert "ignored" not in process.stderr
