"""OpenTelemetry spans for model calls and stages. AutoGen has spans of its own for its agents.

Only the API is used, which AutoGen depends on and which does nothing without an SDK (``pip install 'lawtrace[otel]'``,
set up by `lawtrace.runs.cli`). Message texts are in the event log, never in a span.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span

from lawtrace.schemas.log_entries import Context, ModelCalled

Attribute = str | int | float | bool


@contextmanager
def span(name: str, attributes: Mapping[str, Attribute]) -> Generator[Span]:
    with trace.get_tracer("lawtrace").start_as_current_span(name, attributes=dict(attributes)) as current:
        yield current


@contextmanager
def call_span(context: Context) -> Generator[Span]:
    """The span of one model call, with the conventions for generative AI and the fields of the context."""
    place = {f"lawtrace.{name}": value for name, value in context.model_dump(exclude_none=True).items()}
    model = context.model or "unnamed"
    with span(f"chat {model}", {"gen_ai.operation.name": "chat", "gen_ai.request.model": model, **place}) as current:
        yield current


def set_usage(current: Span, called: ModelCalled) -> None:
    current.set_attributes(
        {
            "gen_ai.usage.input_tokens": called.prompt_tokens,
            "gen_ai.usage.output_tokens": called.completion_tokens,
            "lawtrace.queued_ms": called.queued_ms,
            "lawtrace.replayed": called.replayed,
        }
    )
