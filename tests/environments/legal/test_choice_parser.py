"""The parser of answers: options, refusals, and texts that are neither."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.legal.case import LETTERS, YES_NO, Choice
from lawtrace.environments.legal.choice_parser import is_refusal, parse_choice

YN: dict[Choice, str] = {"Yes": "Yes, it complied", "No": "No"}
ABCD: dict[Choice, str] = {"A": "Appropriate measures", "B": "No breach", "C": "A fine", "D": "None of these"}


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("Yes", "Yes"),
        ("yes", "Yes"),
        ("Yes.", "Yes"),
        (" **No** ", "No"),
        ("Yes, it complied", "Yes"),
        ("Yes, because the text does not contain a measure", "Yes"),
        ("No, it did not state why", "No"),
        ("Answer: No", "No"),
        ("Yes it did", "Yes"),
        ("No information is given in the passages", "refused"),
        ("Insufficient context", "refused"),
        ("It cannot be determined", "refused"),
        (None, "refused"),
        ("", "refused"),
        ("null", "refused"),
        ("No answer can be given", "refused"),
        ("The context is insufficient", "refused"),
        ("Unknown, as nothing is said of it", "refused"),
        ("No, the information is insufficient", "No"),
        ("Yes, no lawful basis was found", "Yes"),
        ("The measures were insufficient", None),
        ("Yes/No", None),
        ("Yes or No", None),
        ("Yes and no, it depends", None),
        ("Maybe", None),
        ("C", None),
    ],
)
def test_yes_and_no(text: str | None, meant: str | None) -> None:
    assert parse_choice(text, YN) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("A", "A"),
        ("c.", "C"),
        ("(D)", "D"),
        ("B: No breach", "B"),
        ("Option A", "A"),
        ("The correct answer is C.", "C"),
        ("no breach", "B"),
        ("A fine", "C"),
        ("A fine was due", None),
        ("None of these", "D"),
        ("none", "refused"),
        ("Final answer: B", "B"),
        ("A, since B is wrong", "A"),
        ("A, B", None),
        ("A-D", None),
        ("A (or B)", None),
        ('["A", "B"]', None),
        ("B/C", None),
        ("Yes", None),
        ("E", None),
    ],
)
def test_four_options(text: str, meant: str | None) -> None:
    assert parse_choice(text, ABCD) == meant


@pytest.mark.parametrize(
    ("text", "refusal"),
    [
        ("I cannot answer: the passages do not mention it.", True),
        ("I'm sorry, but I can't assist with that.", True),
        ("There is not enough information in the passages.", True),
        ('{"rationale": "The measures were insufficient, and the text does not say more', False),
        ("<think>There is not enough information.</think>Perhaps.", False),
        ("<think>There is not enough information, so I", False),
        ("The security was insufficient.", False),
        ("The company was unable to say why. The answer is Yes.", False),
    ],
)
def test_only_words_about_the_given_information_decline(text: str, refusal: bool) -> None:
    assert is_refusal(text) is refusal


@given(
    st.sampled_from(YES_NO + LETTERS), st.sampled_from(["", ".", ")", ":", "\n"]), st.sampled_from(["", " ", "(", "**"])
)
def test_a_key_with_any_punctuation_is_itself(choice: Choice, behind: str, before: str) -> None:
    options = YN if choice in YN else ABCD
    assert parse_choice(f"{before}{choice}{behind}", options) == choice


@pytest.mark.slow
@given(st.text())
def test_any_text_is_an_option_a_refusal_or_neither(text: str) -> None:
    for options in (YN, ABCD):
        assert parse_choice(text, options) in {*options, "refused", None}
