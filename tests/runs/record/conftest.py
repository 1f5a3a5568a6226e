"""Entries to write, and a clock that stands where the test puts it."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from lawtrace.agents.ledger import Context, MessageSent
from lawtrace.runs.record.store import Record

NOON = datetime(2025, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def context() -> Context:
    return Context(stage="tasks", role="instruction_generator", task="task-1", style="goal")


@pytest.fixture
def message(context: Context) -> MessageSent:
    return MessageSent(context=context, source="instruction_generator", content="Pay the bill, “please” \u0000\n")


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record.create(tmp_path / "run", recipe={"seed": 7, "models": ["openai:a"]}, clock=lambda: NOON)
