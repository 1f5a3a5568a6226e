"""The plan of a legal run against what a run really asks: exact for one answer, a ceiling for a team."""

import asyncio
import json
import os
from collections.abc import Mapping
from math import ceil
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest
from autogen_core.models import LLMMessage, SystemMessage

from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.agents.legal.team_roles import MAX_SUBTASKS
from lawtrace.agents.scripted.prompt_blocks import labelled_json
from lawtrace.environments.legal.case import Choice
from lawtrace.environments.legal.dataset import LegalDataset
from lawtrace.prompts.loader import load_prompt
from lawtrace.runs.call_plan import CHARACTERS_PER_TOKEN
from lawtrace.runs.legal.legal_files import LegalFolder
from lawtrace.runs.legal.legal_plan import LegalPlan, plan_legal_calls
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_runner import run_legal
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.model_usage import measure_usage
from lawtrace.runs.store.stage_files import write_rows
from tests.support.legal.small_cases import BOTTLES, LETTERS_CASE, asked
from tests.support.openai_server import OpenAIServer, serving
from tests.support.shell import Shell

pytestmark = pytest.mark.slow

ROLES: tuple[LegalRole, ...] = (
    "meta_llm",
    "restater",
    "decomposer",
    "atomicity_judge",
    "role_agent",
    "integrator",
)
WRITTEN: tuple[tuple[str, Choice], ...] = (("comply with Article 33", "No"), ("transmit the records", "No"))
CASES = (
    BOTTLES.model_copy(
        update={
            "questions": (
                *BOTTLES.questions[:2],
                *(
                    asked(f"bottles/more{n}", f"Did Bottle Works {what}?", {"Yes": "Yes", "No": "No"}, answer)
                    for n, (what, answer) in enumerate(WRITTEN)
                ),
            )
        }
    ),
    LETTERS_CASE,
)
"""Every yes/no question in them can be restated offline."""

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
        "retrievers": ["hybrid"],
        "depths": [1],
        "models": ["openai:a"],
        "embedding": "openai:embedder",
        "pipeline": "decomposed",
        "decomposition": {"calls": 5},
        "roles": {"role_agent": "openai:b"},
    }
)


def role_of(request: Mapping[str, Any]) -> LegalRole:
    system = str(request["messages"][0]["content"])
    return next(role for role in ROLES if system.startswith(load_prompt(role).body.split("{{")[0][:40]))


def please(request: Mapping[str, Any]) -> str:
    """Names the first option and cites the first passage; restates as the stand-in does."""
    messages: list[LLMMessage] = [SystemMessage(content=request["messages"][0]["content"])]
    if role_of(request) == "restater":
        return LEGAL_OFFLINE_ROLES["restater"](messages)
    option = next(iter(labelled_json(messages, "question")["options"]))
    cited = [{"passage": shown["ref"]} for shown in labelled_json(messages, "passages")[:1]]
    return json.dumps({"answer": option, "citations": cited})


def split_for_ever(request: Mapping[str, Any]) -> str:
    """A team that splits whatever it can, into as many parts as it may, and says each only when pressed."""
    if len(request["messages"]) == 2:
        return "Perhaps."
    task = json.dumps(request["messages"][0]["content"])
    parts = [{"task": f"part {n} of {crc32(task.encode())}"} for n in range(MAX_SUBTASKS)]
    said = {"decomposer": {"tasks": parts}, "atomicity_judge": {"atomic": False}, "role_agent": {"answer": "It is."}}
    return json.dumps(said.get(role_of(request), {"answer": "Yes"}))


def used(server: OpenAIServer, recipe: LegalRecipe, folder: Path, patch: pytest.MonkeyPatch) -> dict[Any, int]:
    for name, value in server.environment.items():
        patch.setenv(name, value)
    with EventLogFile.create(folder, recipe=recipe.model_dump(mode="json")) as event_log:
        asyncio.run(run_legal(recipe, LegalFolder(folder), event_log=event_log, book=LegalDataset(CASES)))
        return {(line.role, line.model): line.asked for line in measure_usage(event_log, {})}


def expected(plan: LegalPlan) -> dict[Any, int]:
    return {(line.role, line.model): line.expected for line in plan.calls}


