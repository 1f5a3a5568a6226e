"""Texts without one of their values."""

import pytest

from lawtrace.solver.masking.cuts import apply_cuts, cut_amount, cut_date, cut_number, cut_party, cut_thing, cut_wording
from lawtrace.solver.masking.sayings import Span, numbers_in


def amount(text: str) -> str | None:
    (span,) = [one.span for one in numbers_in(text) if one.money]
    cut = cut_amount(text, span)
    return None if cut is None else apply_cuts(text, [cut])


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("They get €65.47, out of the pot.", "They get some money, out of the pot."),
        ("She should get 61.57 euros from it every month.", "She should get a certain amount from it every month."),
        ("Set up a standing order of $5.20 to her.", "Set up a standing order to her."),
        ("Bill Ash Rowe 4.29 euros in that matter.", "Bill Ash Rowe in that matter."),
        ("He is to be charged $10.42.", "He is to be charged."),
        ("And charge her twenty dollars and seven cents for it.", "And charge her for it."),
        ("There are $27.60 to charge to Ash Rowe.", "There are something to charge to Ash Rowe."),
        ("My card is on the terminal, €33.97.", "My card is on the terminal."),
        ("Let my €28.19 tap through.", "Let my tap through."),
        ("€58.28 should go to Ash.", "Some money should go to Ash."),
        ("Her list comes to $17.49, so bill her that.", None),
        ("Let the €61.36 I've tapped through.", None),
        ("Find the case and bill $4.20.", None),
    ],
)
def test_an_amount(text: str, rest: str | None) -> None:
    assert amount(text) == rest


def span_of(text: str, value: str) -> Span:
    return text.index(value), text.index(value) + len(value)


@pytest.mark.parametrize(
    ("text", "value", "rest", "words"),
    [
        ("The statement for the last 90 days, please.", "90", "The statement, please.", "for the last 90 days"),
        ("The statement, last 60 days.", "60", "The statement.", "last 60 days"),
        ("It goes out on the 28th of each month.", "28th", "It goes out every month.", "on the 28th of each month"),
        ("Pay it every 3rd of the month.", "3rd", "Pay it every month.", "every 3rd of the month"),
        ("Let me see the last 90 days on it.", "90", None, ""),
    ],
)
def test_a_number(text: str, value: str, rest: str | None, words: str) -> None:
    cut = cut_number(text, span_of(text, value))
    assert (None if cut is None else apply_cuts(text, [cut])) == rest
    assert cut is None or cut.words == words


def test_a_date_and_a_wording() -> None:
    text = 'Pay it on Friday, 3 May, please. The file should be corrected to say "likes rowing".'
    day, file = cut_date(text, span_of(text, "3 May")), cut_wording(text, span_of(text, "likes rowing"))
    assert day is not None
    assert file is not None
    assert apply_cuts(text, [day, file]) == "Pay it, please. The file should be corrected."


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("Ash Rowe's file, please.", "Someone's file, please."),
        ("A visitor, Ash Rowe, would like to know.", "A visitor would like to know."),
        ("The person called Ash Rowe is here.", "The person is here."),
        ("Send it to Ash Rowe, who is waiting.", "Send it to someone, who is waiting."),
        ("The Ash Rowe flyer goes out.", None),
        ("Ash Rowe have asked.", None),
        ("Find Ash Rowe and pay her.", None),
        ("Someone wants to see Ash Rowe.", None),
        ("Ms Ash Rowe is here.", None),
    ],
)
def test_a_party(text: str, rest: str | None) -> None:
    cut = cut_party(text, span_of(text, "Ash Rowe"), "someone")
    assert (None if cut is None else apply_cuts(text, [cut])) == rest


@pytest.mark.parametrize(
    ("text", "value", "rest"),
    [
        ("Take it from my rainy-day pot.", "rainy-day pot", "Take it from one of my accounts."),
        ("The holiday pot is empty.", "holiday pot", "One of the accounts is empty."),
        ("Refund the Tern Streaming charge.", "Tern Streaming", "Refund one of the charges."),
        ("Close the incident with the lost drive.", "lost drive", "Close one of the incidents."),
        ("The holiday pot's statement, please.", "holiday pot", None),
        ("Among the accounts find the holiday pot.", "holiday pot", None),
        ("What I paid to Tern Streaming is too much.", "Tern Streaming", None),
    ],
)
def test_a_thing(text: str, value: str, rest: str | None) -> None:
    cut = cut_thing(text, span_of(text, value), "account")
    assert (None if cut is None else apply_cuts(text, [cut])) == rest
