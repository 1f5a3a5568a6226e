"""The content of a report, loaded from the files of a run."""

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, cast

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.report.text import cut, show_value
from lawtrace.runs.scoring.ablation import Ablation
from lawtrace.runs.stages.resolve import offered_tools, recorded_recipe
from lawtrace.runs.store.event_log_database import is_being_written
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import ModelUsage, measure_usage
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.shards import record_in
from lawtrace.runs.store.stage_files import read_rows, read_usable_rows
from lawtrace.runs.store.task_file import match_to_tasks, read_task_rows
from lawtrace.runs.tasks import Task, options_for_tasks, task_mode
from lawtrace.runs.variants import VariantRow
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.choices import Style
from lawtrace.schemas.errors import Problem
from lawtrace.schemas.findings import Coverage, Findings, ModelBaseline
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.solver.coverage.measures import measure_coverage
from lawtrace.solver.declarations.loader import Domain, load_domain

MOST_CHARACTERS = 300
"""Of a setting."""


@dataclass(frozen=True, slots=True)
class CoverageLine:
    """A line of the coverage table (P Table 2).

    Attributes:
        model_written: coverage of the model-written baseline; None if not measured. ``compliant_only``: of its
            compliant programs alone.
    """

    scenario: str
    mode: str
    length: int
    search: Coverage
    model_written: Coverage | None = None
    compliant_only: Coverage | None = None


@dataclass(frozen=True, slots=True)
class ReportContent:
    """The data of a run's report.

    Attributes:
        title: heading of the report.
        settings: name -> value (environment, seed, models ...).
        scenarios: environment name -> title, for headings (``banking`` -> ``Financial``).
        trials: planned trials of each task, style and model.
        critical_tools: environment name -> number of critical tools (the API density of P 5.3).
        problems: rows that could not be used, with file and line; they count as invalid.
        usage: model calls of the run; empty if there were none.
        identity: what identifies the run, by name; empty for loose files.
        notices: warnings shown before the numbers.
        planned_in_all: attempts of a run that has not made all; None of others.
    """

    title: str
    settings: Mapping[str, str]
    scenarios: Mapping[str, str]
    tasks: tuple[Task, ...]
    attempts: tuple[Attempt, ...]
    verdicts: tuple[Verdict, ...]
    trials: int = 1
    coverage: tuple[CoverageLine, ...] = ()
    findings: Findings = field(default_factory=Findings)
    critical_tools: Mapping[str, int] = field(default_factory=dict[str, int])
    problems: tuple[Problem, ...] = ()
    notices: tuple[str, ...] = ()
    usage: tuple[ModelUsage, ...] = ()
    identity: Mapping[str, str] = field(default_factory=dict[str, str])
    planned_in_all: int | None = None

    @property
    def models(self) -> tuple[str, ...]:
        """The models with verdicts, with acting mode and shield."""
        return tuple(dict.fromkeys(verdict.contender for verdict in self.verdicts))

    def scenario_title(self, scenario: str) -> str:
        return self.scenarios.get(scenario, scenario)

    def planned(self, scenario: str, style: Style) -> int:
        """Planned attempts of each model in this scenario and style."""
        return self.trials * sum(task.environment == scenario and style in task.styles for task in self.tasks)


def load_run_content(path: Path, env: str | None = None, domain: Domain | None = None) -> ReportContent:
    """The content of a run, also of one that stopped with some attempts judged.

    ``env``: folder of its environment, unless built in; ``domain``: what is in it.

    Raises InputError if the folder has no verdicts, or its environment is not found.
    """
    folder = RunFolder(path).judged()
    with EventLogFile.open(path) as event_log:
        recipe = recorded_recipe(event_log, env)
        usage = measure_usage(event_log, recipe.prices)
        identity = identify_recipe(event_log, recipe)
    content = load_content(folder, recipe, usage, identity, domain)
    options = options_for_tasks(recipe.attempts, content.tasks)
    styles = sum(style in options.styles for task in content.tasks for style in task.styles)
    planned = options.trials * len(options.models) * styles
    if not folder.stopped_early or planned == len(content.attempts):
        return content
    content = replace(content, planned_in_all=planned)
    return replace(content, notices=(*unfinished_notice(path, content), *content.notices))


def unfinished_notice(path: Path, content: ReportContent | None, ablation: Ablation | None = None) -> Iterator[str]:
    """How many attempts, or variants, the run in the folder has not made; nothing if it has ended."""
    if ablation is not None and ablation.unfinished:
        lacks = f"{ablation.unfinished} of {len(ablation.variants)} variants are missing or incomplete."
    elif content is not None and content.planned_in_all is not None:
        lacks = f"{content.planned_in_all - len(content.attempts)} of {content.planned_in_all} attempts are missing."
    else:
        return
    if is_being_written(path):
        yield f"The run is going on: {lacks}"
    elif (record := record_in(path)) and record.sha256:
        yield f"This is shard {record.shard} of a run: {lacks} `lawtrace merge` joins all shards."
    else:
        what = f"Shard {record.shard} of a run" if record else "The run"
        yield f"{what} has stopped: {lacks} `lawtrace resume {path}` goes on."


def identify_recipe(event_log: EventLogFile, recipe: Recipe) -> dict[str, str]:
    """What identifies a run over tasks; of an ablation with the environment of each variant."""
    folder, name = RunFolder(event_log.path.parent), Path(recipe.environment).name
    rows = read_rows(folder.variants, VariantRow) if folder.variants.exists() else ()
    digests = {f"environment {row.changes.get('environment', name)}": row.declaration for row in rows}
    digests = digests or {f"environment {name}": recipe.declaration}
    return identify_run(event_log, models=recipe.attempts.all_models, digests=digests)


