"""Model usage of a run, summed from its event log."""

from pathlib import Path

import pytest

from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import ModelUsage, measure_usage, total_usage
from lawtrace.schemas.call_options import Price
from lawtrace.schemas.log_entries import CallRetried, Context, ModelCalled, RequestMessage, RoleFailed

HERE = Context(stage="tasks", role="masking_evaluator", model="openai:m", task="t", style="goal")


def call(context: Context = HERE, *, paid: bool = True, replayed: bool = False) -> ModelCalled:
    return ModelCalled(
        context=context,
        request=(RequestMessage(role="user", content="hello"),),
        request_hash="h",
        occurrence=0,
        answer="yes",
        finish_reason="stop",
        prompt_tokens=100,
        completion_tokens=10,
        latency_ms=1500.0,
        queued_ms=250.0,
        paid=paid,
        replayed=replayed,
    )


@pytest.fixture
def record(tmp_path: Path) -> EventLogFile:
    return EventLogFile.create(tmp_path / "run", recipe={})


def test_only_endpoint_answers_are_paid(event_log: EventLogFile) -> None:
    with event_log:
        event_log.record(call())
        event_log.record(call())
        event_log.record(call(replayed=True))
        event_log.record(call(HERE.at(role="executor", model="baseline:literal"), paid=False))
        event_log.record(call(HERE.at(role="executor", model="openai:n")))
        event_log.record(CallRetried(context=HERE, try_number=1, error="status 500", waited_seconds=1.0))
        event_log.record(RoleFailed(context=HERE, reason="deadline", text="late", request_hash="g", occurrence=0))
        given_up = RoleFailed(context=HERE, reason="cancelled", text="stopped", request_hash="i", occurrence=0)
        event_log.record(given_up)
        lines = measure_usage(event_log, {"openai:m": Price(input=1000.0, output=10_000.0)})
    assert lines == (
        ModelUsage("masking_evaluator", "openai:m", 2, 1, 1, 1, 200, 20, 3.0, 0.5, 0.4),
        ModelUsage("executor", "openai:n", 1, 0, 0, 0, 100, 10, 1.5, 0.25, None),
    )
    whole = total_usage(lines)
    assert (whole.asked, whole.retries, whole.prompt_tokens, whole.money) == (3, 1, 300, 0.4)


def test_a_run_without_models_has_no_usage(event_log: EventLogFile) -> None:
    with event_log:
        event_log.record(call(paid=False))
        assert measure_usage(event_log, {}) == ()


def test_a_role_with_only_failures_is_listed(event_log: EventLogFile) -> None:
    with event_log:
        event_log.record(RoleFailed(context=HERE, reason="endpoint", text="gone", request_hash="g", occurrence=0))
        (line,) = measure_usage(event_log, {})
    assert (line.role, line.asked, line.failures) == ("masking_evaluator", 0, 1)
