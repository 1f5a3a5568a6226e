"""The examples of docs/python.md, docs/guard.md and docs/frameworks.md run unchanged, each in a folder of its own."""

import re
from pathlib import Path

import pytest

DOCS = Path(__file__).parents[2] / "docs"
EXAMPLES = [
    code
    for page in (DOCS / "python.md", DOCS / "guard.md", DOCS / "frameworks.md")
    for code in re.findall(r"```python\n(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
]


def test_the_pages_have_examples() -> None:
    assert len(EXAMPLES) >= 4


@pytest.mark.parametrize("code", EXAMPLES, ids=[f"example {number}" for number in range(1, len(EXAMPLES) + 1)])
def test_the_example_runs(code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(compile(code, "example", "exec"), {})
