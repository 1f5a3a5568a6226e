"""The figures of a legal run: Cohen's kappa between models (M Fig. 2) and contexts (M Fig. 3), and what cases and
questions are made of (M Figs. 4 to 6)."""

from collections.abc import Callable, Mapping, Sequence, Set
from itertools import combinations
from statistics import fmean

from lawtrace.environments.legal.case import Case
from lawtrace.environments.legal.document_parts import IRAC
from lawtrace.environments.legal.retrieval.retrievers import RETRIEVER_LABELS
from lawtrace.runs.legal.accuracy import CellAnswers, answer_label
from lawtrace.runs.legal.case_statistics import count_paragraphs, count_questions
from lawtrace.runs.legal.legal_files import GridCell
from lawtrace.runs.report.charts import draw_heat_map
from lawtrace.runs.report.tables import Cell, Figure, Table, make_table
from lawtrace.runs.report.text import unique_anchors, visible
from lawtrace.runs.scoring.agreement import cohen_kappa


def agreement_of_contexts(cells: CellAnswers) -> tuple[Figure, ...]:
    """A heat map for each model and retriever, between contexts (M Fig. 3)."""
    return _agreements(cells, "contexts", lambda cell: cell.context, lambda cell: cell.model)


def agreement_of_models(cells: CellAnswers) -> tuple[Figure, ...]:
    """A heat map for each retriever and single knowledge type, between models (M Fig. 2)."""
    single = {cell: rows for cell, rows in cells.items() if "+" not in cell.context}
    return _agreements(single, "models", lambda cell: cell.model, lambda cell: cell.context)


def _agreements(
    cells: CellAnswers, what: str, name_of: Callable[[GridCell], str], group_of: Callable[[GridCell], str]
) -> tuple[Figure, ...]:
    """A heat map of the kappa between the names for each group and retriever, if there are two names."""
    names = [*dict.fromkeys(map(name_of, cells))]
    groups: dict[str, dict[str, dict[int, list[str | None]]]] = {}
    for cell, rows in cells.items():
        members = groups.setdefault(f"{group_of(cell)}, {RETRIEVER_LABELS[cell.retriever]}", {})
        members.setdefault(name_of(cell), {})[cell.depth] = [answer_label(row) for row in rows]
    tables = [
        make_table(
            f"agreement-of-{what}-{anchor.lower()}",
            f"{group}: between {what}",
            (
                {
                    "First": one,
                    **{
                        f"#{other}": _kappa(members[one], members[other])
                        if (one, other) in combinations(names, 2)
                        else Cell(None, "")
                        for other in names[1:]
                    },
                }
                for one in names[:-1]
            ),
        )
        for (group, members), anchor in zip(groups.items(), unique_anchors([*groups]), strict=True)
        if len(names) > 1
    ]
    return tuple(Figure(table, draw_heat_map(table, table.name, unit="Cohen's kappa")) for table in tables)


def _kappa(one: Mapping[int, Sequence[str | None]], other: Mapping[int, Sequence[str | None]]) -> Cell:
    """The mean over the depths; white at 0 and below."""
    known = [kappa for depth in one if (kappa := cohen_kappa(one[depth], other[depth])) is not None]
    kappa = fmean(known) if known else None
    return Cell(None, "–") if kappa is None else Cell(kappa, f"{kappa:.2f}", shade=min(1.0, max(0.0, kappa)))


def case_figures(cases: Sequence[Case]) -> tuple[Figure, ...]:
    """M Figures 4 to 6, as heat maps of shares; those of questions only if there are questions."""
    elements = {case.id: [count_paragraphs(case)[part] for part in IRAC] for case in cases}
    argument = {name: counts for name, counts in elements.items() if any(counts)}
    asked = {case.id: count_questions(case) for case in cases if case.questions}
    kinds = {name: (of["yes_no"], of["questions"] - of["yes_no"]) for name, of in asked.items()}
    decisions = {name: (of["decisions"], of["questions"] - of["decisions"]) for name, of in asked.items()}
    partly = {case.id for case in cases if case.document is None}
    drawn = (
        _count_table("elements-by-case", "Elements of the argument, in paragraphs", [*IRAC.values()], argument, partly),
        _count_table("questions-by-kind", "Questions by kind", ("yes/no", "A–D"), kinds),
        _count_table(
            "questions-by-decision", "Questions by what the passage holds", ("decision", "opinion"), decisions
        ),
    )
    return tuple(
        Figure(table, draw_heat_map(table, table.name, unit="shaded by their share")) for table in drawn if table.rows
    )


def _count_table(
    name: str, title: str, labels: Sequence[str], rows: Mapping[str, Sequence[int]], marked: Set[str] = frozenset()
) -> Table:
    return make_table(
        name,
        title,
        (
            {
                "Case": Cell(case, f"{visible(case)}{' *' * (case in marked)}"),
                **{
                    f"#{label}": Cell(count, str(count), shade=count / sum(counts))
                    for label, count in zip(labels, counts, strict=True)
                },
            }
            for case, counts in rows.items()
        ),
    )
