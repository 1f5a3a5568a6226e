"""Worlds declared as data: what a call does, and errors with their places."""

import re
import shutil
from pathlib import Path
from random import Random
from typing import Any

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import load_folder
from tests.support.shell import Shell
from tests.support.translation_check import SHARES, disagreements, draw_case, sequence_disagreements

AIRLINE = Path(__file__).parents[3] / "docs" / "environments" / "airline"

SHOP = """
summary = "A shop."
[types]
address = { object = { street = "text", flat = "text?" } }
[tables.users]
fields = { user_id = "text", name = "text", address = "address", joined = "date" }
[tables.orders.fields]
order_id = "text"
user_id = "text"
status = ["pending", "sent", "cancelled"]
fee = "money"
note = "text?"
gifts = { list = "text", optional = true }
due = "moment"
[tables.lines]
prefix = "L"
fields = { line_id = "text", order_id = "text", item = "text", price = "money", count = "integer" }
[tables.desk]
fields = { desk_id = "text", today = "date" }
[time]
start = "2026-03-02 09:00"
length = "3d"
[[initial]]
table = "desk"
values = { desk_id = "d", today = "2026-03-02" }
[[initial]]
table = "users"
values.user_id = "u1"
values.name = "Ada Merrow"
values.address.object.street = "Quay 1"
values.joined = { days = [-5, -5], from = "desk.today" }
[[initial]]
table = "orders"
each = "users"
number = 2
sorted_by = "order_id"
values = { order_id = { digits = "O#" }, status = "pending", fee = 2.5, due = "2026-03-03 12:00" }
[[initial]]
table = "lines"
each = "orders"
[initial.values]
item.unused = ["hat", "cap"]
item.in = "lines.item"
price.case = "item"
price.of = { hat = 10, cap = 4.5 }
count = 2
[tools.ShowOrder]
summary = "Shows an order."
step = "Show {order_id}."
parameters.order_id = { key = "orders" }
[tools.ShowOrder.results.order]
rows = "orders"
single = true
fields = ["order_id", "status", "note"]
nested.lines = { rows = "lines", fields = ["item", "price"] }
[tools.ShowGifts]
summary = "Shows what comes with an order."
step = "Show what comes with {order_id}."
parameters.order_id = { key = "orders" }
results.gifts = "order.gifts"
[tools.ListOrders]
summary = "Lists orders."
step = "List the orders of {name}."
rows.user = { table = "users", where = "row.name == name" }
parameters.name = { field = "users.name" }
parameters.most = { type = "money", between = [1, 20], optional = true }
results.joined = "user.joined"
results.street = "user.address.street"
results.orders.rows = "orders"
results.orders.where = 'row.user_id == user.user_id and not row.fee > most and row.due - now > 1d'
results.orders.fields = ["order_id", "fee"]
[tools.Cancel]
summary = "Cancels an order."
step = "Cancel {order_id}."
outcome = "{order_id} is cancelled."
parameters.order_id = { key = "orders" }
parameters.note = { type = "text", one_of = ["late", "wrong"], optional = true }
fails = [{ when = 'order.status != "pending"', text = "It is not pending." }]
[[tools.Cancel.effects]]
update = "orders"
set.status = '"cancelled"'
set.note = "note"
set.fee = { when = 'note == "late"', then = "0.0", else = "row.fee * 2" }
[[tools.Cancel.effects]]
delete = "lines"
where = "row.order_id == order_id"
[tools.Cancel.results]
success = { success = true }
[tools.Add]
summary = "Adds lines to orders."
step = "Add {items} to {orders}."
duration = "len(items) * 1h"
parameters.orders = { keys = "orders" }
parameters.items = { type = { list = "text" }, several = { one_of = ["bag", "tie"] }, number = [1, 2] }
refuses = [{ error = "TooFew", when = "len(items) == 0 or any i in items: i == \\"hat\\"", text = "No items." }]
rows.first = { table = "orders", where = "row.order_id in orders" }
[[tools.Add.effects]]
insert = "lines"
each = "items"
set = { order_id = "first.order_id", item = "item", price = "1.0", count = "len(items)" }
[[tools.Add.effects]]
insert = "lines"
each = "orders"
rows.order = { table = "orders", where = "row.order_id == item" }
set = { order_id = "item", item = "order.status", price = "order.fee", count = "1" }
[[agenda]]
table = "orders"
at = "due"
text = "An order is sent."
effects = [{ delete = "lines", where = "row.order_id == order_id" }]
"""


