"""Questions of other benchmarks: rows in the plain format, and task files as LegalBench has them.

The plain format, one JSON object for each question, in JSON lines or as one array:

    {"question": "Is the clause valid?", "options": ["Yes", "No"], "answer": "Yes"}
    {"question": "Which act applies?", "options": {"A": "...", "B": "..."}, "answer": "B", "case": "acts"}
    {"question": "Which holding fits?", "options": ["...", "...", "..."], "answer": 2}
    {"question": "Which court decided?", "answer": ["High Court", "The High Court"], "match": "normalized"}

``options`` is a list or an object; without it the answer is a text, of which a list gives all right ones. ``answer``
is the key, the index from 0, or the text of an option, alone or as a list of one. Optional: ``id``; ``case``, the group
that intervals take as one (default: the name of the file); ``passages``, a list of texts or of {"agent": "F", "text":
"..."}; ``match``: ``exact`` or ``normalized``.

A task file is a table (.tsv or .csv) with the column ``answer`` and columns of text; its instruction is a text with a
column's name in double braces, such as ``base_prompt.txt`` beside it: the first and the last paragraph ask, those
between are examples. They and the rows of ``train.tsv`` beside ``test.tsv`` become passages that apply the rules (AR).
"""

import csv
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from lawtrace.environments.documents.files import read_text
from lawtrace.environments.legal.case import (
    ALPHABET,
    YES_NO,
    Agent,
    Case,
    Choice,
    Chunk,
    Question,
    TaskMetric,
    TextMatch,
)
from lawtrace.environments.legal.case_rows import GrowingCase, PlacedRow, build_cases
from lawtrace.schemas.errors import InputError, Problem
from lawtrace.schemas.models import FrozenModel, StrictModel

_LEAST_REPEATS = 2
"""Rows with each label, on average, from which the answers of a table are a closed list of labels."""

_PLACEHOLDER = re.compile(r"\{\{\s*(\w+)\s*\}\}")
_ANSWER_COLUMNS = ("answer", "label")
_NO_TEXT = frozenset({"index", "idx", "id", "answer", "label", "slice"})


class _Passage(StrictModel):
    agent: Agent = "F"
    text: str = Field(min_length=1)


def _passages(value: object) -> object:
    given: list[object] = [*value] if isinstance(value, list) else [value]  # pyright: ignore[reportUnknownArgumentType]
    return [{"text": one} if isinstance(one, str) else one for one in given]


class PlainQuestion(FrozenModel):
    """A row of the plain format."""

    question: str = Field(min_length=1)
    answer: str | bool | int | list[str | int]
    options: dict[str, str] | list[str] | None = None
    id: str | int | None = None
    case: str | None = None
    passages: Annotated[tuple[_Passage, ...], BeforeValidator(_passages)] = ()
    match: TextMatch = "normalized"
    decision: bool = True


def parse_plain_rows(rows: Iterable[PlacedRow], name: str) -> tuple[tuple[Case, ...], tuple[Problem, ...]]:
    """The cases of rows in the plain format, and the rows that were left out.

    ``name``: the case of rows that name none. Equal passages of a case are one chunk.
    """
    shown, ids = set[tuple[str, str]](), set[str]()

    def add(raw: Mapping[str, Any], cases: Mapping[str, GrowingCase]) -> None:
        row = PlainQuestion.model_validate(raw)
        named = row.case or name
        case = cases[named]
        case.seen["question"] += 1
        question = _question(row, f"{named}/q{case.seen['question'] if row.id is None else row.id}")
        for passage in row.passages:
            if (named, passage.text) not in shown:
                shown.add((named, passage.text))
                ref = f"{passage.agent}{len(case.chunks) + 1}"
                case.chunks.append(Chunk(ref=ref, agent=passage.agent, text=passage.text))
        if question.id in ids:
            raise ValueError(f"id: {question.id!r} occurs twice")
        ids.add(question.id)
        case.questions.append(question)

    return build_cases(rows, add)


def _question(row: PlainQuestion, id: str) -> Question:  # noqa: A002 (the field's name)
    given: list[str | int] = [*row.answer] if isinstance(row.answer, list) else [row.answer]
    options = options_by_key(row.options) if row.options else {}
    if options and len(given) != 1:
        raise ValueError(f"answer: {len(given)} answers to a question with options; give one")
    answer, *also = [_key_of(given[0], options)] if options else map(str, given)
    return Question(
        id=id,
        text=row.question,
        options=options,
        answer=answer,
        also=tuple(also),
        match="normalized" if options else row.match,
        decision=row.decision,
    )


def options_by_key(options: dict[str, str] | Sequence[str]) -> dict[Choice, str]:
    """Options as an object with the keys Yes and No, or letters. Raises ValueError if there are too many."""
    texts = [*options.values()] if isinstance(options, dict) else [*options]
    if isinstance(options, dict) and {*options} != {*ALPHABET[: len(options)]}:
        plain = {key.strip().capitalize(): text for key, text in options.items()}
        if {*plain} == {*YES_NO}:
            return plain
    elif isinstance(options, dict):
        return {key: options[key] for key in sorted(options)}
    if {text.strip().casefold() for text in texts} == {"yes", "no"}:
        return {text.strip().capitalize(): text.strip().capitalize() for text in texts}
    if len(texts) > len(ALPHABET):
        raise ValueError(f"options: {len(texts)} are too many; the most is {len(ALPHABET)}")
    return dict(zip(ALPHABET, texts, strict=False))


