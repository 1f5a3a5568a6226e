"""The legal benchmark is removable: without any ``legal`` folder every test can be collected and the command runs."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
LEFT_OUT = shutil.ignore_patterns(
    "legal", ".git", ".venv", "logs", "*.pyc", "__pycache__", ".*_cache", "build", "*.egg-info"
)
REMAINING = (
    "tests/agents/models", "tests/agents/roles", "tests/prompts", "tests/runs/cli/test_signatures.py",
    "tests/runs/cli/test_command_line.py",
)  # fmt: skip
"""Tests of what mentions the legal benchmark: models and roles, imports, prompts, commands."""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("removed") / "lawtrace"
    shutil.copytree(ROOT, path, symlinks=True, ignore=LEFT_OUT)
    assert not [folder for folder in path.rglob("legal") if folder.is_dir()]
    return path


def run_pytest(copy: Path, *words: str) -> None:
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *words]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]


@pytest.mark.slow
def test_every_test_can_be_collected_without_the_legal_folders(copy: Path) -> None:
    run_pytest(copy, "--collect-only", "-n", "0")


@pytest.mark.slow
def test_agents_prompts_and_commands_work_without_the_legal_folders(copy: Path) -> None:
    run_pytest(copy, "-n", "2", "-m", "not slow and not browser", *REMAINING)
