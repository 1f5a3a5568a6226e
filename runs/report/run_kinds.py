"""Kinds of runs added by plug-ins: the interface that the core's commands and pages use."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, cast

from pydantic import ValidationError

from lawtrace.runs.plugins import plugins
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.report.labels import OUTCOME_LABELS, OutcomeLabel
from lawtrace.runs.store.event_log_database import event_log_path
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.events import Json
from lawtrace.schemas.recipe import Recipe
from lawtrace.schemas.verdict_rows import Verdict

if TYPE_CHECKING:  # the kind of a recipe is known without what reports are made of
    from rich.console import RenderableType

    from lawtrace.runs.scoring.statistics import PairedComparison

RECIPE_SCHEMA = Recipe.model_fields["schema_version"].default


@dataclass(frozen=True, slots=True)
class GradedUnit:
    """One graded result: a verdict on an attempt, or in a run of another kind the grade of an answer.

    Attributes:
        task: the id of the task, such as a question; ``unit``: the configuration, or the style of a verdict.
        cluster: tasks of one cluster are not independent, such as the questions about one case.
        outcome: one of the kind's outcomes; ``reason``: why there is no grade; empty otherwise.
        conversation: the id of its conversation in the event log.
        variant: of an ablation, its name.
        verdict: in a run of the core.
        number: index among all of the run.
    """

    task: str
    unit: str
    cluster: str
    model: str
    outcome: str
    reason: str
    conversation: str
    trial: int = 0
    variant: str = ""
    verdict: Verdict | None = None
    number: int = 0

    @property
    def broken(self) -> list[str]:
        """The ids of the broken rules."""
        return [rule.rule for rule in self.verdict.rules if rule.broken] if self.verdict else []

    @property
    def undetermined(self) -> list[str]:
        """The ids of the rules that are neither kept nor broken."""
        return [rule.rule for rule in self.verdict.rules if rule.undetermined] if self.verdict else []

    @property
    def not_kept(self) -> list[str]:
        """The ids of the rules that are broken or undetermined."""
        return [*self.broken, *self.undetermined]

    @property
    def fact(self) -> str:
        """The fact of its contrast pair, which the decision point names after the environment; empty without one."""
        point = self.verdict.point if self.verdict else None
        return (point or "").partition(": ")[2].partition(";")[0]

    @property
    def contender(self) -> str:
        """The model, with acting mode and shield."""
        return self.verdict.contender if self.verdict else self.model


@dataclass(frozen=True, slots=True)
class ShownReport:
    """A written report, and what is printed of it."""

    path: Path
    shown: "Sequence[RenderableType]"


class RunKind(Protocol):
    """A kind of run of a plug-in.

    Attributes:
        name: the name in messages and pages.
        task_name, unit_name: what a task and a unit of a `GradedUnit` are, such as question and configuration.
        intervals: how `compare` makes intervals, in a few words; ``test``: how it makes p values.
        outcomes: all outcomes of a `GradedUnit` with their labels, best first. All count in the denominator.
        graded_file: the name of the file that `graded_units` reads.
        repeat_command: the command line that repeats a run; the folder of the run is appended.
    """

    name: str
    task_name: str
    unit_name: str
    intervals: str
    test: str
    outcomes: Mapping[str, OutcomeLabel]
    graded_file: str
    repeat_command: str

    def start(
        self,
        recipe: Path,
        *,
        values: Mapping[str, object],
        budget: list[str] | None,
        reuse: Path | None,
        dry_run: bool,
        out: Path | None,
        on: str | None,
    ) -> CommandResult:
        """Run a recipe of this kind; ``values``: dotted keys that override it.
        ``on``: the address of a cluster."""
        ...

    def resume(self, folder: Path, *, budget: list[str] | None, on: str | None) -> CommandResult:
        """Continue an interrupted run."""
        ...

    def write_report(self, folder: Path) -> ShownReport:
        """Write the report and tables of a finished run."""
        ...

    def identify(self, event_log: EventLogFile) -> dict[str, str]:
        """What identifies a run, by name (`lawtrace.runs.report.content.identify_run`)."""
        ...

    def graded_units(self, folder: Path) -> list[GradedUnit]:
        """All graded units in file order; empty before they are written."""
        ...

    def compare(self, pairs: Sequence[tuple[GradedUnit, GradedUnit]]) -> "PairedComparison":
        """Compare the shares of the best outcome over the same tasks and units; at least one pair."""
        ...


def identify(event_log: EventLogFile) -> dict[str, str]:
    """What identifies a run of any kind, or the log of a single stage.

    A recipe of another version, which may have other keys, is known by its digest alone.
    """
    from lawtrace.runs.report.content import identify_recipe, identify_run

    recorded = event_log.recipe
    try:
        if kind := find_run_kind(recorded):
            return kind.identify(event_log)
        if isinstance(recorded, dict) and recorded.get("schema_version") == RECIPE_SCHEMA:
            return identify_recipe(event_log, Recipe.model_validate(recorded))
    except ValidationError:
        pass
    return identify_run(event_log, models=(), digests={})


def find_run_kind(recipe: Json) -> RunKind | None:
    """The kind of a run by the recipe in its event log; None for a run of the core."""
    schema = recipe.get("schema_version") if isinstance(recipe, dict) else None
    for plugin in plugins():
        if isinstance(schema, str) and schema in plugin.run_kinds:
            return _load(plugin.run_kinds[schema])
    return None


def _load(target: str) -> RunKind:
    module, name = target.split(":")
    kind: Any = getattr(import_module(module), name)
    return cast("RunKind", kind)


@cache
def outcome_labels() -> Mapping[str, OutcomeLabel]:
    """The labels of the outcomes of all kinds of runs. An outcome of the core keeps its label."""
    kinds = [_load(target) for plugin in plugins() for target in plugin.run_kinds.values()]
    found: dict[str, OutcomeLabel] = {outcome: label for kind in kinds for outcome, label in kind.outcomes.items()}
    return {**found, **OUTCOME_LABELS}


def outcome_label(outcome: str) -> OutcomeLabel:
    known: Mapping[str, OutcomeLabel] = {**OUTCOME_LABELS}
    return known.get(outcome) or outcome_labels()[outcome]


def run_kind_of(folder: Path) -> RunKind | None:
    """The kind of the run in a folder; None for a run of the core, or without an event log."""
    if not event_log_path(folder).exists():
        return None
    with EventLogFile.open(folder) as log:
        return find_run_kind(log.recipe)
