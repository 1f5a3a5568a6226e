"""Reproducibility of the released task set: made twice under different conditions, compared, checked and read.

    python benchmarks/release.py [--env NAME] [--keep FOLDER]

The second time uses another home, working folder, time zone, language and hash seed, and one processor. Prints times,
whether the bytes are equal, whether the tasks are those of docs/tasks/, the result of `lawtrace tasks check`, and
whether Hugging Face `datasets`, if installed, reads the prompts. Exits with 1 if anything fails.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from lawtrace.runs.release.task_set import read_manifest
from lawtrace.runs.store.task_file import find_task_file, read_task_rows
from lawtrace.solver.declarations.loader import PAPER_DOMAINS

RELEASED = Path(__file__).parents[1] / "docs" / "tasks"
VERSION = "1.3"
COUNT = 40


def lawtrace(*words: object, elsewhere: Path | None = None) -> tuple[dict[str, Any], float]:
    """The JSON output of a command in its own process, and its seconds. ``elsewhere`` is another home folder."""
    machine = {"HOME": str(elsewhere), "TZ": "Pacific/Chatham", "LC_ALL": "C", "PYTHONHASHSEED": "4242"}
    start = perf_counter()
    ran = subprocess.run(
        [
            *(["taskset", "-c", "0"] if elsewhere else []),
            Path(sys.executable).with_name("lawtrace"),
            *map(str, words),
            "--json",
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=elsewhere,
        env={**os.environ, **machine} if elsewhere else None,
    )
    if not ran.stdout:
        sys.exit(ran.stderr)
    return json.loads(ran.stdout.splitlines()[-1]), perf_counter() - start


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def examine(folder: Path, scratch: Path, environments: Sequence[str]) -> list[str]:
    """The problems of the release."""
    troubles: list[str] = []
    again, home = scratch / "second", scratch / "home"
    home.mkdir()
    words = ["--count", COUNT, "--version", VERSION]
    words += [word for name in environments or PAPER_DOMAINS for word in ("--env", name)]
    for place, elsewhere in ((folder.resolve(), None), (again, home)):
        made, seconds = lawtrace("tasks", "release", *words, "--out", place, elsewhere=elsewhere)
        print(f"made in {seconds:.0f} s: {made['tasks']} tasks")
    same = bytes_of(folder) == bytes_of(again)
    print(f"the same bytes twice: {same}; {sum(map(len, bytes_of(folder).values())) / 1e6:.1f} MB")
    troubles += [] if same else ["the bytes differ"]
    for name in read_manifest(folder).environments:  # a version in an older format has the same tasks
        ours, theirs = (read_task_rows(find_task_file(place, name)).rows for place in (folder, RELEASED / VERSION))
        print(f"{name}: the tasks of docs/tasks/{VERSION}: {ours == theirs}")
        troubles += (
            [] if ours == theirs else [f"docs/tasks/{VERSION} is not what this code makes: release a new version"]
        )
    checked, seconds = lawtrace("tasks", "check", folder.resolve(), "--out", scratch / "quality.jsonl")
    undecided = sum(answers.get("undecided", 0) for answers in checked["checks"].values())
    print(f"{checked['passed']} of {checked['tasks']} tasks pass {len(checked['checks'])} checks, ", end="")
    print(f"{undecided} answers undecided, {len(checked['invalid'])} files changed ({seconds:.0f} s)")
    whole = (
        checked["passed"] == checked["tasks"] == sum(one.tasks for one in read_manifest(folder).environments.values())
    )
    troubles += [] if whole and not checked["invalid"] else ["not every task passes"]
    return troubles + read_tables(folder)


def read_tables(folder: Path) -> list[str]:
    if find_spec("datasets") is None:
        print("datasets is not installed and was not tried")
        return []
    troubles: list[str] = []
    hugging_face: Any = import_module("datasets")
    for name, entry in read_manifest(folder).environments.items():
        number = hugging_face.load_dataset(str(folder), name)["train"].num_rows
        print(f"{name}: datasets reads {number} rows")
        troubles += [f"{name}: datasets reads {number} rows"] if number != 2 * entry.tasks else []
    return troubles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--env", action="append", default=[], help="environment; default: the released ones")
    parser.add_argument("--keep", type=Path, help="keep the release here")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        troubles = examine(options.keep or Path(scratch) / "first", Path(scratch), options.env)
    for trouble in troubles:
        print(f"FAILED: {trouble}")
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
