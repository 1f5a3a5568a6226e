"""The published evaluation: in the folder ``benchmarks/published`` of a checkout, not in the installed package."""

import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from lawtrace.schemas.errors import OperationalError

CHECKOUT = Path(__file__).parents[2]


def published_evaluation(target: str) -> Any:  # noqa: ANN401 - callers name the type
    """A part of the published evaluation, as ``module:attribute``. Raises OperationalError outside a checkout."""
    if not (CHECKOUT / "benchmarks" / "published").is_dir():
        raise OperationalError("the published evaluation needs a checkout of lawtrace; see docs/published.md")
    if str(CHECKOUT) not in sys.path:
        sys.path.append(str(CHECKOUT))
    module, name = target.split(":")
    return getattr(import_module(f"benchmarks.published.{module}"), name)


def is_comparison(folder: Path) -> bool:
    """Whether the folder holds a comparison of grading profiles (`lawtrace grade --compare`) rather than a run."""
    return (folder / "recorded.jsonl").exists()
