"""From the files of a legal run to its report: one HTML file that needs nothing else."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.errors import InputError
from lawtrace.environments.legal.case import AGENTS, CONTEXTS, Case, context_name
from lawtrace.environments.legal.retrieval.retrievers import RETRIEVER_LABELS
from lawtrace.runs.legal.balanced_scores import BalancedTables, compare_balanced
from lawtrace.runs.legal.case_statistics import part_lengths
from lawtrace.runs.legal.charts import case_panels, draw_agreement_matrix
from lawtrace.runs.legal.grounding import GroundingLine, grounding_lines
from lawtrace.runs.legal.legal_files import AnswerRow, DatasetIssues, LegalFolder, ProbeRow, RestatedRow, RetrievedRow
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
from lawtrace.runs.store.stage_files import read_rows

PUBLISHED_QUESTIONS = 950
TEMPLATES = Path(__file__).parent / "templates"
SECTIONS = {
    "accuracy": "Accuracy",
    "baselines": "Baselines without a model",
    "retrieval": "Retrieval",
    "refusals": "Refusals, errors, invalid",
    "pairs": "Do agents add to retrieval?",
    "agreement": "Agreement",
    "grounding": "Citations",
    "team": "Parts of questions",
    "splits": "Splits",
    "balanced": "Balanced",
    "cases": "Cases",
}


@dataclass(frozen=True, slots=True)
class LegalContent:
    """Everything that the report of a legal run is made from."""

    recipe: LegalRecipe
    cases: Sequence[Case]
    findings: DatasetIssues
    tables: LegalTables
    retrieval: Sequence[RetrievalLine] = ()
    teams: Sequence[DecompositionLine] = ()
    grounding: Sequence[GroundingLine] = ()
    balanced: BalancedTables | None = None


@dataclass(frozen=True, slots=True)
class CaseCounts:
    """A case with its counts: pieces of each agent, questions of each kind."""

    case: str
    counts: tuple[int, ...]


def content_of_legal_run(path: Path) -> LegalContent:
    """What the report of a finished legal run shows. Raises InputError if the folder holds no finished run."""
    folder = LegalFolder(path)
    if not folder.answers.exists():
        raise InputError(f"{path}: the run has no answers yet; `lawtrace resume {path}` goes on with it")
    with EventLogFile.open(path) as event_log:
        recipe = LegalRecipe.model_validate(event_log.recipe)
    cases = read_rows(folder.cases, Case)
    answers = read_rows(folder.answers, AnswerRow)
    probes = read_rows(folder.probes, ProbeRow) if recipe.probes and folder.probes.stat().st_size else []
    findings = read_rows(folder.findings, DatasetIssues)[0]
    return LegalContent(
        recipe,
        cases,
        findings,
        tabulate(cases, answers),
        retrieval_lines(cases, read_rows(folder.retrieved, RetrievedRow), recipe.depths),
        decomposition_lines(answers),
        grounding_lines(cases, answers, probes),
        _balanced(folder.balanced, cases, answers) if recipe.balanced else None,
    )


def _balanced(folder: LegalFolder, cases: Sequence[Case], answers: Sequence[AnswerRow]) -> BalancedTables:
    if not folder.answers.exists():
        raise InputError(
            f"{folder.path}: the balanced questions are not answered yet; `lawtrace resume` goes on with the run"
        )
    return compare_balanced(
        cases,
        read_rows(folder.cases, Case),
        answers,
        read_rows(folder.answers, AnswerRow),
        read_rows(folder.restated, RestatedRow, empty=True),
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
        "case_lines": [_case_line(case) for case in content.cases],
        "lengths": part_lengths(content.cases),
        "case_panels": case_panels(content.cases),
        "whole_decisions": sum(case.document is not None for case in content.cases),
        "findings": content.findings,
        "retrieval": content.retrieval,
        "retriever_labels": RETRIEVER_LABELS,
        "compared": REFERENCE_RETRIEVER,
        "retrievers": content.recipe.retrievers,
        "depths": content.recipe.depths,
        "teams": content.teams,
        "endings": STOP_REASONS,
        "grounding": content.grounding,
        "balanced": content.balanced,
        "probes": content.recipe.probes,
    }
    return RunReport(
        f"lawtrace: {content.recipe.name}",
        _settings(content.recipe),
        tuple(
            Section(name, title, f"sections/{name}.html.jinja", values)
            for name, title in SECTIONS.items()
            if name != "team" or content.teams
        ),
        notices=tuple(_notices(content)),
        template_folders=(TEMPLATES,),
    )


def _panels(agreements: Sequence[AgreementMatrix], name: str) -> list[ChartPanel]:
    return [
        ChartPanel(agreement.title, draw_agreement_matrix(agreement, f"kappa-{name}-{number}"))
        for number, agreement in enumerate(agreements)
    ]


def _case_line(case: Case) -> CaseCounts:
    chunks = Counter(chunk.agent for chunk in case.chunks)
    kinds = Counter(question.kind for question in case.questions)
    decisions = sum(question.decision for question in case.questions)
    return CaseCounts(
        case.id,
        (
            *(chunks[agent] for agent in AGENTS),
            kinds["yes_no"],
            kinds["four_options"],
            decisions,
            len(case.questions) - decisions,
        ),
    )


def _settings(recipe: LegalRecipe) -> dict[str, str]:
    return {
        "recipe": recipe.name,
        "seed": str(recipe.seed),
        "contexts": ", ".join(recipe.contexts),
        "retrievers": ", ".join(recipe.retrievers),
        "depths": ", ".join(map(str, recipe.depths)) + (" in all" if recipe.share == "total" else " for each agent"),
        "embedding": recipe.embedding,
        "pipeline": recipe.pipeline,
        "Meta-LLMs": ", ".join(recipe.models),
        "prompts of the user's own": _own_prompts(recipe),
        "balanced evaluation": "yes" if recipe.balanced else "no",
        "probes": ", ".join(recipe.probes) or "none",
        "the prompt offers to decline": "yes" if recipe.may_refuse else "no",
    }


def _own_prompts(recipe: LegalRecipe) -> str:
    prompts = recipe.prompts.prompts()
    return ", ".join(f"{visible(prompts[role].id)} for {role}" for role in prompts.overrides) or "none"


def _notices(content: LegalContent) -> list[str]:
    notices: list[str] = []
    if "offline" in content.recipe.models:
        notices.append("offline is no model: it compares words, and its figures are those of a baseline.")
    released = [name for name in content.recipe.retrievers if name.startswith("released")]
    if released:
        notices.append(f"{', '.join(released)}: ranked as the published code does, with its defects.")
    asked = content.tables.best.questions
    if asked != PUBLISHED_QUESTIONS:
        notices.append(
            f"These are {asked} questions on {len(content.cases)} cases, not the {PUBLISHED_QUESTIONS} of the "
            "published set: no figure here may be set beside a published one without saying so."
        )
    if content.findings.problems:
        notices.append(f"{len(content.findings.problems)} rows of the case book could not be used; see Cases.")
    invalid = sum(line.score.count("invalid") for table in content.tables.models for line in table.cells)
    if invalid:
        notices.append(f"{invalid} questions got no answer through no fault of a model; they count as not correct.")
    if content.balanced and content.balanced.invalid:
        unanswered = f"{content.balanced.invalid} balanced questions got no answer through no fault of a model"
        notices.append(f"{unanswered}; they count as not correct.")
    return notices
