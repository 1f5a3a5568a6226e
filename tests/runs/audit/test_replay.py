"""Recorded calls against a world: equal, different and unknown are told apart."""

import json
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import load_domain
from tests.support.shell import Shell

DESK = """
summary = "A desk."
error_texts = ["Error"]
[tables.orders.fields]
order_id = "text"
status = ["pending", "cancelled"]
note = "text?"
[tables.lines]
prefix = "L"
fields = { line_id = "text", order_id = "text", item = "text", price = "money" }
[[initial]]
table = "orders"
number = 3
values = { order_id = { digits = "O#" }, status = "pending" }
[[initial]]
table = "lines"
each = "orders"
values = { item = "hat", price = 2.5 }
[tools.show]
summary = "Shows an order."
step = "Show {order_id}."
parameters.order_id = { key = "orders" }
results.order = { rows = "orders", single = true, nested.lines = { rows = "lines", fields = ["item", "price"] } }
[tools.cancel]
summary = "Cancels an order."
step = "Cancel {order_id}."
outcome = "{order_id} is cancelled."
parameters.order_id = { key = "orders" }
parameters.note = { type = "text", one_of = ["late"], optional = true }
fails = [{ when = 'order.status != "pending"', text = "It is not pending." }]
effects = [{ update = "orders", set = { status = '"cancelled"', note = "note" } }]
results.success = { success = true }
[tools.add]
summary = "Adds a hat."
step = "Add a hat to {order_id}."
outcome = "A hat is added to {order_id}."
parameters.order_id = { key = "orders" }
effects = [{ insert = "lines", set = { order_id = "order_id", item = '"hat"', price = "2.5" } }]
results.line_id = { new = "lines" }
"""

AIRLINE = Path(__file__).parents[3] / "docs" / "environments" / "airline"
Call = tuple[str, dict[str, Json]]


@pytest.fixture
def lawtrace(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> Shell:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "desk").mkdir()
    for name in ("regulation.toml", "rules.toml"):
        shutil.copy(AIRLINE / name, tmp_path / "desk")
    (tmp_path / "desk" / "environment.toml").write_text(DESK, encoding="utf-8")
    return Shell(monkeypatch, capsys)


def recorded(calls: Sequence[Call]) -> list[dict[str, Any]]:
    """The messages of a conversation with these calls, as the simulator answers them; `{0}` is the first order."""
    desk = load_domain("./desk").environment
    session = Session(desk, desk.populate(Random(3)))
    orders = [row.values["order_id"] for row in session.state.rows("orders")]
    messages: list[dict[str, Any]] = []
    for number, (tool, arguments) in enumerate(calls):
        given = {name: str(value).format(*orders) for name, value in arguments.items()}
        answer = session.call(tool, given).text
        function = {"name": tool, "arguments": json.dumps(given)}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [{"id": str(number), "function": function}]},
            {"role": "tool", "tool_call_id": str(number), "content": answer},
        ]
    return messages


def replayed(lawtrace: Shell, messages: list[dict[str, Any]]) -> dict[str, Any]:
    Path("log.jsonl").write_text(json.dumps({"id": "one", "messages": messages}), encoding="utf-8")
    code, out, err = lawtrace("env", "replay", "./desk", "log.jsonl", "--json")
    assert code in (0, 1), err
    found: dict[str, Any] = json.loads(out.splitlines()[-1])
    assert code == (1 if found["differences"] else 0)
    return found


FIRST: dict[str, Json] = {"order_id": "{0}"}
CALLS: list[Call] = [("show", FIRST), ("add", FIRST), ("cancel", FIRST), ("cancel", FIRST), ("show", FIRST)]


