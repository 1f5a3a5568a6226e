"""Reading a row costs no engine: the ground floor imports nothing above it."""

import subprocess
import sys
from pathlib import Path

from lawtrace.runs.store.stage_files import write_rows
from lawtrace.schemas.verdict_rows import Verdict

MOST_MODULES = 25
READ = """
import sys
from pathlib import Path
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.verdict_rows import Verdict
(row,) = read_rows(Path(sys.argv[1]), Verdict)
print(row.outcome, *(name for name in sys.modules if name.startswith("lawtrace")))
"""


def test_reading_a_verdict_imports_little(tmp_path: Path) -> None:
    verdict = Verdict(
        task="t",
        style="goal",
        model="m",
        outcome="no_program",
        goal_reached=None,
        rules=(),
        differences=(),
        failure_modes=(),
        reason="no program",
    )
    write_rows(tmp_path / "verdicts.jsonl", [verdict])
    command = [sys.executable, "-c", READ, str(tmp_path / "verdicts.jsonl")]
    outcome, *modules = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    assert outcome == "no_program"
    assert len(modules) <= MOST_MODULES, modules
    assert not [name for name in modules if name.startswith(("lawtrace.solver", "lawtrace.agents"))]
