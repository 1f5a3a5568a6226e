"""A replay of a finished run gives the same bytes in every stage file; a changed prompt is reported."""

from collections.abc import Mapping
from itertools import count
from pathlib import Path
from typing import Any, Literal

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import ModelCalled
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import Status, calling, serving
from tests.support.shell import Shell

RECIPE = """
[regulation]
files = "law.txt"

[rules]
extract = {extract}
regulation = "text"

[tasks]
count = 1
spare = 1

[models]
{roles}

[attempts]
models = ["{model}"]
baselines = false
mode = "{mode}"
trials = 3
"""

ROLES = ("policy_extractor", "ltl_critic", "instruction_generator", "masking_evaluator", "independent_reader")


def recipe(folder: Path, mode: str, model: str, roles: str | None = None) -> Path:
    played = "\n".join(f'{role} = "{roles}"' for role in ROLES) if roles else ""
    extract = "true" if mode == "program" else "false"  # an extractor that was not used cannot be replayed
    if roles and extract == "false":
        played = "\n".join(played.splitlines()[2:])
    write_bank_law(folder)
    path = folder / f"{'replayed' if roles else 'live'}.toml"
    path.write_text(RECIPE.format(extract=extract, roles=played, model=model, mode=mode), encoding="utf-8")
    return path


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["program", "tools"])
def test_every_stage_file_is_identical(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: Literal["program", "tools"]
) -> None:
    numbers = count()

    def answer(request: Mapping[str, Any]) -> str | Mapping[str, Any]:
        """Each answer is different, so that mixed-up trials are detected."""
        number = next(numbers)
        if mode == "program":
            return f"Attempt {number}.\n```python\nBankManager.CheckAuthorization()\n```"
        said = sum(message["role"] == "assistant" for message in request["messages"])
        return calling(("CheckAuthorization", {}), saying=f"call {number}") if said < 2 else f"Done, {number}."

    with serving(answer) as server, monkeypatch.context() as patch:
        server.connect(patch)
        server.then(Status(400))  # one attempt fails at the endpoint and stays failed
        assert lawtrace("run", recipe(tmp_path, mode, "openai:m"), "--out", "live")[0] == 0
    again = recipe(tmp_path, mode, "replay:live", roles="replay:live")
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
