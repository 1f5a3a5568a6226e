"""The whole way: regulation and tools -> rules -> traces -> tasks -> attempts -> verdicts -> report.

A recipe with an ablation is walked once for each variant, in one run with one record; stages with the same inputs are
computed once (`lawtrace.runs.sharing`). What a stage does stands in `lawtrace.runs.way`.
"""

import os
from collections.abc import AsyncGenerator, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random

from lawtrace.agents.clients.addresses import access_to
from lawtrace.agents.clients.spec import ENDPOINTS, ModelSpec
from lawtrace.agents.clients.stack import ModelClients
from lawtrace.agents.ledger import StageFinished
from lawtrace.environments.compliance import deny_authorization
from lawtrace.environments.errors import InputError, SearchError
from lawtrace.environments.jail import Jail, choose_walls
from lawtrace.runs.files import write_rows
from lawtrace.runs.layout import RunFolder
from lawtrace.runs.plan import CallPlan
from lawtrace.runs.recipe import CallOptions, Recipe
from lawtrace.runs.record.store import Record
from lawtrace.runs.settings import curated_rules, setting_of_recipe
from lawtrace.runs.sharing import Shared
from lawtrace.runs.variants import Variant, VariantRow, variants_of
from lawtrace.runs.way import House, NobodyAnswered, NothingLeft, Progress, RunResult, Silent, Way
from lawtrace.solver.rules import check_rules


@dataclass(frozen=True, slots=True)
class VariantResult:
    """What became of a variant: a result, or why there is none."""

    variant: Variant
    result: RunResult | None
    ended: str | None
    made_by: dict[str, int]

    def row(self) -> VariantRow:
        one = self.variant
        return VariantRow(
            number=one.number,
            name=one.name,
            changes=dict(one.changes),
            models=one.recipe.attempts.models,
            ended=self.ended,
            made_by=self.made_by,
        )


def check_inputs(recipe: Recipe) -> None:
    """What a run reads must be there and make sense before its folder is made. Raises InputError."""
    for variant in variants_of(recipe):
        setting, options = setting_of_recipe(variant.recipe), variant.recipe.tasks
        check_rules(curated_rules(variant.recipe, setting), setting.environment, setting.regulation)
        variant.recipe.prompts.prompts().check()
        options.wishes.check(setting.environment)
        initial = setting.environment.populate(Random(variant.recipe.seed))
        if "denied" in options.families:
            deny_authorization(setting.environment, initial)
        check_prices(variant.recipe, named_models(variant.recipe))


def named_models(recipe: Recipe) -> list[str]:
    """The models that the recipe names, for roles and under test."""
    named: list[str | None] = [*recipe.models.model_dump().values(), *recipe.attempts.models]
    return [name for name in named if name is not None]


def check_prices(recipe: CallOptions, models: Iterable[str]) -> None:
    """A budget of money means nothing for a model without a price. Raises InputError naming the model."""
    if recipe.budget.money is None:
        return
    for model in dict.fromkeys(models):
        if ModelSpec.parse(model).provider in ENDPOINTS and model not in recipe.prices:
            raise InputError(f'budget.money: what does {model!r} cost? Give its price in [prices."{model}"]')


def check_access(plan: CallPlan) -> None:
    """Every model that will be asked has its address and key, or its record, before anything is begun and paid for.

    Raises InputError naming what is missing.
    """
    for line in plan.calls:
        spec = ModelSpec.parse(line.model)
        if spec.provider == "replay":
            Record.open(Path(spec.name)).close()
        elif spec.provider in ENDPOINTS:
            access_to(spec.provider, os.environ, spec)


async def walk(
    recipe: Recipe, folder: RunFolder, *, record: Record, resumed: bool = False, progress: Progress | None = None
) -> RunResult:
    """Walk the whole way and write every stage's file. With ``resumed``, what the record holds is not asked again.

    The recipe has no ablation.
    """
    (variant,) = variants_of(recipe)
    async with _house(recipe, folder, record, resumed=resumed, progress=progress) as house:
        return await Way(variant, folder, house).walk()


async def walk_variants(
    recipe: Recipe, folder: RunFolder, *, record: Record, resumed: bool = False, progress: Progress | None = None
) -> list[VariantResult]:
    """Walk the way of each variant, one after the other, each with its files in a folder of its own.

    A variant that leads nowhere (no task is accepted, no trace is possible, a role does not answer) is an outcome of
    the ablation, and the others go on.
    """
    results: list[VariantResult] = []
    async with _house(recipe, folder, record, resumed=resumed, progress=progress) as house:
        for variant in variants_of(recipe):
            way = Way(variant, folder.variant(variant.number), house)
            try:
                results.append(VariantResult(variant, await way.walk(), None, way.made_by))
            except (NothingLeft, NobodyAnswered, SearchError) as error:
                results.append(VariantResult(variant, None, str(error), way.made_by))
    write_rows(folder.variants, (one.row() for one in results))
    return results


@asynccontextmanager
async def _house(
    recipe: Recipe, folder: RunFolder, record: Record, *, resumed: bool, progress: Progress | None
) -> AsyncGenerator[House]:
    finished = {entry.file: entry.sha256 for entry in record.entries(kind="stage") if isinstance(entry, StageFinished)}
    earlier = record if resumed else None
    async with ModelClients(
        record, settings=recipe.call_settings(), open_replay=Record.open, earlier=earlier
    ) as clients:
        with Jail(walls=choose_walls(recipe.sandbox)) as jail:
            yield House(folder, record, clients, jail, progress or Silent(), finished, Shared())