def most(plan: LegalPlan) -> dict[Any, int]:
    return {(line.role, line.model): line.most for line in plan.calls}


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"share": "per_agent", "retrievers": ["hybrid", "released_bm25"]},
        {"probes": ["without_cited", "renamed"]},
        {"balanced": True, "roles": {"restater": "openai:c"}},
    ],
    ids=["plain", "per agent", "probes", "balanced"],
)
def test_the_plan_is_what_a_legal_run_asks_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, changes: Mapping[str, Any]
) -> None:
    recipe = LegalRecipe.model_validate({**ONCE.model_dump(), **changes})
    plan = plan_legal_calls(recipe, CASES)
    with serving(please) as server:
        assert used(server, recipe, tmp_path / "run", monkeypatch) == expected(plan)
    assert (plan.cells, plan.questions, plan.expected_is) == (24, 5, "exact")
    assert expected(plan)["meta_llm", "openai:a"] >= 8 * 5
    assert not any(line.model == "offline" for line in plan.calls)


def test_answers_that_are_no_use_come_to_the_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda request: "Perhaps.") as server:
        found = used(server, ONCE, tmp_path / "run", monkeypatch)
    assert found == most(plan_legal_calls(ONCE, CASES))


def test_a_team_keeps_within_its_ceiling_however_it_splits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plan_legal_calls(TEAM, CASES)
    assert plan.expected_is == "ceiling"
    with serving(split_for_ever) as server:
        found = used(server, TEAM, tmp_path / "run", monkeypatch)
    assert found.keys() == most(plan).keys()
    assert all(calls <= most(plan)[seat] for seat, calls in found.items())
    # This team reaches it where it can be reached; its judge judged less, because splitting took the calls.
    assert found["decomposer", "openai:a"] == most(plan)["decomposer", "openai:a"]
    assert found["role_agent", "openai:b"] == most(plan)["role_agent", "openai:b"]
    assert all(2 * line.expected == line.most for line in plan.calls if line.role != "embedder")


@pytest.mark.parametrize("recipe", [ONCE, TEAM], ids=["once", "team"])
def test_a_run_costs_no_more_than_the_ceiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, recipe: LegalRecipe
) -> None:
    """Three bytes a token, every answer as long as it may be, everything asked for twice."""
    price, longest = {"input": 1_000_000.0, "output": 2_000_000.0}, 20
    models = ("openai:a", "openai:b", "openai:embedder")
    priced = LegalRecipe.model_validate(
        {**recipe.model_dump(), "prices": dict.fromkeys(models, price), "parameters": {"max_tokens": longest}}
    )
    ceiling = plan_legal_calls(priced, CASES).ceiling
    with serving(split_for_ever) as server:
        used(server, priced, tmp_path / "run", monkeypatch)
        requests = [*server.requests]
    prompts = [
        *(text for request in requests for text in request.get("input", ())),
        *(
            "".join(str(said["content"]) for said in request["messages"])
            for request in requests
            if "messages" in request
        ),
    ]
    answers = longest * sum("messages" in request for request in requests)
    cost = sum(ceil(len(text.encode()) / CHARACTERS_PER_TOKEN) for text in prompts) + 2 * answers
    assert ceiling is not None
    assert cost <= ceiling
    without = priced.model_copy(update={"prices": {}})
    assert plan_legal_calls(without, CASES).ceiling is None


@pytest.fixture
def book(tmp_path: Path) -> Path:
    write_rows(tmp_path / "book.jsonl", CASES)
    return tmp_path / "book.jsonl"


