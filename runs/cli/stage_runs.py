"""What the stages that talk to models have in common when they run alone: a record, and who plays which role."""

import os
from collections.abc import AsyncGenerator, Generator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path

from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.role_models import ConfiguredRoleModels
from lawtrace.environments.errors import InputError
from lawtrace.runs.cli.output import print_error, print_note
from lawtrace.runs.recipe import Recipe
from lawtrace.runs.store.event_log_database import event_log_path
from lawtrace.runs.store.event_log_file import EventLogFile


def open_stage_log(out: Path, what: str, sandbox: str | None = None) -> EventLogFile:
    """The record beside an output file, so that no answer is paid for and lost.

    ``sandbox``: what programs run behind, if any do. One that an interrupted call left behind is gone on with.
    """
    name = out.stem if out.suffix == ".jsonl" else out.name  # the folder of a release may be called 1.0.0
    folder = out.with_name(f"{name}.events")
    if event_log_path(folder).exists():
        print_note(f"Going on with {folder}: what it holds is not asked again.")
        return EventLogFile.resume(folder)
    return EventLogFile.create(folder, recipe={"stage": what, "sandbox": sandbox})


@asynccontextmanager
async def open_role_models(recipe: Recipe, event_log: EventLogFile) -> AsyncGenerator[ConfiguredRoleModels]:
    """The roles as the recipe casts them, each call recorded."""
    async with ModelClients(
        event_log, settings=recipe.call_settings(), open_replay=EventLogFile.open, earlier=event_log
    ) as clients:
        yield ConfiguredRoleModels(clients, recipe.models.specs(), recipe.parameters, recipe.prompts.prompts())


VARIABLES = ("OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT")


@contextmanager
def exported_spans() -> Generator[None]:
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


@contextmanager
def resumable(folder: Path) -> Generator[None]:
    """Around the run whose record is in the folder. Ctrl-C ends it, and says how to go on."""
    with exported_spans():
        try:
            yield
        except KeyboardInterrupt:
            print_error(f"stopped; what was answered is on record, and `lawtrace resume {folder}` goes on with it")
            raise
