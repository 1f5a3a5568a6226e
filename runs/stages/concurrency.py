"""Ordered concurrent execution that stops at the first error."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

from lawtrace.environments.errors import LawtraceError

Result = TypeVar("Result")


async def gather(coroutines: Iterable[Coroutine[Any, Any, Result]]) -> list[Result]:
    """The results in the order of the coroutines. The first LawtraceError cancels the others and is raised."""
    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(coroutine) for coroutine in coroutines]
    except BaseExceptionGroup as errors:
        ours = errors.subgroup(LawtraceError)
        if ours is None:
            raise
        first: BaseException = ours
        while isinstance(first, BaseExceptionGroup):
            first = first.exceptions[0]
        raise first from errors
    return [task.result() for task in tasks]
