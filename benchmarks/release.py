"""The released task set: made twice, in two processes with other hash seeds, held against each other, checked and read.

    python benchmarks/release.py [--count 40] [--keep FOLDER]

Prints what each making takes, whether the bytes are the same, what the gate says of each environment when asked again,
and who can read the tables: pyarrow, and Hugging Face `datasets` where it is installed. Exits with 1 if anything fails.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from time import perf_counter
from typing import Any

from runs.release.writing import check_release, read_manifest


def lawtrace(*words: object, hash_seed: int = 0) -> tuple[dict[str, Any], float]:
    """What the command says, in a process of its own, and the seconds that it took."""
    start = perf_counter()
    ran = subprocess.run(
        [Path(sys.executable).with_name("lawtrace"), *map(str, words), "--json"],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "PYTHONHASHSEED": str(hash_seed)},
    )
    if not ran.stdout:
        sys.exit(ran.stderr)
    return json.loads(ran.stdout.splitlines()[-1]), perf_counter() - start


def bytes_of(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in sorted(folder.iterdir()) if path.is_file()}


def examine(folder: Path, again: Path, count: int) -> list[str]:
    """What is wrong with the release; empty if nothing."""
    troubles: list[str] = []
    for number, place in enumerate((folder, again), 1):
        made, seconds = lawtrace("tasks", "release", "--count", count, "--out", place, hash_seed=number)
        print(f"made in {seconds:.0f} s: {made['tasks']} tasks, {made['pairs']}")
    same = bytes_of(folder) == bytes_of(again)
    print(f"the same bytes twice: {same}; {sum(map(len, bytes_of(folder).values())) / 1e6:.1f} MB")
    troubles += [] if same else ["the bytes differ"]
    troubles += check_release(folder)
    for name in read_manifest(folder).environments:
        checked, seconds = lawtrace(
            "tasks", "check", folder / f"{name}.jsonl", "--out", again.parent / f"{name}.quality.jsonl"
        )
        undecided = sum(answers.get("undecided", 0) for answers in checked["checks"].values())
        print(f"{name}: {checked['passed']} of {checked['tasks']} pairs pass {len(checked['checks'])} checks, ", end="")
        print(f"{undecided} answers undecided ({seconds:.0f} s)")
        troubles += [] if checked["passed"] == checked["tasks"] == count else [f"{name}: not every pair passes"]
    return troubles + read_tables(folder, count)


def read_tables(folder: Path, count: int) -> list[str]:
    troubles: list[str] = []
    parquet: Any = import_module("pyarrow.parquet")
    hugging_face: Any = import_module("datasets") if find_spec("datasets") else None
    for name in read_manifest(folder).environments:
        rows = {"pyarrow": parquet.read_table(folder / f"{name}.parquet").num_rows}
        if hugging_face is not None:
            rows["datasets"] = hugging_face.load_dataset(str(folder), name)["train"].num_rows
        print(f"{name}: " + ", ".join(f"{reader} reads {number} rows" for reader, number in rows.items()))
        troubles += [f"{name}: {reader} reads {number}" for reader, number in rows.items() if number != 2 * count]
    if hugging_face is None:
        print("datasets is not installed and was not tried")
    return troubles


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=40, help="pairs in each environment")
    parser.add_argument("--keep", type=Path, help="where the release is left")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        troubles = examine(options.keep or Path(scratch) / "first", Path(scratch) / "second", options.count)
    for trouble in troubles:
        print(f"WRONG: {trouble}")
    sys.exit(1 if troubles else 0)


if __name__ == "__main__":
    main()