def test_what_the_simulator_recorded_is_equal_or_unknown(lawtrace: Shell) -> None:
    found = replayed(lawtrace, recorded(CALLS))
    assert found["differences"] == []
    assert found["fields"]["cancel"]["changes"] == {"equal": 1, "different": 0, "unknown": 0}
    assert found["fields"]["cancel"]["outcomes"] == {"equal": 2, "different": 0, "unknown": 0}
    assert found["fields"]["show"]["outcomes"] == {"equal": 1, "different": 0, "unknown": 1}
    # The second look shows two lines that are known by then, of which one was added.
    assert found["fields"]["add"]["changes"]["equal"] == 2
    assert found["fields"]["show"]["results"]["different"] == 0


def test_a_row_that_an_earlier_result_of_the_same_call_shows_is_not_different(lawtrace: Shell) -> None:
    with Path("desk/environment.toml").open("a", encoding="utf-8") as file:
        file.write("""
[tools.find]
summary = "Finds an order."
step = "Find {number}."
rows.it = { table = "orders", where = "row.order_id == number" }
parameters.number = { field = "orders.order_id" }
results.status = "it.status"
results.more = { rows = "orders", single = true, where = "row.order_id == number", fields = ["note"] }
""")
    messages = recorded(
        [("find", {"number": "{0}"}), ("find", {"number": "{0}"}), ("cancel", FIRST), ("find", {"number": "{0}"})]
    )
    found = replayed(lawtrace, messages)
    assert found["differences"] == []
    assert found["fields"]["find"]["results"] == {"equal": 5, "different": 0, "unknown": 3}


def test_a_change_that_the_world_does_not_have_is_different_once(lawtrace: Shell) -> None:
    messages = recorded([*CALLS, ("show", FIRST)])
    for message in messages[-1], messages[-3]:
        message["content"] = message["content"].replace('"cancelled"', '"pending"')
    found = replayed(lawtrace, messages)
    (difference,) = found["differences"]
    assert (difference["tool"], difference["kind"], difference["field"]) == ("cancel", "changes", "status")
    assert (difference["expected"], difference["recorded"]) == ("cancelled", "pending")
    assert "log.jsonl" in difference["place"]


def test_a_missing_row_and_a_refusal_are_different(lawtrace: Shell) -> None:
    messages = recorded(CALLS)
    shown = json.loads(messages[-1]["content"])
    shown["order"]["lines"].pop()
    messages[-1]["content"] = json.dumps(shown)
    messages[5]["content"] = "Error: not now"
    found = replayed(lawtrace, messages)
    assert {(one["tool"], one["kind"]) for one in found["differences"]} >= {("show", "results"), ("cancel", "outcomes")}


def test_what_was_not_shown_is_unknown(lawtrace: Shell) -> None:
    messages = recorded([("cancel", FIRST), ("show", FIRST), ("show", {"order_id": "{1}"})])
    found = replayed(lawtrace, messages)
    assert found["fields"]["cancel"]["outcomes"]["unknown"] == 1
    assert found["differences"] == []
    # A tool that the world does not have may change anything.
    function = {"name": "reopen", "arguments": "{}"}
    messages[2:2] = [
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x", "function": function}]},
        {"role": "tool", "tool_call_id": "x", "content": "done"},
    ]
    messages[5]["content"] = messages[5]["content"].replace('"cancelled"', '"pending"')
    found = replayed(lawtrace, messages)
    assert found["differences"] == []
    assert found["undeclared"] == {"tool reopen": 1}


def test_results_that_were_recorded_bare(lawtrace: Shell) -> None:
    messages = recorded(CALLS)
    for message in messages[1], messages[-1]:
        message["content"] = json.dumps(json.loads(message["content"])["order"])
    assert replayed(lawtrace, messages)["differences"] == []


Answered = tuple[str, Mapping[str, Json], Json]


def answered(*calls: Answered) -> list[dict[str, Any]]:
    """The messages of a conversation with these calls and answers."""
    messages: list[dict[str, Any]] = []
    for number, (tool, given, answer) in enumerate(calls):
        function = {"name": tool, "arguments": json.dumps(given)}
        messages += [
            {"role": "assistant", "content": None, "tool_calls": [{"id": str(number), "function": function}]},
            {"role": "tool", "tool_call_id": str(number), "content": json.dumps(answer)},
        ]
    return messages


