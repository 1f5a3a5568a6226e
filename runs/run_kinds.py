"""Kinds of runs added by plug-ins: the interface that the core's commands and pages use."""

from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any, Protocol, cast

from lawtrace.environments.events import Json
from lawtrace.runs.plugins import plugins
from lawtrace.runs.report.sections import RunReport
from lawtrace.runs.store.event_log_database import event_log_path
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.event_log_queries import ConversationKey


@dataclass(frozen=True, slots=True)
class GradedUnit:
    """One graded result of a run of another kind, such as the answer to a question in one configuration.

    Attributes:
        task: the id of the task, such as a question; ``unit``: the configuration.
        outcome: one of the kind's outcomes; ``reason``: why there is no grade; empty otherwise.
        conversation: the key of its conversation in the event log.
    """

    task: str
    unit: str
    model: str
    outcome: str
    reason: str
    conversation: ConversationKey


class RunKind(Protocol):
    """A kind of run of a plug-in.

    Attributes:
        name: the name in messages and pages.
        outcomes: all outcomes of a `GradedUnit`, best first.
        repeat_command: the command line that repeats a run; the folder of the run is appended.
    """

    @property
    def name(self) -> str: ...

    @property
    def outcomes(self) -> tuple[str, ...]: ...

    @property
    def repeat_command(self) -> str: ...

    def resume(self, folder: Path, *, budget: list[str] | None, as_json: bool) -> None:
        """Continue an interrupted run and print its result."""
        ...

    def write_report(self, folder: Path, *, quiet: bool) -> Path:
        """Write the report of a finished run; print its tables unless ``quiet``. Returns the path of the report."""
        ...

    def load_report(self, folder: Path) -> RunReport:
        """The report of a finished run, for the viewer's pages. Raises InputError if the run is not finished."""
        ...

    def graded_units(self, folder: Path) -> list[GradedUnit]:
        """All graded units in file order; empty before they are written."""
        ...


def find_run_kind(recipe: Json) -> RunKind | None:
    """The kind of a run by the recipe in its event log; None for a run of the core."""
    schema = recipe.get("schema_version") if isinstance(recipe, dict) else None
    for plugin in plugins():
        if isinstance(schema, str) and schema in plugin.run_kinds:
            module, name = plugin.run_kinds[schema].split(":")
            kind: Any = getattr(import_module(module), name)
            return cast("RunKind", kind)
    return None


def run_kind_of(folder: Path) -> RunKind | None:
    """The kind of the run in a folder; None for a run of the core, or without an event log."""
    if not event_log_path(folder).exists():
        return None
    with EventLogFile.open(folder) as log:
        return find_run_kind(log.recipe)
