"""Shards of a legal run: a part of its answers with their probes, and the run that all parts make together."""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from lawtrace.environments.legal.dataset import LegalDataset
from lawtrace.environments.legal.retrieval.retrievers import EMBEDDING_RETRIEVERS
from lawtrace.environments.progress import StageProgress
from lawtrace.runs.legal.grounding import is_probed
from lawtrace.runs.legal.legal_files import ANSWERS, CASES, PROBES, RETRIEVED, AnswerRow, ProbeRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_runner import (
    PROBE_STAGE,
    LegalContext,
    check_divisible,
    legal_targets,
    made_probes,
    open_legal_runner,
)
from lawtrace.runs.legal.legal_stages import answer_units
from lawtrace.runs.runner import ShardResult, left_to_shard_1
from lawtrace.runs.stages.stage import Made
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.merging import is_complete, merge_shards
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.shards import FoundShard, Shard, begin_record, end_record, record_path
from lawtrace.runs.store.stage_store import Products
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ENDPOINTS, ModelSpec

COMMAND = "legal run"


def shard_record(folder: RunFolder) -> Path:
    """Where the record of a shard is, in the folder of a run."""
    return record_path(folder.path / ANSWERS.name)


async def run_legal_shard(
    recipe: LegalRecipe,
    folder: RunFolder,
    shard: Shard,
    *,
    event_log: EventLogFile,
    dataset: LegalDataset,
    progress: StageProgress | None = None,
    reuse: Path | None = None,
) -> ShardResult[AnswerRow]:
    """Make the answers of a shard with their probes, and what they need, and write its record. Shard 1 also makes what
    answers do not need, so that a merge calls no model.

    Raises InputError if the answers of the recipe cannot be divided, or a model makes a stage that shard 1 must make.
    """
    check_divisible(recipe, "--shard")
    answers = folder.path / ANSWERS.name
    record = begin_record(COMMAND, shard, answers, events=".")
    only_stored = left_to_shard_1(shard, ["retrieval"] if _retrieves_by_endpoint(recipe) else [])
    async with open_legal_runner(
        recipe,
        folder,
        event_log=event_log,
        dataset=dataset,
        progress=progress,
        reuse=reuse,
        shard=shard,
        only_stored=only_stored,
    ) as runner:
        targets = [file for file in legal_targets(recipe) if file is not RETRIEVED or shard.number == 1]
        made = await runner.make(*targets)
    rows, probes = made[ANSWERS], made[PROBES] if recipe.probe_citations else []
    unanswered = [row.reason for row in rows if row.outcome == "invalid"]
    complete = not unanswered
    unanswered += [f"{row.question}: without the cited passages" for row in probes if row.outcome == "invalid"]
    units, key = len(answer_units(made[CASES], recipe)), runner.whole_keys["answers"]
    beside = [folder.path / PROBES.name] if recipe.probe_citations else []
    end_record(record, answers, key=key, units=units, complete=complete, beside=beside)
    return ShardResult(rows, key, units, unanswered)


def _retrieves_by_endpoint(recipe: LegalRecipe) -> bool:
    embeds = any(name in EMBEDDING_RETRIEVERS for name in recipe.retrievers)
    return embeds and recipe.embedding != "minilm" and ModelSpec.parse(recipe.embedding).provider in ENDPOINTS


def merge_legal(
    recipe: LegalRecipe,
    folder: RunFolder,
    shards: Sequence[FoundShard],
    *,
    dataset: LegalDataset,
    progress: StageProgress,
) -> Sequence[AnswerRow]:
    """Merge all shards of a run in a new folder, and return the answers. No model is called.

    Raises InputError if the folder has a run, or the shards do not have what the recipe asks for.
    """
    described = recipe.model_dump(mode="json")
    answers = merge_shards(
        shards,
        folder.path,
        recipe=described,
        stage="answers",
        file=ANSWERS,
        later=(PROBE_STAGE.name,),
        progress=progress,
    )
    why = "the shards do not fit the recipe, cases and prompts of this version; merge with what made the shards"

    async def join_probes(_: LegalContext, products: Products) -> Made:
        return made_probes(list(_merged_probes(shards, products[ANSWERS])))

    async def make_rest(event_log: EventLogFile) -> Sequence[AnswerRow]:
        async with open_legal_runner(
            recipe,
            folder,
            event_log=event_log,
            dataset=dataset,
            progress=progress,
            stages=[replace(PROBE_STAGE, run=join_probes)],
            only_stored=dict.fromkeys(("cases", "retrieval", "answers"), why),
            unanswered={} if is_complete(shards) else {shards[0].record.key: answers},
        ) as runner:
            return (await runner.make(*legal_targets(recipe)))[ANSWERS]

    with EventLogFile.append_to(folder.path) as event_log:
        return asyncio.run(make_rest(event_log))


def _merged_probes(shards: Sequence[FoundShard], answers: Sequence[AnswerRow]) -> Iterator[ProbeRow]:
    """The probes of all shards in the order of the answers, which are divided as the probes."""
    files = [shard.file.with_name(PROBES.name) for shard in shards]
    rows = [iter(PROBES.read(file)) for file in files]
    for number, answer in enumerate(answers):
        if is_probed(answer):
            place = number % len(shards)
            probe = next(rows[place], None)
            if probe is None or (probe.question, probe.cell) != (answer.question, answer.cell):
                raise InputError(f"{files[place]}: has no row for {answer.question}; make shard {place + 1} again")
            yield probe
