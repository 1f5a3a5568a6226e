"""Task files of the environments as they are now."""

from pathlib import Path

_TESTS = Path(__file__).parents[1]
NEWEST = max(file.parent for file in (_TESTS.parent / "docs" / "tasks").glob("[0-9]*/banking.jsonl"))
"""The folder of the newest released task set of the papers' worlds."""


def tasks_of(name: str) -> Path:
    """The released tasks of a world of the papers; of another world, some that are kept for tests."""
    released = NEWEST / f"{name}.jsonl"
    return released if released.exists() else _TESTS / "data" / "tasks" / f"{name}.jsonl"
