"""Questions of other benchmarks: options and answers in any form, texts as answers, task files."""

import json
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.legal.case import Question
from lawtrace.environments.legal.choice_parser import parse_choice, parse_text
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.environments.legal.question_sets import parse_plain_rows, read_task_table
from lawtrace.schemas.errors import InputError


def read(**row: Any) -> Question:
    cases, problems = parse_plain_rows([("row 1", {"question": "Is it so?", **row})], "set")
    assert problems == ()
    (question,) = cases[0].questions
    return question


@pytest.mark.parametrize(
    ("options", "answer", "key"),
    [
        (["Yes", "No"], "Yes", "Yes"),
        (["No", "Yes"], "yes", "Yes"),
        (["no", "yes"], 0, "No"),
        (["Yes", "No"], False, "No"),
        ({"No": "No", "Yes": "Yes"}, ["No"], "No"),
        (["a fine", "a warning", "nothing"], 2, "C"),
        (["a fine", "a warning"], "a warning", "B"),
        ({"B": "a warning", "A": "a fine", "C": "nothing"}, "C", "C"),
        ({"first": "a fine", "second": "a warning"}, ["a fine"], "A"),
        ([str(number) for number in range(26)], "25", "Z"),
    ],
)
def test_options_and_answers_in_any_form(options: object, answer: object, key: str) -> None:
    question = read(options=options, answer=answer)
    assert question.answer == key
    assert question.options[key]
    assert parse_choice(key, question.options) == key


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"options": ["a", "b"], "answer": 2}, "index 2 of 2 options"),
        ({"options": ["a", "b"], "answer": "c"}, "neither a key nor the text"),
        ({"options": ["a", "b"], "answer": ["a", "b"]}, "2 answers to a question with options"),
        ({"options": [str(number) for number in range(27)], "answer": 1}, "the most is 26"),
        ({"options": ["a", "b"]}, "answer"),
    ],
)
def test_rows_that_cannot_be_used(row: dict[str, object], reason: str) -> None:
    _, (problem,) = parse_plain_rows([("row 1", {"question": "Is it so?", **row})], "set")
    assert reason in str(problem)


@pytest.mark.parametrize(
    ("match", "said", "right"),
    [
        ("normalized", "the high court.", True),
        ("normalized", "High Court of Justice", True),
        ("normalized", "Court of Appeal", False),
        ("exact", "High Court", True),
        ("exact", "high court", False),
        ("normalized", None, "refused"),
        ("normalized", "It cannot be determined", "refused"),
    ],
)
def test_answers_in_words(match: str, said: str | None, right: object) -> None:
    question = read(answer=["High Court", "The High Court of Justice"], match=match)
    assert question.kind == "free_text"
    assert parse_text(said, question) == right


def test_a_json_array_of_questions_is_a_dataset(tmp_path: Path) -> None:
    rows = [
        {"question": "Is it so?", "options": ["Yes", "No"], "answer": "No", "passages": ["It is not.", "It may be."]},
        {"question": "Is it?", "answer": "perhaps", "case": "other", "passages": [{"agent": "LR", "text": "A rule."}]},
        {"question": "Is it not?", "options": ["Yes", "No"], "answer": "Yes", "passages": "It is not."},
    ]
    (tmp_path / "set.json").write_text(json.dumps([*rows, 3], indent=1), encoding="utf-8")
    dataset = load_dataset(tmp_path)
    assert [(case.id, len(case.questions), len(case.chunks)) for case in dataset.cases] == [
        ("set", 2, 2),
        ("other", 1, 1),
    ]
    assert [str(problem) for problem in dataset.problems] == ["set.json, item 4: JSON, but not an object"]


def task(folder: Path, table: str, prompt: str = "") -> Path:
    folder.mkdir(exist_ok=True)
    (folder / "test.tsv").write_text(table, encoding="utf-8")
    if prompt:
        (folder / "base_prompt.txt").write_text(prompt, encoding="utf-8")
    return folder


def test_a_task_with_yes_and_no(tmp_path: Path) -> None:
    prompt = "Is the sentence hearsay?\n\nQ: An example.\nA: No\n\nQ: {{text}} Is there hearsay?\nA:"
    table = "index\tanswer\ttext\n" + "".join(f"{n}\t{'Yes' if n % 2 else 'No'}\tHe said {n}.\n" for n in range(1, 7))
    (case,), problems = read_task_table(task(tmp_path / "hearsay", table, prompt))
    assert (case.id, problems, len(case.questions)) == ("hearsay", (), 6)
    first = case.questions[0]
    assert first.text == "Is the sentence hearsay?\n\nQ: He said 1. Is there hearsay?"
    assert (first.options, first.answer, first.id) == ({"Yes": "Yes", "No": "No"}, "Yes", "hearsay/q1")


def test_a_task_with_labels_and_one_with_texts(tmp_path: Path) -> None:
    marks = "".join(f"{label}\tmark {n}\n" for n in range(2) for label in ("generic", "fanciful", "descriptive"))
    (case,), _ = read_task_table(task(tmp_path / "marks", f"label\ttext\n{marks}"), instruction="Classify: {{ text }}")
    assert case.questions[0].options == {"A": "descriptive", "B": "fanciful", "C": "generic"}
    assert case.questions[0].answer == "C"
    courts = "answer\tquestion\ttext\nHigh Court\tWho?\tIt did.\nMagistrates\tWho else?\tThey did.\n"
    (case,), _ = read_task_table(task(tmp_path / "courts", courts))
    assert [question.kind for question in case.questions] == ["free_text", "free_text"]
    assert case.questions[0].text == "question: Who?\n\ntext: It did."


def test_tables_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="has no column answer or label"):
        read_task_table(task(tmp_path / "a", "text\nx\n"))
    with pytest.raises(InputError, match="names 'clause'; the columns are answer, text"):
        read_task_table(task(tmp_path / "b", "answer\ttext\nYes\tx\n", "Read {{clause}}"))
    with pytest.raises(InputError, match="no task file"):
        read_task_table(tmp_path)


def test_examples_become_passages_and_a_task_has_a_metric(tmp_path: Path) -> None:
    prompt = "Is the sentence hearsay?\n\nQ: She said so.\nA: Yes\n\nQ: {{text}}\nA:"
    table = "index\tanswer\ttext\n" + "".join(f"{n}\t{'Yes' if n % 2 else 'No'}\tHe said {n}.\n" for n in range(4))
    folder = task(tmp_path / "hearsay", table, prompt)
    (folder / "train.tsv").write_text("index\tanswer\ttext\n0\tNo\tHe saw it.\n", encoding="utf-8")
    (case,), _ = read_task_table(folder)
    assert [(chunk.agent, chunk.text) for chunk in case.chunks] == [
        ("AR", "Q: She said so.\nA: Yes"),
        ("AR", "Q: He saw it.\nA: No"),
    ]
    assert case.metric == "balanced_accuracy"
    (case,), _ = read_task_table(folder, metric="f1")
    assert case.metric == "f1"
    assert {question.kind for question in case.questions} == {"free_text"}
    (folder / "train.tsv").write_text("index\ttext\n0\tHe saw it.\n", encoding="utf-8")
    with pytest.raises(InputError, match=r"train\.tsv: has no column answer"):
        read_task_table(folder)
