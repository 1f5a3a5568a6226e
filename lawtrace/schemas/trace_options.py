"""The parts of a recipe that bound traces: constraints on every trace, and the difficulty of contrast pairs."""

from typing import Annotated, Literal

from pydantic import Field, model_validator

from lawtrace.schemas.models import StrictModel


class Difficulty(StrictModel):
    """Bounds on contrast pairs. A pair that misses one is left out, and the search tries another request.

    Attributes:
        changes: how many changes a request asks for at most, besides one that another needs first.
        rules: how many rules apply to each side at least: rules that its reference triggers.
        distance: the duty distance (`lawtrace.solver.planner.contrasts`) of the side that carries the
            request out, at least.
        calls: how many calls that side has at least.
    """

    changes: int = Field(default=2, ge=1, le=8)
    rules: int = Field(default=0, ge=0)
    distance: int = Field(default=0, ge=0)
    calls: int = Field(default=0, ge=0)


ANY_DIFFICULTY = Difficulty()


ToolPair = tuple[str, str]

TraceMode = Literal["tasks", "coverage"]

TRACE_MODES: tuple[TraceMode, ...] = ("tasks", "coverage")

StepShare = Annotated[float, Field(ge=0, le=1)]


class TraceConstraints(StrictModel):
    """Constraints on the traces of a search. Every trace meets all of them, or the search reports the conflict.

    Attributes:
        require: each of these tools is called in every trace.
        forbid: these tools are not called.
        pairs: target pairs. Every trace has at least one of them adjacent. The first traces each add one that no
            earlier trace has, until all feasible ones occur.
        compliance: the least and the greatest share of calls to compliance tools.
        distance: any two traces differ in at least this many positions; 1 means that no two have the same tool
            sequence.
    """

    require: tuple[str, ...] = ()
    forbid: tuple[str, ...] = ()
    pairs: tuple[ToolPair, ...] = ()
    compliance: tuple[StepShare, StepShare] | None = None
    distance: int = Field(default=0, ge=0)

    @model_validator(mode="after")
    def _ascending(self) -> "TraceConstraints":
        if self.compliance is not None and self.compliance[0] > self.compliance[1]:
            raise ValueError("the least share of compliance steps is greater than the greatest share")
        return self


NO_CONSTRAINTS = TraceConstraints()
