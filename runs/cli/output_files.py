"""What keeps the files of a command from replacing others."""

from pathlib import Path

from lawtrace.runs.store.event_log_database import STAGE_LOG_SUFFIX, event_log_path
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.errors import InputError


def check_output(out: Path, *others: Path, command: str = "", force: bool) -> None:
    """Check the files, or the folder, that a command writes, before it begins; ``others`` go next to ``out``.

    Raises InputError if one exists and another command wrote it, unless it is to be replaced.
    """
    there = [file for file in (out, *others) if not _is_free(file)]
    if there and not force and not (command and _is_log_of(stage_log_folder(out), command)):
        raise InputError(f"{there[0]} exists; give another --out, or --force to replace it")


def check_folder(folder: Path) -> None:
    """Raises InputError unless the folder is new or empty. A run says itself that a folder has a run already."""
    if not _is_free(folder) and not event_log_path(folder).exists():
        raise InputError(f"{folder}: not empty; name a new or empty folder with --out")


def _is_free(path: Path) -> bool:
    """Whether there is nothing, or an empty folder."""
    return not path.exists() or (path.is_dir() and not any(path.iterdir()))


def _is_log_of(folder: Path, command: str) -> bool:
    if not event_log_path(folder).exists():
        return False
    with EventLogFile.open(folder) as event_log:
        return isinstance(recipe := event_log.recipe, dict) and recipe.get("stage") == command


def stage_log_folder(out: Path) -> Path:
    """The event log beside an output file."""
    name = out.stem if out.suffix == ".jsonl" else out.name  # the folder of a release may be called 0.1
    return out.with_name(name + STAGE_LOG_SUFFIX)
