"""The gate on texts written by hand: good ones pass, and each defect is found and named."""

from dataclasses import replace

import pytest

from lawtrace.environments.spec.state import State
from lawtrace.environments.spec.types import TEXT
from lawtrace.schemas.choices import Style
from lawtrace.schemas.instructions import SurfaceForms
from lawtrace.solver.masking.requests import AskedRequest, Secret
from lawtrace.solver.masking.text_checks import TextCheck, check_text
from tests.support.asked_requests import CANCELLATION, COPY, CORRECTION, NEWS, PASSING_ON, PAYMENT, PRINTED_COPY

GOOD: list[tuple[AskedRequest, Style, str, SurfaceForms]] = [
    (
        PAYMENT,
        "goal",
        "The garage on Osier Street wants its money for the brakes. It's €85.40, and it should come out of my rainy "
        "day pot, to Osier Street Garage.",
        {},
    ),
    (
        PAYMENT,
        "workflow",
        "Have a look at my rainy-day pot and find Osier Street Garage among the people I pay. After that, send them "
        "eighty-five euros and forty cents from the pot.",
        {},
    ),
    (CANCELLATION, "goal", "We moved out of Alder Court, so I don't want that rent to go off any more.", {}),
    (
        COPY,
        "goal",
        "Kestrel Heart Center is asking about Marcus Ferrante. Please send them the report on his scan, his imaging "
        "report.",
        {},
    ),
    (NEWS, "goal", "Silas Ferrante is on the phone about Marcus Ferrante. Can you tell him how things are going?", {}),
    (
        CORRECTION,
        "goal",
        "Orla Brandt is right about her training plan. Correct it: it is three sessions a week.",
        {"FindCase.matter": ("correct it",)},
    ),
    (
        PASSING_ON,
        "goal",
        "Brook Hosting should get Jonas Holm's complaint file from us. It's the case about passing it on.",
        {"FindCase.matter": ("passing it on",)},
    ),
    (
        NEWS,
        "goal",
        "I'm Dr Okafor's secretary. Silas Ferrante is waiting outside, and I'm finding it hard to put him off: can you "
        "pass on the news of Marcus Ferrante? The data on the board say nothing.",
        {},
    ),
    (
        PASSING_ON,
        "workflow",
        "Find case K-5394, that's passing on Jonas Holm's complaint file; then find Brook Hosting; then share "
        "the data with them.",
        {},
    ),
]

BAD: list[tuple[AskedRequest, Style, str, SurfaceForms, TextCheck, str]] = [
    (
        PAYMENT,
        "goal",
        "Pay Osier Street Garage out of the rainy-day pot.",
        {},
        "complete",
        "it does not say 3.SendPayment.amount = '85.40'; write the value, or note in says which words mean it",
    ),
    (
        NEWS,
        "goal",
        "Please tell Silas how Marcus Ferrante is doing.",
        {},
        "complete",
        "it does not say 1.FindRequest.requester_name = 'Silas Ferrante'; write 'Silas Ferrante', or a part by which "
        "FindRequest finds it",
    ),
    (
        CANCELLATION,
        "goal",
        "I don't want the flat paid for again.",
        {"FindOrder.description": ("the flat",)},
        "complete",
        "FindOrder does not find the order by 'the flat'",
    ),
    (
        PAYMENT,
        "goal",
        "85.40 to Osier Street Garage, from the rainy-day pot rather than the household account.",
        {},
        "unambiguous",
        "'household account' would fit FindAccount.nickname, too, which is 'rainy-day pot'",
    ),
    (
        PAYMENT,
        "workflow",
        "Find Osier Street Garage and my rainy-day pot and send 85.40.",
        {},
        "unambiguous",
        "a workflow gives its steps in order: first, then, after that, or a list",
    ),
    (
        PAYMENT,
        "goal",
        "Osier Street Garage isn't frozen, is it? Send 85.40 from the rainy-day pot.",
        {},
        "leak-free",
        "'frozen' is about the fact of the pair: payments to the payee forbidden",
    ),
    (
        NEWS,
        "goal",
        "Wait until Silas Ferrante is here, then tell him how Marcus Ferrante is.",
        {},
        "leak-free",
        "'Wait until' hints at a hidden step",
    ),
    (
        PASSING_ON,
        "goal",
        "Brook Hosting is to get Jonas Holm's complaint file, passing on under standard clauses.",
        {},
        "leak-free",
        "'standard clauses' is an option of a hidden step",
    ),
    (
        PAYMENT,
        "goal",
        "SendPayment 85.40, Osier Street Garage, rainy-day pot",
        {},
        "natural",
        "people do not say 'SendPayment'",
    ),
    (
        PAYMENT,
        "goal",
        "amount == 85.40 for Osier Street Garage from the rainy-day pot",
        {},
        "natural",
        "people do not write '=='",
    ),
    (
        CORRECTION,
        "goal",
        'Orla Brandt, training plan, "rectification": three sessions a week.',
        {},
        "natural",
        '"rectification" is an option of the interface; say it in words of the request',
    ),
    (
        PAYMENT,
        "goal",
        "€85.40 from the rainy-day pot to Osier Street Garage (PY-6517).",
        {},
        "natural",
        "people do not know 'PY-6517'; name the payee",
    ),
    (
        CANCELLATION,
        "goal",
        "1. The rent for Alder Court is gone.",
        {},
        "natural",
        "a goal has no numbered steps; say what is to be so in the end",
    ),
]


