"""The tables and the page of a legal run, from known answers."""

import re
from pathlib import Path

import pytest

from lawtrace.agents.legal.decomposition import StopReason
from lawtrace.environments.legal.case import Agent, Choice
from lawtrace.environments.legal.dataset import LegalDataset
from lawtrace.runs.legal.legal_files import AnswerRow, DatasetIssues, LegalOutcome, PartRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_report import LegalContent, load_legal_content, make_legal_report
from lawtrace.runs.legal.legal_tables import LegalTables, decomposition_lines, tabulate
from lawtrace.runs.legal.model_free_baselines import lexical_baseline
from lawtrace.runs.scoring.metrics import wilson_interval
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.web.export import render_export
from lawtrace.schemas.errors import InputError, Problem
from tests.support.legal.small_cases import BOOK, BOTTLES
from tests.support.legal.small_runs import run_grid

PLAN: dict[tuple[str, str, int], str] = {
    ("one", "F", 1): "ccww",
    ("one", "F", 3): "cccc",
    ("one", "F+LR", 1): "cccw",
    ("one", "F+LR", 3): "ccww",
    ("one", "AR", 1): "rrrr",
    ("one", "AR", 3): "cwei",
    ("two", "F", 1): "ccww",
    ("two", "F", 3): "wwcc",
    ("two", "F+LR", 1): "cccc",
    ("two", "F+LR", 3): "cccc",
    ("two", "AR", 1): "rrrr",
    ("two", "AR", 3): "rrrr",
}
OUTCOMES: dict[str, LegalOutcome] = {"c": "correct", "w": "wrong", "r": "refused", "e": "error", "i": "invalid"}


def planned() -> list[AnswerRow]:
    rows: list[AnswerRow] = []
    questions = [(case.id, question) for case in BOOK.cases for question in case.questions]
    for (model, context, depth), plan in PLAN.items():
        for letter, (case, question) in zip(plan, questions, strict=True):
            outcome = OUTCOMES[letter]
            wrong: Choice = next(choice for choice in question.options if choice != question.answer)
            choices: dict[LegalOutcome, Choice] = {"correct": question.answer, "wrong": wrong}
            rows.append(
                AnswerRow(
                    case=case,
                    question=question.id,
                    model=model,
                    context=context,
                    retriever="bm25",
                    depth=depth,
                    passages=("F1",),
                    outcome=outcome,
                    choice=choices.get(outcome),
                )
            )
    return rows


@pytest.fixture(scope="module")
def tables() -> LegalTables:
    return tabulate(BOOK.cases, planned())


def test_the_two_best_of_a_model_and_column_are_marked(tables: LegalTables) -> None:
    first = tables.models[0].lines
    assert tables.columns == ("BM25@1", "BM25@3")
    assert [first[context]["BM25@1"].place for context in ("F", "F+LR", "AR")] == [2, 1, 0]
    assert [first[context]["BM25@3"].place for context in ("F", "F+LR", "AR")] == [1, 2, 0]


def test_accuracy_is_shown_with_the_best_baseline(tables: LegalTables) -> None:
    names = {baseline.name: baseline.accuracy for baseline in tables.baselines}
    assert names["always Yes, longest option"] == 0.5
    assert names["majority"] == 0.75
    assert tables.best.accuracy == max(names.values())
    line = tables.models[0].lines["F"]["BM25@3"]
    assert line.skill == (1 - tables.best.accuracy) / (1 - tables.best.accuracy)
    assert line.score.accuracy == 1
    assert tables.models[0].lines["AR"]["BM25@3"].score.accuracy == 0.25


def test_contexts_are_compared_with_retrieval_alone(tables: LegalTables) -> None:
    found = {(line.model, line.column, line.context): line for line in tables.comparisons}
    assert len(found) == 8
    line = found["one", "BM25@3", "F"]
    assert (line.comparison.difference, line.comparison.second_only, line.comparison.first_only) == (0.5, 2, 0)
    assert line.comparison.p_value > 0.2
    assert line.adjusted >= line.comparison.p_value


def test_models_are_compared_in_the_same_cell(tables: LegalTables) -> None:
    found = {(line.column, line.context): line for line in tables.model_pairs}
    assert len(found) == len(tables.model_pairs) == 6
    assert {(line.first, line.second) for line in tables.model_pairs} == {("one", "two")}
    line = found["BM25@3", "F"]  # cccc against wwcc
    assert (line.comparison.difference, line.comparison.second_only, line.comparison.first_only) == (0.5, 2, 0)
    assert line.comparison.p_value > 0.2
    assert line.adjusted == 1


def test_models_are_compared_over_all_cells(tables: LegalTables) -> None:
    (total,) = tables.model_pair_totals
    one, two = 2 + 4 + 3 + 2 + 0 + 1, 2 + 2 + 4 + 4 + 0 + 0
    assert (total.first, total.second, total.cells) == ("one", "two", 6)
    assert total.difference == pytest.approx((one - two) / 24)
    assert total.interval is not None
    assert total.interval.low <= total.difference <= total.interval.high


def test_agreement_is_the_mean_over_depths(tables: LegalTables) -> None:
    (first, _) = tables.contexts_agree
    assert first.title == "one, BM25: between contexts"
    assert first.names == ("F", "F+LR", "AR")
    assert set(first.lowest) <= set(first.kappa)
    assert {agreement.title for agreement in tables.models_agree} == {
        "F, BM25: between models",
        "AR, BM25: between models",
    }
    facts = next(agreement for agreement in tables.models_agree if agreement.title.startswith("F,"))
    kappa = facts.kappa["one", "two"]
    assert kappa is not None
    assert kappa < 1


