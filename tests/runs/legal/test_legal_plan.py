"""The plan of a legal run: a ceiling, and exact where no two cells share a prompt."""

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.legal.legal_plan import LegalPlan, plan_legal_calls
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import measure_usage
from lawtrace.runs.store.stage_files import write_rows
from tests.support.legal.small_cases import BOOK, answer_and_cite
from tests.support.legal.small_runs import run_grid
from tests.support.openai_server import OpenAIServer, serving
from tests.support.shell import Shell

ONCE = LegalRecipe(
    contexts=("F+LR", "CS"),
    retrievers=("bm25", "embedding"),
    depths=(1, 2),
    models=("openai:a", "openai:b", "offline"),
    embedding="openai:embedder",
)
TEAM = LegalRecipe.model_validate(
    {
        "contexts": ["F+LR"],
        "retrievers": ["bm25"],
        "depths": [1],
        "models": ["openai:a"],
        "pipeline": "decomposed",
        "decomposition": {"depth": 1, "calls": 5},
        "roles": {"facts_agent": "openai:b", "rules_agent": "openai:b", "common_sense_agent": "openai:c"},
    }
)
QUESTIONS = sum(len(case.questions) for case in BOOK.cases)


def calls_made(server: OpenAIServer, recipe: LegalRecipe, folder: Path, patch: pytest.MonkeyPatch) -> dict[Any, int]:
    server.connect(patch)
    run_grid(recipe, folder)
    with EventLogFile.open(folder) as event_log:
        return {(line.role, line.model): line.asked for line in measure_usage(event_log, {})}


def expected(plan: LegalPlan) -> dict[Any, int]:
    return {(line.role, line.model): line.expected for line in plan.calls}


def most(plan: LegalPlan) -> dict[Any, int]:
    return {(line.role, line.model): line.most for line in plan.calls}


@pytest.mark.slow
@pytest.mark.parametrize("changes", [{"share": "per_agent", "retrievers": ["hybrid", "released_bm25"]}, {"trials": 2}])
def test_the_plan_covers_the_calls_of_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, Any]
) -> None:
    recipe = LegalRecipe.model_validate({**ONCE.model_dump(), **changes})
    plan = plan_legal_calls(recipe, BOOK.cases)
    with serving(answer_and_cite) as server:
        made = calls_made(server, recipe, tmp_path / "run", monkeypatch)
    assert made.keys() == expected(plan).keys()
    assert made["embedder", "openai:embedder"] == expected(plan)["embedder", "openai:embedder"]
    assert all(calls <= expected(plan)[line] for line, calls in made.items())
    assert (plan.cells, plan.questions) == (24, QUESTIONS)
    assert not any(line.model == "offline" for line in plan.calls)


def test_decomposition_has_a_ceiling_from_its_limits() -> None:
    plan = plan_legal_calls(TEAM, BOOK.cases)
    assert expected(plan) == {
        ("decomposer", "openai:a"): QUESTIONS,
        ("facts_agent, rules_agent", "openai:b"): (8 + 8) * QUESTIONS,
        ("sufficiency_judge", "openai:a"): QUESTIONS,
        ("integrator", "openai:a"): QUESTIONS,
    }
    without = plan_legal_calls(
        LegalRecipe.model_validate(
            {
                **TEAM.model_dump(),
                "decomposition": {"rounds": 0},
                "roles": {"facts_agent": "openai:b", "rules_agent": "openai:c"},
            }
        ),
        BOOK.cases,
    )
    assert ("sufficiency_judge", "openai:a") not in expected(without)
    assert {role for role, model in expected(without) if model == "openai:c"} == {"rules_agent"}


def test_the_cost_is_known_with_prices_and_a_limit_of_answers() -> None:
    prices = {model: {"input": 1.0, "output": 2.0} for model in ("openai:a", "openai:b", "openai:embedder")}
    priced = LegalRecipe.model_validate({**ONCE.model_dump(), "prices": prices, "parameters": {"max_tokens": 20}})
    ceiling = plan_legal_calls(priced, BOOK.cases).ceiling
    assert ceiling is not None
    assert ceiling > 0
    unlimited = LegalRecipe.model_validate({**ONCE.model_dump(), "prices": prices})
    assert plan_legal_calls(unlimited, BOOK.cases).ceiling is None
    assert plan_legal_calls(ONCE, BOOK.cases).ceiling is None


def test_a_dry_run_makes_no_call_and_writes_no_file(
    tmp_path: Path, lawtrace: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_rows(tmp_path / "cases.jsonl", BOOK.cases)
    recipe = tmp_path / "legal.toml"
    recipe.write_text(
        'contexts = ["F"]\nretrievers = ["bm25"]\ndepths = [1, 2, 3]\nmodels = ["openai:a"]\n', encoding="utf-8"
    )
    before = sorted(os.walk(tmp_path))
    with serving(answer_and_cite) as server:
        server.connect(monkeypatch)
        arguments = ("legal", "run", "--cases", tmp_path / "cases.jsonl", "--recipe", recipe, "--dry-run")
        plan = lawtrace.json(*arguments)
        code, shown, _ = lawtrace(*arguments)
        assert server.requests == []
    assert sorted(os.walk(tmp_path)) == before
    calls = 3 * QUESTIONS
    line = {
        "role": "meta_llm",
        "model": "openai:a",
        "expected": calls,
        "most": 2 * calls,
        "cost": None,
        "ceiling": None,
    }
    assert plan["calls"] == [line]
    assert code == 0
    assert f"3 cells with {QUESTIONS} questions on 2 cases" in " ".join(shown.split())
