"""The content of the report of a legal run, in sections."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.legal.case import Case
from lawtrace.environments.legal.document_checks import states_finding
from lawtrace.prompts.loader import prompts_of
from lawtrace.runs.legal.accuracy import CellAnswers, CellLine, score_cells
from lawtrace.runs.legal.charts import agreement_of_contexts, agreement_of_models, case_figures
from lawtrace.runs.legal.legal_files import ANSWERS, CASES, DATASET_ISSUES, AnswerRow, DatasetIssues
from lawtrace.runs.legal.legal_recipe import LegalRecipe, recorded_recipe
from lawtrace.runs.legal.model_free_baselines import ModelFreeBaseline, best_baseline, measure_baselines
from lawtrace.runs.legal.report_tables import (
    accuracy_table,
    baseline_table,
    breakdown_tables,
    case_tables,
    citation_table,
    comparison_table,
    decomposition_table,
    refusal_table,
    task_table,
)
from lawtrace.runs.legal.task_metrics import TaskScore, score_tasks
from lawtrace.runs.report.content import identify_run
from lawtrace.runs.report.sections import RunReport, Section
from lawtrace.runs.report.tables import Table, filled
from lawtrace.runs.report.text import visible
from lawtrace.runs.scoring.metrics import group_by
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import file_digest
from lawtrace.schemas.errors import InputError

TEMPLATES = Path(__file__).parent / "templates"

PUBLISHED_QUESTIONS = 950
"""Questions of the published dataset (15 cases)."""

_NO_PAIRS = "Contexts: this needs F+LR and at least one other context."


@dataclass(frozen=True, slots=True)
class LegalContent:
    """The content of the report.

    Attributes:
        cells: the answers of each cell; ``lines``: the scores of the cells.
        best: the best baseline without a model.
        identity: what identifies the run.
    """

    recipe: LegalRecipe
    cases: Sequence[Case]
    issues: DatasetIssues
    answers: Sequence[AnswerRow]
    cells: CellAnswers
    lines: Sequence[CellLine]
    baselines: Sequence[ModelFreeBaseline]
    best: ModelFreeBaseline
    tasks: Sequence[TaskScore]
    identity: Mapping[str, str]


def load_legal_content(path: Path) -> LegalContent:
    """Read the report's content from a run folder. Raises InputError if the run is not finished."""
    if not (path / ANSWERS.name).exists():
        raise InputError(f"{path}: the run has no answers yet; `lawtrace resume {path}` continues it")
    with EventLogFile.open(path) as event_log:
        recipe = recorded_recipe(event_log.recipe)
        identity = identify_legal(event_log)
    cases, answers = CASES.read(path / CASES.name), ANSWERS.read(path / ANSWERS.name)
    (issues,) = DATASET_ISSUES.read(path / DATASET_ISSUES.name)
    baselines = measure_baselines([question for case in cases for question in case.questions])
    best, cells = best_baseline(baselines), group_by(answers, lambda row: row.cell)
    return LegalContent(
        recipe=recipe,
        cases=cases,
        issues=issues,
        answers=answers,
        cells=cells,
        lines=score_cells(cells, best.accuracy),
        baselines=baselines,
        best=best,
        tasks=score_tasks(cases, answers),
        identity=identity,
    )


def identify_legal(event_log: EventLogFile) -> dict[str, str]:
    """What identifies a legal run: its cases in place of an environment."""
    recipe, cases = recorded_recipe(event_log.recipe), event_log.path.parent / CASES.name
    digest = file_digest(cases) if cases.exists() else None
    roles = ", ".join(f"{role} {model}" for role, model in recipe.answering_roles().items())
    return {**identify_run(event_log, models=recipe.models, digests={"cases": digest}), "roles": roles}


