"""Where a run's files are: one folder a run, one file a stage."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from lawtrace.environments.errors import InputError


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run. Each is written whole by its stage and read by the next."""

    path: Path

    @property
    def rules(self) -> Path:
        return self.path / "rules.jsonl"

    @property
    def extracted_rules(self) -> Path:
        return self.path / "extracted_rules.jsonl"

    @property
    def trail(self) -> Path:
        """What became of every provision and every rule proposed, and everything said over them."""
        return self.path / "extracted_rules.trail.jsonl"

    @property
    def traces(self) -> Path:
        return self.path / "traces.jsonl"

    @property
    def baseline(self) -> Path:
        """The programs of the model-written baseline; only where a model writes it."""
        return self.path / "baseline.jsonl"

    @property
    def tasks(self) -> Path:
        return self.path / "tasks.jsonl"

    @property
    def attempts(self) -> Path:
        return self.path / "attempts.jsonl"

    @property
    def verdicts(self) -> Path:
        return self.path / "verdicts.jsonl"

    @property
    def findings(self) -> Path:
        """What the stages found beside their rows: coverage, funnel, deletion check, extraction score."""
        return self.path / "findings.jsonl"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def variants(self) -> Path:
        """In an ablation: what each variant is, and what became of it. The other files are in the variants' folders."""
        return self.path / "variants.jsonl"

    def variant(self, number: int) -> "RunFolder":
        return RunFolder(self.path / "variants" / f"{number:02d}")

    def part(self, name: str) -> "RunFolder":
        """A folder of its own for a part of the run."""
        return RunFolder(self.path / name)

    def existing(self) -> "RunFolder":
        """This folder, if it holds a run. Raises InputError."""
        if not self.path.is_dir():
            raise InputError(f"{self.path}: there is no such run folder; `lawtrace run` makes one")
        if not any(file.name == "events.sqlite" or file.suffix == ".jsonl" for file in self.path.iterdir()):
            raise InputError(f"{self.path} holds no run; give the folder of one, such as {self.path}/NAME")
        return self


def new_run_folder(name: str, parent: Path = Path("logs")) -> RunFolder:
    """A folder of its own for a new run, named after the recipe and the time."""
    started = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    path, number = parent / f"{started}-{name}", 2
    while path.exists():
        path, number = parent / f"{started}-{name}-{number}", number + 1
    return RunFolder(path)
