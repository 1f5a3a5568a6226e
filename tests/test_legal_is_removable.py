"""The legal benchmark is removable: without any ``legal`` folder the fast tier of the tests passes."""

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


@pytest.mark.slow
def test_the_fast_tier_passes_without_the_legal_folders(tmp_path: Path) -> None:
    copy = tmp_path / "lawtrace"
    shutil.copytree(ROOT, copy, symlinks=True, ignore=LEFT_OUT)
    assert not [path for path in copy.rglob("legal") if path.is_dir()]
    environment = {**os.environ, "PYTHONPATH": str(copy)}
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-n",
        "2",
        "-m",
        "not slow and not browser",
        "-p",
        "no:cacheprovider",
    ]
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:]
