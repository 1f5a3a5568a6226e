"""Logs of many shapes, each with a mapping, give the same calls; what cannot be read is said with line and field."""

import json
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.audit.sources.mapped_lines import read_mapping
from lawtrace.runs.audit.sources.reading import find_transcripts, read_transcript
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.schemas.errors import InputError
from tests.support.shell import Shell

LOOK, GIVE = {"order": "O-7"}, {"order": "O-7", "amount": 40.5}
TOTAL, DONE = {"total": 50}, {"ok": True}
TIMES = [1772359200, 1772359260]  # 2026-03-01, 10:00 and 10:01 UTC
CALLS = [("get_order", LOOK, TOTAL), ("refund", GIVE, DONE)]
ENVELOPE = {"content": [{"type": "text", "text": json.dumps(DONE)}]}

SHAPES: dict[str, tuple[list[Any], str]] = {
    "flat, with lines that are no event": (
        [
            {"sid": "s", "at": TIMES[0], "action": "get_order", "order": "O-7", "out": TOTAL},
            {"sid": "s", "at": TIMES[0], "heartbeat": 1},
            {"sid": "s", "at": TIMES[1], "action": "refund", "order": "O-7", "amount": 40.5, "out": DONE},
        ],
        """
        conversation = "sid"
        time = "at"
        [[events]]
        tool = "action"
        arguments = { order = "order", amount = "amount" }
        result = "out"
        """,
    ),
    "calls and answers apart, joined by ids, in milliseconds": (
        [
            {
                "ctx": {"session": "s"},
                "ts": 1772359200000,
                "ev": {"type": "start", "id": 1, "fn": "get_order", "in": LOOK},
            },
            {
                "ctx": {"session": "s"},
                "ts": 1772359260000,
                "ev": {"type": "start", "id": 2, "fn": "refund", "in": GIVE},
            },
            {"ctx": {"session": "s"}, "ts": 1772359261000, "ev": {"type": "end", "id": 2, "out": DONE}},
            {"ctx": {"session": "s"}, "ts": 1772359262000, "ev": {"type": "end", "id": 1, "out": TOTAL}},
        ],
        """
        conversation = "ctx.session"
        time = "ts"
        time_format = "ms"
        [[events]]
        when = { "ev.type" = "start" }
        tool = "ev.fn"
        arguments = "ev.in"
        call = "ev.id"
        [[events]]
        when = { "ev.type" = "end" }
        call = "ev.id"
        result = "ev.out"
        """,
    ),
    "calls and answers apart, joined by the tool, with a line that is no event": (
        [
            {"c": "s", "t": "2026-03-01T10:00:00Z", "k": "call", "what": "get_order", "with": LOOK},
            {"c": "s", "t": "2026-03-01T10:01:00Z", "k": "call", "what": "give", "with": GIVE},
            {"c": "s", "t": "soon", "k": "ping"},
            {"c": "s", "k": "ret", "what": "give", "value": DONE},
            {"c": "s", "k": "ret", "what": "get_order", "value": TOTAL},
        ],
        """
        conversation = "c"
        time = "t"
        [[events]]
        when = { k = "call" }
        tool = "what"
        arguments = "with"
        [[events]]
        when = { k = ["ret", "return"] }
        answers = "what"
        result = "value"
        [tools]
        give = "refund"
        """,
    ),
    "names with dots, times with a zone": (
        [
            {
                "@timestamp": "2026-03-01T11:00:00.123+01:00",
                "labels.session": "s",
                "tool.name": "get_order",
                "tool.args.order": "O-7",
                "tool.result.total": 50,
            },
            {
                "@timestamp": "2026-03-01T05:01:00-05:00",
                "labels.session": "s",
                "tool.name": "refund",
                "tool.args.order": "O-7",
                "tool.args.amount": 40.5,
                "tool.result.ok": True,
            },
        ],
        """
        conversation = "labels.session"
        time = "@timestamp"
        [[events]]
        tool = "tool.name"
        arguments = "tool.args"
        result = "tool.result"
        """,
    ),
    "JSON in a text, in nanoseconds": (
        [
            {
                "ns": time * 10**9 + 5,
                "stream": "s",
                "message": json.dumps({"fn": fn, "in": json.dumps(given), "out": out}),
            }
            for time, (fn, given, out) in zip(TIMES, CALLS, strict=True)
        ],
        """
        conversation = "stream"
        time = "ns"
        time_format = "ns"
        [[events]]
        tool = "message.fn"
        arguments = "message.in"
        result = "message.out"
        """,
    ),
    "one line a conversation, with rounds and steps": (
        [
            {
                "chat": "s",
                "rounds": [
                    {"at": "2026-03-01T10:00:00Z", "steps": [{"tool": "get_order", "args": LOOK, "ret": TOTAL}]},
                    {"at": "2026-03-01T10:01:00Z", "steps": [{"tool": "refund", "args": GIVE, "ret": ENVELOPE}]},
                ],
            }
        ],
        """
        conversation = "chat"
        time = "at"
        each = "rounds"
        [[events]]
        each = "steps"
        tool = "tool"
        arguments = "args"
        result = "ret"
        """,
    ),
    "requests of a server, under other names, with times of its own": (
        [
            {
                "trace": "s",
                "t": "01/Mar/2026:10:00:00 +0000",
                "path": "GET /orders",
                "q": LOOK,
                "code": 200,
                "a": TOTAL,
            },
            {
                "trace": "s",
                "t": "01/Mar/2026:10:01:00 +0000",
                "path": "POST /refunds",
                "q": GIVE,
                "code": 201,
                "a": DONE,
            },
        ],
        """
        conversation = "trace"
        time = "t"
        time_format = "%d/%b/%Y:%H:%M:%S %z"
        [[events]]
        tool = "path"
        arguments = "q"
        result = "a"
        succeeded = { code = [200, 201] }
        [tools]
        "GET /orders" = "get_order"
        "POST /refunds" = "refund"
        """,
    ),
    "two versions of a log, seconds as texts, values as Python prints them": (
        [
            {"session": "s", "t": "1772359200.5", "tool": "get_order", "params": str(LOOK), "res": str(TOTAL)},
            {"sid": "s", "t": "1772359260", "tool_name": "refund", "params": GIVE, "res": DONE, "tool": None},
        ],
        """
        conversation = ["session", "sid"]
        time = "t"
        [[events]]
        tool = ["tool", "tool_name"]
        arguments = "params"
        result = "res"
        """,
    ),
}


