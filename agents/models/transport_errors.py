"""Errors of endpoints and connections: which are transient, and how each is described.

The packages of OpenAI and Anthropic come from one generator and have errors of the same shape; the second is an extra,
so its errors are recognized by that shape.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Protocol

_TRANSIENT_STATUS = frozenset({408, 409, 429})
_REFUSED_REQUEST = frozenset({400, 413, 422})
MOST_CHARACTERS = 400
"""Of a message, which may be a whole page."""
_REMEDY = {
    401: "check the key in the environment",
    403: "the key does not allow this model; use another key or model",
    404: "check the model's name and the endpoint's address",
}


class UnreadableReply(Exception):
    """The endpoint answered with success, and what it sent is not a chat completion. Some packages wrap it."""


class CutReply(UnreadableReply):
    """The reply is the beginning of one, so another try may bring all of it."""


class _Response(Protocol):
    """The parts of a response that are read. The packages use different HTTP clients."""

    status_code: int
    headers: Mapping[str, str]


def is_endpoint_error(error: BaseException) -> bool:
    """Whether the endpoint or the connection is at fault."""
    return bool(_names(error)) or isinstance(error, ConnectionError | TimeoutError | UnreadableReply)


def is_transport_error(error: BaseException) -> bool:
    """Whether a retry may help. An exhausted quota is a 429 too, but waiting does not help."""
    if (response := _response(error)) is not None:
        status = response.status_code
        passing = status in _TRANSIENT_STATUS or status >= 500
        return passing and getattr(error, "code", None) != "insufficient_quota"
    if (unreadable := _unreadable(error)) is not None:
        return isinstance(unreadable, CutReply)
    return "APIConnectionError" in _names(error) or isinstance(error, ConnectionError | TimeoutError)


def is_refused_request(error: BaseException) -> bool:
    """Whether the endpoint refused this request, and may answer another one."""
    response = _response(error)
    return response is not None and response.status_code in _REFUSED_REQUEST


def retry_after_seconds(error: BaseException, now: datetime | None = None) -> float | None:
    """The wait that the endpoint asks for: the ``Retry-After`` header, in seconds or as a date."""
    response = _response(error)
    header = response.headers.get("retry-after", "").strip() if response is not None else ""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        moment = parsedate_to_datetime(header)
    except ValueError:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=UTC)
    return max(0.0, (moment - (now or datetime.now(UTC))).total_seconds())


def describe_error(error: BaseException) -> str:
    """The error in one line, with a remedy where there is one."""
    if (response := _response(error)) is not None:
        whole = " ".join(str(getattr(error, "message", error)).split())
        message = whole if len(whole) <= MOST_CHARACTERS else f"{whole[:MOST_CHARACTERS]}..."
        remedy = _REMEDY.get(response.status_code)
        return f"{message}; {remedy}" if remedy else message
    if (unreadable := _unreadable(error)) is not None:
        return str(unreadable) if isinstance(unreadable, CutReply) else f"{unreadable}; check the endpoint's address"
    if "APITimeoutError" in _names(error):
        return "the endpoint did not answer in time"
    if "APIConnectionError" in _names(error):
        asked: Any = getattr(error, "request", None)
        place = f"{asked.url.scheme}://{asked.url.netloc.decode()}" if asked is not None else "the endpoint"
        return f"no connection to {place} ({error.__cause__ or error})"
    return f"{type(error).__name__}: {error}"


def _names(error: BaseException) -> set[str]:
    """The names of the error in the packages, from its own to the most general; none for other errors."""
    kinds = type(error).__mro__
    return {kind.__name__ for kind in kinds if kind.__module__.split(".")[0] in {"openai", "anthropic"}}


def _unreadable(error: BaseException) -> UnreadableReply | None:
    return next((one for one in (error, error.__cause__) if isinstance(one, UnreadableReply)), None)


def _response(error: BaseException) -> _Response | None:
    """The response, if the endpoint sent one with an error status."""
    return getattr(error, "response", None) if "APIStatusError" in _names(error) else None
