"""No command replaces a file or fills a folder that another command or a person wrote, unless it is told to."""

from pathlib import Path

import pytest

from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.schemas.attempt_rows import Answer
from tests.support.bank_task import make_task
from tests.support.shell import Shell

FILE, FOLDER = "precious.jsonl", "precious"


@pytest.fixture(autouse=True)
def inputs(tmp_path: Path) -> None:
    task = make_task()
    write_tasks(tmp_path / "tasks.jsonl", [task])
    write_rows(tmp_path / "programs.jsonl", [Answer(task=task.id, style="goal", program="pass")])
    (tmp_path / "formula.mfotl").write_text("pay(1)\n")
    (tmp_path / "signature").write_text("pay(card:int)\n")
    (tmp_path / "log.jsonl").write_text('[{"role": "user", "content": "Hello"}]')
    (tmp_path / "rules.jsonl").write_text('{"id": "mine", "formula": "G !PayBill"}\n')


@pytest.mark.parametrize(
    "words",
    [
        "rules extract --env banking --model openai:some",
        "rules import mfotl formula.mfotl --signature signature",
        "rules review rules.jsonl --status",
        "traces synthesize",
        "tasks build",
        "tasks check tasks.jsonl",
        "tasks import logisafetybench nowhere",
        "tasks review tasks.jsonl --status",
        "grade --tasks tasks.jsonl --programs programs.jsonl",
        "audit log.jsonl",
    ],
)
def test_a_file_is_not_replaced(lawtrace: Shell, tmp_path: Path, words: str) -> None:
    (tmp_path / FILE).write_text("precious")
    code, _, err = lawtrace(*words.split(), "--out", FILE)
    assert (code, f"{FILE} exists; give another --out, or --force to replace it" in " ".join(err.split())) == (2, True)
    assert (tmp_path / FILE).read_text() == "precious"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name.startswith(FOLDER)) == [FILE]


@pytest.mark.parametrize(
    "words",
    [
        "run --out",
        "tasks release --env banking --out",
        "env serve banking --out",
        "grade --tasks tasks.jsonl --programs programs.jsonl --compare",
    ],
)
def test_a_folder_with_other_files_is_not_filled(lawtrace: Shell, tmp_path: Path, words: str) -> None:
    (tmp_path / FOLDER).mkdir()
    (tmp_path / FOLDER / "thesis.txt").write_text("precious")
    code, _, err = lawtrace(*words.split(), FOLDER)
    assert (code, f"{FOLDER}: not empty" in err or f"{FOLDER} exists" in err) == (2, True)
    assert [path.name for path in (tmp_path / FOLDER).iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("words", "beside"), [("rules extract --model openai:some", "mine.html"), ("tasks build", "mine.traces.jsonl")]
)
def test_the_files_next_to_an_output_are_not_replaced_either(
    lawtrace: Shell, tmp_path: Path, words: str, beside: str
) -> None:
    (tmp_path / beside).write_text("precious")
    code, _, err = lawtrace(*words.split(), "--out", "mine.jsonl")
    assert (code, f"{beside} exists" in err) == (2, True)


def test_the_same_command_and_force_replace_a_file(lawtrace: Shell, tmp_path: Path) -> None:
    words = ("rules", "import", "mfotl", "formula.mfotl", "--signature", "signature", "--out", FILE)
    (tmp_path / FILE).write_text("precious")
    assert lawtrace.json(*words, "--force")["rules"] == 1
    check = ("tasks", "check", "tasks.jsonl", "--out", "quality.jsonl", "--json")
    assert lawtrace(*check)[:2] == lawtrace(*check)[:2]
