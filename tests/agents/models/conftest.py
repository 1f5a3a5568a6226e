"""A real endpoint for the client stack, and the clients that talk to it."""

from collections.abc import Iterator

import pytest

from lawtrace.agents.models import retry
from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.log_entries import Context
from tests.support.call_limits import call_limits
from tests.support.openai_server import OpenAIServer, serving


@pytest.fixture(autouse=True)
def short_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("MOST_TRIES", 3), ("FIRST_WAIT", 0.01), ("LONGEST_WAIT", 0.02)):
        monkeypatch.setattr(retry, name, value)


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    """Echoes the last message."""
    with serving(lambda request: f"echo: {request['messages'][-1]['content']}") as running:
        yield running


@pytest.fixture
def context() -> Context:
    return Context(stage="tasks", role="instruction_generator", task="task-1", style="goal")


@pytest.fixture
def quick() -> CallOptions:
    """The limits of a run."""
    return call_limits(deadline_seconds=5, concurrency=4)
