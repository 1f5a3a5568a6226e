"""The recipe of the second paper, on one case, against five scripted Meta-LLMs: its tables are computed again from the
answers."""

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import LLMMessage, SystemMessage

from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.runs.legal.legal_files import ANSWERS, AnswerRow
from lawtrace.runs.legal.legal_recipe import load_legal_recipe
from lawtrace.runs.scoring.agreement import cohen_kappa
from lawtrace.runs.store.stage_files import write_rows
from tests.support.latex import check_latex
from tests.support.legal.small_cases import BOTTLES
from tests.support.openai_server import serving
from tests.support.shell import Shell, run_command

RECIPE = Path(__file__).parents[3] / "recipes" / "papers" / "maslegal.toml"
MODELS = load_legal_recipe(RECIPE).models


def answer(request: Mapping[str, Any]) -> str:
    """Each model has another share of first options, last options and refusals."""
    model = MODELS.index(f"openai:{request['model']}")
    messages: list[LLMMessage] = [SystemMessage(content=str(request["messages"][0]["content"]))]
    question = labelled_json(messages, "question")
    options = list(question["options"])
    shown = len(labelled_json(messages, "passages"))
    kind = (model + shown + len(str(question))) % (model + 2)
    choice = {0: options[0], 1: options[-1]}.get(kind)
    return json.dumps({"rationale": "so", "citations": [], "answer": choice})


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("paper")
    write_rows(folder / "cases.jsonl", [BOTTLES])
    with serving(answer) as server, pytest.MonkeyPatch.context() as monkeypatch:
        server.connect(monkeypatch)
        settings = ("cases=cases.jsonl", 'retrievers=["bm25"]', "depths=[1, 3]")
        words = [word for setting in settings for word in ("--set", setting)]
        run_command(folder, "run", RECIPE, *words, "--out", "run")
    return folder / "run"


@pytest.fixture(scope="module")
def answers(run: Path) -> list[AnswerRow]:
    return ANSWERS.read(run / ANSWERS.name)


def table(run: Path, name: str) -> list[dict[str, str]]:
    with (run / "tables" / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.slow
def test_tables_2_and_3_are_the_shares_of_the_answers(run: Path, answers: list[AnswerRow]) -> None:
    counts = defaultdict[tuple[str, str, str], Counter[str]](Counter)
    for row in answers:
        counts[row.model, row.context, row.cell.column][row.outcome] += 1
    accuracy, refusals = table(run, "accuracy"), table(run, "refusals")
    assert [row["Model"] for row in accuracy] == [model for model in MODELS for _ in range(8)]
    for right, refused in zip(accuracy, refusals, strict=True):
        assert (right["Model"], right["Context"]) == (refused["Model"], refused["Context"])
        for column in ("BM25@1", "BM25@3"):
            of = counts[right["Model"], right["Context"], column]
            assert of.total() == len(BOTTLES.questions)
            assert float(right[column]) == of["correct"] / of.total()
            assert float(refused[column]) == of["refused"] / of.total()
    of_models = {tuple(row["BM25@1"] for row in accuracy if row["Model"] == model) for model in MODELS}
    assert len(of_models) > 1


@pytest.mark.slow
def test_figures_2_and_3_are_the_agreement_of_the_answers(run: Path, answers: list[AnswerRow]) -> None:
    labels = defaultdict[tuple[str, str, int], list[str]](list)
    for row in answers:
        labels[row.model, row.context, row.depth].append(row.choice or "refused")
    for row in table(run, "agreement-of-models-f-bm25"):
        for second in [name for name in row if name != "First" and row[name]]:
            kappas = [cohen_kappa(labels[row["First"], "F", depth], labels[second, "F", depth]) for depth in (1, 3)]
            known = [kappa for kappa in kappas if kappa is not None]
            assert row[second] == str(sum(known) / len(known))
    names = {path.stem for path in (run / "tables").glob("agreement-of-contexts-*.svg")}
    assert len(names) == len(MODELS)


@pytest.mark.slow
def test_cases_and_questions_are_counted(run: Path) -> None:
    lengths = {row["Part"]: row for row in table(run, "section-lengths")}  # Table 5
    assert {row["most"] for row in lengths.values()} == {"2", "3"}
    assert table(run, "questions-by-kind") == [{"Case": "bottles", "yes/no": "2", "A–D": "1"}]
    assert table(run, "questions-by-decision") == [{"Case": "bottles", "decision": "3", "opinion": "0"}]
    assert (run / "tables" / "elements-by-case.svg").exists()


@pytest.mark.slow
def test_its_tables_can_be_set_and_its_links_lead_to_them(run: Path, tmp_path: Path) -> None:
    check_latex(sorted((run / "tables").glob("*.tex")), tmp_path)
    links = set(re.findall(r'href="(tables/[^"]+)"', (run / "report.html").read_text(encoding="utf-8")))
    assert links == {f"tables/{path.name}" for path in (run / "tables").iterdir()}


@pytest.mark.slow
def test_a_recipe_whose_cases_are_absent_says_where_they_belong(lawtrace: Shell, tmp_path: Path) -> None:
    recipe = tmp_path / "mine.toml"
    recipe.write_text(RECIPE.read_text(encoding="utf-8"), encoding="utf-8")
    code, _, err = lawtrace("run", recipe)
    assert code == 2
    assert f"there is no {tmp_path / 'maslegalbench'}" in "".join(err.splitlines())
    code, _, err = lawtrace("run", recipe, "--set", "cases=nowhere")
    assert (code, "there is no nowhere" in err) == (2, True)
    code, _, err = lawtrace("run", recipe, "--env", "banking")
    assert (code, "no meaning for a legal recipe" in err) == (2, True)


@pytest.mark.slow
def test_every_file_that_the_page_names_is_written(run: Path) -> None:
    page = (RECIPE.parents[2] / "docs" / "papers.md").read_text(encoding="utf-8").split("## MASLegalBench")[1]
    for name in re.findall(r"`([a-z0-9*-]+\.(?:csv|tex|svg))`", page):
        assert list((run / "tables").glob(name)), name
