from lawtrace.runs.report.task_view import StateChange, call_lines, shown_numbers, state_changes
from lawtrace.runs.report.text import cut, percent, short_percent, unique_anchors, visible
from lawtrace.schemas.events import Event, Json, event_labels, message_event, name_events


def test_a_long_trace_keeps_start_end_and_broken_events():
    numbers = shown_numbers(500, [120])
    assert numbers[:40] == list(range(40))
    assert numbers[40:43] == [119, 120, 121]
    assert numbers[43:] == [495, 496, 497, 498, 499]
    assert shown_numbers(45, []) == list(range(45))
    assert shown_numbers(100, [99])[-5:] == [95, 96, 97, 98, 99]


def test_state_changes_name_fields_and_whole_rows():
    before: dict[str, Json] = {"accounts": {"1": {"balance": 5, "status": "active"}}, "payees": {"p": {"name": "x"}}}
    after: dict[str, Json] = {"accounts": {"1": {"balance": 4, "status": "active"}}, "log": {"L": {"events": ["A"]}}}
    assert state_changes(before, after) == [
        StateChange("accounts", "1", "balance", 5, 4),
        StateChange("payees", "p", None, {"name": "x"}, None),
        StateChange("log", "L", None, None, {"events": ["A"]}),
    ]


def test_call_lines_are_cut_and_numbered_from_one():
    rows: list[Json] = ["y"] * 500
    (line,) = call_lines([Event("T", {"a": "x" * 1000}, "completed", {"rows": rows})], [0])
    assert line.label == "1"
    assert "more characters" in line.call
    assert "more characters" in line.result
    assert line.beginning is not None
    assert line.result.startswith(line.beginning[:-1])


def test_text_formatting():
    assert cut("abcdef", 3) == "abc … (3 more characters)"
    assert cut("abc", 3) == "abc"
    assert visible("a\u200b\x07b\r\nc\td") == "a\\u200b\\u0007b\nc\td"
    assert percent(None) == "–"
    assert percent(0.125, digits=0) == "12 %"
    assert [short_percent(share) for share in (None, 0.0, 0.825, 1.0, 1 / 3)] == [
        "–",
        "0 %",
        "82.5 %",
        "100 %",
        "33.3 %",
    ]
    assert unique_anchors(["a/b", "a b", "", "a-b--2"]) == ["a-b", "a-b--2", "unnamed", "a-b-2"]


def test_calls_and_messages_are_numbered_apart():
    said = message_event("user", "Hello", None)
    events = [said, Event("T", {}), message_event("agent", "Which?", None), Event("T", {})]
    assert event_labels(events) == ["m1", "1", "m2", "2"]
    assert name_events(["1", "2", "m1"]) == "calls 1 and 2 and message m1"
