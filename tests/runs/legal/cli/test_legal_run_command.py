"""``lawtrace legal run`` and ``resume``: repeating, budgets, errors."""

from pathlib import Path

import pytest

from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows
from tests.support.legal.small_cases import BOOK, answer_and_cite
from tests.support.openai_server import serving
from tests.support.shell import Shell

QUESTIONS = sum(len(case.questions) for case in BOOK.cases)


@pytest.fixture
def book(tmp_path: Path) -> Path:
    write_rows(tmp_path / "book.jsonl", BOOK.cases)
    return tmp_path / "book.jsonl"


def test_from_repeats_a_run(book: Path, tmp_path: Path, lawtrace: Shell) -> None:
    recipe = tmp_path / "legal.toml"
    recipe.write_text('contexts = ["F", "LR"]\nretrievers = ["bm25"]\ndepths = [1, 2, 3]\nseed = 7\n', encoding="utf-8")
    with book.open("a", encoding="utf-8") as rows:
        rows.write('{"content": "", "type": "background", "source": "empty"}\n')
    lawtrace.json("legal", "run", "--cases", book, "--recipe", recipe, "--out", "first")
    book.unlink()
    recipe.unlink()
    again = lawtrace.json("legal", "run", "--from", "first", "--out", "again")
    assert again["answers"] == 2 * 3 * QUESTIONS
    assert b"it is empty" in (tmp_path / "again" / "dataset_issues.jsonl").read_bytes()
    for name in ("dataset_issues.jsonl", "cases.jsonl", "retrieved.jsonl", "answers.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    with EventLogFile.open(tmp_path / "again") as event_log:
        assert LegalRecipe.model_validate(event_log.recipe).seed == 7


def test_errors_of_from(book: Path, tmp_path: Path, lawtrace: Shell) -> None:
    with EventLogFile.create(tmp_path / "other", recipe={"schema_version": "lawtrace.recipe/1"}):
        pass
    with EventLogFile.create(tmp_path / "stopped", recipe=LegalRecipe().model_dump(mode="json")):
        pass
    for words, complaint in {
        (): "no cases: give --cases",
        ("--from", "other", "--cases", book): "`lawtrace run --from other` repeats it",
        ("--from", "other", "--recipe", "mine.toml"): "exclude each other",
        ("--from", "stopped"): "add --cases CASES",
    }.items():
        code, _, err = lawtrace("legal", "run", *words)
        assert code == 2
        assert complaint in " ".join(err.split())
    code, _, err = lawtrace("run", "--from", "stopped")
    assert code == 2
    assert "lawtrace legal run --from stopped" in " ".join(err.split())


def test_a_missing_api_key_is_an_error_before_the_run(
    book: Path, tmp_path: Path, lawtrace: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    recipe = tmp_path / "legal.toml"
    recipe.write_text('models = ["openai:a"]\nretrievers = ["bm25"]\n', encoding="utf-8")
    code, _, err = lawtrace("legal", "run", "--cases", book, "--recipe", recipe, "--out", "run")
    assert code == 2
    assert "OPENAI_API_KEY" in err
    assert not (tmp_path / "run").exists()


def test_a_larger_budget_resumes_a_run(
    book: Path, tmp_path: Path, lawtrace: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "legal.toml"
    recipe.write_text(
        'contexts = ["F"]\nretrievers = ["bm25"]\nmodels = ["openai:a"]\n[budget]\nmessages = 3\n', encoding="utf-8"
    )
    with serving(answer_and_cite) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace("legal", "run", "--cases", book, "--recipe", recipe, "--out", "run")
        assert (code, "--budget messages=MORE" in err) == (3, True)
        code, _, err = lawtrace("resume", "run", "--budget", "money=1")
        assert (code, "what does 'openai:a' cost" in err) == (2, True)
        assert lawtrace.json("resume", "run", "--budget", "messages=100")["answers"] == QUESTIONS
        assert len(server.requests) == QUESTIONS
        monkeypatch.delenv("OPENAI_API_KEY")
        monkeypatch.delenv("OPENAI_BASE_URL")
        code, _, err = lawtrace("resume", "run")
        assert (code, "OPENAI_API_KEY" in err) == (2, True)
