"""The content of the report of a legal run, in sections."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.errors import InputError
from lawtrace.environments.legal.case import CONTEXTS, Case, context_name
from lawtrace.environments.legal.retrieval.retrievers import RETRIEVER_LABELS
from lawtrace.runs.legal.case_statistics import count_cases, part_lengths
from lawtrace.runs.legal.charts import case_panels, draw_agreement_matrix
from lawtrace.runs.legal.grounding import GroundingLine, grounding_lines
from lawtrace.runs.legal.legal_files import ANSWERS, CASES, DATASET_ISSUES, PROBES, RETRIEVED, DatasetIssues
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_tables import (
    STOP_REASONS,
    AgreementMatrix,
    DecompositionLine,
    LegalTables,
    decomposition_lines,
    tabulate,
)
from lawtrace.runs.legal.retrieval_statistics import REFERENCE_RETRIEVER, RetrievalLine, retrieval_lines
from lawtrace.runs.report.sections import RunReport, Section
from lawtrace.runs.report.summary import ChartPanel
from lawtrace.runs.report.text import visible
from lawtrace.runs.store.event_log_file import EventLogFile

TEMPLATES = Path(__file__).parent / "templates"

SECTIONS = {
    "accuracy": "Accuracy",
    "baselines": "Baselines without a model",
    "retrieval": "Retrieval",
    "refusals": "Refusals, errors, invalid",
    "pairs": "Paired tests",
    "agreement": "Agreement",
    "grounding": "Citations",
    "decomposition": "Decomposition",
    "breakdown": "Breakdown",
    "cases": "Cases",
}

PUBLISHED_QUESTIONS = 950
"""Questions of the published dataset (15 cases)."""


@dataclass(frozen=True, slots=True)
class LegalContent:
    """The content of the report."""

    recipe: LegalRecipe
    cases: Sequence[Case]
    issues: DatasetIssues
    tables: LegalTables
    retrieval: Sequence[RetrievalLine] = ()
    decomposition: Sequence[DecompositionLine] = ()
    grounding: Sequence[GroundingLine] = ()


def load_legal_content(path: Path) -> LegalContent:
    """Read the report's content from a run folder. Raises InputError if the run is not finished."""
    if not (path / ANSWERS.name).exists():
        raise InputError(f"{path}: the run has no answers yet; `lawtrace resume {path}` continues it")
    with EventLogFile.open(path) as event_log:
        recipe = LegalRecipe.model_validate(event_log.recipe)
    cases, answers = CASES.read(path / CASES.name), ANSWERS.read(path / ANSWERS.name)
    probes = PROBES.read(path / PROBES.name) if recipe.probe_citations else []
    (issues,) = DATASET_ISSUES.read(path / DATASET_ISSUES.name)
    return LegalContent(
        recipe,
        cases,
        issues,
        tabulate(cases, answers),
        retrieval_lines(cases, RETRIEVED.read(path / RETRIEVED.name), recipe.depths),
        decomposition_lines(answers),
        grounding_lines(cases, answers, probes),
    )


def make_legal_report(content: LegalContent) -> RunReport:
    """The report of a legal run, in sections."""
    tables = content.tables
    values: dict[str, object] = {
        "questions": tables.best.questions,
        "baseline_contexts": [context_name(context) for context in CONTEXTS[:3]],
        "tables": tables,
        "context_panels": _panels(tables.contexts_agree, "contexts"),
        "model_panels": _panels(tables.models_agree, "models"),
        "case_lines": [count_cases(case.id, case) for case in content.cases],
        "lengths": part_lengths(content.cases),
        "case_panels": case_panels(content.cases),
        "whole_decisions": sum(case.document is not None for case in content.cases),
        "issues": content.issues,
        "retrieval": content.retrieval,
        "retriever_labels": RETRIEVER_LABELS,
        "compared": REFERENCE_RETRIEVER,
        "retrievers": content.recipe.retrievers,
        "depths": content.recipe.depths,
        "decomposition": content.decomposition,
        "stop_reasons": STOP_REASONS,
        "grounding": content.grounding,
        "probed": content.recipe.probe_citations,
    }
    return RunReport(
        f"lawtrace: {content.recipe.name}",
        _settings(content.recipe),
        tuple(
            Section(name, title, f"sections/{name}.html.jinja", values)
            for name, title in SECTIONS.items()
            if name != "decomposition" or content.decomposition
        ),
        notices=tuple(_notices(content)),
        template_folders=(TEMPLATES,),
    )


def _panels(agreements: Sequence[AgreementMatrix], name: str) -> list[ChartPanel]:
    return [
        ChartPanel(agreement.title, draw_agreement_matrix(agreement, f"kappa-{name}-{number}"))
        for number, agreement in enumerate(agreements)
    ]


def _settings(recipe: LegalRecipe) -> dict[str, str]:
    return {
        "recipe": recipe.name,
        "seed": str(recipe.seed),
        "contexts": ", ".join(recipe.contexts),
        "retrievers": ", ".join(recipe.retrievers),
        "depths": ", ".join(map(str, recipe.depths)) + (" in total" if recipe.share == "total" else " for each agent"),
        "embedding": recipe.embedding,
        "pipeline": recipe.pipeline,
        "Meta-LLMs": ", ".join(recipe.models),
        "custom prompts": _custom_prompts(recipe),
        "citation probe": "yes" if recipe.probe_citations else "no",
        "prompt offers to decline": "yes" if recipe.offers_refusal else "no",
    }


def _custom_prompts(recipe: LegalRecipe) -> str:
    prompts = recipe.prompts.prompts()
    return ", ".join(f"{visible(prompts[role].id)} for {role}" for role in prompts.overrides) or "none"


def _notices(content: LegalContent) -> list[str]:
    notices: list[str] = []
    if "offline" in content.recipe.models:
        notices.append("offline is not a language model: it compares words. Its figures are those of a baseline.")
    released = [name for name in content.recipe.retrievers if name.startswith("released")]
    if released:
        notices.append(f"{', '.join(released)}: ranking as in the published code, with its defects.")
    asked = content.tables.best.questions
    if asked != PUBLISHED_QUESTIONS:
        notices.append(
            f"This run has {asked} questions on {len(content.cases)} cases. The published dataset has "
            f"{PUBLISHED_QUESTIONS} questions, so published figures are not comparable."
        )
    if content.issues.problems:
        notices.append(f"{len(content.issues.problems)} rows of the dataset could not be used; see Cases.")
    invalid = sum(line.score.count("invalid") for table in content.tables.models for line in table.cells)
    if invalid:
        notices.append(f"{invalid} questions have no reply, for a reason outside the model; they count as not correct.")
    return notices
