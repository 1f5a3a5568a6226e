"""The tables of a legal run as values: accuracy and refusals (M Tables 2, 3), agreement (M Figs. 2, 3), breakdowns."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import fmean

from lawtrace.environments.legal.case import Case
from lawtrace.environments.legal.retrieval.retrievers import RETRIEVER_LABELS, RetrieverName
from lawtrace.runs.legal.accuracy import CellScore, answer_label, compare_cells, count_answers, share_by_case
from lawtrace.runs.legal.legal_files import AnswerRow, GridCell, LegalOutcome
from lawtrace.runs.legal.model_free_baselines import ModelFreeBaseline, best_baseline, measure_baselines, skill
from lawtrace.runs.scoring.agreement import cohen_kappa
from lawtrace.runs.scoring.metrics import Interval
from lawtrace.runs.scoring.statistics import PairedComparison, holm_adjusted

REFERENCE = "F+LR"
"""The context that others are compared with: the strongest published baseline, retrieval without agents."""

SINGLE = ("F", "LR", "AR", "CS")


@dataclass(frozen=True, slots=True)
class CellLine:
    """One cell of the accuracy table.

    Attributes:
        interval: of the accuracy, over cases; ``refusals``: of the share of refusals.
        skill: over the best baseline without a model.
        place: 1 for the best of its model and column, 2 for the second best, else 0; ties share a place.
    """

    cell: GridCell
    score: CellScore
    interval: Interval | None
    refusals: Interval | None
    skill: float | None
    place: int


@dataclass(frozen=True, slots=True)
class ModelTable:
    """The cells of one Meta-LLM: ``lines[context][column]``."""

    model: str
    lines: dict[str, dict[str, CellLine]]

    @property
    def cells(self) -> list[CellLine]:
        return [line for lines in self.lines.values() for line in lines.values()]

    @property
    def best(self) -> CellLine:
        """The cell of highest accuracy; of equals the first."""
        return max(self.cells, key=lambda line: line.score.accuracy)

    def above(self, baseline: ModelFreeBaseline) -> int:
        """The number of cells that are better than the baseline."""
        return sum(line.score.accuracy > baseline.accuracy for line in self.cells)


@dataclass(frozen=True, slots=True)
class ContextComparison:
    """A context against the reference context, same model and column. ``adjusted``: Holm's p over all lines."""

    model: str
    column: str
    context: str
    comparison: PairedComparison
    adjusted: float


@dataclass(frozen=True, slots=True)
class AgreementMatrix:
    """Cohen's kappa of each pair of names, mean over the depths."""

    title: str
    names: tuple[str, ...]
    kappa: dict[tuple[str, str], float | None]


@dataclass(frozen=True, slots=True)
class LegalTables:
    """All tables of a run."""

    baselines: tuple[ModelFreeBaseline, ...]
    best: ModelFreeBaseline
    columns: tuple[str, ...]
    models: tuple[ModelTable, ...]
    comparisons: tuple[ContextComparison, ...]
    contexts_agree: tuple[AgreementMatrix, ...]
    models_agree: tuple[AgreementMatrix, ...]


def tabulate(cases: Sequence[Case], answers: Sequence[AnswerRow]) -> LegalTables:
    """All tables. ``answers`` holds every question in every cell, each cell in the order of the questions and
    their trials."""
    questions = {question.id: question for case in cases for question in case.questions}
    cells: dict[GridCell, list[AnswerRow]] = {}
    for row in answers:
        cells.setdefault(row.cell, []).append(row)
    baselines = measure_baselines(list(questions.values()))
    best = best_baseline(baselines)
    return LegalTables(
        baselines=baselines,
        best=best,
        columns=tuple(dict.fromkeys(cell.column for cell in cells)),
        models=_model_tables(cells, best),
        comparisons=_comparisons(cells),
        contexts_agree=_contexts_agree(cells),
        models_agree=_models_agree(cells),
    )


