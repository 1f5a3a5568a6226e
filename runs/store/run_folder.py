"""The folder of a run, with one file per stage."""

import datetime as dt
from dataclasses import dataclass
from pathlib import Path

from lawtrace.schemas.errors import InputError


@dataclass(frozen=True, slots=True)
class RunFolder:
    """The files of one run. Each is written atomically by its stage and read by the next."""

    path: Path

    @property
    def rules(self) -> Path:
        return self.path / "rules.jsonl"

    @property
    def extracted_rules(self) -> Path:
        return self.path / "extracted_rules.jsonl"

    @property
    def provenance(self) -> Path:
        """The provenance of extracted rules: the fate of every provision and proposed rule, and all messages."""
        return self.path / "extracted_rules.provenance.jsonl"

    @property
    def traces(self) -> Path:
        return self.path / "traces.jsonl"

    @property
    def baseline(self) -> Path:
        """The programs of the model-written baseline, if there is one."""
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
    def habits(self) -> Path:
        return self.path / "habits.jsonl"

    @property
    def findings(self) -> Path:
        """Statistics of the stages: coverage, funnel, deletion check, extraction score."""
        return self.path / "findings.jsonl"

    @property
    def report(self) -> Path:
        return self.path / "report.html"

    @property
    def variants(self) -> Path:
        """The variants of an ablation and how they ended. Their other files are in folders of their own."""
        return self.path / "variants.jsonl"

    def variant(self, number: int) -> "RunFolder":
        return RunFolder(self.path / "variants" / f"{number:02d}")

    def part(self, name: str) -> "RunFolder":
        """The folder of a part of the run."""
        return RunFolder(self.path / name)

    def existing(self) -> "RunFolder":
        """This folder, if it holds a run. Raises InputError."""
        if not self.path.is_dir():
            raise InputError(f"{self.path}: there is no such run folder; `lawtrace run` makes one")
        if not any(file.name == "events.sqlite" or file.suffix == ".jsonl" for file in self.path.iterdir()):
            raise InputError(f"{self.path} holds no run; give the folder of one, such as {self.path}/NAME")
        return self


def new_run_folder(name: str, parent: Path = Path("logs")) -> RunFolder:
    """A new folder for a run, named after the recipe and the time."""
    started = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    path, number = parent / f"{started}-{name}", 2
    while path.exists():
        path, number = parent / f"{started}-{name}-{number}", number + 1
    return RunFolder(path)
