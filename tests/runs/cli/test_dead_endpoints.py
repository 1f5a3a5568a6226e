"""Endpoints that never answer end a command after a bounded number of calls, in their own words, and with a way on."""

from collections import Counter
from pathlib import Path

import pytest

from lawtrace.agents.models.limits import MAX_FAILURES_IN_A_ROW
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.openai_server import OpenAIServer, Status, serving
from tests.support.shell import Shell

pytestmark = pytest.mark.slow

ANSWER = "```python\nBankManager.CheckAuthorization()\n```"
RECIPE = """
name = "two"
environment = "banking"

[conversation]
concurrency = 1

[tasks]
count = 4

[attempts]
models = ["openai:gone", "openai:good"]
trials = 3
baselines = false
"""


def asked(server: OpenAIServer) -> Counter[str]:
    return Counter(request["model"] for request in server.requests)


def test_another_model_goes_on_and_resume_asks_what_is_missing(
    tmp_path: Path, lawtrace: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "two.toml").write_text(RECIPE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with serving(lambda _: ANSWER) as server:
        server.connect(monkeypatch)
        server.then(*[None] * 4)  # some calls are answered before the endpoint is gone
        server.always("gone", Status(404))
        code, _, err = lawtrace("run", "two.toml", "--out", "run")
        first = asked(server)
        assert code == 1
        assert first == {"good": 24, "gone": 4 + MAX_FAILURES_IN_A_ROW}
        assert "status 404; check the model's name" in err
        assert err.count("model call failed") == MAX_FAILURES_IN_A_ROW
        assert "openai:gone is not asked any more in this session after" in err
        assert "`lawtrace resume run` repeats the calls without an answer." in err
        judged = Counter(
            row.model for row in read_rows(Path("run/verdicts.jsonl"), Verdict) if row.outcome != "invalid"
        )
        assert judged == {"openai:good": 24, "openai:gone": 4}
        server.always("gone", None)
        server.requests.clear()
        code, out, err = lawtrace("resume", "run")
        assert (code, asked(server)) == (0, {"gone": 20}), out + err