def write_world(folder: Path, text: str) -> Path:
    folder.mkdir(exist_ok=True)
    for name in ("regulation.toml", "rules.toml"):
        shutil.copy(AIRLINE / name, folder)
    (folder / "environment.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture
def shop(tmp_path: Path) -> Session:
    shop = load_folder(write_world(tmp_path / "shop", SHOP)).environment
    assert shop.populate(Random(1)) == shop.populate(Random(1))
    return Session(shop, shop.populate(Random(1)))


def told(session: Session, tool: str, **arguments: Json) -> object:
    event = session.call(tool, arguments).event
    return event.result if event.error is None else event.error


def test_results_come_from_rows_and_expressions(shop: Session) -> None:
    first, second = [str(row.values["order_id"]) for row in shop.state.rows("orders")]
    listed = told(shop, "ListOrders", name="Ada Merrow")
    assert listed == {
        "joined": "2026-02-25",
        "street": "Quay 1",
        "orders": [{"order_id": first, "fee": 2.5}, {"order_id": second, "fee": 2.5}],
    }
    assert told(shop, "ListOrders", name="Ada Merrow", most=2) == {**listed, "orders": []}  # pyright: ignore
    shown = told(shop, "ShowOrder", order_id=first)
    assert shown in [
        {"order": {"order_id": first, "status": "pending", "lines": [{"item": item, "price": price}]}}
        for item, price in (("hat", 10), ("cap", 4.5))
    ]
    assert told(shop, "ShowGifts", order_id=first) == {"gifts": None}
    assert told(shop, "ShowOrder", order_id="O") == "NotFoundException: There is no order with that 'order_id'."


def test_effects(shop: Session) -> None:
    first, second = shop.state.rows("orders")
    keys: list[Json] = [first.values["order_id"], second.values["order_id"]]
    assert told(shop, "Cancel", order_id=keys[0], note="late") == {"success": True}
    assert told(shop, "Cancel", order_id=keys[0]) == {"success": False}
    assert told(shop, "Cancel", order_id=keys[1]) == {"success": True}
    rows = [row.values for row in shop.state.rows("orders")]
    done = [("cancelled", "late", 0), ("cancelled", None, 500)]
    assert [(row["status"], row["note"], row["fee"]) for row in rows] == done
    assert not [*shop.state.rows("lines")]
    before = shop.now
    assert told(shop, "Add", orders=keys, items=["bag", "tie"]) == {}
    added = [(row.values["item"], row.values["count"], row.values["price"]) for row in shop.state.rows("lines")]
    assert added == [("bag", 2, 100), ("tie", 2, 100), ("cancelled", 1, 0), ("cancelled", 1, 500)]
    assert shop.now - before == 7200
    assert told(shop, "Add", orders=keys, items=["hat"]) == "TooFew: No items."
    assert str(told(shop, "Add", orders=["O"], items=["bag"])).startswith("NotFoundException")
    shop.advance_time(2 * 86400)
    assert not [*shop.state.rows("orders")]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("booking.operates ==", "booking.operats ==", r"line \d+, column 15: .*`operats`; did you mean 'operates'"),
        ("booking.operates ==", "bookin.operates ==", r"column 15: .* named `bookin`; did you mean 'booking'"),
        ('operates == "as planned"', 'operates == "planned"', r"column 35: 'planned' is not one of \['cancelled', "),
        ("booking.operates ==", "booking.operates =", r"column 32: .*equality is `==`"),
        ("amount > booking.ticket_price", "amount > booking.operates", r"column 24: .*they cannot be compared"),
        ("row.ticket_price - amount", "row.ticket_price / 2", r"column 48: .*does not divide"),
        ('set.date = "desk.today"', 'set.date = "desk.today + 1h"', r"column 59: `1h` is no whole number of days"),
        ('summary = "Finds', 'sumary = "Finds', r"line \d+, column 1: `summary` is missing; is `sumary` meant"),
        ('key = "flights"', 'key = "flight"', r"column 37: 'flight' is not known; did you mean 'flights'"),
        ("days = [-60, -5]", 'days = ["a", "b"]', "`days` needs two whole numbers"),
        ('date = "date"', 'date = { moment = "YYYY-MM" }', r"no form of a moment: 'YYYY-MM'; the forms are "),
        ("share = 0.5", 'share = "often"', "`share` is how often users state it"),
        ("between = [20.00, 180.00]", "betwen = [20.00]", r"column 39: `betwen` is not a .*; did you mean 'between'"),
        ('type = "money", one_of', 'type = "mony", one_of', r"'mony' is no type; did you mean 'money'"),
        ("[250, 400, 600], text", '["few"], text', r"line \d+: one_of: 'few': expected a number"),
        ("{destination} flight.", "{city} flight.", r"line \d+: .*its phrases name 'city'"),
        ('declines = "DeclineRequest"', 'declines = "Decline"', r"'Decline', which declines requests, must be one of"),
        ('when = "amount <= 0"', f'when = "{"(" * 200}amount{")" * 200} <= 0"', r"more than 100 operators"),
        ('digits = "KA####"', 'digits = "KA1000"', r"line \d+: no value is left for the key 'booking_code'"),
    ],
)  # fmt: skip
def test_errors_have_a_place_and_a_near_name(tmp_path: Path, old: str, new: str, message: str) -> None:
    text = (AIRLINE / "environment.toml").read_text(encoding="utf-8")
    assert old in text
    with pytest.raises(InputError) as caught:
        load_folder(write_world(tmp_path / "airline", text.replace(old, new, 1))).environment.populate(Random(1))
    assert re.search(rf"environment\.toml.*{message}", str(caught.value), re.DOTALL), caught.value


