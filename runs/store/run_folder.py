"""The folder of a run, with one file per stage."""

import datetime as dt
from pathlib import Path
from typing import Final

from lawtrace.schemas.errors import InputError

NOT_MADE: Final = "not made yet"
"""Why a variant has no verdicts, while an ablation goes on, or after it stopped."""


class RunFolder:
    """The files of one run. Each is written atomically by its stage and read by the next."""

    def __init__(self, path: Path) -> None:
        self.path: Final = path
        self.rules: Final = path / "rules.jsonl"
        self.formalized: Final = path / "formalized.jsonl"
        self.traces: Final = path / "traces.jsonl"
        self.tasks: Final = path / "tasks.jsonl"
        self.attempts: Final = path / "attempts.jsonl"
        self.verdicts: Final = path / "verdicts.jsonl"
        self.habits: Final = path / "habits.jsonl"
        self.findings: Final = path / "findings.jsonl"
        self.report: Final = path / "report.html"
        self.variants: Final = path / "variants.jsonl"  # of an ablation; their other files are in folders of their own

    def variant(self, number: int) -> "RunFolder":
        return RunFolder(self.path / "variants" / f"{number:02d}")

    def existing(self) -> "RunFolder":
        """This folder, if it holds a run. Raises InputError."""
        if self.path.is_file():
            raise InputError(f"{self.path}: a file; give the folder of a run")
        if not self.path.is_dir():
            raise InputError(f"{self.path}: there is no such run folder; `lawtrace run` makes one")
        if not any(file.name == "events.sqlite" or file.suffix == ".jsonl" for file in self.path.iterdir()):
            raise self._no_run()
        return self

    def _no_run(self) -> InputError:
        return InputError(f"{self.path} holds no run; give the folder of one, such as {self.path}/NAME")

    @property
    def stopped_early(self) -> bool:
        """Whether the verdicts are those of a run that did not end. Findings are made last."""
        if self.variants.exists():
            some = any(self.path.glob("variants/*/verdicts.jsonl"))
            return some and f'"ended":"{NOT_MADE}"' in self.variants.read_text(encoding="utf-8")
        return self.verdicts.exists() and not self.findings.exists()

    def judged(self) -> "RunFolder":
        """This folder, if it holds a run with verdicts. Raises InputError."""
        if not self.existing().verdicts.exists():
            if not (self.path / "events.sqlite").exists():
                raise self._no_run()
            raise InputError(f"{self.path}: the run has no verdicts yet; `lawtrace resume {self.path}` continues it")
        return self


def new_run_folder(name: str) -> RunFolder:
    """A new folder for a run in ``logs``, named after the recipe and the time."""
    started = dt.datetime.now(dt.UTC).strftime("%Y%m%d-%H%M%S")
    path, number = Path("logs", f"{started}-{name}"), 2
    while path.exists():
        path, number = Path("logs", f"{started}-{name}-{number}"), number + 1
    return RunFolder(path)
