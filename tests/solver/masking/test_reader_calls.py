"""Checks of reader calls: the correct calls pass, and the defects of others are reported."""

from collections.abc import Sequence

import pytest
from pydantic import ValidationError

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Json
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.instructions import ReaderArgument, ReaderCall, ReaderReference, check_reader_calls
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import PlannedCall, Trace, literal_calls
from tests.support.banking_traces import RULES, TRACES

PAYING = [*RULES, Rule(id="two-payments", formula="F(PayBill & X F PayBill)")]
TRACE = next(synthesize(ENVIRONMENT, PAYING, count=1, length=9, seed=2))


def reading_of(calls: Sequence[PlannedCall]) -> list[ReaderCall]:
    """The calls as a reader gives them, with references into results."""
    readings: list[ReaderCall] = []
    for planned in calls:
        arguments: dict[str, ReaderArgument] = dict(planned.event.arguments)
        for name, (origin,) in planned.looked_up.items():
            arguments[name] = ReaderReference(from_call=origin.step + 1, path=origin.path)
        readings.append(ReaderCall(tool=planned.event.tool, arguments=arguments))
    return readings


LITERAL = literal_calls(ENVIRONMENT, TRACE.calls)
READING = reading_of(LITERAL)
BILLS = [number for number, call in enumerate(READING) if call.tool == "PayBill"]


def changed(number: int, **arguments: ReaderArgument) -> list[ReaderCall]:
    call = READING[number]
    other = ReaderCall(tool=call.tool, arguments={**call.arguments, **arguments})
    return [*READING[:number], other, *READING[number + 1 :]]


def test_the_true_calls_pass() -> None:
    for trace in TRACES:
        reading = reading_of(literal_calls(ENVIRONMENT, trace.calls))
        assert check_reader_calls(ENVIRONMENT, trace, "workflow", reading) == []
        assert check_reader_calls(ENVIRONMENT, trace, "goal", reading) == []


def test_a_goal_needs_only_its_own_calls() -> None:
    for trace in TRACES:
        calls = literal_calls(ENVIRONMENT, trace.calls)
        needed = set(goal_calls(ENVIRONMENT, trace.initial, calls))
        # References are numbered by the kept calls.
        reading = without(trace, set(range(len(calls))) - needed)
        assert check_reader_calls(ENVIRONMENT, trace, "goal", reading) == []


def without(trace: Trace, dropped: set[int]) -> list[ReaderCall]:
    calls = literal_calls(ENVIRONMENT, trace.calls)
    kept = [number for number in range(len(calls)) if number not in dropped]
    renumbered: list[ReaderCall] = []
    for number in kept:
        call = reading_of(calls)[number]
        arguments: dict[str, ReaderArgument] = {
            name: value.model_copy(update={"from_call": kept.index(value.from_call - 1) + 1})
            if isinstance(value, ReaderReference)
            else value
            for name, value in call.arguments.items()
        }
        renumbered.append(ReaderCall(tool=call.tool, arguments=arguments))
    return renumbered


def test_equal_values_may_be_written_differently() -> None:
    """22 for 22.0, and an explicit default value: the same call."""
    number = next(number for number, call in enumerate(READING) if call.tool == "SearchPayee")
    words = READING[number].arguments["keywords"]
    assert isinstance(words, list)
    assert check_reader_calls(ENVIRONMENT, TRACE, "workflow", changed(number, keywords=list(words))) == []
    assert (
        "reads as SearchPayee" in check_reader_calls(ENVIRONMENT, TRACE, "workflow", changed(number, keywords=["a"]))[0]
    )


def test_the_order_matters_to_a_workflow_and_not_to_a_goal() -> None:
    first, second = BILLS[:2]
    swapped = [ReaderCall(tool=call.event.tool, arguments=dict(call.event.arguments)) for call in LITERAL]
    swapped[first], swapped[second] = swapped[second], swapped[first]
    assert check_reader_calls(ENVIRONMENT, TRACE, "goal", swapped) == []
    assert check_reader_calls(ENVIRONMENT, TRACE, "workflow", swapped)[0].startswith(
        f"step {first + 1} reads as PayBill("
    )


@pytest.mark.parametrize("style", ["workflow", "goal"])
def test_a_missing_or_repeated_payment_is_found(style: Style) -> None:
    last = BILLS[-1]
    fewer = [call for number, call in enumerate(READING) if number != last]
    twice = [*READING, READING[last]]
    for reading in (fewer, twice):
        found = check_reader_calls(ENVIRONMENT, TRACE, style, reading)
        assert len(found) >= 1
        if style == "goal":
            assert all(objection.startswith("acting on it reaches another state: ") for objection in found)


@pytest.mark.parametrize(
    ("reference", "words"),
    [
        (ReaderReference(from_call=0, path=("payees",)), "takes 'payee_id' from a missing result"),
        (ReaderReference(from_call=99, path=("payees",)), "takes 'payee_id' from a missing result"),
        (ReaderReference(from_call=1, path=("nothing", 0)), "takes 'payee_id' from a missing result"),
        (ReaderReference(from_call=1, path=(0,)), "takes 'payee_id' from a missing result"),
        ("P-000000", "fails: InvalidRequestException"),
        (None, "fails: InvalidCallError"),
        (7, "fails: InvalidCallError"),
    ],
)
def test_calls_that_cannot_run_are_reported(reference: ReaderReference | Json, words: str) -> None:
    for style in ("workflow", "goal"):
        found = check_reader_calls(ENVIRONMENT, TRACE, style, changed(BILLS[0], payee_id=reference))
        assert len(found) == 1
        assert words in found[0]


def test_a_reference_is_distinguished_from_a_value() -> None:
    call = ReaderCall.model_validate(
        {"tool": "T", "arguments": {"a": {"from_call": 1, "path": ["x", 0]}, "b": {"x": 1}, "c": None, "d": [1.5]}}
    )
    assert call.arguments == {"a": ReaderReference(from_call=1, path=("x", 0)), "b": {"x": 1}, "c": None, "d": [1.5]}
    with pytest.raises(ValidationError):
        ReaderCall.model_validate({"tool": "T", "arguments": {}, "why": "-"})