def test_all_errors_are_reported_at_once(tmp_path: Path) -> None:
    text = SHOP.replace("values.joined", "values.joind").replace('key = "orders"', 'key = "order"')
    text = text.replace("row.fee * 2", "row.fees * 2").replace("success = { success = true }", "")
    with pytest.raises(InputError) as caught:
        load_folder(write_world(tmp_path / "shop", text))
    assert len(re.findall(r"environment\.toml, line \d+", str(caught.value))) == 4
    assert "'order' is not known; did you mean 'orders'" in str(caught.value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('summary = "Adds', 'undeclared = "why"\nsummary = "Adds', r"the tool is undeclared, and has `refuses`"),
        ('item = "item", price', 'item = "undeclared", price', r"item: a new row needs its 'item'; mark the field"),
    ],
)
def test_what_cannot_be_undeclared(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(InputError, match=rf"environment\.toml, line \d+: {message}"):
        load_folder(write_world(tmp_path / "shop", SHOP.replace(old, new)))


@pytest.mark.slow
def test_contrast_pairs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    lawtrace = Shell(monkeypatch, capsys)
    lawtrace.json("tasks", "build", "--env", AIRLINE, "--trace-mode", "contrasts", "--count", 2, "--out", "pairs.jsonl")
    done = lawtrace.json("run", "--tasks", "pairs.jsonl", "--env", AIRLINE, "--out", "run")
    assert done["outcomes"]["baseline:reference/goal/safe_success"] == 2
    assert "baseline:literal/goal/safe_success" not in done["outcomes"]


TILL = """
summary = "A till."
[tables.bills.fields]
bill_id = "text"
sum = "money"
tip = "money?"
paid = "boolean?"
note = "text?"
due = "instant?"
opened = "instant"
[types]
instant = { moment = "YYYY-MM-DDTHH:mm:ssZ" }
[[initial]]
table = "bills"
number = [2, 4]
[initial.values]
bill_id.unused = ["b1", "b2", "b3", "b4"]
bill_id.in = "bills.bill_id"
sum = { between = [1.00, 9.00] }
opened = { between = ["2026-03-02T08:59:58Z", "2026-03-02T09:00:03Z"] }
[tools.Tip]
summary = "Changes a bill."
step = "Tip {tip} on {bill_id}."
outcome = "The tip on {bill_id} is {tip}."
rows.bill = { table = "bills", where = "row.bill_id == bill_id" }
parameters.bill_id = { field = "bills.bill_id" }
parameters.tip = { type = "money", between = [0.50, 3.00], optional = true }
parameters.note = { type = "text", one_of = ["Cash", "Card"], optional = true }
refuses = [{ error = "Paid", when = 'bill.paid or bill.tip + bill.sum > 12.0 or bill.note == "Card"', text = "Paid." }]
[[tools.Tip.effects]]
update = "bills"
where = "row.bill_id == bill_id or row.tip + tip > row.sum or any b in bills: b.tip == tip"
set.tip = { when = "tip > 2.0 or row.tip > 2.0", then = "tip + row.tip", else = "row.tip * 2" }
set.sum = { when = "row.tip >= 1.0 and row.tip < row.sum", then = "row.sum - row.tip", else = "row.sum + tip" }
set.note = "note"
set.paid = "row.paid"
set.due = "row.due + 1d"
[[tools.Tip.effects]]
update = "bills"
where = "row.sum > 5.0 and not row.tip > 1.0"
set.tip = "tip"
set.paid = { when = "row.sum > 7.0", then = "true", else = "false" }
[tools.Tip.results]
whole = "bill.sum + bill.tip"
note = "lower(bill.note)"
paid = "bill.paid"
bills = { rows = "bills", where = "row.tip + row.sum > 4.0 or row.paid", after = true }
[tools.Set]
summary = "Sets what may be missing."
step = "Set {bill_id}."
outcome = "{bill_id} is set."
rows.bill = { table = "bills", where = "row.bill_id == bill_id" }
parameters.bill_id = { field = "bills.bill_id" }
parameters.tip = { type = "money", between = [0.50, 3.00] }
fails = [{ when = "bill.tip + 1.0 > tip or now < bill.opened or bill.due <= today + 1d", text = "It is less." }]
[[tools.Set.effects]]
update = "bills"
where = 'row.sum > 3.0 or row.bill_id == bill_id or lower(row.note) == "cash"'
set = { tip = "tip", note = '"Cash"', due = "now + 61s" }
[tools.Set.results]
success = { success = true }
bills = { rows = "bills", where = "row.tip == tip" }
"""
SET_SUM = (
    'set.sum = { when = "row.tip >= 1.0 and row.tip < row.sum", then = "row.sum - row.tip", else = "row.sum + tip" }'
)


@pytest.mark.parametrize("seed", range(6))
def test_simulator_and_encoding_agree_on_what_is_missing(tmp_path: Path, seed: int) -> None:
    till = load_folder(write_world(tmp_path / "till", TILL)).environment
    random, outcomes = Random(seed), (*(["completed"] * 3), "failed", "raised")
    for openness in SHARES:
        for tool in till.tools.values():
            case = draw_case(till, tool, random)
            assert disagreements(till, case, openness, random) == [], case
    for _ in range(4):
        wanted: Any = [(random.choice([*till.tools.values()]), random.choice(outcomes)) for _ in range(4)]
        found, events = sequence_disagreements(till, till.populate(random), wanted, random)
        assert found == [], events


@pytest.mark.parametrize(
    ("new", "message"),
    [
        ('set.sum = "row.sum - row.tip"', r"column 22: `row.tip` may be missing, and 'sum' may not: mark what it is"),
        (SET_SUM.replace("row.tip >= 1.0 and ", ""), None),
        (SET_SUM.replace(" and ", " or row.tip < row.sum and "), None),
        (SET_SUM.replace("and row.tip", "or 4.0"), r"`row.tip` may be missing"),
        ('set.sum = "row.sum + tip"', None),
    ],
)
def test_what_may_be_missing_is_not_stored_where_it_may_not(tmp_path: Path, new: str, message: str | None) -> None:
    folder = write_world(tmp_path / "till", TILL.replace(SET_SUM, new))
    if message is None:
        load_folder(folder)
        return
    with pytest.raises(InputError, match=message):
        load_folder(folder)
