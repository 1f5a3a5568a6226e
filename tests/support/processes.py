"""The processes of the jails that a test has open."""

import os
from pathlib import Path

__all__ = ["warm_parents"]


def warm_parents() -> set[int]:
    """The children of this process's bubblewraps: process 1 of each open jail, whatever thread opened it."""
    children = {child for task in Path("/proc/self/task").iterdir() for child in _children(task)}
    return {parent for child in children for parent in _children(Path(f"/proc/{child}/task/{child}"))} - {os.getpid()}


def _children(task: Path) -> list[int]:
    try:
        return [int(child) for child in (task / "children").read_text().split()]
    except OSError:  # it has just ended
        return []
