"""Event log entries, and a clock that tests set."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import Context, MessageSent

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def context() -> Context:
    return Context(stage="tasks", role="instruction_generator", task="task-1", style="goal")


@pytest.fixture
def message(context: Context) -> MessageSent:
    return MessageSent(context=context, source="instruction_generator", content="Pay the bill, “please” \u0000\n")


@pytest.fixture
def event_log(tmp_path: Path) -> EventLogFile:
    return EventLogFile.create(tmp_path / "run", recipe={"seed": 7, "models": ["openai:a"]}, clock=lambda: NOON)
