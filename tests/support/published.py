"""Published data beside the checkout, which some tests read."""

from pathlib import Path

import pytest

DATA = Path(__file__).parents[3] / "shared" / "data"


def published_text(name: str) -> str:
    """The text of a file, by its path below the data folder. Skips the test if the file is missing."""
    path = DATA / name
    if not path.is_file():
        pytest.skip(f"published data is not beside the checkout: {name}")
    return path.read_text(encoding="utf-8")
