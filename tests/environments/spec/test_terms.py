"""Terms: construction, errors, printing, and evaluation over plain values."""

from collections.abc import Callable
from typing import Any

import pytest

from lawtrace.environments.spec.expressions import SUCCEEDED, EvaluationScope, Term
from lawtrace.environments.spec.logic import PLAIN
from lawtrace.environments.spec.state import Entity, Field, Row, State
from lawtrace.environments.spec.terms import (
    any_item,
    apply,
    argument,
    arguments_of,
    choose,
    constant,
    contains_text,
    exists,
    fresh_key,
    if_given,
    is_empty,
    is_given,
    tables_of,
    value_of,
)
from lawtrace.environments.spec.types import INTEGER, TEXT, Value
from lawtrace.schemas.errors import InputError

THINGS = Entity("things", "thing", "name", {"name": Field(TEXT), "size": Field(INTEGER)}, key_prefix="N-")
MARKS = Entity("marks", "mark", "id", {"id": Field(TEXT), "of": Field(TEXT)}, key_prefix="M-")
STATE = State(
    {
        "things": (
            Row({"name": "ash", "size": 3}),
            Row({"name": "oak", "size": 7}),
            Row({"name": "elm", "size": 9}, present=False),
            Row({"name": "fir", "size": 7}),
        ),
        "marks": (Row({"id": "M-00001", "of": "oak"}),),
    }
)
x, y, words = argument("x"), argument("y"), argument("words")


def evaluate(term: Term, **arguments: Value) -> Value:
    return term.compile(PLAIN)(EvaluationScope(STATE, arguments, succeeded=True))


@pytest.mark.parametrize(
    "misread",
    [
        lambda: bool(x > 1),
        lambda: x > 1 and y > 1,
        lambda: x > 1 or y > 1,
        lambda: not x,
        lambda: 1 < x < 5,
        lambda: [x].index(y),
        lambda: "yes" if x == 1 else "no",
    ],
)
def test_a_term_has_no_truth_value(misread: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match="has no truth value"):
        misread()


@pytest.mark.parametrize(
    "build",
    [
        lambda: exists(THINGS, lambda t: t.sise > 1),
        lambda: value_of(THINGS, lambda t: t.nam == x, "size"),
        lambda: value_of(THINGS, lambda t: t.name == x, "sise"),
    ],
)
def test_a_misspelt_field_is_caught_when_the_term_is_built(build: Callable[[], Term]) -> None:
    with pytest.raises(InputError, match=r"thing has no field '(sise|nam)'; it has"):
        build()


@pytest.mark.parametrize(
    ("term", "text"),
    [
        (x + 1 <= y, "(x + 1) <= y"),
        (x - (y - 1), "x - (y - 1)"),
        ((x - y) - 1, "(x - y) - 1"),
        (-x, "0 - x"),
        (~(x == y), "not (x = y)"),
        (x != y, "not (x = y)"),
        ((~x) == y, "(not x) = y"),
        ((x > 1) & (y < 2) | (x == "a"), "((x > 1 and y < 2) or x = 'a')"),
        (exists(THINGS, lambda t: t.size > x), "some thing thing has thing.size > x"),
        (value_of(THINGS, lambda t: t.name == x, "size"), "the size of the thing with thing.name = x"),
        (any_item(words, lambda w: w == "a"), "some item of words has item = 'a'"),
        (is_empty(words), "words is empty"),
        (if_given(x, x > 1), "(x > 1 if x is given, else True)"),
        (is_given(x), "(True if x is given, else False)"),
        (choose(x == 1, "one", "many"), "('one' if x = 1 else 'many')"),
        (contains_text(x, y), "x contains y"),
        (apply("{0} is blank", str.isspace, x), "x is blank"),
        (fresh_key(THINGS), "the new thing's name"),
        (SUCCEEDED, "the call succeeded"),
        (constant(4), "4"),
    ],
)
def test_a_term_prints_as_a_reader_expects(term: Term, text: str) -> None:
    assert str(term) == text


@pytest.mark.parametrize(
    ("term", "value"),
    [
        (x + 1 <= y, True),
        (x - (y - 1), -1),
        (-x, -2),
        (x != 2, False),
        ((x > 1) & (y > 9), False),
        ((x > 1) | (y > 9), True),
        (x >= 2, True),
        (~(x < 2), True),
        (exists(THINGS, lambda t: t.size == 9), False),
        (exists(THINGS, lambda t: t.size == 7), True),
        (value_of(THINGS, lambda t: t.size == 7, "name"), "oak"),
        (value_of(THINGS, lambda t: t.size == 9, "name", otherwise="none"), "none"),
        (any_item(words, lambda w: w == "oak"), True),
        (any_item(words, lambda w: exists(THINGS, lambda t: (t.name == w) & (t.size == x + 1))), True),
        (is_empty(words), False),
        (if_given(argument("absent"), argument("absent") > 1, default=False), False),
        (is_given(argument("absent")), False),
        (is_given(x), True),
        (choose(x == 2, "two", "other"), "two"),
        (contains_text(constant("The Oak"), constant("oak")), True),
        (contains_text(constant("oak"), constant("The Oak")), False),
        (fresh_key(THINGS), "N-00005"),
        (SUCCEEDED, True),
    ],
)
def test_a_term_over_plain_values(term: Term, value: Value) -> None:
    assert evaluate(term, x=2, y=4, words=("ash", "oak"), absent=None) == value


def test_a_term_may_be_nested_more_deeply_than_python_source() -> None:
    term = x
    for _ in range(120):
        term = choose(term > 6, 7, 3)
    assert evaluate(term, x=8) == 7
    assert evaluate(term, x=5) == 3


def test_fields_and_arguments_of_a_term() -> None:
    term = exists(THINGS, lambda t: (t.size > x) & value_of(MARKS, lambda m: m.of == t.name, "id", "").__eq__(y))
    assert arguments_of(term) == {"x", "y"}
    assert tables_of(term) == {"things", "marks"}
    assert arguments_of(if_given(x, y > 1)) == {"x", "y"}
    assert arguments_of(any_item(words, lambda w: w == x)) == {"words", "x"}
    assert arguments_of(choose(x == 1, y, constant(0))) == {"x", "y"}
    assert arguments_of(contains_text(x, constant("a")) & is_empty(words)) == {"x", "words"}
    assert tables_of(fresh_key(MARKS)) == {"marks"}
    assert tables_of(x + y) == set()
