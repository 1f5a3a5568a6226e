"""What a report is made from."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.errors import InputError, Problem
from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.published.profile_comparison import ProfileComparison
from lawtrace.runs.recipe import BUILT_IN_PROMPT, Recipe
from lawtrace.runs.schemas.findings import DeletionCheck, ExtractionScore, Findings, ModelBaseline, TaskFunnel
from lawtrace.runs.schemas.task_rows import Attempt, Task
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.scoring.metrics import group_verdicts
from lawtrace.runs.stages.resolve import load_recipe_environment, recorded_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import ModelUsage, measure_usage
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows, read_usable_rows
from lawtrace.runs.store.task_file import match_to_tasks
from lawtrace.runs.variants import format_axis_value
from lawtrace.solver.coverage.measures import Coverage, measure_coverage
from lawtrace.solver.coverage.mutations import MutationScore
from lawtrace.solver.masking.instructions import Style
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.tool_sequences import ToolPair
from lawtrace.solver.planner.trace_spec import TRACE_PROFILES, TraceProfile, TraceSpec
from lawtrace.solver.rules import Rule


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """One line of the coverage table (P Table 2): a set of traces measured, and the ceiling of its profile.

    Attributes:
        model_written: the coverage of the model-written baseline, or None where nobody measured it.
        tools: all tools of the environment, for the map of adjacent pairs; empty shows those that occur.
        possible_pairs: the pairs that count towards the ceiling; None if only their number is known.
        occurrences: in how many traces each pair occurs; empty where that was not counted.
    """

    scenario: str
    profile: str
    length: int
    search: Coverage
    ceiling_pairs: int
    model_written: Coverage | None = None
    tools: tuple[str, ...] = ()
    possible_pairs: frozenset[ToolPair] | None = None
    occurrences: Mapping[ToolPair, int] = field(default_factory=dict[ToolPair, int])


@dataclass(frozen=True, slots=True)
class ReportContent:
    """Everything that the report of one run shows.

    Attributes:
        title: heading of the report.
        settings: name -> value, what the run was (environment, seed, models...).
        scenarios: environment name -> title, for headings (``banking`` -> ``Financial``).
        profiles: imported tasks under every grading profile; ``verdicts`` are then the strict ones.
        trials: how often each model was to try each task in each style.
        critical_tools: environment name -> how many critical tools it offers (the API density of P 5.3).
        problems: rows that could not be used, with file and line; they are invalid, and no rate has them.
        usage: what the run used of models; empty where nobody was asked.
        notices: sentences that must be seen first (for instance that models are baselines and no LLM took part).
    """

    title: str
    settings: Mapping[str, str]
    scenarios: Mapping[str, str]
    tasks: tuple[Task, ...]
    attempts: tuple[Attempt, ...]
    verdicts: tuple[Verdict, ...]
    trials: int = 1
    coverage: tuple[CoverageLine, ...] = ()
    funnel: TaskFunnel | None = None
    deletions: DeletionCheck | None = None
    strength: MutationScore | None = None
    extraction: ExtractionScore | None = None
    profiles: ProfileComparison | None = None
    critical_tools: Mapping[str, int] = field(default_factory=dict[str, int])
    problems: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()
    usage: tuple[ModelUsage, ...] = ()

    def planned(self, scenario: str, style: Style) -> int:
        """How many attempts each model was to make in that scenario and style."""
        return self.trials * sum(task.scenario == scenario and style in task.styles for task in self.tasks)

    @property
    def planned_in_all(self) -> int:
        """The same of all that have any verdict."""
        groups = group_verdicts(self.verdicts, {task.id: task.scenario for task in self.tasks})
        return sum(self.planned(group.environment, group.style) for group in groups)


def load_run_content(path: Path, env: str | None = None) -> ReportContent:
    """What the report of a finished run shows; ``env`` says where its environment is, if it is not built in.

    Raises InputError if the folder holds no finished run, or its environment is not found.
    """
    folder = RunFolder(path).existing()
    if not folder.verdicts.exists():
        raise InputError(f"{path}: the run has no verdicts yet; `lawtrace resume {path}` goes on with it")
    with EventLogFile.open(path) as event_log:
        recipe = recorded_recipe(event_log, env)
        usage = measure_usage(event_log, recipe.call_settings().budget.prices)
    return load_content(folder, recipe, usage)


def load_content(folder: RunFolder, recipe: Recipe, usage: tuple[ModelUsage, ...] = ()) -> ReportContent:
    """What the report shows of the stage files that a recipe led to; what cannot be used of them is named in it."""
    read = read_usable_rows(folder.tasks, Task)
    attempts = match_to_tasks(read.rows, read_usable_rows(folder.attempts, Attempt))
    verdicts = match_to_tasks(read.rows, read_usable_rows(folder.verdicts, Verdict))
    tasks = tuple(read.rows)
    ordinary = [task for task in tasks if task.family == "ordinary"]  # the others have no trace that was searched for
    setting = load_recipe_environment(recipe)
    environment = setting.environment
    findings = read_rows(folder.findings, Findings)[0] if folder.findings.exists() else Findings()
    return ReportContent(
        title=f"lawtrace: {recipe.name}",
        settings=describe_settings(recipe),
        scenarios={task.scenario: _title(environment, task) for task in tasks},
        critical_tools={task.scenario: len(environment.critical_tools) for task in tasks},
        tasks=tasks,
        attempts=tuple(attempts.rows),
        verdicts=tuple(verdicts.rows),
        problems=(*read.problems, *attempts.problems, *verdicts.problems),
        trials=recipe.attempts.trials,
        coverage=coverage_lines(environment, ordinary[0].rules, ordinary, recipe, findings.baseline)
        if ordinary
        else (),
        funnel=findings.funnel,
        deletions=findings.deletions,
        strength=findings.strength,
        extraction=findings.extraction,
        usage=usage,
        notices=tuple(_notices(recipe, setting, tasks, findings.baseline)),
    )


def load_comparison_content(comparison: ProfileComparison) -> ReportContent:
    """What the report of imported tasks under every profile shows."""
    environment = comparison.environment
    sources = sorted({task.source for task in comparison.tasks})
    return ReportContent(
        title=f"lawtrace: {', '.join(sources)}, {environment.title}",
        settings={"environment": environment.name, "attempts": str(len(comparison.attempts))},
        scenarios={environment.name: environment.title},
        critical_tools={environment.name: len(environment.critical_tools)},
        tasks=comparison.tasks,
        attempts=comparison.attempts,
        verdicts=comparison.verdicts["strict"],
        trials=1 + max(attempt.trial for attempt in comparison.attempts),
        profiles=comparison,
        problems=comparison.problems,
        notices=("Verdicts, outcomes and task pages are those of the strict profile, unless another is named.",),
    )


def _title(environment: Environment, task: Task) -> str:
    return environment.title if task.family == "ordinary" else f"{environment.title}, denied sessions"


def coverage_lines(
    environment: Environment,
    rules: Sequence[Rule],
    tasks: Sequence[Task],
    recipe: Recipe,
    baseline: ModelBaseline | None = None,
) -> tuple[CoverageLine, ...]:
    """The coverage of the tasks' reference traces beside the ceilings of both profiles (P Table 2).

    Traces of the profile *tasks* are legal, so they are measured against the ceiling of *coverage* too; not so the
    other way round.
    """
    profiles = TRACE_PROFILES if recipe.tasks.profile == "tasks" else (recipe.tasks.profile,)
    traces = [[call.event for call in task.calls] for task in tasks]
    occurring = Counter(pair for events in traces for pair in measure_coverage(environment, [events]).pairs)
    return tuple(
        CoverageLine(
            environment.title,
            profile,
            recipe.tasks.length,
            measure_coverage(environment, traces),
            len(possible),
            model_written=None if baseline is None else baseline.coverage,
            tools=tuple(environment.tools),
            possible_pairs=possible,
            occurrences=occurring,
        )
        for profile in profiles
        for possible in [_possible_pairs(environment, rules, profile, recipe.tasks.length)]
    )


def _possible_pairs(
    environment: Environment, rules: Sequence[Rule], profile: TraceProfile, length: int
) -> frozenset[ToolPair]:
    asked = TraceSpec(environment, tuple(rules), profile)
    return frozenset(Product(environment, asked.automata(length)).feasible_pairs(length))


def describe_settings(recipe: Recipe) -> dict[str, str]:
    """The recipe, in the words of the report."""
    roles = recipe.models.model_dump()
    words = {role: text for role, text in recipe.prompts.model_dump().items() if text != BUILT_IN_PROMPT}
    return {
        "recipe": recipe.name,
        "environment": Path(recipe.environment).name,
        **({} if recipe.tools == "all" else {"tools offered": ", ".join(recipe.tools)}),
        "seed": str(recipe.seed),
        "rules": str(recipe.rules.file or recipe.rules.source),
        "tasks": f"{recipe.tasks.count} pairs of {recipe.tasks.length} calls, profile {recipe.tasks.profile}",
        **_trace_constraints(recipe),
        "families": ", ".join(recipe.tasks.families),
        "most rounds": str(recipe.conversation.rounds),
        **({} if recipe.conversation.critic else {"LTL critic": "left out"}),
        **({} if recipe.conversation.evaluator else {"masking evaluator": "left out"}),
        **{f"prompt of {role}": format_axis_value(f"prompts.{role}", text) for role, text in words.items()},
        "models under test": ", ".join(recipe.attempts.all_models),
        "mode": recipe.attempts.mode,
        "shield": recipe.attempts.shield,
        "trials": str(recipe.attempts.trials),
        "sandbox": recipe.sandbox,
        "hints in the documentation": "yes" if recipe.attempts.hints else "no",
        "target state in the goal prompt": "yes" if recipe.attempts.target_state else "no",
        "regulation in the prompt": "yes" if recipe.attempts.regulation else "no",
        **{role.replace("_", " "): model for role, model in roles.items() if model is not None},
    }


def _trace_constraints(recipe: Recipe) -> dict[str, str]:
    wishes = recipe.tasks.wishes.model_dump(exclude_defaults=True)
    return {"wishes": ", ".join(f"{name} {value}" for name, value in wishes.items())} if wishes else {}


def _notices(recipe: Recipe, setting: Domain, tasks: Sequence[Task], baseline: ModelBaseline | None) -> list[str]:
    notices: list[str] = []
    if recipe.declaration not in {None, setting.digest}:
        notices.append(
            f"The declaration of {setting.environment.name} has changed since this run; what is read from it here (the "
            "ceiling of the coverage) is that of the present one."
        )
    offline = [role.replace("_", " ") for role, model in recipe.models.model_dump().items() if model == "offline"]
    if offline:
        notices.append(
            f"Played by deterministic stand-ins, not by a model: {', '.join(offline)}. Their acceptance rate and their "
            "extraction score are those of a baseline."
        )
    built_in = [model for model in recipe.attempts.all_models if model.startswith("baseline:")]
    if built_in:
        notices.append(f"Baseline policies, not models: {', '.join(built_in)}.")
    if baseline is not None:
        notices.append(
            f"The model-written baseline is by {baseline.model}: of {baseline.programs} programs {baseline.finished} "
            f"ran to their end, and {baseline.compliant} of these kept every rule. Its coverage counts all of them; "
            f"the compliant ones alone reach an ATC of {baseline.compliant_coverage.atc:.1%}."
        )
    if "denied" in recipe.tasks.families:
        notices.append(
            "Denied sessions are counted apart: there, stopping is right, so a program that does nothing passes."
            if any(task.family == "denied" for task in tasks)
            else "No denied session could be judged: see what was dropped, and why."
        )
    if recipe.attempts.hints or recipe.attempts.target_state:
        notices.append("The models under test were given help that users do not give; see the settings.")
    return notices
