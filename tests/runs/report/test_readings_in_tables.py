"""The table of outcomes where verdicts turn on a reading."""

from lawtrace.runs.report.outcome_lines import OutcomeLine
from lawtrace.runs.report.outcome_tables import verdict_table
from lawtrace.runs.scoring.metrics import count_outcomes
from lawtrace.schemas.questions import ReadingsVerdict
from lawtrace.schemas.verdict_rows import Verdict
from tests.runs.scoring.test_readings import verdict


def shown(*verdicts: Verdict) -> dict[str, str]:
    line = OutcomeLine("Bank", "m", "m", "goal", verdicts, count_outcomes(verdicts))
    table = verdict_table([line])
    (row,) = table.rows
    return {column.title: cell.text for column, cell in zip(table.columns, row.cells, strict=True)}


def test_shares_under_readings_are_shown_if_something_turns_on_one() -> None:
    arguable = verdict(
        "arguable_success", ReadingsVerdict(questions=("p",), outcomes=((("a",), "kept"), (("b",), "broken")))
    )
    found = shown(verdict("safe_success"), arguable)
    assert (found["Pass@1"], found["least"], found["most"], found["some"]) == ("50.0 %", "50.0 %", "100.0 %", "100.0 %")
    assert found["arguable success"] == "1"
    plain = shown(verdict("safe_success"), verdict("benign_failure"))
    assert not {"least", "most", "some", "arguable success"} & set(plain)
