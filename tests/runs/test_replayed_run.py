"""A replay of a finished run gives the same bytes in every stage file; a changed prompt is reported."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import ModelCalled
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import Status, serving
from tests.support.shell import Shell

RECIPE = """
[regulation]
files = "law.txt"

[rules]
regulation = "text"

[tasks]
count = 1
spare = 1

[models]
{roles}

[attempts]
models = ["{model}"]
baselines = false
trials = 3
"""

ROLES = ("instruction_generator", "masking_evaluator", "independent_reader")


def recipe(folder: Path, model: str, roles: str | None = None) -> Path:
    played = "\n".join(f'{role} = "{roles}"' for role in ROLES) if roles else ""
    write_bank_law(folder)
    path = folder / f"{'replayed' if roles else 'live'}.toml"
    path.write_text(RECIPE.format(roles=played, model=model), encoding="utf-8")
    return path


@pytest.mark.slow
def test_every_stage_file_is_identical(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    numbers = count()

    def answer(_: Mapping[str, Any]) -> str:
        """Each answer is different, so that mixed-up trials are detected."""
        return f"Attempt {next(numbers)}.\n```python\nBankManager.CheckAuthorization()\n```"

    with serving(answer) as server, monkeypatch.context() as patch:
        server.connect(patch)
        server.then(Status(400))  # one attempt fails at the endpoint and stays failed
        assert lawtrace("run", recipe(tmp_path, "openai:m"), "--out", "live")[0] == 0
    again = recipe(tmp_path, "replay:live", roles="replay:live")
    code, _, err = lawtrace("run", again, "--out", "replayed")
    assert code == 0, err
    files = sorted(path.name for path in Path("live").glob("*.jsonl"))
    assert {"rules.jsonl", "traces.jsonl", "tasks.jsonl", "attempts.jsonl", "verdicts.jsonl", "findings.jsonl"} <= {
        *files
    }
    for name in files:
        assert Path("replayed", name).read_bytes() == Path("live", name).read_bytes(), name
    assert '"model":"openai:m"' in Path("replayed/attempts.jsonl").read_text(encoding="utf-8")
    assert "endpoint: " in Path("replayed/verdicts.jsonl").read_text(encoding="utf-8")
    with EventLogFile.open(Path("replayed")) as event_log:
        calls = [
            entry for entry in event_log.entries(kind="model_call", role="executor") if isinstance(entry, ModelCalled)
        ]
        assert calls
        assert all(call.replayed for call in calls)
        assert list(event_log.entries(kind="asked")) == []
