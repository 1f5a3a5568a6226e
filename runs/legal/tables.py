"""The tables of a legal run, as values: accuracy and refusals (M Tables 2, 3), agreement (M Figs. 2, 3), splits."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from statistics import fmean

from lawtrace.environments.casebook.case import Case
from lawtrace.environments.casebook.retrieval.catalogue import RETRIEVER_LABELS, RetrieverName
from lawtrace.runs.legal.baselines import Baseline, best_baseline, lexical_baseline, measure_baselines, skill
from lawtrace.runs.legal.rows import AnswerRow, Cell, LegalOutcome
from lawtrace.runs.legal.scores import CellScore, count_answers
from lawtrace.runs.legal.shares import share_by_case
from lawtrace.runs.legal.splits import SplitLine, split_answers
from lawtrace.runs.legal.statistics import Comparison, cohen_kappa, compare_cells, label_of
from lawtrace.runs.metrics import Interval
from lawtrace.runs.statistics import adjust_for_many

REFERENCE = "F+LR"
"""What the other contexts are compared with: the strongest of the published baselines, retrieval without agents."""

SINGLE = ("F", "LR", "AR", "CS")
LOWEST = 3


@dataclass(frozen=True, slots=True)
class CellLine:
    """One cell of the accuracy table.

    Attributes:
        interval: of the accuracy, drawn by case; ``refusals``: of the share of refusals.
        skill: over the best baseline without a model.
        lexical: accuracy of comparing words with what this cell's model was shown.
        place: 1 for the best of its model and column, 2 for the second best, else 0. Equals share a place.
    """

    cell: Cell
    score: CellScore
    interval: Interval | None
    refusals: Interval | None
    skill: float | None
    lexical: Baseline
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

    def above(self, baseline: Baseline) -> int:
        """How many cells are better than the baseline."""
        return sum(line.score.accuracy > baseline.accuracy for line in self.cells)


@dataclass(frozen=True, slots=True)
class ComparisonLine:
    """A context against the reference context, same model and column. ``adjusted``: p by Holm, over all lines."""

    model: str
    column: str
    context: str
    comparison: Comparison
    adjusted: float


@dataclass(frozen=True, slots=True)
class RivalLine:
    """A model against another in the same cell of the grid. ``adjusted``: p by Holm, over all lines."""

    first: str
    second: str
    column: str
    context: str
    comparison: Comparison
    adjusted: float


@dataclass(frozen=True, slots=True)
class RivalTotal:
    """A model against another over all ``cells`` that both have. Without p: a question stands in each of them, and its
    answers are no independent draws; the interval is by case."""

    first: str
    second: str
    cells: int
    difference: float
    interval: Interval | None


@dataclass(frozen=True, slots=True)
class Agreement:
    """Cohen's kappa between the names, mean over the depths. ``lowest``: the three lowest pairs (row, column)."""

    title: str
    names: tuple[str, ...]
    kappa: dict[tuple[str, str], float | None]
    lowest: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class LegalTables:
    """All tables of a run."""

    baselines: tuple[Baseline, ...]
    best: Baseline
    columns: tuple[str, ...]
    models: tuple[ModelTable, ...]
    comparisons: tuple[ComparisonLine, ...]
    rivals: tuple[RivalLine, ...]
    rival_totals: tuple[RivalTotal, ...]
    contexts_agree: tuple[Agreement, ...]
    models_agree: tuple[Agreement, ...]
    splits: tuple[SplitLine, ...]


def tabulate(cases: Sequence[Case], answers: Sequence[AnswerRow]) -> LegalTables:
    """All tables. ``answers`` holds every question in every cell, each cell in the order of the questions."""
    questions = {question.id: question for case in cases for question in case.questions}
    chunks = {(case.id, chunk.ref): chunk.text for case in cases for chunk in case.chunks}
    cells: dict[Cell, list[AnswerRow]] = {}
    for row in answers:
        cells.setdefault(row.cell, []).append(row)
    lexical = {
        cell: lexical_baseline(
            [(questions[row.question], [chunks[row.case, ref] for ref in row.passages]) for row in rows]
        )
        for cell, rows in cells.items()
    }
    alone = measure_baselines(list(questions.values()))
    words = best_baseline(list(lexical.values()))
    baselines = (*alone, Baseline(f"{words.name} (in the best cell)", words.correct, words.questions))
    best = best_baseline(baselines)
    return LegalTables(
        baselines=baselines,
        best=best,
        columns=tuple(dict.fromkeys(cell.column for cell in cells)),
        models=_model_tables(cells, lexical, best),
        comparisons=_comparisons(cells),
        rivals=_rivals(cells),
        rival_totals=_rival_totals(cells),
        contexts_agree=_contexts_agree(cells),
        models_agree=_models_agree(cells),
        splits=split_answers(answers, questions),
    )


