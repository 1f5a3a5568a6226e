"""Swapping one legal role: its model is an endpoint that answers in prose around JSON."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from autogen_core.models import LLMMessage, SystemMessage, UserMessage

from lawtrace.agents.legal.decomposition import AGENT_ROLES
from lawtrace.agents.legal.scripted.legal_offline_roles import LEGAL_OFFLINE_ROLES
from lawtrace.prompts.loader import load_prompt
from lawtrace.runs.legal.legal_recipe import META_LLM_TEAM_ROLES
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.schemas.log_entries import MessageSent, ModelCalled
from tests.runs.legal.cli.test_case_preparation import NOTICE
from tests.support.legal.small_cases import BOOK, prepare_passages
from tests.support.openai_server import OpenAIServer, serving
from tests.support.shell import Shell

MODEL = "openai:swapped"
GRID = 'contexts = ["F+LR+AR+CS"]\nretrievers = ["bm25"]\ndepths = [2]\n'


PREPARING = ("section_mapper", "application", "common_sense")


def roles(swapped: str, *others: str) -> str:
    """The part of a recipe that gives one role the model and names the others."""
    named = dict.fromkeys(others, "offline") | {swapped: MODEL}
    return "[roles]\n" + "".join(f'{role} = "{model}"\n' for role, model in named.items())


def in_prose(role: str, request: Mapping[str, Any]) -> str:
    if role not in LEGAL_OFFLINE_ROLES:
        return f"Let me see.\n\n```json\n{prepare_passages('3')(request)}\n```\nThat is my view."
    messages: list[LLMMessage] = [
        SystemMessage(content=sent["content"])
        if sent["role"] == "system"
        else UserMessage(content=str(sent["content"]), source="user")
        for sent in request["messages"]
    ]
    answer = json.loads(LEGAL_OFFLINE_ROLES[role](messages))
    return f"Let me see.\n\n```json\n{json.dumps(answer, indent=1)}\n```\nThat is my view."


def check(server: OpenAIServer, folder: Path, roles: set[str]) -> None:
    """Only these roles were asked, and their calls and messages are signed with the model."""
    assert {request["model"] for request in server.requests} == {"swapped"}
    with EventLogFile.open(folder) as event_log:
        entries = list(event_log.entries())
    calls = [entry.context for entry in entries if isinstance(entry, ModelCalled)]
    said = [entry.context for entry in entries if isinstance(entry, MessageSent)]
    assert {context.role for context in calls if context.model == MODEL} == roles
    assert {context.role for context in said if context.model == MODEL} == roles
    assert {context.model for context in said if context.role in roles} == {MODEL}


@pytest.mark.parametrize("role", ["section_mapper", "application"])
def test_a_role_that_prepares_cases(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str
) -> None:
    (tmp_path / "notice.txt").write_text(NOTICE, encoding="utf-8")
    (tmp_path / "legal.toml").write_text(roles(role, *PREPARING), encoding="utf-8")
    with serving(lambda request: in_prose(role, request)) as server:
        server.connect(monkeypatch)
        ingested = lawtrace.json(
            "legal", "ingest", tmp_path / "notice.txt", "--recipe", tmp_path / "legal.toml", "--out", "case.jsonl"
        )
    assert ingested["chunks"]["F"]
    check(server, next(tmp_path.glob("case*/events.sqlite")).parent, {role})


def run(lawtrace: Shell, folder: Path, recipe: str) -> None:
    write_rows(folder / "book.jsonl", BOOK.cases)
    (folder / "legal.toml").write_text(GRID + recipe, encoding="utf-8")
    lawtrace.json("legal", "run", "--cases", folder / "book.jsonl", "--recipe", folder / "legal.toml", "--out", "run")


@pytest.mark.parametrize("role", ["meta_llm", *AGENT_ROLES.values()])
def test_a_role_that_answers(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, role: str) -> None:
    meta = role == "meta_llm"
    with serving(lambda request: in_prose(role, request)) as server:
        server.connect(monkeypatch)
        run(
            lawtrace,
            tmp_path,
            f'models = ["{MODEL}"]\n'
            if meta
            else f'models = ["offline"]\npipeline = "decomposed"\n{roles(role, *AGENT_ROLES.values())}',
        )
    check(server, Path("run"), {role})


def test_the_meta_llm_plays_four_roles_of_a_team(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each answers in prose; the agents that stay offline read its words."""
    begins = {load_prompt(role).body[:60]: role for role in META_LLM_TEAM_ROLES}

    def answer(request: Mapping[str, Any]) -> str:
        (role,) = [role for begin, role in begins.items() if request["messages"][0]["content"].startswith(begin)]
        return in_prose(role, request)

    with serving(answer) as server:
        server.connect(monkeypatch)
        offline = "".join(f'{role} = "offline"\n' for role in AGENT_ROLES.values())
        run(lawtrace, tmp_path, f'models = ["{MODEL}"]\npipeline = "decomposed"\n[roles]\n{offline}')
    check(server, Path("run"), set(META_LLM_TEAM_ROLES))
