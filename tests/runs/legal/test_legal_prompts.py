"""Custom prompt files: every legal role uses them, the event log keeps them, incompatible ones are rejected."""

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path

import pytest
from typer.testing import CliRunner

from lawtrace.agents.legal.decomposition import AGENT_ROLES
from lawtrace.environments.legal.case import Case
from lawtrace.prompts import loader
from lawtrace.prompts.loader import load_prompt, prompts_of
from lawtrace.runs.cli.app import app
from lawtrace.runs.legal.legal_recipe import (
    META_LLM_TEAM_ROLES,
    LegalPrompts,
    LegalRecipe,
    load_legal_recipe,
    recorded_recipe,
)
from lawtrace.runs.legal.legal_report import load_legal_content, make_legal_report
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import write_rows
from lawtrace.runs.web.export import render_export
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.log_entries import MessageSent
from tests.support.legal.small_cases import BOOK, BOTTLES, prepare_passages
from tests.support.openai_server import serving
from tests.support.shell import Shell

ROLES = tuple(role for role in LegalPrompts.model_fields if role != "source")
OURS = {role: (Path(loader.__file__).parent / "legal" / f"{role}.md").read_text(encoding="utf-8") for role in ROLES}
MINE = {role: text.replace(f'id = "{role}"', f'id = "my_{role}"') + "Take care.\n" for role, text in OURS.items()}
GRID = 'contexts = ["F+LR"]\nretrievers = ["bm25"]\ndepths = [2]\n'
NOTICE = """1. The Office fines Bottle Works.
Legal framework
2. Article 32 states that data shall be safe.
Background
3. Bottle Works, the controller, kept customer records on a laptop.
The contravention
4. The Office finds that Bottle Works infringed Article 32.
The amount of the penalty
5. It is £5,000.
"""


def recipe_with(folder: Path, roles: Iterable[str], more: str = "") -> Path:
    named = dict.fromkeys(roles)
    for role in named:
        (folder / f"{role}.md").write_text(MINE[role], encoding="utf-8")
    path = folder / "legal.toml"
    words = "".join(f'{role} = "{role}.md"\n' for role in named)
    path.write_text(f"{GRID}{more}\n[prompts]\n{words}", encoding="utf-8")
    return path


def call(*words: str | Path) -> None:
    result = CliRunner().invoke(app, ["legal", *map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output


def prompts_used(folder: Path) -> set[str]:
    """The ids of the prompts behind the messages of an event log."""
    with EventLogFile.open(folder) as event_log:
        return {said.prompt_id for said in event_log.entries() if isinstance(said, MessageSent) and said.prompt_id}


def cases_in(folder: Path) -> Path:
    cases: list[Case] = list(BOOK.cases)
    write_rows(folder / "cases.jsonl", cases)
    return folder / "cases.jsonl"


def test_roles_that_prepare_cases_use_the_prompt_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "notice.txt").write_text(NOTICE, encoding="utf-8")
    models = '[roles]\nsection_mapper = "offline"\napplication = "openai:m"\ncommon_sense = "openai:m"\n'
    recipe = recipe_with(tmp_path, ROLES, models)
    with serving(prepare_passages("3")) as server:
        server.connect(monkeypatch)
        call("ingest", tmp_path / "notice.txt", "--recipe", recipe, "--out", tmp_path / "case.jsonl")
    preparing = ("section_mapper", "application", "common_sense")
    assert prompts_used(tmp_path / "case.events") == {f"my_{role}" for role in preparing}


@pytest.mark.parametrize(
    ("more", "roles"),
    [
        pytest.param("trials = 2", ("meta_llm",), marks=pytest.mark.slow),
        (
            'pipeline = "decomposed"',
            (*("decomposer", "atomicity_judge", "facts_agent", "rules_agent"), *("sufficiency_judge", "integrator")),
        ),
    ],
)
def test_roles_of_a_run_use_the_prompt_files_and_the_recipe_keeps_their_text(
    tmp_path: Path, more: str, roles: tuple[str, ...]
) -> None:
    path = recipe_with(tmp_path, roles, more)
    call("run", "--cases", cases_in(tmp_path), "--recipe", path, "--out", tmp_path / "run")
    assert prompts_used(tmp_path / "run") == {f"my_{role}" for role in roles}
    with EventLogFile.open(tmp_path / "run") as event_log:
        kept = LegalRecipe.model_validate(event_log.recipe)
    assert prompts_of(kept.prompts).overrides == {role: MINE[role] for role in roles}
    page = render_export(make_legal_report(load_legal_content(tmp_path / "run")))
    assert all(f"my_{role} for {role}" in page for role in roles)


@pytest.mark.parametrize("prompts", ['source = "published"', 'meta_llm = "published"'])
def test_published_prompts_are_chosen_by_a_word(tmp_path: Path, prompts: str) -> None:
    path = tmp_path / "legal.toml"
    path.write_text(f"{GRID}\n[prompts]\n{prompts}\n", encoding="utf-8")
    call("run", "--cases", cases_in(tmp_path), "--recipe", path, "--out", tmp_path / "run")
    assert prompts_used(tmp_path / "run") == {"published/meta_llm"}
    page = render_export(make_legal_report(load_legal_content(tmp_path / "run")))
    assert "published/meta_llm for meta_llm" in page
    assert not load_legal_recipe(path).offers_refusal


def test_the_published_recipe_has_the_papers_prompts_and_offers_no_refusal() -> None:
    recipe = load_legal_recipe(Path(__file__).parents[3] / "recipes" / "papers" / "maslegal.toml")
    assert set(recipe.prompts.replaced()) == {"meta_llm", "application", "common_sense"}
    assert not recipe.may_refuse
    assert not recipe.offers_refusal


def test_a_recorded_recipe_may_have_former_roles_and_fields() -> None:
    recorded = LegalRecipe().model_dump(mode="json")
    recorded["probe_citations"] = False
    recorded["roles"] |= {"facts": "offline", "rules": None, "question_writer": "openai:m"}
    recorded["prompts"] |= {"facts": None, "rules": None, "question_writer": "published"}
    assert recorded_recipe(recorded) == LegalRecipe()


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ("roles", "unknown role 'question_writer'; the roles are .* twin_writer"),
        ("prompts", "unknown key 'prompts.question_writer'"),
    ],
)
def test_an_unknown_role_is_an_error(tmp_path: Path, table: str, message: str) -> None:
    path = tmp_path / "legal.toml"
    path.write_text(f'[{table}]\nquestion_writer = "openai:m"\n', encoding="utf-8")
    with pytest.raises(InputError, match=message):
        load_legal_recipe(path)


