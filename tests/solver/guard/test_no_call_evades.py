"""A fuzzer: whatever arguments a model writes, no call that is carried out breaks a rule by what its tool reads."""

import asyncio
from collections.abc import Callable
from typing import Any, Literal

import hypothesis.strategies as st
from hypothesis import given, settings
from pydantic import BaseModel, ValidationError, validate_call

import lawtrace
from lawtrace.schemas.events import Json

RULES = {
    "no-large": "G !pay(amount > 100)",
    "no-express": "G !pay(express)",
    "no-usd": 'G !pay(currency == "USD")',
    "known": 'G !pay(payee.country == "XX")',
    "agreed": 'G(pay -> O user(any w in words: w == "yes"))',
    "once": "G(pay -> WX G !pay)",
}
CHOSEN = st.sets(st.sampled_from(sorted(RULES)), min_size=1, max_size=2)


def guard_of(chosen: set[str]) -> lawtrace.Guard:
    return lawtrace.Guard([lawtrace.Rule(id=name, formula=RULES[name]) for name in sorted(chosen)], [pay], advice=False)


class Payee(BaseModel):
    country: str = "XX"


PAID: list[tuple[float, bool, str, str]] = []
"""What the tool read, call by call: it converts all that it can."""


def pay(
    amount: float = 150,
    payee: Payee = Payee(country="NL"),  # noqa: B008 (a default that the schema declares)
    currency: Literal["EUR", "USD"] = "USD",
    *,
    express: bool = False,
) -> str:
    PAID.append((amount, express, currency, payee.country))
    return "paid"


def user(text: str, words: list[str]) -> str:
    return f"{text} {words}"


LAX: dict[str, Callable[..., Any]] = {"pay": validate_call(pay), "user": validate_call(user)}
NUMBERS: list[Json] = [
    0,
    1,
    99.5,
    100,
    101,
    1e9,
    "1",
    "101",
    "１５０",
    " 150 ",
    "1e3",
    True,
    False,
    "yes",
    "on",
    None,
    [150],
]
TEXTS: list[Json] = ["EUR", "USD", "usd", " USD", "ＵＳＤ", '{"country": "NL"}', float("nan"), float("inf"), {}]
OBJECTS: list[Json] = [{"country": "NL"}, {"country": "XX"}, {"Country": "NL"}, {"country": None}, [{"country": "XX"}]]
VALUES: st.SearchStrategy[Json] = st.sampled_from([*NUMBERS, *TEXTS, *OBJECTS])
FITTING = st.fixed_dictionaries(
    {},
    optional={
        "amount": st.sampled_from([1, 100, 100.5, 150]) | st.sampled_from(NUMBERS),
        "express": st.booleans() | st.sampled_from(NUMBERS),
        "currency": st.sampled_from(["EUR", "USD"]) | st.sampled_from(TEXTS),
        "payee": st.sampled_from([{"country": "NL"}, {}]) | st.sampled_from(OBJECTS),
    },
)
ODD = st.dictionaries(st.sampled_from(["Amount", "ａmount", "amount ", "kwargs", "express"]), VALUES, max_size=1)


def joined(fitting: dict[str, Json], odd: dict[str, Json]) -> tuple[str, dict[str, Json]]:
    return "pay", {**fitting, **odd}


PAYMENTS = st.builds(joined, FITTING, ODD)
SAID: st.SearchStrategy[tuple[str, dict[str, Json]]] = st.just(("user", {"text": "yes", "words": ["yes"]}))
CALLS: st.SearchStrategy[list[tuple[str, Any]]] = st.lists(PAYMENTS | SAID, min_size=1, max_size=6)


def check(chosen: set[str]) -> None:
    for amount, express, currency, country in PAID:
        assert not (amount > 100 and "no-large" in chosen)
        assert not (express and "no-express" in chosen)
        assert not (currency == "USD" and "no-usd" in chosen)
        assert not (country == "XX" and "known" in chosen)
        assert "agreed" not in chosen
    assert len(PAID) <= 1 or "once" not in chosen


@settings(max_examples=300, deadline=None)
@given(CHOSEN, CALLS)
def test_in_the_core(chosen: set[str], calls: list[tuple[str, Any]]) -> None:
    guard = guard_of(chosen)
    PAID.clear()
    for tool, arguments in calls:
        decision = guard.before(lawtrace.Call(tool, arguments))
        if isinstance(decision, lawtrace.Allow):
            assert decision.call is not None
            try:
                guard.after(decision.call, LAX[tool](**decision.call.arguments))
            except ValidationError as error:
                guard.after(decision.call, error=str(error))
    check(chosen)


@settings(max_examples=60, deadline=None)
@given(CHOSEN, CALLS)
def test_in_autogen_in_parallel(chosen: set[str], calls: list[tuple[str, Any]]) -> None:
    guard = guard_of(chosen)
    tools = lawtrace.GuardedWorkbench([pay, user], guard)
    PAID.clear()

    async def call_all() -> None:
        await asyncio.gather(*(tools.call_tool(tool, arguments) for tool, arguments in calls))

    asyncio.run(call_all())
    check(chosen)
