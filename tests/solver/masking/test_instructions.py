"""Masking: leaks are found in every spelling, and missing user values are reported."""

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Event, Json, SaidByUser
from lawtrace.schemas.instructions import Instruction
from lawtrace.solver.masking.goals import goal_calls
from lawtrace.solver.masking.instructions import check_wording, find_leaks, find_missing
from lawtrace.solver.masking.wording import describe_outcome, describe_step, format_value, instruction_variables
from lawtrace.solver.traces import PlannedCall, Trace, literal_calls
from tests.support.banking_traces import TRACES

SPELLINGS = {"as it is": str, "upper": str.upper, "lower": str.lower, "title": str.title, "swapped": str.swapcase}


def write(trace: Trace, style: Style) -> Instruction:
    """The instruction made of the tools' phrases, as by the offline generator."""
    calls = literal_calls(ENVIRONMENT, trace.calls)
    if style == "workflow":
        numbers = range(len(calls))
        steps = [f"{number + 1}. {describe_step(ENVIRONMENT, calls, number)}" for number in numbers]
        return Instruction(style=style, text="\n".join(steps), variables=instruction_variables(calls, numbers))
    numbers = goal_calls(ENVIRONMENT, trace.initial, calls)
    outcomes = [words for number in numbers if (words := describe_outcome(ENVIRONMENT, calls, number))]
    return Instruction(style=style, text="\n".join(outcomes), variables=instruction_variables(calls, numbers))


HIDDEN = [
    *sorted(ENVIRONMENT.compliance_tools),
    "Check Authorization",
    "Record Audit Event",
    "check_authorization",
    "record_audit_event",
    "CHECK_AUTHORIZATION",
    *(stem for name in sorted(ENVIRONMENT.compliance_tools) for stem in ENVIRONMENT.tools[name].leak_words),
    *ENVIRONMENT.event_names,
    *(name.replace("_", " ") for name in ENVIRONMENT.event_names),
]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("Pay it once authorised.", ["authorised"]),
        ("Authenticate me, then pay.", ["Authenticate"]),
        ("Verify that I am allowed to.", ["allowed to", "Verify"]),
        ("Make an entry for compliance.", ["compliance"]),
        ("Log it as BILL_PAYMENT please.", ["Log it", "BILL_PAYMENT"]),
        ("CheckAuthorization and pay.", ["CheckAuthorization"]),
        ("Check the authorization, and the Authorization.", ["authorization", "Authorization"]),
        ("Read the audit log, then audit it.", ["audit"]),
        ("A clogged pipe, a blogging plumber.", []),
        ("Make sure nothing unauthorized happens.", ["unauthorized"]),
        ("Keep a record of it.", ["record of"]),
        ("Sign in and confirm my session.", ["Sign in", "session"]),
        ("Leave a trail for the inspectors.", ["trail", "inspectors"]),
        ("Pay 22.60 to Northwind Power.", []),
        ("Search for the payee and pay the bill.", []),
        ("", []),
    ],
)
def test_a_leak_is_reported_as_written(text: str, found: list[str]) -> None:
    assert find_leaks(ENVIRONMENT, text) == found


@pytest.mark.parametrize("style", ["workflow", "goal"])
def test_instructions_from_phrases_pass_the_checks(style: Style) -> None:
    for trace in TRACES:
        instruction = write(trace, style)
        assert check_wording(ENVIRONMENT, trace, instruction) == [], instruction.text
        assert find_leaks(ENVIRONMENT, f"{instruction.text} {instruction.variables}") == []


def test_every_omitted_value_is_reported() -> None:
    for trace in TRACES:
        instruction = write(trace, "workflow")
        calls = literal_calls(ENVIRONMENT, trace.calls)
        for planned in calls:
            for name in planned.said:
                value = planned.event.arguments[name]
                if isinstance(value, bool):
                    continue
                spoken = format_value(value, ENVIRONMENT.tools[planned.event.tool].parameter(name).type)
                text = instruction.text
                for word in [str(item) for item in value] if isinstance(value, list) else [spoken]:
                    text = text.replace(word, "...")
                missing = find_missing(ENVIRONMENT, calls, range(len(calls)), text)
                assert f"{planned.event.tool}.{name} = {spoken}" in missing


def paying(amount: float, **other: Json) -> list[PlannedCall]:
    arguments: dict[str, Json] = {"amount": amount, **other}
    return [PlannedCall(Event("PayBill", arguments), dict.fromkeys(arguments, SaidByUser()))]


@pytest.mark.parametrize(
    ("amount", "text", "there"),
    [
        (22.6, "Pay 22.60 today.", True),
        (22.6, "Pay 22.6.", True),
        (22.6, "Pay €22.60, please", True),
        (22.6, "Pay $22.60.", True),
        (22.6, "Pay (22.60)", True),
        (22.6, "Pay 122.65.", False),
        (22.6, "Pay 122.60.", False),
        (22.6, "Pay 22.65.", False),
        (22.6, "Pay 22.601.", False),
        (22.6, "Pay 1.22.60.", False),
        (122.65, "Pay 9,122.65.", False),
        (22.0, "Pay 22.00.", True),
        (22.0, "Pay 22 today.", True),
        (22.0, "Pay 22.", True),
        (22.0, "Pay 22.50.", False),
        (22.0, "Pay 22,500.", False),
        (22.0, "Pay 122.", False),
        (22.0, "Pay.", False),
    ],
)
def test_an_amount_inside_a_number_does_not_count(amount: float, text: str, there: bool) -> None:
    missing = find_missing(ENVIRONMENT, paying(amount), [0], text)
    assert missing == ([] if there else [f"PayBill.amount = {amount:.2f}"])


def test_a_goal_names_no_tool_and_a_leak_in_a_variable_counts() -> None:
    trace = next(trace for trace in TRACES if "PayBill" in trace.tools)
    good = write(trace, "goal")
    named = good.model_copy(update={"text": f"{good.text} Use PayBill."})
    assert check_wording(ENVIRONMENT, trace, named) == ["a goal must not name a tool, but it says 'PayBill'"]
    hinted = good.model_copy(update={"variables": {**good.variables, "audit_list": ["x"]}})
    assert check_wording(ENVIRONMENT, trace, hinted) != []
    empty = good.model_copy(update={"text": " "})
    assert check_wording(ENVIRONMENT, trace, empty) != []


def test_business_calls_keep_order_and_references() -> None:
    for trace in TRACES:
        calls = literal_calls(ENVIRONMENT, trace.calls)
        assert [planned.event for planned in calls] == [
            event for event in trace.events if event.tool not in ENVIRONMENT.compliance_tools
        ]
        for planned in calls:
            for name, (origin,) in planned.looked_up.items():
                result = calls[origin.step].event.result
                table, row, key = origin.path
                assert isinstance(result, dict)
                assert result[str(table)][int(row)][str(key)] == planned.event.arguments[name]  # type: ignore[index, call-overload]
