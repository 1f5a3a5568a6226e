"""Polarity turned: only what surely flips the answer is accepted, in both directions."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.legal.polarity import check_negation, split_question

FACTS = "Bottle Works kept records on a laptop. It was stolen."
INFRINGE = "Did Bottle Works infringe Article 32(1)?"


@pytest.mark.parametrize(
    ("question", "restated"),
    [
        (INFRINGE, "Is it false that Bottle Works infringed Article 32(1)?"),
        (INFRINGE, "Is it untrue that Bottle Works did infringe Article 32(1)?"),
        (INFRINGE, "Is it the case that Bottle Works did not infringe Article 32(1)?"),
        (INFRINGE, "Is it true that Bottle Works didn't infringe Article 32(1)?"),
        ("Did Bottle Works fail to lock it?", "Did Bottle Works lock it?"),
        ("Did Bottle Works not lock it?", "Is it false that Bottle Works did not lock it?"),
        ("Is it the case that the fine is fair?", "Is it false that the fine is fair?"),
        (f"{FACTS} Was the theft foreseeable?", f"{FACTS} Is it false that the theft was foreseeable?"),
        (
            "Under Article 35, must Bottle Works assess risks and tell the Office?",
            "Under Article 35, is it false that Bottle Works must assess risks and tell the Office?",
        ),
        ("Under Article 35, must it assess risks?", "Is it false that, under Article 35, it must assess risks?"),
        ("Does Bottle Works rely on consent?", "Is it wrong that Bottle Works relies on consent?"),
    ],
)
def test_one_negation_turned_is_accepted_both_ways(question: str, restated: str) -> None:
    assert check_negation(question, restated) is None
    assert check_negation(restated, question) is None


@pytest.mark.parametrize(
    ("question", "restated", "reason"),
    [
        (INFRINGE, INFRINGE, "the same question"),
        (INFRINGE, "Is it false that Bottle Works infringed Article 32(1).", "question mark"),
        (INFRINGE, "Did Bottle Works not infringe Article 32(1)?", "exactly one negation"),
        (INFRINGE, "Is it true that Bottle Works infringed Article 32(1)?", "exactly one negation"),
        (INFRINGE, "Is it false that Bottle Works did not infringe Article 32(1)?", "exactly one negation"),
        (INFRINGE, "Is it false that Bottle Works infringed Article 33(1)?", "exactly one negation"),
        (INFRINGE, "Is it false that Bottle Works complied with Article 32(1)?", "exactly one negation"),
        (INFRINGE, "Is it false that Article 32(1) did infringe Bottle Works?", "exactly one negation"),
        ("Did it comply by not telling?", "Did it comply by telling?", "exactly one negation"),
        ("Did it comply by failing to tell?", "Did it comply by telling?", "exactly one negation"),
        ("Did it read and fail to tell?", "Did it read and tell?", "exactly one negation"),
        ("Did it fail to lock and tell?", "Did it lock and tell?", "exactly one negation"),
        ("Did it lock and tell?", "Is it the case that it did not lock and tell?", "exactly one negation"),
        ("Must it tell?", "Is it the case that it must not tell?", "exactly one negation"),
        (f"{FACTS} Was it so?", "Bottle Works kept no records. Is it false that it was so?", "told before"),
        (f"{FACTS} Was it so?", "Is it false that it was so?", "told before"),
    ],
)
def test_what_need_not_flip_the_answer_is_refused(question: str, restated: str, reason: str) -> None:
    said = check_negation(question, restated)
    assert said is not None
    assert reason in said


WORDS = st.lists(
    st.sampled_from(["records", "of", "Bottle", "Works", "Article", "32", "theft", "by", "May"]), min_size=2
)


@given(st.sampled_from(["Did", "Was", "Must", "Can", "Has"]), WORDS, st.integers(1, 9))
def test_the_outer_negation_is_accepted_wherever_the_subject_ends(auxiliary: str, words: list[str], end: int) -> None:
    end = min(end, len(words))
    question = f"{auxiliary} {' '.join(words)}?"
    statement = [*words[:end], auxiliary.lower(), *words[end:]]
    assert check_negation(question, f"Is it false that {' '.join(statement)}?") is None
    assert check_negation(question, f"Is it true that {' '.join(statement)}?") is not None


@given(WORDS, st.data())
def test_any_other_word_changed_is_refused(words: list[str], data: st.DataObject) -> None:
    place = data.draw(st.integers(0, len(words) - 1))
    other = [*words[:place], "zebra", *words[place + 1 :]]
    assert (
        check_negation(f"Did it see {' '.join(words)}?", f"Is it false that it did see {' '.join(other)}?") is not None
    )


def test_turning_twice_is_no_turning() -> None:
    forms = ["Did it lock it?", "Is it the case that it did lock it?"]
    turned = ["Is it false that it did lock it?", "Is it the case that it did not lock it?", "Did it fail to lock it?"]
    for one, other in combinations(turned, 2):
        assert check_negation(one, other) is not None
    assert all(check_negation(forms[0], form) is None for form in turned)


def test_what_asks_is_the_last_sentence() -> None:
    assert split_question(f"{FACTS} Was it so?") == (FACTS, "Was it so?")
    assert split_question("It said 'no.' Was it so?") == ("It said 'no.'", "Was it so?")
    assert split_question("Was Art. 32 of the U.K. rules kept?")[1].endswith("kept?")