def _key_of(answer: str | int, options: Mapping[Choice, str]) -> Choice:
    """The key of the right option, given as its key, its index from 0, or its text."""
    if isinstance(answer, bool):
        answer = "Yes" if answer else "No"
    if isinstance(answer, int):
        if not 0 <= answer < len(options):
            raise ValueError(f"answer: index {answer} of {len(options)} options")
        return [*options][answer]
    said = answer.strip()
    for key, option in options.items():
        if said.casefold() == key.casefold() or said == option.strip():
            return key
    raise ValueError(f"answer: {answer!r} is neither a key nor the text of an option")


def read_task_table(
    path: Path,
    *,
    instruction: str | None = None,
    match: Literal["exact", "normalized"] = "normalized",
    metric: TaskMetric | None = None,
) -> tuple[tuple[Case, ...], tuple[Problem, ...]]:
    """The case of a task: a table, or a folder with ``test.tsv`` or ``train.tsv``. Raises InputError.

    Args:
        instruction: in place of the text beside the table; columns stand in double braces.
        match: of answers that are no labels.
        metric: of the task; by default balanced accuracy for labels, exact match for texts. With F1, answers are texts.

    Answers that repeat are labels, and become the options of each question: Yes and No, or the labels in alphabetical
    order. Other answers are texts.
    """
    table = _table_in(path)
    rows = _read_table(table)
    column = next((name for name in _ANSWER_COLUMNS if name in rows[0]), None)
    if column is None:
        raise InputError(f"{table}: has no column {' or '.join(_ANSWER_COLUMNS)}; the columns are {', '.join(rows[0])}")
    template, examples = _prompt_beside(table) if instruction is None else (instruction, [])
    name = path.name if path.is_dir() else table.parent.name if table.stem in {"test", "train"} else table.stem
    labels = None if metric == "f1" else _labels([row[column].strip() for row in rows])
    train = table.with_stem("train")
    if table.stem == "test" and train.is_file():
        asked = template.split("\n\n")[-1]
        shown = _read_table(train)
        if column not in shown[0]:
            raise InputError(f"{train}: has no column {column}; the columns are {', '.join(shown[0])}")
        examples += [f"{_fill(asked, row, train)}\nA: {row[column].strip()}" for row in shown]
    plain: list[PlacedRow] = [
        (
            f"{table.name}, row {number}",
            {
                "question": _fill(template, row, table),
                "answer": row[column].strip(),
                "options": labels,
                "id": row.get("index") or row.get("id"),
                "match": match,
            },
        )
        for number, row in enumerate(rows, 1)
    ]
    cases, problems = parse_plain_rows(plain, name)
    chunks = tuple(
        Chunk(ref=f"AR{number}", agent="AR", text=text) for number, text in enumerate(dict.fromkeys(examples), 1)
    )
    scored = metric or ("balanced_accuracy" if labels else "exact_match")
    return tuple(case.model_copy(update={"chunks": chunks, "metric": scored}) for case in cases), problems


def _table_in(path: Path) -> Path:
    if not path.is_dir():
        return path
    for name in ("test.tsv", "test.csv", "train.tsv", "train.csv"):
        if (path / name).is_file():
            return path / name
    raise InputError(f"{path}: no task file (test.tsv, train.tsv, or .csv)")


def _read_table(table: Path) -> list[dict[str, str]]:
    lines = read_text(table).splitlines(keepends=True)
    found = csv.DictReader(lines, delimiter="\t" if table.suffix == ".tsv" else ",", strict=True)
    try:
        rows = [{name.strip(): value or "" for name, value in row.items() if name} for row in found]
    except (csv.Error, AttributeError) as error:
        raise InputError(f"{table}, line {found.line_num}: not a table: {error}") from error
    if not rows:
        raise InputError(f"{table}: has no rows")
    return rows


def _labels(answers: Sequence[str]) -> list[str] | None:
    counts = Counter(answers)
    if {label.casefold() for label in counts} == {"yes", "no"}:
        return [*YES_NO]
    if not 1 < len(counts) <= len(ALPHABET) or len(answers) < _LEAST_REPEATS * len(counts):
        return None
    return sorted(counts)


def _prompt_beside(table: Path) -> tuple[str, list[str]]:
    """The prompt of the task without its examples, and the examples; nothing if there is none."""
    for name in ("base_prompt.txt", "prompt.txt"):
        prompt = table.parent / name
        if prompt.is_file():
            blocks = re.split(r"\n\s*\n", read_text(prompt).strip())
            return "\n\n".join(dict.fromkeys([blocks[0], blocks[-1]])), blocks[1:-1]
    return "", []


def _fill(template: str, row: Mapping[str, str], table: Path) -> str:
    """The template with the columns of a row; the columns of text below it, if it names none."""
    names = _PLACEHOLDER.findall(template)
    unknown = [name for name in names if name not in row]
    if unknown:
        raise InputError(f"{table}: the instruction names {unknown[0]!r}; the columns are {', '.join(row)}")
    if names:
        filled = _PLACEHOLDER.sub(lambda found: row[found[1]].strip(), template)
        return re.sub(r"\n?\s*(?:A|Answer|Label)\s*:\s*$", "", filled).strip()
    texts = {name: text.strip() for name, text in row.items() if name not in _NO_TEXT and text.strip()}
    parts = [*texts.values()] if len(texts) == 1 else [f"{name}: {text}" for name, text in texts.items()]
    return "\n\n".join([*([template.strip()] if template else []), *parts])