@pytest.mark.parametrize("role", ["meta_llm", *META_LLM_TEAM_ROLES, *AGENT_ROLES.values()])
def test_a_prompt_that_answers_names_no_field_of_law(role: str) -> None:
    assert not re.search(r"data protection|regulator|controller|personal data", load_prompt(role).body, re.IGNORECASE)


def test_a_role_without_a_published_prompt_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "legal.toml"
    path.write_text('[prompts]\nintegrator = "published"\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"prompts: .*integrator has no published prompt; published are .*meta_llm"):
        load_legal_recipe(path)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        (OURS["meta_llm"], "give it another id"),
        (MINE["meta_llm"].replace('"LegalAnswer"', '"Draft"'), "output LegalAnswer"),
        (MINE["meta_llm"].replace("{{ passages }}", "").replace('"passages", ', ""), "must declare inputs"),
        ("no front matter", "it has no front matter .*, and it is not the published file"),
        (MINE["meta_llm"].replace("{{ passages }}", "{{ passages }} {{ client }}"), "must declare exactly the inputs"),
        (MINE["meta_llm"].replace("{{ passages }}", "{{ passages.first }}"), "cannot be filled"),
        (None, r"prompts\.meta_llm.*meta_llm\.md"),
    ],
)
def test_an_incompatible_prompt_file_is_rejected(tmp_path: Path, text: str | None, complaint: str) -> None:
    path = recipe_with(tmp_path, ["meta_llm"])
    if text is None:
        (tmp_path / "meta_llm.md").unlink()
    else:
        (tmp_path / "meta_llm.md").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=complaint):
        load_legal_recipe(path)


TEMPLATE = """Answer {{"answer": "..."}}.

Question: {question_content}

Context: {context}

"""
"""In the form of the published file."""


def test_the_published_file_is_sent_as_the_published_code_sends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One user message of the template, options as a Python dict, passages by lines, the published parameters."""
    digest = hashlib.sha256(TEMPLATE.encode()).hexdigest()
    monkeypatch.setattr(loader, "PUBLISHED_FILES", {"meta_llm": digest})
    (tmp_path / "answer_with_context.txt").write_text(TEMPLATE, encoding="utf-8")
    recipe = tmp_path / "legal.toml"
    recipe.write_text(f'models = ["openai:some"]\n{GRID}[parameters]\ntemperature = 0.2\nmax_tokens = 4096\n')
    with serving(lambda request: '{"rationale": "so", "answer": "Yes"}') as server:
        server.connect(monkeypatch)
        call(
            *("run", "--cases", cases_in(tmp_path), "--recipe", recipe, "--out", tmp_path / "run"),
            *("--set", f"prompts.meta_llm={tmp_path / 'answer_with_context.txt'}"),
        )
    sent = next(request for request in server.requests if "Article 32 by keeping" in str(request))
    question, shown = BOTTLES.questions[0], ("F1", "LR1")
    texts = {chunk.ref: chunk.text for chunk in BOTTLES.chunks}
    (message,) = sent["messages"]
    assert message["role"] == "user"
    assert message["content"] in {
        f"Answer {{\"answer\": \"...\"}}.\n\nQuestion: {question.text}\nOptions: {{'Yes': 'Yes', 'No': 'No'}}\n\n"
        f"Context: {texts[one]}\n{texts[other]}\n\n"
        for one, other in (shown, shown[::-1])
    }
    assert (sent["temperature"], sent["max_tokens"], sent.get("response_format")) == (0.2, 4096, None)
    assert prompts_used(tmp_path / "run") == {"published/file/meta_llm"}
    assert not load_legal_content(tmp_path / "run").recipe.offers_refusal


def test_a_prompt_of_another_text_than_the_published_one_ends_the_run_before_it_begins(
    lawtrace: Shell, tmp_path: Path
) -> None:
    (tmp_path / "answer_with_context.txt").write_text(TEMPLATE + "x", encoding="utf-8")
    code, _, err = lawtrace(
        *("legal", "run", "--cases", cases_in(tmp_path), "--out", tmp_path / "run"),
        *("--set", f"prompts.meta_llm={tmp_path / 'answer_with_context.txt'}"),
    )
    assert code == 2
    assert "it is not the published file" in " ".join(err.split())
    assert not (tmp_path / "run").exists()
