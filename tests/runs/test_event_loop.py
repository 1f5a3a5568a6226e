"""Z3 and the sandbox do not block the event loop."""

import asyncio
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from lawtrace.agents.conversations import rule_proposal
from lawtrace.runs.scoring import judge
from lawtrace.runs.stages import attempts_stage, measure, tasks_stage, traces_stage
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.recipe import (
    AttemptOptions,
    Recipe,
    RegulationOptions,
    RoleModelOptions,
    RuleOptions,
    TaskOptions,
)
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import serving
from tests.support.playing import play
from tests.support.runs import run_recipe

PATIENCE = 30.0
"""Seconds after which work stops waiting for the loop; reached only if the work blocks the loop."""

HEAVY = (
    (rule_proposal, "find_flaws"),  # Z3
    (traces_stage, "synthesize_traces"),  # Z3
    (tasks_stage, "run_program"),  # the sandbox
    (measure, "measure_mutation_score"),
    (attempts_stage, "run_program"),  # the sandbox
    (judge, "judge"),
)


@pytest.mark.slow
@pytest.mark.parametrize(("module", "name"), HEAVY, ids=[name for _, name in HEAVY])
def test_the_loop_is_not_blocked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, module: object, name: str) -> None:
    ticked, entered = threading.Event(), threading.Event()
    went_on: list[bool] = []
    work: Callable[..., Any] = getattr(module, name)

    def waiting(*args: Any, **kwargs: Any) -> Any:
        if not went_on:  # the work starts after the next tick of the loop
            ticked.clear()
            entered.set()
            went_on.append(ticked.wait(PATIENCE))
        return work(*args, **kwargs)

    monkeypatch.setattr(module, name, waiting)

    async def tick() -> None:
        while True:
            await asyncio.sleep(0.005)
            if entered.is_set():
                ticked.set()

    async def walk_with_ticker() -> None:
        ticker = asyncio.create_task(tick())
        with EventLogFile.create(tmp_path / "run", recipe=recipe.model_dump(mode="json")) as event_log:
            await run_recipe(recipe, event_log)
        ticker.cancel()

    recipe = Recipe(
        regulation=RegulationOptions(files=(write_bank_law(tmp_path),)),
        rules=RuleOptions(regulation="text"),
        tasks=TaskOptions(count=1, spare=1),
        models=RoleModelOptions(policy_extractor="openai:some"),
        attempts=AttemptOptions(models=("baseline:literal",), baselines=False),
    )
    with serving(play) as server:
        server.connect(monkeypatch)
        asyncio.run(walk_with_ticker())
    assert went_on
    assert all(went_on)
