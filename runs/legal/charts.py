"""The figures of a legal run: Cohen's kappa between models (M Fig. 2) and contexts (M Fig. 3), and what cases and
questions are made of (M Figs. 4 to 6)."""

from collections.abc import Mapping, Sequence, Set

from lawtrace.environments.legal.case import Case
from lawtrace.runs.legal.case_statistics import element_counts
from lawtrace.runs.legal.legal_tables import AgreementMatrix
from lawtrace.runs.report.charts import draw_heat_map
from lawtrace.runs.report.tables import Cell, Figure, Table, make_table
from lawtrace.runs.report.text import unique_anchors, visible


def agreement_figures(agreements: Sequence[AgreementMatrix], prefix: str) -> tuple[Figure, ...]:
    """A heat map for each matrix, with the kappa of each pair."""
    anchors = unique_anchors([agreement.title.rpartition(":")[0] for agreement in agreements])
    figures: list[Figure] = []
    for agreement, anchor in zip(agreements, anchors, strict=True):
        table = make_table(
            f"{prefix}-{anchor.lower()}",
            agreement.title,
            (
                {"First": one, **{f"#{other}": _kappa(agreement, one, other) for other in agreement.names[1:]}}
                for one in agreement.names[:-1]
            ),
        )
        figures.append(Figure(table, draw_heat_map(table, table.name, unit="Cohen's kappa")))
    return tuple(figures)


def _kappa(agreement: AgreementMatrix, one: str, other: str) -> Cell:
    """White at 0 and below; empty for a pair that another cell has."""
    if (one, other) not in agreement.kappa:
        return Cell(None, "")
    kappa = agreement.kappa[one, other]
    return Cell(None, "–") if kappa is None else Cell(kappa, f"{kappa:.2f}", shade=min(1.0, max(0.0, kappa)))


def case_figures(cases: Sequence[Case]) -> tuple[Figure, ...]:
    """M Figures 4 to 6, as heat maps of shares; those of questions only if there are questions."""
    elements = element_counts(cases)
    asked = [case for case in cases if case.questions]
    kinds = {case.id: _split([q.kind == "yes_no" for q in case.questions]) for case in asked}
    decisions = {case.id: _split([q.decision for q in case.questions]) for case in asked}
    argument = {line.case: (*line.counts.values(),) for line in elements}
    partly = {line.case for line in elements if not line.whole}
    labels = (*elements[0].counts,) if elements else ()
    drawn = (
        ("elements-by-case", "Elements of the argument, in paragraphs", labels, argument, partly),
        ("questions-by-kind", "Questions by kind", ("yes/no", "A–D"), kinds, set[str]()),
        (
            "questions-by-decision",
            "Questions by what the passage holds",
            ("decision", "opinion"),
            decisions,
            set[str](),
        ),
    )
    tables = [_count_table(name, title, labels, rows, marked) for name, title, labels, rows, marked in drawn if rows]
    return tuple(Figure(table, draw_heat_map(table, table.name, unit="shaded by their share")) for table in tables)


def _count_table(
    name: str, title: str, labels: Sequence[str], rows: Mapping[str, Sequence[int]], marked: Set[str]
) -> Table:
    def counted(count: int, total: int) -> Cell:
        return Cell(count, str(count), shade=count / total if total else 0.0)

    return make_table(
        name,
        title,
        (
            {
                "Case": Cell(case, f"{visible(case)}{' *' * (case in marked)}"),
                **{f"#{label}": counted(n, sum(counts)) for label, n in zip(labels, counts, strict=True)},
            }
            for case, counts in rows.items()
        ),
    )


def _split(marks: Sequence[bool]) -> tuple[int, int]:
    return sum(marks), len(marks) - sum(marks)