def read(folder: Path, rows: list[Any], mapping: str) -> list[Transcript]:
    (folder / "map.toml").write_text(mapping, encoding="utf-8")
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return [*map(read_transcript, find_transcripts(log, read_mapping(folder / "map.toml")))]


def called(transcript: Transcript) -> list[tuple[str, Any, Any]]:
    calls = [turn.call for turn in transcript.turns if turn.call is not None]
    return [(call.tool, call.arguments, call.answer and (call.answer.error or call.answer.content)) for call in calls]


@pytest.mark.parametrize("shape", SHAPES)
def test_each_shape_gives_the_same_calls(shape: str, tmp_path: Path) -> None:
    (transcript,) = read(tmp_path, *SHAPES[shape])
    assert transcript.trouble is None
    assert (transcript.id, called(transcript)) == ("s", CALLS)
    assert [turn.message.time for turn in transcript.turns] == TIMES
    assert (transcript.notes != ()) == ("no event" in shape)


def test_messages_labels_and_a_list_in_one_document(tmp_path: Path) -> None:
    rows = [{"who": "client", "say": "yes", "csat": 0}, {"who": "bot", "say": "Done."}, {"fn": "refund", "boom": "no"}]
    mapping = """
        [[events]]
        when = { who = ["client", "customer"] }
        user = "say"
        [[events]]
        when = { who = "bot" }
        agent = "say"
        [[events]]
        tool = "fn"
        error = "boom"
        [labels]
        reward = "csat"
    """
    (tmp_path / "map.toml").write_text(mapping, encoding="utf-8")
    (tmp_path / "chat.json").write_text(json.dumps(rows, indent=1), encoding="utf-8")
    (found,) = map(read_transcript, find_transcripts(tmp_path / "chat.json", read_mapping(tmp_path / "map.toml")))
    assert [(turn.message.speaker, turn.message.text) for turn in found.turns][:2] == [
        ("user", "yes"),
        ("agent", "Done."),
    ]
    assert (found.id, called(found), dict(found.labels)) == ("chat", [("refund", {}, "no")], {"reward": 0})


ROW = {"sid": "s", "at": 1772359200000, "fn": {"name": "pay"}, "status": "ERROR", "out": "limit"}


