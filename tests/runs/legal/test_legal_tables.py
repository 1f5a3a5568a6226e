"""The tables and the page of a legal run, from known answers."""

from lawtrace.environments.legal.case import Choice
from lawtrace.runs.legal.accuracy import compare_contexts, score_cells
from lawtrace.runs.legal.charts import agreement_of_contexts, agreement_of_models
from lawtrace.runs.legal.legal_files import AnswerRow, LegalOutcome
from lawtrace.runs.legal.model_free_baselines import best_baseline, measure_baselines
from lawtrace.runs.legal.report_tables import accuracy_table, breakdown_tables
from lawtrace.runs.scoring.metrics import group_by, wilson_interval
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


QUESTIONS = [question for case in BOOK.cases for question in case.questions]
BASELINE = best_baseline(measure_baselines(QUESTIONS)).accuracy
CELLS = group_by(planned(), lambda row: row.cell)
LINES = {(line.cell.model, line.cell.context, line.cell.column): line for line in score_cells(CELLS, BASELINE)}


def test_the_two_best_of_a_model_and_column_are_marked() -> None:
    assert [LINES["one", context, "BM25@1"].place for context in ("F", "F+LR", "AR")] == [2, 1, 0]
    assert [LINES["one", context, "BM25@3"].place for context in ("F", "F+LR", "AR")] == [1, 2, 0]
    rows = accuracy_table([*LINES.values()]).frame().to_dict("records")
    assert [(row["Model"], row["Context"]) for row in rows] == list(dict.fromkeys(key[:2] for key in PLAN))
    assert (rows[0]["BM25@3"], rows[0]["BM25@3, place"]) == (1.0, 1)


def test_accuracy_is_shown_with_the_best_baseline() -> None:
    names = {baseline.name: baseline.accuracy for baseline in measure_baselines(QUESTIONS)}
    assert names["always Yes, longest option"] == 0.5
    assert names["majority"] == 0.75 == max(names.values()) == BASELINE
    line = LINES["one", "F", "BM25@3"]
    assert (line.accuracy.value, line.skill) == (1, 1)
    assert LINES["one", "AR", "BM25@3"].accuracy.value == 0.25


def test_contexts_are_compared_with_retrieval_alone() -> None:
    found = {(cell.model, cell.column, cell.context): (by, p) for cell, by, p in compare_contexts(CELLS)}
    assert len(found) == 8
    comparison, adjusted = found["one", "BM25@3", "F"]
    assert (comparison.difference, comparison.second_only, comparison.first_only) == (0.5, 2, 0)
    assert comparison.p_value > 0.2
    assert adjusted >= comparison.p_value


def test_agreement_is_the_mean_over_depths() -> None:
    first, _ = agreement_of_contexts(CELLS)
    assert first.title == "one, BM25: between contexts"
    assert [row.cells[0].text for row in first.table.rows] == ["F", "F+LR"]
    assert [column.title for column in first.table.columns] == ["First", "F+LR", "AR"]
    facts, application = agreement_of_models(CELLS)
    assert (facts.title, application.title) == ("F, BM25: between models", "AR, BM25: between models")
    (row,) = facts.table.frame().to_dict("records")
    assert row["two"] < 1


def test_accuracy_is_broken_down_by_kind_and_by_case() -> None:
    kinds, cases = (table.frame().to_dict("records") for table in breakdown_tables(BOOK.cases, planned()))
    line = next(line for line in kinds if (line["Model"], line["Context"]) == ("two", "F"))
    assert (line["yes/no"], line["A–D"]) == (0.5, 0.5)
    assert line["opinion"] is None
    line = next(line for line in cases if (line["Model"], line["Context"]) == ("two", "F"))
    assert {case.id: line[case.id] for case in BOOK.cases} == {case.id: 0.5 for case in BOOK.cases}


def test_a_share_of_all_has_an_interval_over_cases() -> None:
    refused = LINES["two", "AR", "BM25@1"].refusals.interval
    assert refused is not None
    alone = wilson_interval(4, 4)
    assert alone is not None
    assert refused.low < alone.low < refused.high == 1
