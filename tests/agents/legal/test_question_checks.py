"""Bad questions that look like good ones are refused, each for its fault."""

import pytest

from lawtrace.agents.legal.question_checks import AskedQuestion, DecisionText, find_question_fault, provisions_in

DECISION = DecisionText(
    [
        "Harbour Clinic runs four surgeries. Article 5(1)(f), Article 5(2) and Article 32 of the UK GDPR apply to it.",
        "On 3 March 2021 a laptop with a copy of the register was stolen from a car of a nurse.",
        "The Commissioner finds that Harbour Clinic infringed Article 5(1)(f) because it did not encrypt the laptop.",
        "Harbour Clinic has contravened Articles 32(1) and 33(1) of the UK GDPR. It told the Office after six days.",
        "The Commissioner does not find that Harbour Clinic infringed Article 34.",
    ]
)
YES_NO = {"Yes": "Yes", "No": "No"}


def fault(question: str, options: dict[str, str] = YES_NO, answer: str = "Yes") -> str | None:
    return find_question_fault(AskedQuestion(question, options, answer), DECISION)


@pytest.mark.parametrize(
    "question",
    [
        "Did Harbour Clinic infringe Article 5(1)(f) of the UK GDPR?",
        "Is it false that Harbour Clinic infringed Article 34 of the UK GDPR?",
        "A laptop with the register was stolen in March 2021. Should Harbour Clinic have encrypted it?",
        "A clinic lost a laptop. Did the clinic have to encrypt the register on it?",
        "Was it found that Harbour Clinic told the Office after six days?",
    ],
)
def test_good_questions_are_asked(question: str) -> None:
    assert fault(question) is None


@pytest.mark.parametrize(
    ("question", "reason"),
    [
        ("Was it found that Harbour Clinic?", "no verb after"),
        ("Was it found that Harbour Clinic's limited understanding of core principles?", "no verb after"),
        ("Did the company infringe Article 32 of the UK GDPR?", "in place of a name"),
        ("Did Harbour Clinic infringe the regulation when the laptop was stolen?", "in place of a name"),
        ("Was the weather in Paris fine when the train arrived?", "does not"),
        ("Did Harbour Clinic infringe Article 99 of the UK GDPR?", "does not mention article 99"),
        ("Was it found that i haven't been allowed to see the register of the clinic?", "first person"),
        ("Did Harbour Clinic inform the Office about the laptop that was stolen from the?", "breaks off"),
    ],
)
def test_bad_questions_are_refused(question: str, reason: str) -> None:
    said = fault(question)
    assert said is not None
    assert reason in said


def options(right: str, *wrong: str) -> dict[str, str]:
    return dict(zip("ABCD", (right, *wrong), strict=True))


def test_a_second_right_option_anywhere_in_the_decision() -> None:
    asked = "Which provision of the UK GDPR was Harbour Clinic found to have infringed?"
    assert fault(asked, options("Article 5(1)(f)", "Article 6", "Article 17", "Article 34"), "A") is None
    for other in ("Article 33", "Article 32(1)"):
        said = fault(asked, options("Article 5(1)(f)", "Article 6", other, "Article 9"), "A")
        assert said is not None
        assert "option C is right, too" in said


def test_a_second_option_that_the_decision_states() -> None:
    asked = "What was stolen in March 2021 from Harbour Clinic?"
    wrong = ("a telephone", "a printer", "a copy of the register")
    assert fault(asked, options("a laptop", "a telephone", "a printer", "a server"), "A") is None
    assert "option D may be right, too" in (fault(asked, options("a laptop", *wrong), "A") or "")


def test_answers_that_can_be_read_from_the_question() -> None:
    asked = "Why did Harbour Clinic, which did not encrypt the laptop, infringe Article 5(1)(f)?"
    wrong = ("It sold the register", "It moved abroad", "It hired nurses")
    assert "words of the right option" in (fault(asked, options("It failed to encrypt laptops", *wrong), "A") or "")
    long = "It had neither a policy nor a process nor a person for the safe storage of devices"
    assert "much longer" in (
        fault("Why did Harbour Clinic infringe Article 5(1)(f)?", options(long, *wrong), "A") or ""
    )


def test_lists_of_provisions() -> None:
    assert provisions_in("Articles 5(1)(f), 32(1) and 33 of the UK GDPR and Section 155") == [
        "article 5(1)(f)",
        "article 32(1)",
        "article 33",
        "section 155",
    ]
