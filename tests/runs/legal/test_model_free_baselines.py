"""Baselines without a model: they match the published figures, from counts and, where available, from the data."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.legal.case import LETTERS, YES_NO, Choice, Question
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.runs.legal.accuracy import skill
from lawtrace.runs.legal.model_free_baselines import best_baseline, measure_baselines

SHARED = Path(__file__).parents[4] / "shared" / "data" / "maslegal"


def asked(answer: Choice, *, longest: Choice = "A", number: int = 0) -> Question:
    options = YES_NO if answer in YES_NO else LETTERS
    texts: dict[Choice, str] = {choice: choice + ("!" if choice == longest else "") for choice in options}
    return Question(id=f"q{number}", text="Is it so?", options=texts, answer=answer, decision=True)


def percent(questions: list[Question]) -> dict[str, float]:
    return {baseline.name: round(100 * baseline.accuracy, 2) for baseline in measure_baselines(questions)}


def test_the_labels_of_all_950_published_questions() -> None:
    """The counts of the whole published set: 502 Yes, 145 No; 52, 114, 106, 31 letters; 171 times the longest."""
    counts: dict[Choice, int] = {"Yes": 502, "No": 145, "A": 52, "B": 114, "C": 106, "D": 31}
    longest = 171
    questions: list[Question] = []
    for answer, count in counts.items():
        for _ in range(count):
            right = answer in LETTERS and longest > 0
            longest -= right
            questions.append(asked(answer, longest=answer if right else "B" if answer == "A" else "A"))
    assert percent(questions) == {
        "random": 42.03,
        "majority": 64.84,
        "always Yes, random letter": 60.82,
        "always Yes, longest option": 70.84,
    }


@pytest.mark.shared
def test_the_nine_published_cases() -> None:
    if not SHARED.exists():
        pytest.skip("needs the published dataset in ../shared/data/maslegal")
    questions = [question for case in load_dataset(SHARED).cases for question in case.questions]
    assert percent(questions) == {
        "random": 42.34,
        "majority": 63.64,
        "always Yes, random letter": 58.37,
        "always Yes, longest option": 68.66,
    }


@given(st.lists(st.sampled_from(YES_NO + LETTERS), min_size=1))
def test_majority_is_at_least_as_good_as_rules_without_labels(answers: list[Choice]) -> None:
    found = {baseline.name: baseline.correct for baseline in measure_baselines([asked(answer) for answer in answers])}
    assert found["majority"] >= found["random"] - 1e-9
    assert found["majority"] >= found["always Yes, random letter"] - 1e-9
    best = best_baseline(measure_baselines([asked(answer) for answer in answers]))
    assert best.correct == max(found.values())


def test_skill_is_zero_at_the_baseline_and_one_at_the_top() -> None:
    assert skill(0.7, 0.7) == 0
    assert skill(1.0, 0.7) == 1
    assert skill(0.4, 0.7) == pytest.approx(-1)
    assert skill(1.0, 1.0) is None
    assert measure_baselines([]) == ()


def test_always_yes_gets_half_of_the_yes_no_questions_when_balanced() -> None:
    questions = [
        asked(answer).model_copy(update={"id": f"q{n}"}) for n, answer in enumerate(("Yes", "Yes", "Yes", "No"))
    ]
    found = {baseline.name: baseline for baseline in measure_baselines(questions)}
    always_yes = found["always Yes, longest option"]
    assert (always_yes.accuracy, always_yes.balanced) == (0.75, 0.5)
    assert found["random"].balanced == 0.5
