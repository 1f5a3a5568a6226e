"""docs/student.md: its commands in order, with models that answer as baseline policies do."""

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.log_entries import MessageSent
from tests.support.openai_server import serving
from tests.support.pages import ROOT, commands
from tests.support.shell import Shell

ASKED = ("", "first second", "", "", "", "first", "", "third", "", "first", "")
"""The models that each command of the page asks."""


def test_the_path_of_the_page(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    tasks, _ = read_tasks(Path("docs/tasks/1.3/banking.jsonl"))
    programs = {
        text.text: (task.program, task.literal[style]) for task in tasks for style, text in task.instructions.items()
    }

    def answer(request: Mapping[str, Any]) -> str:
        said = str(request["messages"][-1]["content"])
        reference, literal = next(of for text, of in programs.items() if text in said)
        return f"```python\n{literal if request['model'] == 'first' else reference}```"

    verdicts, printed = Path("logs/two/verdicts.jsonl"), dict[str, Any]()
    with serving(answer) as server:
        server.connect(monkeypatch)
        for words, asked in zip(commands(ROOT / "docs" / "student.md"), ASKED, strict=True):
            server.requests.clear()
            before = verdicts.read_text(encoding="utf-8").splitlines() if verdicts.exists() else []
            printed[words] = lawtrace.json(*words.split())
            assert {str(request["model"]) for request in server.requests} == {*asked.split()}, words
            assert len(server.requests) == (10 if "--trials 5" in words else 8 * len(asked.split())), words
            if "--dry-run" in words:
                assert sum(line["most"] for line in printed[words]["calls"]) == (16 if words.startswith("run") else 8)
            elif words.startswith("resume"):
                assert printed[words]["outcomes"]["openai:third/goal/safe_success"] == 4
                assert {*before} < {*verdicts.read_text(encoding="utf-8").splitlines()}
        code, _, err = lawtrace("resume", "logs/two", "--model", "openai:first")
        assert (code, "`lawtrace resume logs/two` asks what is missing" in err) == (2, True)
    with EventLogFile.open(Path("logs/two")) as event_log:
        sent = Counter(entry.id for entry in event_log.entries(kind="message") if isinstance(entry, MessageSent))
    assert {*sent.values()} == {1}, "no message is recorded twice"


def test_task_files_that_cannot_be_run(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "docs").symlink_to(ROOT / "docs")
    text = Path("docs/tasks/1.3/banking.jsonl").read_text(encoding="utf-8")
    Path("old.jsonl").write_text(text.replace('_version":"2"', '_version":"1"'), encoding="utf-8")
    for words, complaint in (
        ("old.jsonl", "version 1 of 'banking', and here is version 2"),
        ("1.3", "has tasks of banking, smart_home, telehealth; choose one of these with --env"),
        ("1.3 --env clinic", "choose one of these with --env"),
        ("1.3 --env banking --task banking-113856-s1-01", "did you mean"),
        ("docs", "no task file in this folder"),
    ):
        code, _, err = lawtrace("run", "--tasks", *words.split(), "--dry-run")
        assert (code, complaint in err) == (2, True), err