def _model_tables(
    cells: dict[Cell, list[AnswerRow]], lexical: dict[Cell, Baseline], best: Baseline
) -> tuple[ModelTable, ...]:
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
            lexical=lexical[cell],
            place=ranking.index(accuracy) + 1 if accuracy in ranking else 0,
        )
        tables.setdefault(cell.model, {}).setdefault(cell.context, {})[cell.column] = line
    return tuple(ModelTable(model, lines) for model, lines in tables.items())


def _interval(rows: Sequence[AnswerRow], outcome: LegalOutcome) -> Interval | None:
    share = share_by_case(rows, lambda row: row.outcome == outcome)
    return share.interval if share else None


def _comparisons(cells: dict[Cell, list[AnswerRow]]) -> tuple[ComparisonLine, ...]:
    pairs = [
        (cell, compare_cells(rows, cells[reference]))
        for cell, rows in cells.items()
        if (reference := Cell(cell.model, REFERENCE, cell.retriever, cell.depth)) in cells and cell != reference
    ]
    adjusted = adjust_for_many([comparison.p for _, comparison in pairs])
    return tuple(
        ComparisonLine(cell.model, cell.column, cell.context, comparison, p)
        for (cell, comparison), p in zip(pairs, adjusted, strict=True)
    )


def _rivals(cells: dict[Cell, list[AnswerRow]]) -> tuple[RivalLine, ...]:
    """Every two models, cell by cell."""
    matched = [pair for pairs in _matched(cells).values() for pair in pairs]
    comparisons = [compare_cells(cells[one], cells[other]) for one, other in matched]
    adjusted = adjust_for_many([comparison.p for comparison in comparisons])
    return tuple(
        RivalLine(one.model, other.model, one.column, one.context, comparison, p)
        for (one, other), comparison, p in zip(matched, comparisons, adjusted, strict=True)
    )


def _rival_totals(cells: dict[Cell, list[AnswerRow]]) -> tuple[RivalTotal, ...]:
    totals: list[RivalTotal] = []
    for (first, second), pairs in _matched(cells).items():
        one, other = ([row for cell in side for row in cells[cell]] for side in zip(*pairs, strict=True))
        over_all = compare_cells(one, other)
        totals.append(RivalTotal(first, second, len(pairs), over_all.difference, over_all.interval))
    return tuple(totals)


def _matched(cells: Collection[Cell]) -> dict[tuple[str, str], list[tuple[Cell, Cell]]]:
    """Every two models -> the cells that both have."""
    matched: dict[tuple[str, str], list[tuple[Cell, Cell]]] = {}
    for first, second in combinations(dict.fromkeys(cell.model for cell in cells), 2):
        pairs = [(one, replace(one, model=second)) for one in cells if one.model == first]
        if shared := [(one, other) for one, other in pairs if other in cells]:
            matched[first, second] = shared
    return matched


def _contexts_agree(cells: dict[Cell, list[AnswerRow]]) -> tuple[Agreement, ...]:
    """One map for each model and retriever, between contexts (M Fig. 3)."""
    contexts = tuple(dict.fromkeys(cell.context for cell in cells))
    groups: dict[tuple[str, RetrieverName], None] = dict.fromkeys((cell.model, cell.retriever) for cell in cells)
    if len(contexts) < 2:
        return ()
    return tuple(
        _agreement(
            f"{model}, {RETRIEVER_LABELS[retriever]}: between contexts",
            contexts,
            {
                context: {
                    cell.depth: rows
                    for cell, rows in cells.items()
                    if (cell.model, cell.retriever, cell.context) == (model, retriever, context)
                }
                for context in contexts
            },
        )
        for model, retriever in groups
    )


def _models_agree(cells: dict[Cell, list[AnswerRow]]) -> tuple[Agreement, ...]:
    """One map for each retriever and single knowledge type, between models (M Fig. 2)."""
    models = tuple(dict.fromkeys(cell.model for cell in cells))
    groups: dict[tuple[RetrieverName, str], None] = dict.fromkeys(
        (cell.retriever, cell.context) for cell in cells if cell.context in SINGLE
    )
    if len(models) < 2:
        return ()
    return tuple(
        _agreement(
            f"{context}, {RETRIEVER_LABELS[retriever]}: between models",
            models,
            {
                model: {
                    cell.depth: rows
                    for cell, rows in cells.items()
                    if (cell.model, cell.retriever, cell.context) == (model, retriever, context)
                }
                for model in models
            },
        )
        for retriever, context in groups
    )


def _agreement(title: str, names: tuple[str, ...], rows: dict[str, dict[int, list[AnswerRow]]]) -> Agreement:
    kappa: dict[tuple[str, str], float | None] = {}
    for number, left in enumerate(names):
        for right in names[number + 1 :]:
            found = [
                cohen_kappa([label_of(row) for row in rows[left][depth]], [label_of(row) for row in rows[right][depth]])
                for depth in rows[left]
            ]
            known = [value for value in found if value is not None]
            kappa[left, right] = fmean(known) if known else None
    measured = [pair for pair, value in kappa.items() if value is not None]
    lowest = sorted(measured, key=lambda pair: kappa[pair] or 0.0)[:LOWEST]
    return Agreement(title, names, kappa, tuple(lowest))
