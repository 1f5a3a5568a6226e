"""Imports the OpenAI Agents SDK, if it is installed, although this checkout has a folder of the same name, `agents`.

Import this module before one that needs the SDK.
"""

import importlib.util
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

_before = [*sys.path]
sys.path[:] = [entry for entry in _before if Path(entry or ".").resolve() != ROOT]
if importlib.util.find_spec("agents") is not None:
    importlib.import_module("agents")
sys.path[:] = _before
