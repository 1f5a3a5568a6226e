"""Schedules of several matters: found, carried out, lawful, and excluded only where no order of the calls is lawful."""

from collections.abc import Iterator, Sequence
from itertools import islice

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.spec.state import State
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.events import Event, SaidByUser
from lawtrace.solver.monitoring.monitor import Monitor
from lawtrace.solver.planner.schedules import NoSchedule, Schedule, ScheduleSearch
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.problem import Found, Unknown
from lawtrace.solver.traces import PlannedCall, completed_replay
from tests.support.case_desk import DESK, LIMIT, QUEUE, RULES, STUDIED, cases, handling

TEN = ("plain",) * 8 + ("urgent",) * 2


def matters_of(kinds: Sequence[str]) -> dict[str, tuple[PlannedCall, ...]]:
    return {name: handling(name) for name in (f"C-{number:02}" for number in range(1, len(kinds) + 1))}


def is_lawful(rules: Sequence[Rule], initial: State, calls: Sequence[PlannedCall]) -> bool:
    session = completed_replay(DESK, initial, calls)
    return session is not None and Monitor({rule.id: rule.compiled for rule in rules}).run(session.events).all_kept()


def test_ten_cases_have_a_schedule_that_the_simulator_carries_out() -> None:
    initial, matters = cases(TEN), matters_of(TEN)
    answer = ScheduleSearch(DESK, RULES).find(initial, QUEUE, matters)
    assert isinstance(answer, Found)
    schedule: Schedule = answer.trace
    assert sorted(schedule.matters) == sorted(name for name in matters for _ in range(3))
    assert Monitor({rule.id: rule.compiled for rule in RULES}).run(schedule.trace.events).all_kept()


def test_ten_cases_cannot_begin_in_the_listed_order() -> None:
    answer = ScheduleSearch(DESK, RULES).find(cases(TEN), QUEUE, matters_of(TEN), order=list(matters_of(TEN)))
    assert isinstance(answer, NoSchedule)
    assert answer.rules == ("urgent",)
    assert len(answer.order) == 4, "three plain cases before an urgent one leave no time for the other"


def test_same_schedule_each_time() -> None:
    found = [ScheduleSearch(DESK, RULES).find(cases(TEN), QUEUE, matters_of(TEN)) for _ in range(2)]
    assert found[0] == found[1]


def test_few_steps_decide_nothing() -> None:
    answer = ScheduleSearch(DESK, RULES).find(cases(TEN), QUEUE, matters_of(TEN), steps=5)
    assert answer == Unknown("it takes more than 5 calls")


def test_opening_has_to_complete() -> None:
    wrong = PlannedCall(Event("Study", {"case_id": "C-99"}), {"case_id": SaidByUser()})
    with pytest.raises(SearchError, match="opening call of Study"):
        ScheduleSearch(DESK, RULES).find(cases(TEN), [wrong], {})


def interleavings(matters: Sequence[Sequence[PlannedCall]]) -> Iterator[tuple[PlannedCall, ...]]:
    if not any(matters):
        yield ()
    for number, calls in enumerate(matters):
        if calls:
            for rest in interleavings([*matters[:number], calls[1:], *matters[number + 1 :]]):
                yield (calls[0], *rest)


DEADLINE = "forall c: G(ShowQueue(c in result.{kind}.case_id) -> F[<= {minutes}min] Answer(case_id == c))"


@settings(max_examples=30)
@given(
    st.lists(st.sampled_from(["plain", "urgent"]), min_size=2, max_size=3),
    st.integers(30, 130),
    st.integers(30, 130),
    st.booleans(),
)
def test_schedule_exists_if_some_order_of_the_calls_is_lawful(
    kinds: list[str], plain: int, urgent: int, in_order: bool
) -> None:
    rules = [
        STUDIED,
        Rule(id="plain", formula=DEADLINE.format(kind="plain", minutes=plain)),
        Rule(id="urgent", formula=DEADLINE.format(kind="urgent", minutes=urgent)),
    ]
    initial, matters = cases(kinds), matters_of(kinds)
    order = list(matters)[::-1] if in_order else []
    answer = ScheduleSearch(DESK, rules).find(initial, QUEUE, matters, order=order)
    orders = (
        calls
        for calls in interleavings(list(matters.values()))
        if not order or [call.event.arguments["case_id"] for call in calls if call.event.tool == "Study"] == order
    )
    lawful = any(is_lawful(rules, initial, [*QUEUE, *calls]) for calls in islice(orders, 2000))
    assert isinstance(answer, Found if lawful else NoSchedule)


@settings(max_examples=10)
@given(st.integers(2, 5))
def test_time_passes_while_a_limit_is_reached(number: int) -> None:
    kinds = ["plain"] * number
    answer = ScheduleSearch(DESK, [STUDIED, LIMIT]).find(cases(kinds), (), matters_of(kinds))
    assert isinstance(answer, Found)
    assert Monitor({"limit": LIMIT.compiled}).run(answer.trace.trace.events).all_kept()
