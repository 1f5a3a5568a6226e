"""A small loopback server with the OpenAI protocol, for tests that need a real endpoint without a model.

    with serving(lambda request: "hello") as server:
        server.then(Status(429, {"Retry-After": "0"}), Hang(2))   # the next two requests; then answers again
    server.then(Drop(), None, Say("not what was asked"))      # None: a normal answer
    server.always("dead", Status(404))                        # every request for this model
        ...server.base_url..., server.requests

Runs in its own threads, so a test may call it from an event loop or a subprocess.
"""

import json
import threading
import time
from collections import deque
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

Answer = Callable[[Mapping[str, Any]], str | Mapping[str, Any]]
"""From the request's JSON to the text of the answer, or to a whole assistant message (with ``tool_calls``)."""


def calling(*calls: tuple[str, str | Mapping[str, Any]], saying: str | None = None) -> Mapping[str, Any]:
    """An assistant message that calls tools: name and arguments of each, as JSON text or as the object to write."""
    return {
        "content": saying,
        "tool_calls": [
            {
                "id": f"call-{number}",
                "type": "function",
                "function": {
                    "name": name,
                    "arguments": arguments if isinstance(arguments, str) else json.dumps(arguments),
                },
            }
            for number, (name, arguments) in enumerate(calls)
        ],
    }


@dataclass(frozen=True)
class Status:
    """Refuses with an HTTP status."""

    code: int
    headers: Mapping[str, str] = field(default_factory=dict[str, str])
    error_code: str | None = None
    text: str = ""


@dataclass(frozen=True)
class Hang:
    """Waits for some seconds, then answers."""

    seconds: float


@dataclass(frozen=True)
class Drop:
    """Closes the connection without a response."""


@dataclass(frozen=True)
class Raw:
    """Answers 200 with a body that is not a chat completion."""

    body: str
    content_type: str = "application/json"


@dataclass(frozen=True)
class Cut:
    """Begins to answer and closes the connection in the middle."""


@dataclass(frozen=True)
class Trickle:
    """Answers in small pieces."""

    pieces: int
    pause: float


@dataclass(frozen=True)
class Say:
    """A completion with this text instead of the normal answer."""

    text: str


Behaviour = Status | Hang | Drop | Raw | Cut | Trickle | Say