def test_a_dry_run_asks_and_writes_nothing(
    book: Path, tmp_path: Path, lawtrace: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "legal.toml"
    recipe.write_text('contexts = ["F"]\nretrievers = ["bm25"]\nmodels = ["openai:a"]\n', encoding="utf-8")
    before = sorted(os.walk(tmp_path))
    with serving(please) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        plan = lawtrace.json("legal", "run", "--cases", book, "--recipe", recipe, "--dry-run")
        code, shown, _ = lawtrace("legal", "run", "--cases", book, "--recipe", recipe, "--dry-run")
        assert server.requests == []
    assert sorted(os.walk(tmp_path)) == before
    assert plan["calls"] == [{"role": "meta_llm", "model": "openai:a", "expected": 15, "most": 30, "ceiling": None}]
    assert code == 0
    assert "3 cells, 5 questions about 2 cases" in " ".join(shown.split())


def test_a_run_is_repeated_from_its_record(book: Path, tmp_path: Path, lawtrace: Shell) -> None:
    recipe = tmp_path / "legal.toml"
    recipe.write_text('contexts = ["F", "LR"]\nretrievers = ["bm25"]\nseed = 7\n', encoding="utf-8")
    with book.open("a", encoding="utf-8") as rows:
        rows.write('{"content": "", "type": "background", "source": "empty"}\n')
    lawtrace.json("legal", "run", "--cases", book, "--recipe", recipe, "--out", "first")
    book.unlink()
    recipe.unlink()
    again = lawtrace.json("legal", "run", "--from", "first", "--out", "again")
    assert again["answers"] == 2 * 3 * 5
    assert b"it is empty" in (tmp_path / "again" / "findings.jsonl").read_bytes()
    for name in ("findings.jsonl", "cases.jsonl", "retrieved.jsonl", "answers.jsonl"):
        assert (tmp_path / "again" / name).read_bytes() == (tmp_path / "first" / name).read_bytes()
    with EventLogFile.open(tmp_path / "again") as event_log:
        assert LegalRecipe.model_validate(event_log.recipe).seed == 7


def test_what_cannot_be_repeated_is_said(book: Path, tmp_path: Path, lawtrace: Shell) -> None:
    with EventLogFile.create(tmp_path / "other", recipe={"schema_version": "lawtrace.recipe/1"}):
        pass
    with EventLogFile.create(tmp_path / "stopped", recipe=ONCE.model_dump(mode="json")):
        pass
    for words, complaint in {
        (): "which cases? Give --cases",
        ("--from", "other", "--cases", book): "`lawtrace run --from other` repeats it",
        ("--from", "other", "--recipe", "mine.toml"): "not both",
        ("--from", "stopped"): "give --cases CASES, too",
    }.items():
        code, _, err = lawtrace("legal", "run", *words)
        assert code == 2
        assert complaint in " ".join(err.split())
    code, _, err = lawtrace("run", "--from", "stopped")
    assert code == 2
    assert "lawtrace legal run --from stopped" in " ".join(err.split())


def test_a_key_that_a_legal_run_will_need_is_missed_before_its_folder_is_made(
    book: Path, tmp_path: Path, lawtrace: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    recipe = tmp_path / "legal.toml"
    recipe.write_text('models = ["openai:a"]\nretrievers = ["bm25"]\n', encoding="utf-8")
    code, _, err = lawtrace("legal", "run", "--cases", book, "--recipe", recipe, "--out", "run")
    assert code == 2
    assert "OPENAI_API_KEY" in err
    assert not (tmp_path / "run").exists()


def test_a_legal_run_that_met_its_budget_goes_on_with_more(
    book: Path, tmp_path: Path, lawtrace: Shell, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = tmp_path / "legal.toml"
    recipe.write_text(
        'contexts = ["F"]\nretrievers = ["bm25"]\nmodels = ["openai:a"]\n[budget]\nmessages = 5\n', encoding="utf-8"
    )
    with serving(please) as server:
        for name, value in server.environment.items():
            monkeypatch.setenv(name, value)
        code, _, err = lawtrace("legal", "run", "--cases", book, "--recipe", recipe, "--out", "run")
        assert (code, "--budget messages=MORE" in err) == (3, True)
        code, _, err = lawtrace("resume", "run", "--budget", "money=1")
        assert (code, "what does 'openai:a' cost" in err) == (2, True)
        assert lawtrace.json("resume", "run", "--budget", "messages=100")["answers"] == 15
        assert len(server.requests) == 15
        monkeypatch.delenv("OPENAI_API_KEY")
        monkeypatch.delenv("OPENAI_BASE_URL")
        code, _, err = lawtrace("resume", "run")
        assert (code, "OPENAI_API_KEY" in err) == (2, True)
