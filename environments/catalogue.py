"""Finding an environment: one of ours by its name, one of the user's own by its folder.

A word with a separator in it (``./airline``, ``../airline``, ``/srv/airline``) or ``.`` alone is a folder; any other
word is a name. So a folder that happens to be called like a name is never read by accident.
"""

import difflib
import importlib
from functools import lru_cache
from pathlib import Path

from lawtrace.environments.errors import InputError
from lawtrace.environments.folder import Setting, read_built_in, read_folder

BUILT_IN = ("banking", "telehealth", "smart_home")
"""The packages beside this file that declare an environment; each is called like its package."""


def is_folder(where: str) -> bool:
    """Whether the word names a folder rather than a built-in environment."""
    return where in {".", ".."} or "/" in where or "\\" in where


def load_setting(where: str) -> Setting:
    """The setting of a built-in environment, or of a folder, whose Python is run.

    Raises InputError: for a name that there is not, naming those there are; for a folder that is no environment,
    naming file, line and remedy.
    """
    if not is_folder(where):
        return _built_in(where)
    setting = read_folder(Path(where).expanduser())
    if setting.environment.name in BUILT_IN:
        raise InputError(
            f"{setting.folder}: declares an environment named {setting.environment.name!r}, like a built-in one; "
            "files name an environment by this name, so give it one of its own"
        )
    return setting


@lru_cache
def _built_in(name: str) -> Setting:
    if name in BUILT_IN:
        return read_built_in(importlib.import_module(f"lawtrace.environments.{name}"))
    nearest = difflib.get_close_matches(name, BUILT_IN, 1)
    meant = f"did you mean {nearest[0]!r}? " if nearest else ""
    folder = f"; for the folder of that name write ./{name}" if Path(name).is_dir() else ""
    raise InputError(f"there is no environment {name!r}; {meant}built in: {', '.join(BUILT_IN)}{folder}")
