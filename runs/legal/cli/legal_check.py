"""``lawtrace legal check``: the contents of a dataset."""

from rich.table import Table

from lawtrace.environments.legal.case import AGENTS
from lawtrace.environments.legal.dataset import LegalDataset, load_dataset
from lawtrace.runs.cli.output import make_table
from lawtrace.runs.legal.case_statistics import count_cases, part_lengths
from lawtrace.runs.legal.cli.options import CasesOption
from lawtrace.runs.legal.model_free_baselines import ModelFreeBaseline, measure_baselines
from lawtrace.runs.report.command_result import CommandResult, Note
from lawtrace.runs.report.text import visible
from lawtrace.schemas.events import Json


def check_dataset(cases: CasesOption) -> CommandResult:
    """Check a dataset: contents, unusable rows, baselines without a model."""
    dataset = load_dataset(cases)
    questions = [question for case in dataset.cases for question in case.questions]
    baselines = measure_baselines(questions)
    shown = (
        _counts(dataset),
        _lengths(dataset),
        *([_baselines(baselines)] if baselines else []),
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
        "parts": {line.label: [line.least, line.most, line.mean, line.cases] for line in part_lengths(dataset.cases)},
        "problems": [str(problem) for problem in dataset.problems],
        "missing": [[case, agent] for case, agent in dataset.missing],
    }


def _counts(dataset: LegalDataset) -> Table:
    table = make_table("case", *AGENTS, "yes/no", "A-D", "other", "decision", "Yes", title="Dataset")
    for case in dataset.cases:
        of = count_cases(case.id, case)
        numbers = (*of.chunks.values(), of.yes_no, of.four_options, of.other, of.decisions, of.yes)
        table.add_row(visible(case.id), *map(str, numbers))
    return table


def _lengths(dataset: LegalDataset) -> Table:
    table = make_table("part", "least", "most", "mean", "cases", title="Paragraphs in each part")
    for line in part_lengths(dataset.cases):
        table.add_row(line.label, str(line.least), str(line.most), f"{line.mean:.2f}", str(line.cases))
    return table


def _baselines(baselines: tuple[ModelFreeBaseline, ...]) -> Table:
    questions = baselines[0].questions
    table = make_table(
        "baseline", "accuracy %", "balanced %", "right", title=f"Baselines without a model, {questions} questions"
    )
    for baseline in baselines:
        table.add_row(
            baseline.name, f"{100 * baseline.accuracy:.2f}", f"{100 * baseline.balanced:.2f}", f"{baseline.correct:g}"
        )
    return table
