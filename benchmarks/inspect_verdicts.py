"""Whether verdicts through Inspect equal those of `lawtrace run`, for the baseline policies.

    python -m benchmarks.inspect_verdicts docs/tasks/1.3/*.jsonl [--tasks N] [--shield refuse]

Needs the extra `inspect`. Each policy attempts each task in each style both ways. Verdicts are compared whole: outcome,
goal, differences of state, and for each rule everything but the ids of messages. Prints the number of verdicts, how
many differ and the seconds of both ways, and ends with 1 if any differs. `--tasks`: only the first tasks of a file.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Any

from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.store.task_file import read_tasks, write_tasks
from lawtrace.schemas.model_spec import BASELINE_POLICIES
from lawtrace.schemas.verdict_rows import Verdict

Key = tuple[str, str, str]


@dataclass(frozen=True)
class Comparison:
    """Verdicts both ways, by policy, task and style, without what must differ."""

    ours: Mapping[Key, dict[str, Any]]
    through_inspect: Mapping[Key, dict[str, Any]]
    seconds: tuple[float, float]

    @property
    def differing(self) -> list[Key]:
        """The attempts with different verdicts, or with only one."""
        keys = self.ours.keys() | self.through_inspect.keys()
        return sorted(key for key in keys if self.ours.get(key) != self.through_inspect.get(key))


def compare(
    file: Path,
    folder: Path,
    *,
    policies: Sequence[str] = BASELINE_POLICIES,
    tasks: int | None = None,
    shield: str = "off",
) -> Comparison:
    """Attempt and judge the tasks of a file both ways. Files are written to the folder."""
    rows, _ = read_tasks(file)
    given = folder / file.name
    write_tasks(given, rows[:tasks])
    start = time.perf_counter()
    ours = _by_lawtrace(given, folder, policies, shield)
    middle = time.perf_counter()
    theirs = _by_inspect(given, folder, policies, shield)
    return Comparison(ours, theirs, (middle - start, time.perf_counter() - middle))


def _by_lawtrace(file: Path, folder: Path, policies: Sequence[str], shield: str) -> dict[Key, dict[str, Any]]:
    out = folder / f"run-{shield}"
    models = [part for policy in policies for part in ("--model", f"baseline:{policy}")]
    _lawtrace("run", "--tasks", str(file), *models, "--mode", "tools", "--shield", shield, "--out", str(out))
    found = read_rows(out / "verdicts.jsonl", Verdict)
    return {_key(row): _comparable(row) for row in found}


def _lawtrace(*arguments: str) -> None:
    subprocess.run([sys.executable, "-m", "lawtrace", *arguments], check=True, capture_output=True, text=True)


def _by_inspect(file: Path, folder: Path, policies: Sequence[str], shield: str) -> dict[Key, dict[str, Any]]:
    inspect: Any = import_module("inspect_ai")
    with_baselines: Any = import_module("benchmarks.inspect_baselines").with_baselines
    found: dict[Key, dict[str, Any]] = {}
    for log in inspect.eval(
        with_baselines(str(file), shield=shield),
        model=[f"lawtrace/{policy}" for policy in policies],
        log_dir=str(folder / "inspect"),
        display="none",
        log_realtime=False,
    ):
        if log.status != "success":
            raise RuntimeError(f"{log.eval.model}: {log.error or log.status}")
        for sample in log.samples:
            row = Verdict.model_validate(sample.scores["dual_oracle"].metadata["verdict"])
            found[_key(row)] = _comparable(row)
    return found


def _key(row: Verdict) -> Key:
    return row.model.removeprefix("baseline:").removeprefix("lawtrace/"), row.task, row.style


def _comparable(row: Verdict) -> dict[str, Any]:
    """The verdict without the model's name, the ids of messages, and the states that Inspect's logs leave out."""
    fields: dict[str, Any] = json.loads(row.model_dump_json(exclude={"model", "answer"}))
    for rule in fields["rules"]:
        del rule["states"], rule["message"]
    return fields


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--tasks", type=int)
    parser.add_argument("--shield", default="off", choices=["off", "warn", "refuse"])
    given = parser.parse_args()
    different = 0
    for file in given.files:
        with tempfile.TemporaryDirectory() as folder:
            made = compare(file, Path(folder), tasks=given.tasks, shield=given.shield)
        ours, theirs = made.seconds
        print(
            f"{file.name}: {len(made.ours)} verdicts, {len(made.differing)} differ; "
            f"{ours:.0f} s with lawtrace, {theirs:.0f} s with Inspect",
            flush=True,
        )
        for key in made.differing[:10]:
            print("  ", *key)
        different += len(made.differing)
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
