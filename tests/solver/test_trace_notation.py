"""The notation of traces: what it says, and errors with line and remedy."""

import pytest

from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Event
from lawtrace.solver.trace_notation import WrittenTrace, read_trace

DAY = 24 * 3600


def test_calls_results_times_and_the_end() -> None:
    text = """
    1970-01-02 00:00 Find(name="a, b)", since=null) -> row.id="R-1", row.open=true, tags=["x", "y"]
    1970-01-02 00:00:05 attempted `send-mail`(`reply-to`="", to.first=1.5)
    1970-01-02 00:01 Read() -> {"n": 1}
    end 1970-01-03 00:00
    """
    assert read_trace(text) == WrittenTrace(
        (
            Event(
                "Find",
                {"name": "a, b)", "since": None},
                result={"row": {"id": "R-1", "open": True}, "tags": ["x", "y"]},
                time=DAY,
            ),
            Event("send-mail", {"reply-to": "", "to": {"first": 1.5}}, outcome="raised", time=DAY + 5),
            Event("Read", {}, result={"n": 1}, time=DAY + 60),
        ),
        end=2 * DAY,
    )


@pytest.mark.parametrize("result", ["12.5", '"done"', "[1]", "true"])
def test_a_whole_result(result: str) -> None:
    assert read_trace(f"Read() -> {result}").events[0].result is not None
    assert read_trace("Read()") == WrittenTrace((Event("Read", {}),))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("Pay", "not a call; write"),
        ("09:00 Pay()", "not a call; write"),
        ("2026-13-06 09:00 Pay()", "is no time"),
        ("Pay(amount)", "`name=value` is expected at `amount)`"),
        ("Pay(amount=twenty)", "`amount` has no JSON value"),
        ("Pay(amount=1 payee=2)", "a comma is expected at ` payee=2)`"),
        ("Pay(amount=1, amount=2)", "`amount` is given twice"),
        ("Pay(a=1, a.b=2)", "`a` has a value already"),
        ("Pay(amount=1", "the closing bracket is missing"),
        ("Pay() result.done=true", "`->` is expected"),
        ("Pay() -> done", "neither a JSON value nor `name=value`"),
        ("end 2026-03-06 09:00\nPay()", "a call after the end"),
    ],
)
def test_errors_name_line_and_remedy(line: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_trace(f"Read()\n{line}")
    assert str(raised.value).startswith(f"line {2 + line.count(chr(10))}, `")
    assert message in str(raised.value)
