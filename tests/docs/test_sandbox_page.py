"""The tests and attacks that docs/sandbox.md names exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "sandbox.md").read_text(encoding="utf-8")
SANDBOX = ROOT / "tests" / "environments" / "sandbox"
TESTS = [*SANDBOX.glob("*.py"), *(ROOT / "tests" / "runs").rglob("test_*.py")]


def test_every_test_that_the_page_names_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", PAGE))
    sources = "\n".join(path.read_text(encoding="utf-8") for path in TESTS)
    assert len(named) >= 5
    assert not {name for name in named if f"def {name}(" not in sources}
    files = set(re.findall(r"`(test_\w+\.py)`", PAGE))
    assert files <= {path.name for path in TESTS}


def test_every_attack_that_the_page_names_is_in_the_table() -> None:
    table = (SANDBOX / "test_hostile_programs.py").read_text(encoding="utf-8")
    named = set(re.findall(r"(?<!\*)\*([^*]+)\*(?!\*)", PAGE[PAGE.index("| layer |") : PAGE.index("A wrong argument")]))
    assert len(named) >= 10
    for name in named:
        assert f'"{name}"' in table or f"# --- {name}" in table or f'"{name.removesuffix("...")}' in table, name
