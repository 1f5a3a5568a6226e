"""Sending spans where the environment says: ``OTEL_EXPORTER_OTLP_ENDPOINT``, as OpenTelemetry documents it."""

import os
from collections.abc import Generator
from contextlib import contextmanager

from lawtrace.environments.errors import InputError

VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@contextmanager
def tracing() -> Generator[None]:
    """Spans are sent while the block runs, and the last of them at its end; without the variable, none are made.

    Raises InputError if the extra is not installed.
    """
    if not any(os.environ.get(name) for name in VARIABLES):
        yield
        return
    try:
        from opentelemetry import trace
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        raise InputError(
            f"{VARIABLES[0]} is set, but nothing here can send spans: pip install 'lawtrace[otel]', or unset it"
        ) from error
    provider = TracerProvider(resource=Resource.create({"service.name": "lawtrace"}))
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(provider)
    try:
        yield
    finally:
        provider.shutdown()
