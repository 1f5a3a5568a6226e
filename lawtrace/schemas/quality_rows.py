"""What the quality gate found about a task (`lawtrace.runs.stages.quality`)."""

from typing import Literal, get_args

from pydantic import BaseModel, ConfigDict

from lawtrace.schemas.choices import Style

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
    "habit",
]
CHECKS: tuple[Check, ...] = get_args(Check)
Answer = Literal["passed", "failed", "undecided"]


class QualityFinding(BaseModel):
    """A failed or undecided check of a task: the check, the place and the finding."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    check: Check
    answer: Literal["failed", "undecided"]
    style: Style | None
    detail: str

    def __str__(self) -> str:
        return f"{self.check}{f', {self.style}' if self.style else ''}: {self.detail}"


class QualityRow(BaseModel):
    """The results of the gate for one task. A task passes if no check fails; undecided checks are listed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.quality/1"] = "lawtrace.quality/1"
    task: str
    findings: tuple[QualityFinding, ...]

    def answer(self, check: Check) -> Answer:
        found = {finding.answer for finding in self.findings if finding.check == check}
        return "failed" if "failed" in found else "undecided" if found else "passed"

    @property
    def passed(self) -> bool:
        return all(self.answer(check) != "failed" for check in CHECKS)
