"""Conditions on one call: total, typed like JSON, and false for missing values."""

import pytest

from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event
from lawtrace.solver.logic.conditions import Comparison
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.syntax import Atom, Eventually
from lawtrace.solver.logic.terms import FieldPath, LiteralValue
from tests.support.semantics import true_atoms

EVENT = Event(
    "Pay",
    arguments={
        "amount": 1500,
        "memo": "rent",
        "events": ["BILL_PAYMENT", "TRANSFER"],
        "payee": {"name": "Ann"},
        "urgent": True,
        "none": None,
    },
    result={"authorized": True, "code": "ok", "rows": [{"id": 7}], "half": 0.5},
)


@pytest.mark.parametrize(
    ("condition", "expected"),
    [
        ("amount > 1000", True),
        ("1000 < amount", True),
        ("amount == 1500.0", True),
        ("amount != 1500", False),
        ("amount >= 1500 and amount <= 1500", True),
        ("amount > half", False),
        ("amount > result.half", True),
        ('"BILL_PAYMENT" in events', True),
        ('"REFUND" in events', False),
        ('memo in ["rent", "energy"]', True),
        ('memo == "rent"', True),
        ('memo < "sent"', True),
        ('"ren" in memo', False),
        ('payee.name == "Ann"', True),
        ("result.authorized", True),
        ("result.code", False),
        ("result.rows.0.id == 7", True),
        ("result.rows.1.id == 7", False),
        ("7 in result.rows.id", True),
        ("8 in result.rows.id", False),
        ("7 in result.rows.name", False),
        ("1 in events.name", False),
        ("urgent == true", True),
        ("urgent == 1", False),
        ("1 in [true]", False),
        ("urgent", True),
        ("amount", False),
        ("none == none", True),
        ("none < none", False),
        ('events == ["BILL_PAYMENT", "TRANSFER"]', True),
        ("missing == missing", False),
        ("missing != 1", False),
        ("not (missing == 1)", True),
        ('amount == "1500"', False),
        ('amount != "1500"', False),
        ('amount < "2"', False),
        ("true < false", False),
        ("not urgent or amount > 1", True),
        ("result.authorized.deeper", False),
    ],
)
def test_conditions(condition: str, expected: bool) -> None:
    atom = parse(f"Pay({condition})")
    assert isinstance(atom, Atom)
    assert atom.matches(EVENT) is expected


def test_true_and_one_are_different_constants() -> None:
    assert LiteralValue(True) != LiteralValue(1)
    assert parse("Pay(x == 1)") != parse("Pay(x == true)")


def test_plain_atoms_match_completed_calls_and_attempted_atoms_any_call() -> None:
    atoms = [Atom("Pay"), Atom("Pay", attempted=True), Atom("Check")]
    assert true_atoms(Event("Pay", {}), atoms) == {atoms[0], atoms[1]}
    for outcome in ("failed", "raised", "rejected"):
        assert true_atoms(Event("Pay", {}, outcome), atoms) == {atoms[1]}


@pytest.mark.parametrize("path", [(), (0,), ("a`b",), ("x", ""), ("a\nb",)])
def test_a_path_that_cannot_be_read_back_is_no_field(path: tuple[str | int, ...]) -> None:
    with pytest.raises(FormulaError):
        FieldPath(path)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (("a b",), "`a b`"),
        (("and",), "`and`"),
        (("x", "in"), "x.`in`"),
        (("result", "7", 7, "é"), "result.`7`.7.`é`"),
        (("$ref", "x-y"), "`$ref`.`x-y`"),
    ],
)
def test_names_that_are_not_plain_stand_in_backquotes(path: tuple[str | int, ...], text: str) -> None:
    assert str(FieldPath(path)) == text
    assert str(parse(f"F Pay({text} == 1)")) == f"F Pay({text} == 1)"
    assert parse(f"F Pay({text} == 1)") == Eventually(Atom("Pay", Comparison(FieldPath(path), "==", LiteralValue(1))))


def test_infinite_numbers_are_refused() -> None:
    with pytest.raises(FormulaError):
        LiteralValue(float("inf"))
