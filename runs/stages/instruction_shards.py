"""Instructions written by shards of ``lawtrace tasks build``, and the tasks that a merge makes of them.

Shards write the requests that are tried first, which are written whatever the answers are. Which are tried after them
depends on the answers to all, so where too few are accepted, the command without ``--shard`` goes on.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from importlib.metadata import version

from lawtrace.agents.concurrency import run_in_worker_thread
from lawtrace.agents.conversations.instruction_writing import InstructionResult
from lawtrace.runs.stages.artifacts import RULES, TASKS, TRACES
from lawtrace.runs.stages.build import BUILDING_STAGES, build, tasks_depend
from lawtrace.runs.stages.stage import Stage, StageContext, StageInputs
from lawtrace.runs.stages.tasks_stage import WrittenPair, first_requests, write_pairs
from lawtrace.runs.store.shards import Shard
from lawtrace.runs.store.stage_store import Products, StageFile, stage_key
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.task_rows import TraceRow

NOT_ASKED = InstructionResult(None, 0, "not asked")


class WrittenRequest(StrictModel):
    """The instructions of a request.

    Attributes:
        request: the id of its trace.
        pair: in both styles; the second is missing if the first was not accepted.
    """

    request: str
    pair: dict[Style, InstructionResult]

    @property
    def is_answered(self) -> bool:
        return all(written.ending != "failure" for written in self.pair.values())


INSTRUCTIONS = StageFile("instructions.jsonl", WrittenRequest)


def tasks_key(context: StageContext, products: Products) -> str:
    """A hash over all that the tasks depend on."""
    return stage_key("tasks", version("lawtrace"), tasks_depend(context), products[RULES], products[TRACES])


async def write_instructions(
    context: StageContext, products: Products, shard: Shard
) -> tuple[list[WrittenRequest], int]:
    """Write the requests of a shard; return them, and how many there are in all shards. ``products``: rules and
    traces."""
    requests = await run_in_worker_thread(lambda: first_requests(context, products[RULES], products[TRACES]))
    own = shard.of(requests)
    with context.progress.stage("instructions", len(own)) as step:
        pairs = await write_pairs(context, own, step)
    rows = [WrittenRequest(request=row.id, pair=pair) for row, pair in zip(own, pairs, strict=True)]
    return rows, len(requests)


def tasks_of(written: Mapping[str, WrittenPair]) -> Stage[StageInputs, StageContext]:
    """The stage that makes tasks of these instructions, by request, and asks for no others."""

    async def look_up(rows: Sequence[TraceRow]) -> list[WrittenPair]:
        return [written.get(row.id, dict.fromkeys(STYLES, NOT_ASKED)) for row in rows]

    (stage,) = (stage for stage in BUILDING_STAGES if TASKS in stage.produces)
    return replace(stage, run=partial(build, write=look_up))
