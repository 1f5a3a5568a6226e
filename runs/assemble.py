"""From the files of a run to the content of its report. Reads nothing but those files."""

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from lawtrace.environments.declaration import Environment
from lawtrace.environments.errors import InputError
from lawtrace.environments.folder import Setting
from lawtrace.runs.files import read_rows, read_usable_rows
from lawtrace.runs.findings import Baseline, Findings
from lawtrace.runs.grading.verdict import VerdictRow
from lawtrace.runs.layout import RunFolder
from lawtrace.runs.published.comparison import Comparison
from lawtrace.runs.recipe import OURS, Recipe
from lawtrace.runs.record.store import Record
from lawtrace.runs.record.usage import Usage, usage_of
from lawtrace.runs.report.content import CoverageLine, ReportContent
from lawtrace.runs.settings import offered_setting, recorded_recipe
from lawtrace.runs.stages.rows import AttemptRow, TaskRow
from lawtrace.runs.tasks import sift
from lawtrace.runs.variants import show_setting
from lawtrace.solver.coverage import measure_coverage
from lawtrace.solver.demands import Asked
from lawtrace.solver.product import Product
from lawtrace.solver.profiles import PROFILES, Profile
from lawtrace.solver.rules import Rule
from lawtrace.solver.walks import Pair


def content_of_run(path: Path, env: str | None = None) -> ReportContent:
    """What the report of a finished run shows; ``env`` says where its environment is, if it is not built in.

    Raises InputError if the folder holds no finished run, or its environment is not found.
    """
    folder = RunFolder(path).existing()
    if not folder.verdicts.exists():
        raise InputError(f"{path}: the run has no verdicts yet; `lawtrace resume {path}` goes on with it")
    with Record.open(path) as record:
        recipe = recorded_recipe(record, env)
        usage = usage_of(record, recipe.call_settings().budget.prices)
    return content_of_files(folder, recipe, usage)


def content_of_files(folder: RunFolder, recipe: Recipe, usage: tuple[Usage, ...] = ()) -> ReportContent:
    """What the report shows of the stage files that a recipe led to; what cannot be used of them is named in it."""
    read = read_usable_rows(folder.tasks, TaskRow)
    attempts = sift(read.rows, read_usable_rows(folder.attempts, AttemptRow))
    verdicts = sift(read.rows, read_usable_rows(folder.verdicts, VerdictRow))
    tasks = tuple(read.rows)
    ordinary = [task for task in tasks if task.family == "ordinary"]  # the others have no trace that was searched for
    setting = offered_setting(recipe)
    environment = setting.environment
    findings = read_rows(folder.findings, Findings)[0] if folder.findings.exists() else Findings()
    return ReportContent(
        title=f"lawtrace: {recipe.name}",
        settings=settings_of(recipe),
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


def content_of_comparison(comparison: Comparison) -> ReportContent:
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


def _title(environment: Environment, task: TaskRow) -> str:
    return environment.title if task.family == "ordinary" else f"{environment.title}, denied sessions"


def coverage_lines(
    environment: Environment,
    rules: Sequence[Rule],
    tasks: Sequence[TaskRow],
    recipe: Recipe,
    baseline: Baseline | None = None,
) -> tuple[CoverageLine, ...]:
    """The coverage of the tasks' reference traces beside the ceilings of both profiles (P Table 2).

    Traces of the profile *tasks* are legal, so they are measured against the ceiling of *coverage* too; not so the
    other way round.
    """
    profiles = PROFILES if recipe.tasks.profile == "tasks" else (recipe.tasks.profile,)
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


def _possible_pairs(environment: Environment, rules: Sequence[Rule], profile: Profile, length: int) -> frozenset[Pair]:
    asked = Asked(environment, tuple(rules), profile)
    return frozenset(Product(environment, asked.automata(length)).adjacent_pairs(length))


def settings_of(recipe: Recipe) -> dict[str, str]:
    """The recipe, in the words of the report."""
    roles = recipe.models.model_dump()
    words = {role: text for role, text in recipe.prompts.model_dump().items() if text != OURS}
    return {
        "recipe": recipe.name,
        "environment": Path(recipe.environment).name,
        **({} if recipe.tools == "all" else {"tools offered": ", ".join(recipe.tools)}),
        "seed": str(recipe.seed),
        "rules": str(recipe.rules.file or recipe.rules.source),
        "tasks": f"{recipe.tasks.count} pairs of {recipe.tasks.length} calls, profile {recipe.tasks.profile}",
        **_wishes(recipe),
        "families": ", ".join(recipe.tasks.families),
        "most rounds": str(recipe.conversation.rounds),
        **({} if recipe.conversation.critic else {"LTL critic": "left out"}),
        **({} if recipe.conversation.evaluator else {"masking evaluator": "left out"}),
        **{f"prompt of {role}": show_setting(f"prompts.{role}", text) for role, text in words.items()},
        "models under test": ", ".join(recipe.attempts.contenders),
        "mode": recipe.attempts.mode,
        "shield": recipe.attempts.shield,
        "trials": str(recipe.attempts.trials),
        "sandbox": recipe.sandbox,
        "hints in the documentation": "yes" if recipe.attempts.hints else "no",
        "target state in the goal prompt": "yes" if recipe.attempts.target_state else "no",
        "regulation in the prompt": "yes" if recipe.attempts.regulation else "no",
        **{role.replace("_", " "): model for role, model in roles.items() if model is not None},
    }


def _wishes(recipe: Recipe) -> dict[str, str]:
    wishes = recipe.tasks.wishes.model_dump(exclude_defaults=True)
    return {"wishes": ", ".join(f"{name} {value}" for name, value in wishes.items())} if wishes else {}


def _notices(recipe: Recipe, setting: Setting, tasks: Sequence[TaskRow], baseline: Baseline | None) -> list[str]:
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
    built_in = [model for model in recipe.attempts.contenders if ":" not in model]
    if built_in:
        notices.append(f"Built-in programs under test, not models: {', '.join(built_in)}.")
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
