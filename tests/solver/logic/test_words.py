"""Patterns, normalisation, addresses and lists by position in conditions."""

import pytest

import lawtrace
from lawtrace.schemas.errors import FormulaError
from lawtrace.schemas.events import Event, Json, message_event
from lawtrace.solver.guard.decisions import Allow, Call
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.rules import Rule


def is_kept(formula: str, *events: Event) -> bool:
    return lawtrace.judge([Rule(id="r", formula=formula)], events).kept


@pytest.mark.parametrize(
    ("condition", "arguments", "holds"),
    [
        ('plain(x) == "acme ltd"', {"x": "  ACME\u00a0 Ltd "}, True),
        ('plain(x) == "acme ltd"', {"x": "\uff21\uff23\uff2d\uff25 ltd"}, True),
        ('plain(x) == "acme ltd"', {"x": 5}, False),
        ('path(x) startswith "/srv/"', {"x": "/srv/a/../../etc/passwd"}, False),
        ('path(x) == "/srv/b"', {"x": "/srv//a/./../b"}, True),
        ('path(x) == "c:/b"', {"x": "c:\\a\\..\\b"}, True),
        ('"a.b+c@mail.example.com" in emails(x)', {"x": "Write to <A.B+c@mail.example.com>, please."}, True),
        ('"b@example.com" in emails(x)', {"x": "ab@example.com"}, False),
        ('"a@example.com" in emails(x)', {"x": "a@example.com.evil.org"}, False),
        ('x matches "[a-z]+@example[.]com"', {"x": "ann@example.com"}, True),
        ('x matches "[a-z]+@example[.]com"', {"x": "ann@example.com, eve@evil.org"}, False),
        ('x matches "yes.*"', {"x": "yes\nplease"}, True),
        ('x matches "[0-9]+"', {"x": 12}, False),
        ("any p in pairs(x, y): p.0 == p.1", {"x": ["a", "b"], "y": ["b", "b"]}, True),
        ("any p in pairs(x, y): p.0 == p.1", {"x": ["a", "b"], "y": ["b", "a"]}, False),
        ("any p in pairs(x, y): p.0 == p.1", {"x": ["a"], "y": ["a", "b"]}, False),
        ("all p in pairs(x, y): p.0 <= p.1", {"x": [1, 2], "y": [1, 3]}, True),
    ],
)
def test_conditions(condition: str, arguments: dict[str, Json], holds: bool) -> None:
    formula = f"G !T({condition})"
    assert str(parse(str(parse(formula)))) == str(parse(formula))
    assert is_kept(formula, Event("T", arguments)) is not holds


@pytest.mark.parametrize("condition", ['x matches "("', "x matches y", 'x matches "a{99999999999999}"'])
def test_patterns_are_literals_and_can_be_read(condition: str) -> None:
    with pytest.raises(FormulaError, match="`matches` needs a regular expression in quotes"):
        parse(f"G !T({condition})")


@pytest.mark.parametrize(
    "formula",
    [
        "forall e: G(get_user(result.email == e) -> O user(lower(e) in emails(text)))",
        'forall e: G(get_user(result.email == e) & O user(text contains "@") -> O user(lower(e) in emails(text)))',
    ],
)
def test_an_address_that_a_call_shows_was_said_whole(formula: str) -> None:
    shown = Event("get_user", {}, result={"email": "Ann@example.com"}, time=2)
    assert is_kept(formula, message_event("user", "I am ann@example.com.", 1), shown)
    assert not is_kept(formula, message_event("user", "I am joann@example.com.", 1), shown)


def test_an_amount_that_a_result_lists_was_said() -> None:
    formula = "forall a: G(Show(a in result.payments.amount) -> O agent(any w in words: number(w) == a))"
    shown = Event("Show", {}, result={"payments": [{"amount": 5}, {"amount": 7}]}, time=2)
    assert is_kept(formula, message_event("agent", "They are 5 and 7.", 1), shown)
    assert not is_kept(formula, message_event("agent", "It is 5.", 1), shown)


def test_a_guard_decides_by_patterns_and_plain_texts() -> None:
    rules = [
        Rule(id="to", formula='G !send(not to matches "[a-z]+@example[.]com")'),
        Rule(id="file", formula='G !read(path(file) startswith "/etc/")'),
    ]
    text = {"type": "string"}
    tools = {
        "send": {"type": "object", "properties": {"to": text}, "required": ["to"]},
        "read": {"type": "object", "properties": {"file": text}, "required": ["file"]},
    }
    guard = lawtrace.Guard(rules, tools, clock=lambda: 0)
    wanted = (
        ("send", {"to": "ann@example.com"}),
        ("send", {"to": "ann@evil.org"}),
        ("read", {"file": "/srv/x"}),
        ("read", {"file": "/srv/../etc/passwd"}),
    )
    decisions = [guard.before(Call(tool, arguments)) for tool, arguments in wanted]
    assert [isinstance(decision, Allow) for decision in decisions] == [True, False, True, False]
    assert not any(decision.finding and decision.finding.undecided for decision in decisions)
