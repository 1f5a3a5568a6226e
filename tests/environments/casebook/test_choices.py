"""What models write, as the option they mean."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from environments.casebook.case import LETTERS, YES_NO, Choice
from environments.casebook.choices import read_choice

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
        ("Maybe", None),
        ("C", None),
    ],
)
def test_yes_and_no(text: str | None, meant: str | None) -> None:
    assert read_choice(text, YN) == meant


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
        ("Yes", None),
        ("E", None),
    ],
)
def test_four_options(text: str, meant: str | None) -> None:
    assert read_choice(text, ABCD) == meant


@given(
    st.sampled_from(YES_NO + LETTERS), st.sampled_from(["", ".", ")", ":", "\n"]), st.sampled_from(["", " ", "(", "**"])
)
def test_a_key_is_itself_whatever_stands_around_it(choice: Choice, behind: str, before: str) -> None:
    options = YN if choice in YN else ABCD
    assert read_choice(f"{before}{choice}{behind}", options) == choice


@given(st.text())
def test_whatever_is_written_is_an_option_a_refusal_or_nothing(text: str) -> None:
    for options in (YN, ABCD):
        assert read_choice(text, options) in {*options, "refused", None}
