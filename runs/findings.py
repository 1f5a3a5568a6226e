"""What the stages of a run found beside their rows: one line in a file of its own."""

from typing import Literal

from pydantic import BaseModel, ConfigDict

from runs.report.content import BuildFunnel, DeletionCheck, ExtractionScore

__all__ = ["Findings"]


class Findings(BaseModel):
    """How the tasks came about, how strong the oracle is, how good the extraction was. None: not measured."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.findings/1"] = "lawtrace.findings/1"
    funnel: BuildFunnel | None = None
    deletions: DeletionCheck | None = None
    extraction: ExtractionScore | None = None