LEDGER = """
summary = "A ledger."
[tables.entries]
singular = "entry"
prefix = ""
fields = { number = "integer", text = "text", by = "text?" }
[[initial]]
table = "entries"
number = 2
values = { text = "old" }
[tools.write]
summary = "Writes."
step = "Write {text}."
outcome = "{text} is written."
parameters.text = { type = "text", one_of = ["new"] }
effects = [{ insert = "entries", set = { text = "text", by = "undeclared" } }]
[tools.latest]
summary = "Lists the latest."
step = "List the latest {n}."
noun_phrase = "the entry"
parameters.n = { type = "integer", between = [1, 3], default = 10 }
results.entries = { rows = "entries", last = "n" }
[tools.sign]
summary = "Signs."
undeclared = "No call is recorded."
parameters.number = { key = "entries" }
"""


def test_rows_of_new_keys_are_found_in_lists_and_what_is_undeclared_is_unknown(lawtrace: Shell) -> None:
    Path("desk/environment.toml").write_text(LEDGER, encoding="utf-8")
    old: list[Json] = [{"number": 4, "text": "a"}, {"number": 6, "text": "b"}]
    new: dict[str, Json] = {"number": 9, "text": "c", "by": "Ada"}
    write: Answered = ("write", {"text": "c"}, {"message": "Written."})
    calls: list[Answered] = [
        ("latest", {}, old),
        write,
        ("latest", {"n": 2}, [old[1], new]),
        ("latest", {"n": 2}, [old[1], new]),
    ]
    found = replayed(lawtrace, answered(*calls))
    assert found["differences"] == []
    assert found["fields"]["write"]["changes"] == {"equal": 1, "different": 0, "unknown": 1}
    # The first list is all that there is, since there could be ten; so each later row and field is known.
    assert found["fields"]["latest"]["results"]["equal"] == 10
    assert found["undeclared"] == {"write, the result": 1}
    wrong = replayed(lawtrace, answered(*calls[:2], ("latest", {"n": 2}, [old[1], {**new, "text": "C"}])))
    (difference,) = wrong["differences"]
    assert (difference["tool"], difference["field"], difference["expected"]) == ("write", "text", "c")
    # A call of a tool that is not there changes nothing; one that is undeclared may change anything.
    missing: Answered = ("delete", {}, "ToolNotFoundError: no tool of that name")
    assert replayed(lawtrace, answered(*calls[:2], missing, *calls[2:]))["fields"] == found["fields"]
    sign: Answered = ("sign", {"number": 4}, {})
    signed = replayed(lawtrace, answered(*calls[:2], sign, calls[2]))
    assert signed["fields"]["latest"]["results"]["equal"] == 0
    assert signed["undeclared"]["tool sign: No call is recorded."] == 1


def test_what_is_undeclared_in_a_simulation(lawtrace: Shell) -> None:
    Path("desk/environment.toml").write_text(LEDGER, encoding="utf-8")
    desk = load_domain("./desk").environment
    session = Session(desk, desk.populate(Random(3)))
    session.call("write", {"text": "new"})
    assert json.loads(session.call("latest", {"n": 2}).text) == {
        "entries": [{"number": 2, "text": "old"}, {"number": 3, "text": "new"}]
    }
    assert "NotSimulatedError" in session.call("sign", {"number": 1}).text
    Path("rules.toml").write_text('[[rules]]\nid = "look"\nformula = "G(write -> O latest)"\n', encoding="utf-8")
    search = ("traces", "synthesize", "--env", "./desk", "--rules", "rules.toml", "--trace-mode", "tasks", "--count", 2)
    lawtrace.json(*search, "--length", 3, "--out", "traces.jsonl")
    found = Path("traces.jsonl").read_text()
    assert '"tool":"write"' in found
    assert '"tool":"sign"' not in found
