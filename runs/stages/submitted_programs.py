"""Submitted programs: lawtrace's JSON lines or published record files, and the stage that executes them."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from pydantic import ConfigDict, RootModel

from lawtrace.agents.concurrency import gather
from lawtrace.runs.published import published_evaluation
from lawtrace.runs.stages.artifacts import ATTEMPTS, TASKS
from lawtrace.runs.stages.attempts_stage import AnswerExecutor
from lawtrace.runs.stages.evaluate import attempt_sandboxes
from lawtrace.runs.stages.stage import Made, Stage, StageContext, StageInputs
from lawtrace.runs.store.stage_files import UsableRows, read_text, read_usable_lines
from lawtrace.runs.store.stage_store import Products, StageFile
from lawtrace.schemas.attempt_rows import Answer, Attempt

SubmittedRow = Answer | Attempt
"""An answer to execute, or an attempt in tools mode, whose calls are judged as they are."""

PROGRAMS: StageFile[SubmittedRow] = StageFile("programs.jsonl", Answer)


@dataclass(frozen=True, slots=True)
class ProgramFile:
    """The programs of a file in order, the problems of invalid rows, and the verdicts of a published record file."""

    usable: UsableRows[SubmittedRow]
    recorded: tuple[Any, ...] = ()


def read_programs(path: Path) -> ProgramFile:
    """Read a file of programs; an invalid row becomes a problem. Raises InputError for an unreadable file."""
    text = read_text(path)
    if text.lstrip().startswith("["):
        return cast("Callable[[Path, str], ProgramFile]", published_evaluation("records:parse_records"))(path, text)
    return ProgramFile(read_usable_lines(path, _parse_line))


class _SubmittedProgram(Answer):
    """An answer as users write it: further fields are ignored."""

    model_config = ConfigDict(extra="ignore")


def _parse_line(line: str) -> SubmittedRow:
    if "answer" not in RootModel[dict[str, Any]].model_validate_json(line).root:
        return _SubmittedProgram.model_validate_json(line)
    attempt = Attempt.model_validate_json(line)
    return attempt.answer if attempt.answer.mode == "program" else attempt


async def _execute(context: StageContext, products: Products) -> Made:
    programs = products[PROGRAMS]
    attempts = [row for row in programs if isinstance(row, Attempt)]
    if len(attempts) == len(programs):
        return Made().add(ATTEMPTS, attempts)
    executor = AnswerExecutor(context.domain.environment, products[TASKS], context.domain.regulation)
    with context.progress.stage("programs in the sandbox", len(programs)) as step, attempt_sandboxes(context) as pool:
        execute_in_pool = executor.on(pool)

        async def execute(row: SubmittedRow) -> Attempt:
            made = await execute_in_pool(row)
            step()
            return made

        return Made().add(ATTEMPTS, await gather(execute(row) for row in programs))


PROGRAMS_STAGE: Stage[StageInputs, StageContext] = Stage(
    name="programs",
    produces=(ATTEMPTS,),
    needs=lambda _: (TASKS, PROGRAMS),
    depends=lambda inputs: {**inputs.environment_key(), "seconds": inputs.recipe.attempts.seconds},
    run=_execute,
)
"""Replaces the models under test."""
