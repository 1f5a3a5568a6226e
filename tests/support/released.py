"""Task files of the environments as they are now."""

from pathlib import Path

_TESTS = Path(__file__).parents[1]
NEWEST = max((_TESTS.parent / "docs" / "tasks").glob("[0-9]*"), key=lambda folder: folder.name)
"""The folder of the newest released task set."""


def tasks_of(name: str) -> Path:
    """The released tasks of an environment; for one that is not released, some that are kept for tests."""
    released = NEWEST / f"{name}.jsonl"
    return released if released.exists() else _TESTS / "data" / "tasks" / f"{name}.jsonl"
