"""Balanced questions and other names: what is right stays right, and nothing else changes."""

from hypothesis import given
from hypothesis import strategies as st

from environments.casebook.balance import balance_question, choose_restated, shuffle_options, turn_question
from environments.casebook.case import LETTERS, Choice
from environments.casebook.names import invent_name, main_name, rename_chunk, rename_question
from tests.support.small_cases import BOTTLES, asked

FOUR = BOTTLES.questions[1]


@given(st.integers())
def test_shuffled_options_keep_the_right_one(seed: int) -> None:
    shuffled = shuffle_options(FOUR, seed)
    assert tuple(shuffled.options) == LETTERS
    assert sorted(shuffled.options.values()) == sorted(FOUR.options.values())
    assert shuffled.options[shuffled.answer] == FOUR.options[FOUR.answer]
    assert shuffle_options(FOUR, seed) == shuffled
    assert shuffle_options(BOTTLES.questions[0], seed) == BOTTLES.questions[0]


def test_shuffling_spreads_the_right_answer_over_the_letters() -> None:
    answers = [shuffle_options(FOUR, seed).answer for seed in range(400)]
    assert all(60 < answers.count(letter) < 140 for letter in LETTERS)


def test_the_name_a_case_is_about() -> None:
    assert main_name(question.text for question in BOTTLES.questions) == "Bottle Works"
    assert main_name(["Did the Commissioner cite Article 32 of the UK GDPR?"]) is None
    assert main_name(["Did Bottle Works’s staff act?", "Was Bottle Works told?", "Ann left."]) == "Bottle Works"


def test_a_case_under_another_name_says_the_same() -> None:
    new = invent_name([chunk.text for chunk in BOTTLES.chunks], seed=1)
    assert new == invent_name([], seed=1)
    question = rename_question(BOTTLES.questions[0], "Bottle Works", new)
    assert "Bottle Works" not in question.text
    assert new in question.text
    assert (question.id, question.answer) == (BOTTLES.questions[0].id, "Yes")
    assert rename_question(question, new, "Bottle Works") == BOTTLES.questions[0]
    chunk = rename_chunk(BOTTLES.chunks[0], "Bottle", "Can")
    assert "Can Works" in chunk.text
    assert rename_chunk(BOTTLES.chunks[0], "Bott", "Can") == BOTTLES.chunks[0]


QUESTIONS = st.lists(st.sampled_from(("Yes", "No")), max_size=30)


@given(QUESTIONS, st.integers())
def test_half_of_each_answer_is_restated_so_that_both_come_out_alike(answers: list[Choice], seed: int) -> None:
    questions = [asked(f"q{n}", "Did it act?", {"Yes": "Yes", "No": "No"}, answer) for n, answer in enumerate(answers)]
    chosen = choose_restated(questions, {question.id for question in questions}, seed)
    balanced = [balance_question(q, dict.fromkeys(chosen, "Is it false that it did act?"), seed) for q in questions]
    said = [question.answer for question in balanced]
    assert abs(said.count("Yes") - said.count("No")) <= 1
    assert choose_restated(questions, {question.id for question in questions}, seed) == chosen
    assert choose_restated(questions, (), seed) == frozenset()


def test_a_restated_question_says_yes_and_no_alone_and_keeps_its_old_words() -> None:
    question = asked("q", "Did it act?", {"Yes": "Yes, it did", "No": "No, it did not"}, "Yes")
    turned = turn_question(question, "Is it false that it did act?")
    assert (turned.answer, turned.options, turned.restated_from) == ("No", {"Yes": "Yes", "No": "No"}, "Did it act?")
