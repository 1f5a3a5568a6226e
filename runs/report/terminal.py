"""The table that the command line prints when a run ends."""

from collections.abc import Iterable, Mapping

from rich.table import Table
from rich.text import Text

from runs.grading.verdict import OUTCOMES, VerdictRow
from runs.metrics import count_outcomes, group_verdicts
from runs.report.looks import OUTCOME_LOOKS
from runs.report.texts import percent, show_interval, visible

__all__ = ["outcome_table"]


def outcome_table(verdicts: Iterable[VerdictRow], environments: Mapping[str, str] | None = None) -> Table:
    """A row for each model and style: Pass@1 with its 95 % interval, the outcomes counted, the inference gap.

    ``environments`` (task id -> environment) splits the rows by environment, if there is more than one.
    """
    rows = list(verdicts)
    places = environments or {row.task: "" for row in rows}
    groups = group_verdicts(rows, places)
    split = len({group.environment for group in groups}) > 1
    table = Table(caption="Pass@1 and gap: shares of all attempts but the invalid ones; 95 % Wilson interval")
    if split:
        table.add_column("environment")
    table.add_column("model")
    table.add_column("style")
    table.add_column("Pass@1", justify="right")
    table.add_column("95 %", justify="right")
    for outcome in OUTCOMES:
        table.add_column(OUTCOME_LOOKS[outcome].label, justify="right")
    table.add_column("inference gap", justify="right")
    for group, members in groups.items():
        tally = count_outcomes(members)
        cells = [group.environment] if split else []
        cells += [visible(group.model), group.style, percent(tally.pass_at_1), show_interval(tally.pass_at_1_interval)]
        cells += [str(tally.count(outcome)) for outcome in OUTCOMES]
        cells.append(percent(tally.inference_gap))
        # Text, not str: a model name in square brackets is a name, not markup.
        table.add_row(*(Text(cell) for cell in cells))
    return table
