"""The run, stage, task, attempt, role and turn that structured logs belong to."""

from collections.abc import Generator
from contextlib import contextmanager

from structlog.contextvars import bound_contextvars

from lawtrace.schemas.log_entries import Context


@contextmanager
def log_context(context: Context, **more: str) -> Generator[None]:
    """Bind the conversation, and `more`, to every event in this block, those of AutoGen included."""
    place = context.model_dump(exclude={"role", "model", "turn"}, exclude_none=True)
    with bound_contextvars(**place, **more):
        yield
