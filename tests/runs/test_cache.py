"""Analyses made before are found again, and only where nothing has changed."""

import json
from pathlib import Path

import pytest

from lawtrace.environments.domains.loader import load_domain
from lawtrace.runs import cache
from lawtrace.runs.cache import coverage_of
from lawtrace.runs.cache_folder import cache_folder
from lawtrace.solver.rules import Rule, load_rules

pytestmark = pytest.mark.slow

SETTING = load_domain("banking")
RULES = load_rules(SETTING.rules_file)


@pytest.fixture(autouse=True)
def own_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


def ask(rules: tuple[Rule, ...] = tuple(RULES), length: int = 5, seed: int = 1, *, cached: bool = True):
    return coverage_of(SETTING, rules, profile="tasks", length=length, count=3, seed=seed, cached=cached)


def test_the_second_time_it_is_found_and_the_same() -> None:
    first, known = ask()
    assert not known
    assert ask() == (first, True)
    assert ask(cached=False) == (first, False)


def test_whatever_it_follows_from_makes_it_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    ask()
    assert ask(length=6)[1] is False
    assert ask(seed=2)[1] is False
    assert ask(tuple(RULES[1:]))[1] is False
    assert ask()[1] is True
    for part, changed in (("_code", [("solver/planner/product.py", "0")]), ("_installed", ["z3-solver 0"])):
        with monkeypatch.context() as patch:
            patch.setattr(cache, part, lambda changed=changed: changed)
            assert ask()[1] is False


def test_a_damaged_entry_is_made_anew() -> None:
    whole, _ = ask()
    (entry,) = cache_folder("coverage").iterdir()
    text = json.loads(entry.read_text())
    text["analysis"] = text["analysis"].replace('"needed":', '"needed": ', 1)
    for damaged in ("", "{", json.dumps(text), entry.read_text()[:-10]):
        entry.write_text(damaged)
        assert ask() == (whole, False)
    assert ask() == (whole, True)


def test_a_folder_that_cannot_be_written_is_done_without(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    assert ask()[1] is False
    assert ask()[1] is False


def test_a_relative_cache_home_is_ignored(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cache_folder("coverage") == tmp_path / ".cache" / "lawtrace" / "coverage"
