"""``lawtrace legal check``: the contents of a dataset."""

from collections.abc import Sequence

from rich.table import Table

from lawtrace.environments.legal.case import AGENTS
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.legal.case_statistics import count_chunks, count_questions, part_lengths
from lawtrace.runs.legal.cli.options import CasesOption
from lawtrace.runs.legal.model_free_baselines import measure_baselines
from lawtrace.runs.legal.report_tables import baseline_table, case_tables
from lawtrace.runs.legal.twins.pairs import Twins
from lawtrace.runs.legal.twins.shortcuts import measure_shortcuts, twins_in
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.tables import filled
from lawtrace.runs.report.terminal_tables import report_table
from lawtrace.runs.report.text import visible
from lawtrace.schemas.events import Json


def check_dataset(cases: CasesOption) -> CommandResult:
    """Check a dataset: contents, unusable rows, baselines without a model."""
    dataset = load_dataset(cases)
    asked = [question for case in dataset.cases for question in case.questions]
    baselines, pairs = measure_baselines(asked), twins_in(dataset.cases)
    chunks, questions = count_chunks(*dataset.cases), count_questions(*dataset.cases)
    contents, lengths = case_tables(dataset.cases)
    rows = ([cell.text for cell in row.cells] for row in contents.rows)
    shown = (
        make_table([column.title for column in contents.columns], rows, title="Dataset"),
        *map(report_table, filled(lengths, baseline_table(baselines))),
        *shortcuts_table(pairs),
        *(
            Note(f"{visible(case)}: no chunk of {agent}; a context of {agent} alone is empty")
            for case, agent in dataset.missing
        ),
        *(Note(f"unusable: {visible(str(problem))}") for problem in dataset.problems),
    )
    summary: dict[str, Json] = {
        "cases": len(dataset.cases),
        "chunks": {agent: chunks[agent] for agent in AGENTS},
        **{name: questions[name] for name in ("questions", "yes_no", "four_options", "other", "decisions")},
        "baselines": {baseline.name: baseline.accuracy for baseline in baselines},
        "shortcuts": {**measure_shortcuts(pairs)},
        "parts": {label: [*of] for label, of in part_lengths(dataset.cases).items()},
        "problems": [str(problem) for problem in dataset.problems],
        "missing": [[case, agent] for case, agent in dataset.missing],
    }
    return CommandResult(summary, shown, exit_code=1 if dataset.problems else 0)


def shortcuts_table(pairs: Sequence[Twins]) -> list[Table]:
    """The shortcuts to the answers of twin questions; no table without any."""
    rows = ((name, f"{100 * share:.1f}") for name, share in measure_shortcuts(pairs).items())
    title = f"Shortcuts to twin questions, {len(pairs)} pairs; the better of Yes and No"
    return [make_table(("shortcut", "right %"), rows, title=title)] if pairs else []
