"""Normalizes responses of OpenAI-compatible endpoints to the form that AutoGen reads.

AutoGen would drop a refusal (leaving an empty answer) and reasoning under its second name, and fail on content in
parts, on missing token counts, and on an error with a success status.
"""

import json
from collections.abc import Iterator
from typing import Any, cast

from openai import DefaultAsyncHttpxClient

from lawtrace.agents.models.request_client import EXTRA_HEADERS
from lawtrace.agents.models.transport_errors import CutReply, UnreadableReply

CHAT_PATH = "/chat/completions"
SHOWN_CHARACTERS = 200

Fields = dict[str, Any]


class NormalizingHttpClient(DefaultAsyncHttpxClient):
    """The HTTP client of an endpoint. Raises `UnreadableReply` with the beginning of a response that is not a chat
    completion, such as a web page or an event stream.

    Which package requests and responses are from depends on the version of ``openai``, so nothing here names it.
    """

    async def send(self, request: Any, **settings: Any) -> Any:  # noqa: ANN401 (see above)
        request.headers.update(EXTRA_HEADERS.get() or {})
        response = await super().send(request, **settings)
        if settings.get("stream") or not response.is_success:
            return response
        try:
            reply: object = json.loads(response.content)
        except (ValueError, RecursionError):
            if response.content.lstrip().startswith(b'{"'):
                raise CutReply(f"the response ends after {len(response.content)} bytes, in midst of JSON") from None
            raise _unreadable(response) from None
        if not isinstance(reply, dict):
            raise _unreadable(response)
        fields = cast("Fields", reply)
        status = _own_status(fields) or response.status_code
        if status == response.status_code and not fields.get("choices") and request.url.path.endswith(CHAT_PATH):
            raise _unreadable(response)
        if not normalize_response(fields) and status == response.status_code:
            return response
        return type(response)(status, json=fields, request=request)


def _unreadable(response: Any) -> UnreadableReply:  # noqa: ANN401 (see above)
    kind = response.headers.get("content-type", "").partition(";")[0]
    begins = " ".join(response.text[: 4 * SHOWN_CHARACTERS].split())[:SHOWN_CHARACTERS]
    what = "an event stream, which was not asked for" if kind == "text/event-stream" else kind or "of unknown type"
    return UnreadableReply(f"the response is not a chat completion but {what}, and begins: {begins!r}")


def normalize_response(reply: Fields) -> bool:
    """Normalize the reply in place; returns whether anything changed."""
    changed = [_normalize_choice(choice, message) for choice, message in _messages(reply)]
    usage: object = reply.get("usage")
    if isinstance(usage, dict):
        counts = cast("Fields", usage)
        for name in ("prompt_tokens", "completion_tokens", "total_tokens"):
            if name in counts and not _is_count(counts[name]):
                counts[name] = 0
                changed.append(True)
    return any(changed)


def _own_status(reply: Fields) -> int | None:
    """The status in an error that came with a success status."""
    error: object = reply.get("error")
    code: object = cast("Fields", error).get("code") if isinstance(error, dict) and "choices" not in reply else None
    return code if isinstance(code, int) and 400 <= code < 600 else None


def _messages(reply: Fields) -> Iterator[tuple[Fields, Fields]]:
    """Each choice with its message."""
    choices: object = reply.get("choices")
    for choice in cast("list[object]", choices) if isinstance(choices, list) else []:
        message: object = cast("Fields", choice).get("message") if isinstance(choice, dict) else None
        if isinstance(message, dict):
            yield cast("Fields", choice), cast("Fields", message)


def _normalize_choice(choice: Fields, message: Fields) -> bool:
    before, ended = dict(message), choice.get("finish_reason")
    content: object = message.get("content")
    if isinstance(content, list):
        texts = [cast("Fields", part).get("text") for part in cast("list[object]", content) if isinstance(part, dict)]
        message["content"] = "".join(text for text in texts if isinstance(text, str))
    if not message.get("content") and isinstance(message.get("refusal"), str):
        message["content"] = message["refusal"]
        choice["finish_reason"] = "content_filter"
    if isinstance(message.get("reasoning"), str) and not message.get("reasoning_content"):
        message["reasoning_content"] = message["reasoning"]
    if not isinstance(message.get("reasoning_content", ""), str):
        del message["reasoning_content"]
    return message != before or choice.get("finish_reason") != ended


def _is_count(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0