def identify_run(
    event_log: EventLogFile, *, models: Sequence[str], digests: Mapping[str, str | None]
) -> dict[str, str]:
    """What identifies a run on every page and in every file made from it, by name.

    ``digests``: of what the run was made from beside its recipe, by name; None if unknown.
    """
    recipe = json.dumps(event_log.recipe, sort_keys=True, ensure_ascii=False)
    return {
        "run": event_log.path.parent.resolve().name,
        "started": f"{event_log.created[:16].replace('T', ' ')} UTC",
        "lawtrace": event_log.written_by,
        "recipe": _short_digest(hashlib.sha256(recipe.encode()).hexdigest()),
        **{name: _short_digest(digest) for name, digest in digests.items() if digest},
        **({"models": ", ".join(models)} if models else {}),
    }


def run_title(recipe: Recipe, folder: RunFolder) -> str:
    """The heading of a report: the name of the folder, which tells runs apart, and of the recipe if that is another."""
    name = folder.path.resolve().name
    return f"lawtrace: {name}" if recipe.name in name else f"lawtrace: {name} ({recipe.name})"


def _short_digest(digest: str) -> str:
    return f"sha256:{digest[:12]}"


def load_content(
    folder: RunFolder,
    recipe: Recipe,
    usage: tuple[ModelUsage, ...] = (),
    identity: Mapping[str, str] | None = None,
    domain: Domain | None = None,
) -> ReportContent:
    """The content of the stage files of a recipe, with the rows that could not be used. ``domain``: the environment, if
    it is loaded."""
    domain = domain or offered_tools(recipe, load_domain(recipe.environment))
    read = read_task_rows(folder.tasks)
    attempts = match_to_tasks(read.rows, read_usable_rows(folder.attempts, Attempt))
    verdicts = match_to_tasks(read.rows, read_usable_rows(folder.verdicts, Verdict))
    tasks = tuple(read.rows)
    environment = domain.environment
    findings = read_rows(folder.findings, Findings)[0] if folder.findings.exists() else Findings()
    return ReportContent(
        title=run_title(recipe, folder),
        settings=describe_settings(recipe),
        scenarios={task.environment: environment.title for task in tasks},
        critical_tools={task.environment: len(environment.critical_tools) for task in tasks},
        tasks=tasks,
        attempts=tuple(attempts.rows),
        verdicts=tuple(verdicts.rows),
        problems=(*read.problems, *attempts.problems, *verdicts.problems),
        trials=recipe.attempts.trials,
        coverage=_coverage_lines(environment, tasks, recipe, findings.baseline) if tasks else (),
        findings=findings,
        usage=usage,
        identity=identity or {},
        notices=tuple(_notices(recipe, domain, findings.baseline)),
    )


def _coverage_lines(
    environment: Environment, tasks: Sequence[Task], recipe: Recipe, baseline: ModelBaseline | None = None
) -> tuple[CoverageLine, ...]:
    """The coverage of the reference traces (P Table 2); none of traces whose length follows from a request."""
    mode = task_mode(recipe.tasks, environment)
    if mode in {"contrasts", "safe-harbour"}:
        return ()
    search = measure_coverage(environment, [[call.event for call in task.calls] for task in tasks])
    model_written = (None, None) if baseline is None else (baseline.coverage, baseline.compliant_coverage)
    return (CoverageLine(environment.title, mode, recipe.tasks.length, search, *model_written),)


def describe_settings(recipe: Recipe) -> dict[str, str]:
    """The values of a recipe by their keys, such as ``tasks.count``; those that are not set are left out."""

    def flat(key: str, value: Any) -> Iterator[tuple[str, str]]:  # noqa: ANN401 (JSON)
        if isinstance(value, dict):
            for name, inner in cast("dict[str, Any]", value).items():
                yield from flat(f"{key}.{name}" if key else name, inner)
        elif value not in (None, []):
            yield key, cut(value if isinstance(value, str) else show_value(value), MOST_CHARACTERS)

    return dict(flat("", recipe.model_dump(mode="json", exclude={"schema_version", "declaration"})))


def _notices(recipe: Recipe, domain: Domain, baseline: ModelBaseline | None) -> list[str]:
    notices: list[str] = []
    if recipe.declaration not in {None, domain.digest}:
        notices.append(f"The declaration of {domain.environment.name} has changed since this run.")
    offline = [role.replace("_", " ") for role, model in recipe.models.specs().items() if str(model) == "offline"]
    if offline:
        notices.append(
            f"Roles without a model: {', '.join(offline)}. Their acceptance rate and extraction score are a baseline."
        )
    built_in = [model for model in recipe.attempts.all_models if model.startswith("baseline:")]
    if built_in:
        notices.append(f"Baseline policies under test, not models: {', '.join(built_in)}.")
    if baseline is not None:
        notices.append(
            f"Model-written baseline by {baseline.model}: {baseline.finished} of {baseline.programs} programs "
            f"finished, {baseline.compliant} of these kept every rule. Its coverage counts all of them; the "
            f"compliant ones alone reach an ATC of {baseline.compliant_coverage.atc:.1%}."
        )
    if recipe.attempts.hints or recipe.attempts.target_state:
        notices.append("The models under test got help that users do not give; see the settings.")
    return notices
