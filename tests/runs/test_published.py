"""The published evaluation is found in a checkout; without it one sentence says so."""

from pathlib import Path

import pytest

from lawtrace.runs import published
from tests.support.shell import Shell


def test_a_command_without_the_checkout_says_what_it_needs(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert published.published_evaluation("mock_tools:MOCKS")
    monkeypatch.setattr(published, "CHECKOUT", tmp_path)
    code, _, err = lawtrace("tasks", "import", "logisafetybench", tmp_path)
    assert (code, err) == (
        3,
        "lawtrace: the published evaluation needs a checkout of lawtrace; see docs/published.md\n",
    )
