"""Balanced questions and other names: what is right stays right, and nothing else changes."""

from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.legal.case import LETTERS, Choice
from lawtrace.environments.legal.party_names import (
    Renaming,
    choose_renaming,
    invent_name,
    main_name,
    rename_chunk,
    rename_question,
)
from lawtrace.runs.legal.balanced_questions import balance_question, choose_restated, negate_question, shuffle_options
from tests.support.legal.small_cases import BOTTLES, asked

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
    renaming = choose_renaming(BOTTLES, seed=1)
    assert renaming is not None
    assert renaming == Renaming(("Bottle Works",), invent_name([], seed=1))
    question = rename_question(BOTTLES.questions[0], renaming)
    assert "Bottle Works" not in question.text
    assert renaming.new in question.text
    assert (question.id, question.answer) == (BOTTLES.questions[0].id, "Yes")
    assert rename_question(question, Renaming((renaming.new,), "Bottle Works")) == BOTTLES.questions[0]
    chunk = rename_chunk(BOTTLES.chunks[0], Renaming(("Bottle",), "Can"))
    assert "Can Works" in chunk.text
    assert rename_chunk(BOTTLES.chunks[0], Renaming(("Bott",), "Can")) == BOTTLES.chunks[0]


def test_the_first_word_of_a_name_that_stands_for_all_of_it_is_renamed_too() -> None:
    texts = ("Clear AI kept faces. Clear's staff, and Clear, knew.", "First, Clear AI denied it; Clear Skies did not.")
    chunks = tuple(BOTTLES.chunks[0].model_copy(update={"ref": f"F{n}", "text": t}) for n, t in enumerate(texts))
    questions = (asked("q1", "Did Clear AI keep faces?", {"Yes": "Yes", "No": "No"}, "Yes"),)
    case = BOTTLES.model_copy(update={"chunks": chunks, "questions": questions})
    renaming = choose_renaming(case, seed=1)
    assert renaming is not None
    assert renaming.old == ("Clear AI", "Clear")
    new = renaming.new
    assert [rename_chunk(chunk, renaming).text for chunk in chunks] == [
        f"{new} kept faces. {new}'s staff, and {new}, knew.",
        f"First, {new} denied it; Clear Skies did not.",
    ]
    small = case.model_copy(
        update={"chunks": (*chunks, BOTTLES.chunks[1].model_copy(update={"text": "It was clear."}))}
    )
    renaming = choose_renaming(small, seed=1)
    assert renaming is not None
    assert renaming.old == ("Clear AI",)


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
    turned = negate_question(question, "Is it false that it did act?")
    assert (turned.answer, turned.options, turned.restated_from) == ("No", {"Yes": "Yes", "No": "No"}, "Did it act?")