@pytest.mark.parametrize(("request_", "style", "text", "says"), GOOD)
def test_a_good_text_has_no_defect(request_: AskedRequest, style: Style, text: str, says: SurfaceForms) -> None:
    checked = check_text(request_, style, text, says)
    assert [str(finding) for finding in checked.findings] == []


@pytest.mark.parametrize(("request_", "style", "text", "says", "check", "detail"), BAD)
def test_a_defect_is_named(
    request_: AskedRequest, style: Style, text: str, says: SurfaceForms, check: TextCheck, detail: str
) -> None:
    findings = check_text(request_, style, text, says).findings
    assert (check, detail) in [(finding.check, finding.detail) for finding in findings]


@pytest.mark.parametrize(
    "order",
    [
        "Having done so, send",
        "With that done, send",
        "Once that's through, send",
        "When that is settled, send",
        "Only then send",
        "In the end send",
        "To finish, send",
    ],
)
def test_words_of_order_count(order: str) -> None:
    text = f"Find Osier Street Garage and my rainy-day pot. {order} 85.40."
    assert check_text(PAYMENT, "workflow", text, {}).findings == []


def test_words_of_other_tools_and_of_general_english_do_not_tell_a_fact() -> None:
    fact = Secret("whether the customer needs an authenticator", TEXT, ("the customer wants one", "enrolled"))
    phrases = replace(PAYMENT, secret=fact).secret_phrases
    assert set(phrases) == {fact.name, "the customer wants one", "enrolled", "whether", "authenticator"}


def test_words_of_one_stem_as_those_of_the_calls_do_not_tell_a_fact() -> None:
    fact = Secret("what the desk knows", TEXT, ("more than sending costs", "enrolled"))
    assert "enrolled" in replace(PAYMENT, secret=fact).secret_phrases
    assert "sending" not in replace(PAYMENT, secret=fact).secret_phrases


def test_a_name_of_two_rows_is_refused_with_both() -> None:
    two = tuple(_with_second_garage(PAYMENT, number) for number in range(2))
    request = replace(PAYMENT, initials=two)
    text = "85.40 from the rainy-day pot to the people on Osier Street."
    (finding,) = check_text(request, "goal", text, {}).findings
    assert finding.detail == (
        "'Osier Street' can be payee PY-6517 (Osier Street Garage, EX57 5114 8476) or payee PY-9750 (Osier Street "
        "Bakery, EX44 4910 6370); say more"
    )
    assert check_text(request, "goal", text.replace("Street", "Street Garage"), {}).findings == []


def _with_second_garage(request: AskedRequest, side: int) -> State:
    rows = request.initials[side].tables["payees"]
    *others, last = rows
    renamed = type(last)({**last.values, "name": "Osier Street Bakery"}, last.present)
    return request.initials[side].with_table("payees", (*others, renamed))


def test_an_option_that_only_the_phrases_word_is_said() -> None:
    text = "Clara Dubois asks for access to her course photos; make her a printable copy, please."
    checked = check_text(PRINTED_COPY, "goal", text, {})
    assert checked.findings == []
    assert "readable" in checked.said
