"""``lawtrace legal check``: the contents of a dataset."""

from collections.abc import Sequence

from rich.table import Table

from lawtrace.environments.legal.case import AGENTS
from lawtrace.environments.legal.dataset import LegalDataset, load_dataset
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.legal.case_statistics import count_cases, part_lengths
from lawtrace.runs.legal.cli.options import CasesOption
from lawtrace.runs.legal.model_free_baselines import ModelFreeBaseline, measure_baselines
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
    questions = [question for case in dataset.cases for question in case.questions]
    baselines = measure_baselines(questions)
    shown = (
        _counts(dataset),
        *map(report_table, filled(case_tables(dataset.cases)[1], baseline_table(baselines))),
        *shortcuts_table(twins_in(dataset.cases)),
        *(
            Note(f"{visible(case)}: no chunk of {agent}; a context of {agent} alone is empty")
            for case, agent in dataset.missing
        ),
        *(Note(f"unusable: {visible(str(problem))}") for problem in dataset.problems),
    )
    return CommandResult(_summary(dataset, baselines), shown, exit_code=1 if dataset.problems else 0)


def _summary(dataset: LegalDataset, baselines: tuple[ModelFreeBaseline, ...]) -> dict[str, Json]:
    counts = count_cases("all", *dataset.cases)
    return {
        "cases": len(dataset.cases),
        "chunks": {**counts.chunks},
        "questions": counts.questions,
        "yes_no": counts.yes_no,
        "four_options": counts.four_options,
        "other": counts.other,
        "decisions": counts.decisions,
        "baselines": {baseline.name: baseline.accuracy for baseline in baselines},
        "shortcuts": {**measure_shortcuts(twins_in(dataset.cases))},
        "parts": {line.label: [line.least, line.most, line.mean, line.cases] for line in part_lengths(dataset.cases)},
        "problems": [str(problem) for problem in dataset.problems],
        "missing": [[case, agent] for case, agent in dataset.missing],
    }


def _counts(dataset: LegalDataset) -> Table:
    counts = ((case.id, count_cases(case.id, case)) for case in dataset.cases)
    rows = (
        (name, *of.chunks.values(), of.yes_no, of.four_options, of.other, of.decisions, of.yes) for name, of in counts
    )
    return make_table(("case", *AGENTS, "yes/no", "A-D", "other", "decision", "Yes"), rows, title="Dataset")


def shortcuts_table(pairs: Sequence[Twins]) -> list[Table]:
    """The shortcuts to the answers of twin questions; no table without any."""
    rows = ((name, f"{100 * share:.1f}") for name, share in measure_shortcuts(pairs).items())
    title = f"Shortcuts to twin questions, {len(pairs)} pairs; the better of Yes and No"
    return [make_table(("shortcut", "right %"), rows, title=title)] if pairs else []
