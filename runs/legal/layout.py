"""Where the files of a legal run are."""

from pathlib import Path

from lawtrace.runs.layout import RunFolder


class LegalFolder(RunFolder):
    """The files of one legal run; record and report lie where those of every run do."""

    __slots__ = ()

    @property
    def cases(self) -> Path:
        """The cases as the run found them, so that it can go on whatever becomes of their source."""
        return self.path / "cases.jsonl"

    @property
    def retrieved(self) -> Path:
        return self.path / "retrieved.jsonl"

    @property
    def probes(self) -> Path:
        return self.path / "probes.jsonl"

    @property
    def balanced(self) -> "LegalFolder":
        """The same files once more, of the questions as a balanced evaluation asks them."""
        return LegalFolder(self.path / "balanced")

    @property
    def restated(self) -> Path:
        """What came of restating each yes/no question; in the folder of the balanced evaluation."""
        return self.path / "restated.jsonl"

    @property
    def answers(self) -> Path:
        return self.path / "answers.jsonl"
