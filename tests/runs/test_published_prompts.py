"""The prompts of the first paper, chosen by a word in the recipe, with raw law in the prompt of the model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import SystemMessage
from pydantic import ValidationError

from lawtrace.runs.recipe_checks import prepare_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.schemas.log_entries import MessageSent, ModelCalled
from lawtrace.schemas.recipe import (
    AttemptOptions,
    Recipe,
    RegulationOptions,
    RoleModelOptions,
    RolePromptOptions,
    RuleOptions,
    TaskOptions,
)
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import serving
from tests.support.playing import play, write_rules
from tests.support.runs import run

ROLES = {"executor_system", "executor_user", "instruction_generator", "masking_evaluator", "policy_extractor"}


def playing(request: Mapping[str, Any]) -> str:
    """The published prompt of the extractor begins otherwise than that of the project."""
    extracting = "You extract compliance constraints" in str(request["messages"][0]["content"])
    messages = [SystemMessage(content=request["messages"][0]["content"])]
    return write_rules(messages) if extracting else play(request)


@pytest.mark.slow
def test_a_run_with_the_published_prompts_and_the_raw_law(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = Recipe(
        regulation=RegulationOptions(files=(write_bank_law(tmp_path),)),
        rules=RuleOptions(source="extracted", regulation="text"),
        tasks=TaskOptions(count=2, spare=2),
        models=RoleModelOptions(policy_extractor="openai:some"),
        prompts=RolePromptOptions(source="published"),
        attempts=AttemptOptions(models=("baseline:reference",), baselines=False, regulation="text"),
    )
    with serving(playing) as server:
        server.connect(monkeypatch)
        result = run(prepare_recipe(recipe).recipe, tmp_path / "run")
    assert {verdict.outcome for verdict in result.verdicts} == {"safe_success"}
    with EventLogFile.open(tmp_path / "run") as event_log:
        sent = [entry for entry in event_log.entries(kind="message") if isinstance(entry, MessageSent)]
        calls = [one for one in event_log.entries(kind="model_call", role="executor") if isinstance(one, ModelCalled)]
    used = {entry.prompt_id for entry in sent if entry.prompt_id is not None}
    assert {name.removeprefix("published/") for name in used if name.startswith("published/")} == ROLES
    system = calls[0].request[0].content
    assert (
        "The policies that your program must comply with:\n\nlaw\nArticle 72 Evidence\n1. Every transfer of funds"
        in system
    )


def test_a_role_without_a_published_prompt_is_an_error() -> None:
    with pytest.raises(ValidationError, match=r"ltl_critic has no published prompt; published are .*executor_system"):
        RolePromptOptions(ltl_critic="published")
