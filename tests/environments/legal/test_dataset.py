"""The published dataset becomes cases; unusable rows are reported and left out."""

import json
from collections.abc import Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.legal.case import Case
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.environments.legal.maslegalbench import parse_rows
from lawtrace.schemas.errors import InputError
from tests.support.legal.small_cases import BOTTLES

SHARED = Path(__file__).parents[4] / "shared" / "data" / "maslegal"
Row = dict[str, str]

YES_NO = {
    "whether_contains_decision": "true",
    "question": "Did the shop keep the list longer than it needed?",
    "options": {"Yes": "Yes", "No": "No"},
    "correct_answer": "Yes",
}


def row(kind: str, content: object, source: str = "shop") -> Row:
    return {"content": content if isinstance(content, str) else json.dumps(content), "type": kind, "source": source}


def question(**changes: object) -> Row:
    return row("question", {**YES_NO, **changes})


GOOD = [
    row("background", "4. The shop kept a list.\n"),
    row("legal framework", "2. A list may be kept as long as it is needed."),
    row("entity", {"entity_or_concept": "shop", "legal_alignment": "Controller"}),
    row("relation", {"source": "shop", "relation": "kept", "target": "list"}),
    row("inferred alignment", {"entity_or_concept": "list", "legal_alignment": "Filing System"}),
    question(),
    question(
        options={"A": "none", "B": "a fine", "C": "a warning", "D": "both"},
        correct_answer="B",
        whether_contains_decision="false",
    ),
]
BAD = {
    "content: not a JSON object": row("question", "{broken"),
    "content: not a JSON object: Input": row("entity", "[1]"),
    "unknown": row("opinion", "text"),
    "not among the options": question(correct_answer="A"),
    "Yes and No, or letters": question(options={"Yes": "Yes", "Maybe": "perhaps"}),
    "letters from A on": question(options={"B": "one", "C": "two"}, correct_answer="B"),
    "'yes' is not among": question(correct_answer="yes"),
    "correct_answer": question(correct_answer=["Yes", "No"]),
    "empty": row("background", "  \n"),
    "an option is empty": question(options={"Yes": "Yes", "No": " "}),
    "whether_contains_decision": question(whether_contains_decision="perhaps"),
    "source: it is empty": row("background", "text", " "),
    "source: is missing": {"content": "text", "type": "background"},
    "1 or more characters": question(question=""),
}


def read(rows: list[Row]) -> tuple[tuple[Case, ...], list[str]]:
    placed: list[tuple[str, Mapping[str, Any]]] = [(f"row {number}", raw) for number, raw in enumerate(rows, 1)]
    cases, problems = parse_rows(placed)
    return cases, [str(problem) for problem in problems]


def test_every_type_has_its_agent_and_keeps_its_text() -> None:
    (case,), problems = read(GOOD)
    assert problems == []
    assert [(chunk.ref, chunk.agent) for chunk in case.chunks] == [
        ("F1", "F"),
        ("LR1", "LR"),
        ("AR1", "AR"),
        ("AR2", "AR"),
        ("CS1", "CS"),
    ]
    assert case.chunks[0].text == "4. The shop kept a list.\n"
    assert json.loads(case.chunks[2].text)["legal_alignment"] == "Controller"
    assert [(q.id, q.kind, q.answer, q.decision) for q in case.questions] == [
        ("shop/q1", "yes_no", "Yes", True),
        ("shop/q2", "four_options", "B", False),
    ]


@pytest.mark.parametrize("what", BAD)
def test_a_bad_row_is_reported(what: str) -> None:
    cases, problems = read([*GOOD, BAD[what]])
    assert len(problems) == 1
    assert problems[0].startswith("row 8: ")
    assert what in problems[0]
    assert cases == read(GOOD)[0]