def _model_tables(cells: dict[GridCell, list[AnswerRow]], best: ModelFreeBaseline) -> tuple[ModelTable, ...]:
    scores = {cell: count_answers(rows) for cell, rows in cells.items()}
    tables: dict[str, dict[str, dict[str, CellLine]]] = {}
    for cell, rows in cells.items():
        rivals = {
            score.accuracy
            for other, score in scores.items()
            if (other.model, other.column) == (cell.model, cell.column)
        }
        ranking = sorted(rivals, reverse=True)[:2]
        accuracy = scores[cell].accuracy
        line = CellLine(
            cell=cell,
            score=scores[cell],
            interval=_interval(rows, "correct"),
            refusals=_interval(rows, "refused"),
            skill=skill(accuracy, best.accuracy),
            place=ranking.index(accuracy) + 1 if accuracy in ranking else 0,
        )
        tables.setdefault(cell.model, {}).setdefault(cell.context, {})[cell.column] = line
    return tuple(ModelTable(model, lines) for model, lines in tables.items())


def _interval(rows: Sequence[AnswerRow], outcome: LegalOutcome) -> Interval | None:
    share = share_by_case(rows, lambda row: row.outcome == outcome)
    return share.interval if share else None


def _comparisons(cells: dict[GridCell, list[AnswerRow]]) -> tuple[ContextComparison, ...]:
    pairs = [
        (cell, compare_cells(rows, cells[reference]))
        for cell, rows in cells.items()
        if (reference := GridCell(cell.model, REFERENCE, cell.retriever, cell.depth)) in cells and cell != reference
    ]
    adjusted = holm_adjusted([comparison.p_value for _, comparison in pairs])
    return tuple(
        ContextComparison(cell.model, cell.column, cell.context, comparison, p)
        for (cell, comparison), p in zip(pairs, adjusted, strict=True)
    )


def _contexts_agree(cells: dict[GridCell, list[AnswerRow]]) -> tuple[AgreementMatrix, ...]:
    """One map for each model and retriever, between contexts (M Fig. 3)."""
    return _agreements(cells, lambda cell: cell.context, lambda cell: cell.model, "contexts")


def _models_agree(cells: dict[GridCell, list[AnswerRow]]) -> tuple[AgreementMatrix, ...]:
    """One map for each retriever and single knowledge type, between models (M Fig. 2)."""
    single = {cell: rows for cell, rows in cells.items() if cell.context in SINGLE}
    return _agreements(single, lambda cell: cell.model, lambda cell: cell.context, "models")


def _agreements(
    cells: dict[GridCell, list[AnswerRow]],
    name_of: Callable[[GridCell], str],
    group_of: Callable[[GridCell], str],
    what: str,
) -> tuple[AgreementMatrix, ...]:
    """A map between the names for each group and retriever, if there are two names."""
    names = tuple(dict.fromkeys(map(name_of, cells)))
    groups: dict[tuple[str, RetrieverName], dict[str, dict[int, list[AnswerRow]]]] = {}
    for cell, rows in cells.items():
        members = groups.setdefault((group_of(cell), cell.retriever), {name: {} for name in names})
        members[name_of(cell)][cell.depth] = rows
    if len(names) < 2:
        return ()
    return tuple(
        _agreement(f"{group}, {RETRIEVER_LABELS[retriever]}: between {what}", names, members)
        for (group, retriever), members in groups.items()
    )


def _agreement(title: str, names: tuple[str, ...], rows: dict[str, dict[int, list[AnswerRow]]]) -> AgreementMatrix:
    kappa: dict[tuple[str, str], float | None] = {}
    for number, left in enumerate(names):
        for right in names[number + 1 :]:
            found = [
                cohen_kappa(
                    [answer_label(row) for row in rows[left][depth]], [answer_label(row) for row in rows[right][depth]]
                )
                for depth in rows[left]
            ]
            known = [value for value in found if value is not None]
            kappa[left, right] = fmean(known) if known else None
    return AgreementMatrix(title, names, kappa)