class OpenAIServer:
    """Answers ``/v1/chat/completions``, ``/v1/embeddings`` and ``/v1/models``. Keeps every request it receives,
    with its headers, whose names are in lower case."""

    def __init__(self, answer: Answer) -> None:
        self.requests: list[Mapping[str, Any]] = []
        self.headers: list[Mapping[str, str]] = []
        self._answer = answer
        self._next: deque[Behaviour | None] = deque()
        self._by_model: dict[str, Behaviour] = {}
        self._released = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True)

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def connect(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Point ``openai:`` specs of this process to this server, for one test."""
        for name, value in self.environment.items():
            monkeypatch.setenv(name, value)

    @property
    def environment(self) -> Mapping[str, str]:
        """The environment variables that point ``openai:`` specs to this server."""
        return {"OPENAI_BASE_URL": self.base_url, "OPENAI_API_KEY": "loopback"}

    def then(self, *behaviours: Behaviour | None) -> None:
        """Set the behaviour for the next requests, one each; later requests are answered normally."""
        self._next.extend(behaviours)

    def always(self, model: str, behaviour: Behaviour | None) -> None:
        """Set the behaviour for all requests for a model; None: a normal answer."""
        self._by_model.pop(model, None)
        if behaviour is not None:
            self._by_model[model] = behaviour

    def behaviour(self, model: str | None = None) -> Behaviour | None:
        return self._next.popleft() if self._next else self._by_model.get(model or "")

    def page(self) -> Raw | None:
        """What the next request without a body is answered with, if that was set."""
        found = self._next[0] if self._next else None
        return found if isinstance(found, Raw) and self._next.popleft() else None

    def wait(self, seconds: float) -> None:
        """Sleeps, but not past the end of the test."""
        self._released.wait(seconds)

    def completion(self, request: Mapping[str, Any], said: str | None = None) -> Mapping[str, Any]:
        answered = self._answer(request) if said is None else said
        message = {"content": answered} if isinstance(answered, str) else {"content": None, **answered}
        prompt = sum(len(str(sent.get("content") or "").split()) for sent in request["messages"])
        reply = len(str(message["content"] or "").split())
        return {
            "id": "chatcmpl-loopback",
            "object": "chat.completion",
            "created": int(time.time()),
            "model": request["model"],
            "choices": [
                {
                    "index": 0,
                    "message": {"role": "assistant", **message},
                    "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
                }
            ],
            "usage": {"prompt_tokens": prompt, "completion_tokens": reply, "total_tokens": prompt + reply},
        }

    def embeddings(self, request: Mapping[str, Any]) -> Mapping[str, Any]:
        """A vector for each text: its vowel counts, enough to distinguish texts."""
        vectors = [[float(text.lower().count(vowel)) for vowel in "aeiou"] for text in request["input"]]
        data = [{"object": "embedding", "index": place, "embedding": vector} for place, vector in enumerate(vectors)]
        usage = {"prompt_tokens": 0, "total_tokens": 0}
        return {"object": "list", "data": data, "model": request["model"], "usage": usage}

    def reply(self, path: str, request: Mapping[str, Any]) -> Mapping[str, Any]:
        return self.embeddings(request) if path.endswith("/embeddings") else self.completion(request)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._released.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(answer: Answer) -> Generator[OpenAIServer]:
    """A server that runs until the block ends."""
    server = OpenAIServer(answer)
    server.start()
    try:
        yield server
    finally:
        server.stop()


def _handler(server: OpenAIServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        disable_nagle_algorithm = True  # else the body waits for the client's delayed acknowledgement of the head

        def do_GET(self) -> None:
            if page := server.page():
                self._send(200, page.body.encode(), {"Content-Type": page.content_type})
                return
            models = [{"id": "loopback", "object": "model", "created": 0, "owned_by": "tests"}]
            self._reply(200, {"object": "list", "data": models})

        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            server.requests.append(request)
            server.headers.append({name.lower(): value for name, value in self.headers.items()})
            match server.behaviour(request["model"]):
                case Status(code, headers, error_code, text):
                    message = f"status {code}{text}"
                    self._reply(code, {"error": {"message": message, "code": error_code}}, headers)
                case Drop():
                    self.close_connection = True
                case Raw(body, content_type):
                    self._send(200, body.encode(), {"Content-Type": content_type})
                case Say(text):
                    self._reply(200, server.completion(request, text))
                case Cut():
                    body = json.dumps(server.reply(self.path, request)).encode()
                    self._send(200, body, {"Content-Type": "application/json"}, body[: len(body) // 2])
                    self.close_connection = True
                case Trickle(pieces, pause):
                    body = json.dumps(server.reply(self.path, request)).encode()
                    size = -(-len(body) // pieces)
                    self._send(200, body, {"Content-Type": "application/json"}, b"")
                    for start in range(0, len(body), size):
                        server.wait(pause)
                        self._write(body[start : start + size])
                case Hang(seconds):
                    server.wait(seconds)
                    self._reply(200, server.reply(self.path, request))
                case None:
                    self._reply(200, server.reply(self.path, request))

        def _reply(self, status: int, body: Mapping[str, Any], headers: Mapping[str, str] | None = None) -> None:
            self._send(status, json.dumps(body).encode(), {"Content-Type": "application/json", **(headers or {})})

        def _send(self, status: int, body: bytes, headers: Mapping[str, str], part: bytes | None = None) -> None:
            """Send head and body; for a cut body, the head states the full length."""
            try:
                self.send_response(status)
                for name, value in headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body if part is None else part)
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True  # the client closed the connection, as some tests intend

        def _write(self, part: bytes) -> None:
            try:
                self.wfile.write(part)
                self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                self.close_connection = True

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 (the base class's name for it)
            """Log nothing; the requests are kept instead."""

    return Handler
