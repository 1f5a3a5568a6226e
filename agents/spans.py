"""OpenTelemetry spans around what takes time: a model call, a stage. AutoGen makes spans of its own for its agents.

Only the API is used here, which AutoGen brings along and which does nothing until somebody installs an SDK
(``pip install 'lawtrace[otel]'``; `lawtrace.runs.cli.stage_runs` sets it up). What was said is in the record, never in
a span.
"""

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from opentelemetry import trace
from opentelemetry.trace import Span

from lawtrace.agents.event_log import Context, ModelCalled

Attribute = str | int | float | bool


@contextmanager
def span(name: str, attributes: Mapping[str, Attribute]) -> Generator[Span]:
    with trace.get_tracer("lawtrace").start_as_current_span(name, attributes=dict(attributes)) as current:
        yield current


@contextmanager
def call_span(context: Context) -> Generator[Span]:
    """Around one call of a model; named and described by the conventions for generative AI, with our place beside."""
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
