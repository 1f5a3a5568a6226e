"""What can go wrong on the way to an endpoint: which faults pass by themselves, and how each one reads."""

from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

from openai import APIConnectionError, APIStatusError, APITimeoutError

__all__ = ["explain", "is_transport_fault", "retry_after_seconds"]

_PASSING = frozenset({408, 409, 429})
_REMEDY = {
    401: "check the key in the environment",
    403: "the key does not allow this model; use another key or model",
    404: "check the model's name and the endpoint's address",
}


def is_transport_fault(error: BaseException) -> bool:
    """Whether asking again may help. A used-up quota comes as 429 too, but no waiting refills it."""
    if isinstance(error, APIStatusError):
        passing = error.status_code in _PASSING or error.status_code >= 500
        return passing and error.code != "insufficient_quota"
    return isinstance(error, APIConnectionError | ConnectionError | TimeoutError)


def retry_after_seconds(error: BaseException, now: datetime | None = None) -> float | None:
    """How long the endpoint asks us to wait, if it does: the ``Retry-After`` header, in seconds or as a date."""
    if not isinstance(error, APIStatusError):
        return None
    header = error.response.headers.get("retry-after", "").strip()
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


def explain(error: BaseException) -> str:
    """The fault in one line, with a remedy where there is one."""
    if isinstance(error, APIStatusError):
        remedy = _REMEDY.get(error.status_code)
        return f"{error.message}; {remedy}" if remedy else error.message
    if isinstance(error, APITimeoutError):
        return "the endpoint did not answer in time"
    if isinstance(error, APIConnectionError):
        return f"no connection to the endpoint ({error.__cause__ or error})"
    return f"{type(error).__name__}: {error}"
