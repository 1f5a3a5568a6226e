"""Spans of model calls: context and usage, no text."""

import pytest
from autogen_core.models import UserMessage
from opentelemetry import trace

from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.scripted_client import ScriptedClient
from lawtrace.agents.models.stack import ModelClients
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec

sdk = pytest.importorskip("opentelemetry.sdk.trace")
exports = pytest.importorskip("opentelemetry.sdk.trace.export")
memory = pytest.importorskip("opentelemetry.sdk.trace.export.in_memory_span_exporter")


async def test_span_has_usage_but_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    kept = memory.InMemorySpanExporter()
    provider = sdk.TracerProvider()
    provider.add_span_processor(exports.SimpleSpanProcessor(kept))
    monkeypatch.setattr(trace, "get_tracer", provider.get_tracer)
    async with ModelClients(MemoryEventLog()) as clients:
        client = clients.wrap(
            ScriptedClient(lambda messages: "a secret answer"),
            ModelSpec.parse("offline"),
            Context(stage="tasks", role="masking_evaluator", task="t-1", trial=2),
        )
        await client.create([UserMessage(content="a secret question", source="user")])
    (span,) = kept.get_finished_spans()
    assert span.name == "chat offline"
    assert span.attributes["lawtrace.role"] == "masking_evaluator"
    assert span.attributes["lawtrace.task"] == "t-1"
    assert span.attributes["gen_ai.usage.output_tokens"] == 3
    assert "secret" not in span.to_json()
