"""Questions to people: a callback that is called, its answer waited for, and what counts if none comes."""

import asyncio
import inspect
import queue
import threading
from collections.abc import Awaitable, Callable

from lawtrace.solver.guard.decisions import Permission, PermissionRequest

Said = bool | Permission
Ask = Callable[[PermissionRequest], Said | Awaitable[Said]]
"""Says whether a call may be made; it may be a coroutine function."""


def ask_and_wait(ask: Ask, question: PermissionRequest, timeout: float) -> Permission:
    """Ask in a thread of its own. Without an answer in so many seconds, or if asking fails, there is no permission."""
    answers = queue.SimpleQueue[Permission]()
    threading.Thread(target=lambda: answers.put(asyncio.run(_answer(ask, question))), daemon=True).start()
    try:
        return answers.get(timeout=timeout)
    except queue.Empty:
        return _late(timeout)


async def ask_and_await(ask: Ask, question: PermissionRequest, seconds: float) -> Permission:
    """The same in an event loop, in which a coroutine function runs; another function gets a thread."""
    if not inspect.iscoroutinefunction(ask):
        return await asyncio.to_thread(ask_and_wait, ask, question, seconds)
    try:
        return await asyncio.wait_for(_answer(ask, question), seconds)
    except TimeoutError:
        return _late(seconds)


async def _answer(ask: Ask, question: PermissionRequest) -> Permission:
    try:
        said = ask(question)
        if inspect.isawaitable(said):
            said = await said
        return said if isinstance(said, Permission) else Permission(said is True)
    except Exception as error:  # noqa: BLE001 (recorded with the decision)
        return Permission(False, words=f"asking failed with {type(error).__name__}: {error}")


def _late(timeout: float) -> Permission:
    return Permission(False, words=f"there was no answer within {timeout:g} seconds")
