"""The connection to an MCP server that is not trusted: a child process, or an address.

Both connections are those of the official SDK in shape, and bounded: a message that is too long is an item of the
stream, not memory; a server that cannot be reached is an answer, not a crash.
"""

import os
import sys
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from typing import Any, Final

import anyio
import httpx2
from anyio.abc import ByteReceiveStream, Process
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.client.streamable_http import streamable_http_client
from mcp.os.posix.utilities import terminate_posix_process_tree
from mcp.shared.message import SessionMessage
from mcp.types import ErrorData, JSONRPCError, jsonrpc_message_adapter

from lawtrace.schemas.errors import OperationalError

MAX_MESSAGE_BYTES: Final = 16_000_000
"""The longest message that is taken from a server."""

CONNECTION_FAILED: Final = -32000
GRACE: Final = 0.8
"""Seconds in which a child may end by itself, and then by SIGTERM. Clients stop us after two seconds."""

_CHUNK: Final = 65_536
_CONNECT_SECONDS: Final = 30.0


class Oversized(Exception):
    """A message of the server was longer than `MAX_MESSAGE_BYTES`, and was thrown away."""

    def __init__(self) -> None:
        super().__init__(f"a message of the server is longer than {MAX_MESSAGE_BYTES} bytes")


class Malformed(Exception):
    """What a server sent is no message."""


Incoming = SessionMessage | Exception


@asynccontextmanager
async def child_server(
    command: Sequence[str],
) -> AsyncGenerator[tuple[MemoryObjectReceiveStream[Incoming], MemoryObjectSendStream[SessionMessage]]]:
    """Run a command that serves MCP on its standard input and output, with our environment and standard error.

    At the end its input is closed; it is stopped, with its children, if it does not end by itself. Raises
    OperationalError if it cannot be started.
    """
    try:
        process = await anyio.open_process(command, stderr=sys.stderr, env=dict(os.environ), start_new_session=True)
    except OSError as error:
        raise OperationalError(f"{command[0]}: cannot be started: {error.strerror}") from error
    assert process.stdin is not None
    assert process.stdout is not None
    stdin, stdout = process.stdin, process.stdout
    found, incoming = anyio.create_memory_object_stream[Incoming](0)
    outgoing, given = anyio.create_memory_object_stream[SessionMessage](0)

    async def read() -> None:
        async with found:
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, ConnectionError):
                async for item in _lines(stdout):
                    await found.send(item)

    async def write() -> None:
        with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError, OSError):
            async with given:
                async for one in given:
                    await stdin.send(one.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        group.start_soon(write)
        try:
            yield incoming, outgoing
        finally:
            with anyio.CancelScope(shield=True):
                await _stop(process)
            group.cancel_scope.cancel()
            for stream in (found, incoming, outgoing, given):
                stream.close()


async def _lines(stdout: ByteReceiveStream) -> AsyncIterator[Incoming]:
    """The messages that a child writes, one a line."""
    held = bytearray()
    dropping = False
    while True:
        try:
            chunk = await stdout.receive(_CHUNK)
        except anyio.EndOfStream:
            return
        *complete, rest = chunk.split(b"\n")
        for part in complete:
            held += part
            if not dropping and held.strip():
                yield parse_message(bytes(held)) if len(held) <= MAX_MESSAGE_BYTES else Oversized()
            held.clear()
            dropping = False
        if not dropping:
            held += rest
            if len(held) > MAX_MESSAGE_BYTES:
                held.clear()
                dropping = True
                yield Oversized()


def parse_message(line: bytes) -> Incoming:
    """A message, or why it is none."""
    try:
        return SessionMessage(jsonrpc_message_adapter.validate_json(line, by_name=False))
    except ValueError:
        return Malformed(f"not a JSON-RPC message: {line[:200]!r}")


async def _stop(process: Process) -> None:
    assert process.stdin is not None
    with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
        await process.stdin.aclose()
    # Not wait(): that also waits for the end of the pipes, which a child of the server may hold open.
    with anyio.move_on_after(GRACE):
        while process.returncode is None:  # noqa: ASYNC110 (there is no event)
            await anyio.sleep(0.01)
    if process.returncode is None:
        await terminate_posix_process_tree(process, GRACE)
    with anyio.move_on_after(GRACE):
        await process.aclose()


@asynccontextmanager
async def remote_server(url: str, *, token: str | None, patience: float) -> AsyncGenerator[tuple[Any, Any]]:
    """Connect to a server of streamable HTTP.

    Args:
        token: sent as ``Authorization: Bearer TOKEN``.
        patience: seconds without a byte after which an answer is given up.
    """
    headers = {"accept-encoding": "identity"} | ({} if token is None else {"authorization": f"Bearer {token}"})
    async with (
        httpx2.AsyncClient(
            headers=headers, transport=_BoundedTransport(httpx2.AsyncHTTPTransport(), patience)
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MAX_MESSAGE_BYTES) as streams,
    ):
        yield streams


class _BoundedTransport(httpx2.AsyncBaseTransport):
    """Bounds answers, and makes an answer of a connection that fails, which would end the session otherwise."""

    def __init__(self, inner: httpx2.AsyncBaseTransport, patience: float) -> None:
        self._inner = inner
        self._patience = patience

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        streams = request.method == "GET" or request.headers.get("mcp-method") == "subscriptions/listen"
        request.extensions["timeout"] = {
            **dict.fromkeys(("connect", "write", "pool"), _CONNECT_SECONDS),
            "read": None if streams else self._patience,
        }
        try:
            response = await self._inner.handle_async_request(request)
            if response.headers.get("content-encoding", "identity") != "identity":
                await response.aclose()
                return _failure("the server compressed its answer without being asked to")
            if response.headers.get("content-type", "").lower().startswith("text/event-stream"):
                return response
            return await _bounded(response)
        except httpx2.TransportError as error:
            return _failure(f"the server cannot be reached: {error or type(error).__name__}")

    async def aclose(self) -> None:
        await self._inner.aclose()


async def _bounded(response: httpx2.Response) -> httpx2.Response:
    """The same response, read whole."""
    held = bytearray()
    try:
        async for chunk in response.aiter_raw():
            held += chunk
            if len(held) > MAX_MESSAGE_BYTES:
                return _failure(str(Oversized()))
    finally:
        await response.aclose()
    return httpx2.Response(response.status_code, headers=response.headers, content=bytes(held))


def _failure(message: str) -> httpx2.Response:
    answer = JSONRPCError(jsonrpc="2.0", id=None, error=ErrorData(code=CONNECTION_FAILED, message=message))
    content = answer.model_dump_json(by_alias=True, exclude_none=False).encode()
    return httpx2.Response(502, headers={"content-type": "application/json"}, content=content)
