"""The tables and the page of a legal run, from known answers."""

import pytest

from lawtrace.environments.legal.case import Choice
from lawtrace.runs.legal.legal_files import AnswerRow, LegalOutcome
from lawtrace.runs.legal.legal_tables import LegalTables, tabulate
from lawtrace.runs.legal.report_tables import breakdown_tables
from lawtrace.runs.scoring.metrics import wilson_interval
from tests.support.legal.small_cases import BOOK

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


def test_agreement_is_the_mean_over_depths(tables: LegalTables) -> None:
    (first, _) = tables.contexts_agree
    assert first.title == "one, BM25: between contexts"
    assert first.names == ("F", "F+LR", "AR")
    assert {agreement.title for agreement in tables.models_agree} == {
        "F, BM25: between models",
        "AR, BM25: between models",
    }
    facts = next(agreement for agreement in tables.models_agree if agreement.title.startswith("F,"))
    kappa = facts.kappa["one", "two"]
    assert kappa is not None
    assert kappa < 1


def test_accuracy_is_broken_down_by_kind_and_by_case() -> None:
    kinds, cases = (table.frame().to_dict("records") for table in breakdown_tables(BOOK.cases, planned()))
    line = next(line for line in kinds if (line["Model"], line["Context"]) == ("two", "F"))
    assert (line["yes/no"], line["A–D"]) == (0.5, 0.5)
    assert line["opinion"] is None
    line = next(line for line in cases if (line["Model"], line["Context"]) == ("two", "F"))
    assert {case.id: line[case.id] for case in BOOK.cases} == {case.id: 0.5 for case in BOOK.cases}


def test_the_best_cell_and_the_cells_above_the_best_baseline(tables: LegalTables) -> None:
    one, two = tables.models
    assert (one.best.cell.context, one.best.cell.column) == ("F", "BM25@3")
    assert (one.above(tables.best), two.above(tables.best)) == (1, 2)
    refused = two.lines["AR"]["BM25@1"].refusals
    assert refused is not None
    alone = wilson_interval(4, 4)
    assert alone is not None
    assert refused.low < alone.low < refused.high == 1