@given(st.lists(st.sampled_from([*GOOD, *BAD.values()]), max_size=12))
def test_no_row_is_lost_and_bad_rows_change_nothing_else(rows: list[Row]) -> None:
    cases, problems = read(rows)
    kept = sum(len(case.chunks) + len(case.questions) for case in cases)
    assert kept + len(problems) == len(rows)
    only_good = [raw for raw in rows if raw in GOOD]
    texts = [chunk.text for case in read(only_good)[0] for chunk in case.chunks]
    assert [chunk.text for case in cases for chunk in case.chunks] == texts


def write_lines(path: Path, rows: list[Row]) -> Path:
    path.write_text("".join(json.dumps(raw) + "\n" for raw in rows), encoding="utf-8")
    return path


def test_all_formats_contain_the_same_cases(tmp_path: Path) -> None:
    arrow: Any = import_module("pyarrow")
    parquet: Any = import_module("pyarrow.parquet")
    table = arrow.Table.from_pylist(GOOD)
    lines = write_lines(tmp_path / "rows.jsonl", GOOD)
    parquet.write_table(table, tmp_path / "rows.parquet")
    folder = tmp_path / "published" / "train"
    folder.mkdir(parents=True)
    (folder / "dataset_info.json").write_text("{}", encoding="utf-8")
    stream = str(folder / "data-00000-of-00001.arrow")
    with arrow.OSFile(stream, "wb") as sink, arrow.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)
    books = [load_dataset(path) for path in (lines, tmp_path / "rows.parquet", folder, tmp_path / "published")]
    assert all(book == books[0] for book in books)
    assert books[0].missing == ()
    ours = tmp_path / "cases.jsonl"
    ours.write_text(books[0].cases[0].model_dump_json() + "\n", encoding="utf-8")
    assert load_dataset(ours) == books[0]


def test_malformed_lines_are_reported_and_left_out(tmp_path: Path) -> None:
    path = write_lines(tmp_path / "rows.jsonl", GOOD[:1] + GOOD[5:6])
    with path.open("ab") as file:
        file.write(b'{"content": \n[1, 2]\n\xff\xfe\n{"schema_version": "lawtrace.case/1", "id": "x"}\n')
    book = load_dataset(path)
    assert len(book.cases) == 1
    assert [problem.place for problem in book.problems] == [f"rows.jsonl, line {n}" for n in (3, 4, 5, 6)]
    assert "chunks: is missing" in book.problems[3].what
    assert book.missing == (("shop", "LR"), ("shop", "AR"), ("shop", "CS"))


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("empty.jsonl", b"", "no case found"),
        ("bad.jsonl", b"{", "the first problem: bad.jsonl, line 1"),
        ("text.txt", b"hello", "legal ingest` reads documents"),
        ("bad.parquet", b"no table", "bad.parquet: cannot be read"),
        ("bad.arrow", b"no table", "bad.arrow: cannot be read"),
    ],
)
def test_a_file_of_another_kind_is_rejected(tmp_path: Path, name: str, content: bytes, message: str) -> None:
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match=message):
        load_dataset(tmp_path / name)


@pytest.mark.shared
def test_the_nine_published_cases() -> None:
    if not SHARED.exists():
        pytest.skip("needs the published dataset in ../shared/data/maslegal")
    book = load_dataset(SHARED)
    questions = [question for case in book.cases for question in case.questions]
    assert book.problems == ()
    assert book.missing == ()
    assert (len(book.cases), sum(len(case.chunks) for case in book.cases), len(questions)) == (9, 2293, 418)
    assert sum(question.kind == "yes_no" for question in questions) == 290
    assert load_dataset(SHARED / "train") == book


def test_a_repeated_question_id_is_reported_and_left_out(tmp_path: Path) -> None:
    for name, other in (("bottles", BOTTLES), ("letters", BOTTLES.model_copy(update={"id": "letters"}))):
        (tmp_path / f"{name}.jsonl").write_text(other.model_dump_json() + "\n", encoding="utf-8")
    book = load_dataset(tmp_path)
    assert [len(case.questions) for case in book.cases] == [len(BOTTLES.questions), 0]
    assert [str(problem) for problem in book.problems] == [
        f"letters, question {question.id}: the id is taken by a question of bottles" for question in BOTTLES.questions
    ]