def make_legal_report(content: LegalContent) -> RunReport:
    """The report of a legal run, in sections."""
    pairs = filled(comparison_table(content.cells))
    return RunReport(
        f"lawtrace: {content.recipe.name}",
        _settings(content.recipe),
        (
            _accuracy_section(content),
            *_optional_section("tasks", "Scores of tasks", task_table(content.tasks)),
            Section("baselines", "Baselines without a model", tables=(baseline_table(content.baselines),)),
            Section("refusals", "Refusals, errors, invalid", tables=(refusal_table(content.lines),)),
            Section("pairs", "Paired tests", text=() if pairs else (_NO_PAIRS,), tables=pairs),
            _agreement_section(content.cells),
            Section("grounding", "Citations", tables=(citation_table(content.cases, content.answers),)),
            *_optional_section("decomposition", "Decomposition", decomposition_table(content.answers)),
            Section("breakdown", "Breakdown", tables=breakdown_tables(content.cases, content.answers)),
            _case_section(content),
        ),
        notices=tuple(_notices(content)),
        template_folders=(TEMPLATES,),
        identity=content.identity,
    )


def _accuracy_section(content: LegalContent) -> Section:
    values = {"models": group_by(content.lines, lambda line: line.cell.model), "best": content.best}
    tables = (accuracy_table(content.lines),)
    return Section("accuracy", "Accuracy", "sections/accuracy.html.jinja", values, tables=tables)


def _agreement_section(cells: CellAnswers) -> Section:
    text = (
        "Cohen's kappa over the questions, mean over the depths, between contexts and between models. "
        "Refusals and unreadable answers count as labels of their own; questions without a reply are left out.",
    )
    figures = (*agreement_of_contexts(cells), *agreement_of_models(cells))
    return Section("agreement", "Agreement", text=text, figures=figures)


def _optional_section(name: str, title: str, table: Table) -> list[Section]:
    """A section for a table with rows."""
    return [Section(name, title, tables=tables)] if (tables := filled(table)) else []


def _case_section(content: LegalContent) -> Section:
    figures, cases = case_figures(content.cases), content.cases
    values = {"issues": content.issues, "incomplete": bool(figures) and any(case.document is None for case in cases)}
    return Section("cases", "Cases", "sections/cases.html.jinja", values, figures=figures, tables=case_tables(cases))


def _settings(recipe: LegalRecipe) -> dict[str, str]:
    return {
        "recipe": recipe.name,
        "seed": str(recipe.seed),
        "contexts": ", ".join(recipe.contexts),
        "retrievers": ", ".join(recipe.retrievers),
        "depths": ", ".join(map(str, recipe.depths)) + (" in total" if recipe.share == "total" else " for each agent"),
        "embedding": recipe.embedding,
        "pipeline": recipe.pipeline,
        **recipe.answering_roles(),
        "custom prompts": _custom_prompts(recipe),
        "prompt offers to decline": "yes" if recipe.offers_refusal else "no",
    }


def _custom_prompts(recipe: LegalRecipe) -> str:
    prompts = prompts_of(recipe.prompts)
    return ", ".join(f"{visible(prompts[role].id)} for {role}" for role in prompts.overrides) or "none"


def _notices(content: LegalContent) -> list[str]:
    notices: list[str] = []
    offline = [role for role, model in content.recipe.answering_roles().items() if "offline" in model.split(", ")]
    if offline:
        notices.append(
            f"offline, in {', '.join(offline)}, is not a language model: it compares words. It is a baseline."
        )
    telling = sum(
        states_finding(chunk.text, law=chunk.agent == "LR") for case in content.cases for chunk in case.chunks
    )
    if telling:
        notices.append(f"{telling} passages state a finding of the authority, which may be the answer to a question.")
    released = [name for name in content.recipe.retrievers if name.startswith("released")]
    if released:
        notices.append(f"{', '.join(released)}: ranking as in the published code, with its defects.")
    asked = content.best.questions
    if asked != PUBLISHED_QUESTIONS:
        notices.append(
            f"This run has {asked} questions on {len(content.cases)} cases. The published dataset has "
            f"{PUBLISHED_QUESTIONS} questions, so published figures are not comparable."
        )
    if content.issues.problems:
        notices.append(f"{len(content.issues.problems)} rows of the dataset could not be used; see Cases.")
    invalid = sum(line.counts.get("invalid", 0) for line in content.lines)
    if invalid:
        notices.append(f"{invalid} questions have no reply, for a reason outside the model; they count as not correct.")
    return notices
