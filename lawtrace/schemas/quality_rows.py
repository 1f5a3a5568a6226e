"""What the quality gate found about a task (`lawtrace.runs.stages.gate`, `lawtrace.runs.stages.quality`)."""

from typing import Literal, get_args

from lawtrace.schemas.choices import Style
from lawtrace.schemas.models import StrictModel

Check = Literal[
    "reference",
    "triggered",
    "something to do",
    "complete",
    "unambiguous",
    "leak-free",
    "distinct",
    "solvable",
    "open order",
    "compliance needed",
    "refusal",
    "contrast",
    "habit",
]
CHECKS: tuple[Check, ...] = get_args(Check)
Answer = Literal["passed", "failed", "undecided"]


class QualityFinding(StrictModel):
    """A failed or undecided check of a task: the check, the place and the finding."""

    check: Check
    answer: Literal["failed", "undecided"]
    style: Style | None
    detail: str

    @property
    def reason(self) -> str:
        """The check and the finding, whatever the style."""
        return f"{self.check}: {self.detail}"

    def __str__(self) -> str:
        return f"{self.check}{f', {self.style}' if self.style else ''}: {self.detail}"


class QualityRow(StrictModel):
    """The results of the gate for one task. A task passes if no check fails; undecided checks are listed."""

    schema_version: Literal["lawtrace.quality/1"] = "lawtrace.quality/1"
    task: str
    findings: tuple[QualityFinding, ...]

    def answer(self, check: Check) -> Answer:
        found = {finding.answer for finding in self.findings if finding.check == check}
        return "failed" if "failed" in found else "undecided" if found else "passed"

    @property
    def passed(self) -> bool:
        return all(self.answer(check) != "failed" for check in CHECKS)
