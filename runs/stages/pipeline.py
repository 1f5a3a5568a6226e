"""The stages of a run over tasks: law and tools -> rules -> traces -> tasks -> attempts -> verdicts -> findings."""

from lawtrace.runs.stages.artifacts import BASELINE, EXTRACTED_RULES, FINDINGS, ORACLE_STRENGTH, VERDICTS
from lawtrace.runs.stages.build import BUILDING_STAGES, extracts
from lawtrace.runs.stages.evaluate import ATTEMPTING_STAGES
from lawtrace.runs.stages.measure import MEASURING_STAGES
from lawtrace.runs.stages.stage import Stage, StageContext, StageInputs
from lawtrace.runs.store.stage_store import AnyFile

TASK_STAGES: tuple[Stage[StageInputs, StageContext], ...] = (*BUILDING_STAGES, *ATTEMPTING_STAGES, *MEASURING_STAGES)


def run_targets(inputs: StageInputs) -> tuple[AnyFile, ...]:
    """The target files of a whole run, in order."""
    return (
        *((EXTRACTED_RULES,) if extracts(inputs) else ()),
        *((BASELINE,) if inputs.recipe.models.trace_writer is not None else ()),
        ORACLE_STRENGTH,
        VERDICTS,
        FINDINGS,
    )
