"""The proxy as a process: a client on standard input and output, a server as a child or at an address."""

import os
import signal
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any

import anyio
from mcp.server.stdio import stdio_server

from lawtrace.runs.integrations.guarded_session import GuardedSession
from lawtrace.runs.integrations.inner_server import child_server, remote_server
from lawtrace.runs.integrations.mcp_guard import McpGuard


def serve_guard(
    session: GuardedSession, *, command: Sequence[str], url: str | None, token: str | None, timeout: float
) -> None:
    """Guard one client of standard input and output until it leaves, then finish the session.

    Args:
        command: serves MCP on its standard input and output.
        url: of a server, instead of a command.
        token: sent to the server at the address as ``Authorization: Bearer TOKEN``.
        timeout: seconds in which the server has to answer, or to report progress.

    Raises OperationalError if the command cannot be started.
    """

    def connect() -> AbstractAsyncContextManager[tuple[Any, Any]]:
        return child_server(command) if url is None else remote_server(url, token=token, patience=timeout + 5)

    async def run() -> None:
        caught: list[int] = []

        async def stop_on_signal(scope: anyio.CancelScope) -> None:
            with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
                async for number in signals:
                    caught.append(number)
                    scope.cancel()

        async with stdio_server() as client, client[0], client[1]:
            async with connect() as server, anyio.create_task_group() as group:
                group.start_soon(stop_on_signal, group.cancel_scope)
                await McpGuard(session, client, server, timeout).run()
                session.finish()  # before the server is stopped: a client does not wait for that
                group.cancel_scope.cancel()
            session.finish()
            if caught:
                # The thread that reads standard input cannot be cancelled, and the client keeps it open.
                os._exit(128 + caught[0])

    try:
        anyio.run(run)
    finally:
        session.finish()