@pytest.mark.parametrize(
    ("mapping", "trouble"),
    [
        ('conversation = "id"\n[[events]]\ntool = "fn.name"', "log.jsonl, line 1: no conversation at 'id'"),
        ('[[events]]\nwhen = { sid = "s" }\ntool = "name"', "log.jsonl, line 1: no tool at 'name'"),
        ('[[events]]\ntool = "fn"', "log.jsonl, line 1: the tool at 'fn' is no text"),
        ('time = "at"\n[[events]]\ntool = "fn.name"', "line 1: the time at 'at' is too large for 's'"),
        ('time = "sid"\n[[events]]\ntool = "fn.name"', "line 1: the time at 'sid' is neither a number nor a date"),
        ('time = "sid"\ntime_format = "%Y"\n[[events]]\ntool = "fn.name"', "line 1: the time at 'sid' is not %Y: 's'"),
        ('[[events]]\nwhen = { sid = "s" }\nresult = "out"', "line 1: no call waits for an answer"),
    ],
)
def test_records_that_cannot_be_read_are_said_with_line_and_field(mapping: str, trouble: str, tmp_path: Path) -> None:
    found, *_ = read(tmp_path, [ROW, ROW], mapping)
    assert trouble in f"{found.place}: {found.trouble}"


def test_who_acts_is_read(tmp_path: Path) -> None:
    mapping = 'principal = "user.id"\nrole = "user.role"\n[[events]]\ntool = "fn.name"'
    (found,) = read(tmp_path, [{**ROW, "user": {"id": 7, "role": "clerk"}}, ROW], mapping)
    acting = [(turn.message.by.principal, turn.message.by.role) if turn.message.by else None for turn in found.turns]
    assert acting == [("7", "clerk"), None]


def test_what_tells_success_tells_failure(tmp_path: Path) -> None:
    mapping = '[[events]]\ntool = "fn.name"\nresult = "out"\nsucceeded = { status = "OK" }'
    (found,) = read(tmp_path, [ROW], mapping)
    assert called(found) == [("pay", {}, "limit")]
    (found,) = read(tmp_path, [{**ROW, "status": "OK"}], mapping)
    assert [turn.call.answer.error for turn in found.turns if turn.call and turn.call.answer] == [None]


@pytest.mark.parametrize(
    ("mapping", "said"),
    [
        ('[[events]]\ntool = "a"\ntol = "b"', "map.toml, line 3: events.0.tol: is not a known key"),
        (
            '[[events]]\ntool = "a"\n[[events]]\nuser = "a"\nagent = "b"',
            "map.toml, line 3: events.1: an event has one of",
        ),
        ('[[events]]\nwhen = { k = "x" }', "map.toml, line 1: events.0: an event needs `tool`"),
        ('time_format = "hours"\n[[events]]\ntool = "a"', "map.toml, line 1: time_format"),
        ('conversation = "sid"', "map.toml: events: is missing"),
        ('[[events]]\ntool = "nope"', "log.jsonl, line 1: sid, at, fn, status, out: no record is an event"),
    ],
)
def test_a_mapping_that_cannot_be_used_is_said_with_line_and_key(mapping: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as raised:
        read(tmp_path, [ROW, ROW], mapping)
    assert said in str(raised.value)


def test_the_mapping_of_the_page_reads_its_log(tmp_path: Path) -> None:
    page = Path("docs/sources.md").read_text(encoding="utf-8")
    mapping = page.partition("```toml\n")[2].partition("```")[0]
    scope = {"ctx": {"session": {"id": "s"}}, "ts": 1772359200000}
    rows = [
        {**scope, "event": {"type": "message", "from": "customer", "text": "Refund it."}},
        {**scope, "event": {"type": "tool.start", "name": "orders.refund", "input": LOOK, "id": "a"}},
        {**scope, "event": {"type": "tool.end", "id": "a", "status": "failed", "output": "limit"}, "csat": 1},
    ]
    (found,) = read(tmp_path, rows, mapping)
    assert [turn.message.text for turn in found.turns] == ["Refund it.", ""]
    assert (called(found), dict(found.labels)) == ([("refund_order", LOOK, "limit")], {"reward": 1})


def test_an_audit_reads_a_log_by_its_mapping(tmp_path: Path, lawtrace: Shell) -> None:
    read(tmp_path, *SHAPES["JSON in a text, in nanoseconds"])
    formulas = {"asked": "G(refund -> O user)", "read": "G(refund -> O get_order)"}
    rules = "".join(f'[[rules]]\nid = "{rule}"\nformula = "{formula}"\n' for rule, formula in formulas.items())
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    (tmp_path / "tools.json").write_text(
        json.dumps({name: {"type": "object"} for name, _, _ in CALLS}), encoding="utf-8"
    )
    given = ("--map", "map.toml", "--tools", "tools.json", "--rules", "rules.toml")
    assert lawtrace("audit", "log.jsonl", *given)[0] == 1
    (row,) = map(json.loads, (tmp_path / "audit.jsonl").read_text().splitlines())
    assert [(rule["rule"], rule["outcome"]) for rule in row["rules"]] == [("asked", "broken"), ("read", "kept")]
