"""The newest released task set."""

from pathlib import Path

NEWEST = max((Path(__file__).parents[2] / "docs" / "tasks").glob("[0-9]*"), key=lambda folder: folder.name)
"""Its folder."""
