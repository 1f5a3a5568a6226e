"""The stages of a run over tasks: law and tools -> rules -> traces -> tasks -> attempts -> verdicts -> findings."""

from lawtrace.runs.stages.artifacts import BASELINE, EXTRACTED_RULES, FINDINGS, ORACLE_STRENGTH, VERDICTS
from lawtrace.runs.stages.build import BUILDING_STAGES, GIVEN_TASKS, extracts
from lawtrace.runs.stages.evaluate import ATTEMPTING_STAGES
from lawtrace.runs.stages.measure import MEASURING_STAGES
from lawtrace.runs.stages.stage import Stage, StageContext, StageInputs
from lawtrace.runs.store.stage_store import AnyFile

TASK_STAGES: tuple[Stage[StageInputs, StageContext], ...] = (*BUILDING_STAGES, *ATTEMPTING_STAGES, *MEASURING_STAGES)


def task_stages(inputs: StageInputs) -> tuple[Stage[StageInputs, StageContext], ...]:
    """The stages of a recipe; of two that make a file the last makes it."""
    return tuple(GIVEN_TASKS if inputs.given and one.name == "tasks" else one for one in TASK_STAGES)


def run_targets(inputs: StageInputs) -> tuple[AnyFile, ...]:
    """The target files of a whole run, in order."""
    return (
        *((EXTRACTED_RULES,) if extracts(inputs) else ()),
        *((BASELINE,) if inputs.recipe.models.trace_writer is not None else ()),
        *(() if inputs.given else (ORACLE_STRENGTH,)),
        VERDICTS,
        FINDINGS,
    )
