from datetime import UTC, datetime

import pytest
from openai import APIStatusError

from lawtrace.agents.models.transport_errors import retry_after_seconds


class _Response:
    """The parts of an HTTP response that the errors keep."""

    status_code = 429
    request = None

    def __init__(self, **headers: str) -> None:
        self.headers = {name.replace("_", "-"): value for name, value in headers.items()}


def refusal(**headers: str) -> APIStatusError:
    return APIStatusError("busy", response=_Response(**headers), body=None)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("2", 2.0), ("0.5", 0.5), ("-3", 0.0), ("Wed, 01 Oct 2025 00:00:30 GMT", 30.0), ("soon", None), ("", None)],
)
def test_retry_after_is_parsed_as_seconds_or_as_a_date(header: str, seconds: float | None) -> None:
    assert retry_after_seconds(refusal(retry_after=header), datetime(2025, 10, 1, tzinfo=UTC)) == seconds


def test_there_is_no_retry_after_without_a_header_or_response() -> None:
    assert retry_after_seconds(refusal()) is None
    assert retry_after_seconds(ConnectionError()) is None