def test_accuracy_is_broken_down_by_kind_and_by_case(tables: LegalTables) -> None:
    line = next(line for line in tables.breakdown if (line.model, line.context) == ("two", "F"))
    assert line.by_case.value == pytest.approx((3 / 6 + 1 / 2) / 2)
    assert line.yes_no is not None
    assert line.four_options is not None
    assert (line.yes_no.value, line.four_options.value) == (0.5, 0.5)
    assert line.opinion is None
    assert {case: (share.value, share.of) for case, share in line.cases.items()} == {
        case.id: (pytest.approx(0.5), answers) for case, answers in zip(BOOK.cases, (6, 2), strict=True)
    }
    asked_twice = line.cases["bottles"].interval
    thrice = wilson_interval(1.5, 3)  # three questions, each counts once
    assert asked_twice is not None
    assert thrice is not None
    assert (asked_twice.low, asked_twice.high) == pytest.approx((thrice.low, thrice.high))


def test_the_best_cell_and_the_cells_above_the_best_baseline(tables: LegalTables) -> None:
    one, two = tables.models
    assert (one.best.cell.context, one.best.cell.column) == ("F", "BM25@3")
    assert (one.above(tables.best), two.above(tables.best)) == (1, 2)
    refused = two.lines["AR"]["BM25@1"].refusals
    assert refused is not None
    alone = wilson_interval(4, 4)
    assert alone is not None
    assert refused.low < alone.low < refused.high == 1


def test_the_mean_over_cases_gives_each_case_the_same_weight(tables: LegalTables) -> None:
    line = next(line for line in tables.breakdown if (line.model, line.context) == ("one", "AR"))
    assert {case: share.value for case, share in line.cases.items()} == pytest.approx({"bottles": 1 / 6, "letters": 0})
    assert line.by_case.value == pytest.approx(1 / 12)
    assert line.by_case.interval is not None
    assert line.by_case.interval.low < 1 / 12 < 0.5 < line.by_case.interval.high  # two cases tell little


def test_the_word_overlap_baseline() -> None:
    four = BOTTLES.questions[1]
    assert lexical_baseline([(four, [BOTTLES.chunks[4].text])]).correct == 1
    assert lexical_baseline([(four, [])]).correct == 0.25
    assert lexical_baseline([(BOTTLES.questions[0], [])]).correct == 1


@pytest.mark.slow
def test_the_page_shows_pairs_of_models(tables: LegalTables) -> None:
    recipe = LegalRecipe(name="page", contexts=("F", "F+LR", "AR"), retrievers=("bm25",), depths=(1, 3))
    content = LegalContent(recipe, BOOK.cases, DatasetIssues(), tables)
    page = render_export(make_legal_report(content))
    assert re.search(
        r'<th scope="row">one</th><td>two</td><td>BM25@3</td><td>F</td><td class="n" data-value="0.5">\+50.00 <small>',
        page,
    )


@pytest.mark.slow
def test_the_page_is_deterministic_and_escapes_its_content(tmp_path: Path) -> None:
    recipe = LegalRecipe(name="page", contexts=("F", "F+LR", "CS"), retrievers=("bm25", "released_bm25"), depths=(1, 2))
    problem = Problem("rows.jsonl, line 3", "content: <b>broken</b>")
    book = LegalDataset(BOOK.cases, (problem,))
    run_grid(recipe, tmp_path / "run", book)
    page = render_export(make_legal_report(load_legal_content(tmp_path / "run")))
    assert page == render_export(make_legal_report(load_legal_content(tmp_path / "run")))
    assert "&lt;b&gt;broken&lt;/b&gt;" in page
    assert "<b>broken" not in page
    assert "offline is not a language model" in page
    assert "The published dataset has 950 questions" in page
    assert "letters has no CS" in page
    assert page.count("<svg") == 2 + 3  # agreement; what cases are made of
    assert "BM25 (released)@2" in page
    a_case_with_its_interval = r'class="n heat share-\d+" data-value="[\d.]+">[\d.]+ % <small class="below">\d'
    assert re.search(a_case_with_its_interval, page)
    targets = set(re.findall(r'href="#([^"]+)"', page))
    assert targets <= set(re.findall(r'id="([^"]+)"', page))


def test_a_run_without_answers_is_an_error(tmp_path: Path) -> None:
    with EventLogFile.create(tmp_path / "run", recipe=LegalRecipe().model_dump(mode="json")):
        pass
    with pytest.raises(InputError, match="lawtrace resume"):
        load_legal_content(tmp_path / "run")


def step(
    agent: Agent, ended: StopReason = "atomic", *, wanted: str = "", depth: int = 1, found: str | None = ""
) -> PartRow:
    wanted = wanted or agent
    return PartRow(task="t", depth=depth, ended=ended, wanted=wanted, agent=agent, passages=(), found=found)


def answered(question: str, *steps: PartRow) -> AnswerRow:
    return AnswerRow(
        case="case",
        question=question,
        model="m",
        context="F+LR",
        retriever="bm25",
        depth=1,
        passages=(),
        outcome="refused",
        steps=steps,
    )


def test_parts_are_counted_over_all_questions() -> None:
    rows = [
        answered("q1", step("F"), step("LR", "depth", depth=2)),
        answered("q2", step("F", "not judged", wanted="CS", found=None)),
    ]
    (line,) = decomposition_lines(rows)
    assert (line.questions, line.parts, line.deepest, line.rerouted, line.unusable) == (2, 3, 2, 1, 1)
    assert line.agents == {"F": 2, "LR": 1}
    assert {ending: count for ending, count in line.ended.items() if count} == {
        "atomic": 1,
        "depth": 1,
        "not judged": 1,
    }


def test_undecomposed_questions_have_no_line() -> None:
    assert decomposition_lines([answered("q1")]) == []
