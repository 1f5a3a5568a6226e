"""Nothing that states the outcome of a decision reaches a role that has to find it.

Each part of a case has a marker, and every request of every role is searched for them.
"""

import re
from collections import defaultdict
from pathlib import Path

import pytest

from lawtrace.environments.legal.case import Case
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.schemas.log_entries import ModelCalled
from tests.support.legal.small_cases import asked, prepare_passages
from tests.support.openai_server import serving
from tests.support.shell import Shell

DECISION = """Introduction
1. MARKintroduction. The Office fines Bottle Works for its infringement of Article 32.
Legal framework
2. MARKrules. Article 32 states that personal data shall be kept safe.
3. MARKoutcome. The Commissioner finds that Bottle Works infringed Article 32.
Background
4. MARKfacts. Bottle Works kept the personal data of customers on an unlocked laptop.
5. MARKoutcome. The Commissioner thinks of Article 33. Bottle Works did not comply with Article 33.
Nature of the entities
6. MARKapplication. Bottle Works is the controller of the personal data.
Findings of infringement
7. MARKfindings. The Office finds that Bottle Works infringed Article 32.
Decision
8. MARKdecision. The Office has decided to impose a penalty.
Calculation of the penalty
9. MARKpenalty. The amount is £5,000.
Further papers
10. MARKannex. Bottle Works infringed Article 32.
"""
PARTS = ("introduction", "rules", "rules", "facts", "facts", "application", "findings", "decision", "penalty", "annex")
MODEL = "openai:swapped"
KNOWN = {"application": {"facts", "application"}}
"""What a role that prepares passages may read; the roles that answer, what is read by any of them."""
GRIDS = {
    "once": "",
    "team": 'pipeline = "decomposed"\n[decomposition]\nrounds = 2\n',
    "per agent": 'share = "per_agent"\n',
}


def ingest(lawtrace: Shell, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Case:
    (folder / "notice.txt").write_text(DECISION, encoding="utf-8")
    parts = "".join(
        f'[[parts]]\nfirst = "{number}"\nlast = "{number}"\npart = "{part}"\n' for number, part in enumerate(PARTS, 1)
    )
    (folder / "parts.toml").write_text(parts, encoding="utf-8")
    roles = f'[roles]\napplication = "{MODEL}"\ncommon_sense = "{MODEL}"\n'
    (folder / "roles.toml").write_text(roles, encoding="utf-8")
    with serving(prepare_passages("4")) as server:
        server.connect(monkeypatch)
        code, _, err = lawtrace(
            *("legal", "ingest", folder / "notice.txt", "--parts", folder / "parts.toml"),
            *("--recipe", folder / "roles.toml", "--out", folder / "case.jsonl"),
        )
    assert code == 1, err  # a finding among the facts is a fault
    (case,) = read_rows(folder / "case.jsonl", Case)
    yes_no = {"Yes": "Yes", "No": "No"}
    questions = (
        asked(
            "q1MARKid", "Did Bottle Works infringe Article 32 by the laptop and by the personal data?", yes_no, "Yes"
        ),
        asked("q2MARKid", "Who is the controller of the personal data?", dict(zip("ABCD", "wxyz", strict=True)), "B"),
    )
    paragraphs = [one.model_copy(update={"paragraphs": ("7",)}) for one in questions]
    return case.model_copy(update={"id": "MARKcase", "questions": tuple(paragraphs)})


def seen(folder: Path) -> dict[str, set[str]]:
    """Role -> the markers in all its requests."""
    found: dict[str, set[str]] = defaultdict(set)
    with EventLogFile.open(folder) as event_log:
        for call in event_log.entries(kind="model_call"):
            assert isinstance(call, ModelCalled)
            found[call.context.role] |= {m for sent in call.request for m in re.findall(r"MARK(\w+)", sent.content)}
    return found


@pytest.mark.parametrize("grid", GRIDS.values(), ids=GRIDS)
def test_no_request_of_a_role_that_answers_states_the_outcome(
    lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, grid: str
) -> None:
    case = ingest(lawtrace, tmp_path, monkeypatch)
    write_rows(tmp_path / "cases.jsonl", [case])
    (tmp_path / "legal.toml").write_text(f'retrievers = ["bm25"]\ndepths = [1, 9]\n{grid}', encoding="utf-8")
    lawtrace.json(
        *("legal", "run", "--cases", tmp_path / "cases.jsonl", "--recipe", tmp_path / "legal.toml"),
        *("--out", tmp_path / "run"),
    )
    requests = seen(tmp_path / "run")
    recipe = LegalRecipe.model_validate({"pipeline": "decomposed" if "decomposed" in grid else "once"})
    assert set(requests) == set(recipe.answering_roles())
    assert set().union(*requests.values()) == {"facts", "rules"}
    prepared = seen(tmp_path / "case.events")
    assert prepared["common_sense"] <= KNOWN["application"]
    assert {role: prepared[role] for role in KNOWN} == KNOWN


@pytest.mark.parametrize(
    ("recipe", "message"),
    [
        (f'models = ["{MODEL}"]\n', "roles.facts_agent, roles.rules_agent"),
        (
            f'models = ["{MODEL}", "offline"]\n[roles]\nfacts_agent = "offline"\n',
            "roles.rules_agent: no model is named",
        ),
        (
            f'[roles]\nfacts_agent = "{MODEL}"\nrules_agent = "offline"\n',
            "models: no model is named beside roles.facts",
        ),
    ],
)
def test_a_role_without_a_model_beside_a_model_is_an_error(
    lawtrace: Shell, tmp_path: Path, recipe: str, message: str
) -> None:
    path = tmp_path / "legal.toml"
    path.write_text('contexts = ["F+LR"]\npipeline = "decomposed"\n' + recipe, encoding="utf-8")
    code, _, err = lawtrace("legal", "run", "--cases", tmp_path, "--recipe", path, "--dry-run")
    assert code == 2
    assert message in " ".join(err.split())


def test_the_roles_that_prepare_a_case_need_models_beside_a_model(lawtrace: Shell, tmp_path: Path) -> None:
    (tmp_path / "notice.txt").write_text(DECISION, encoding="utf-8")
    (tmp_path / "legal.toml").write_text(f'[roles]\napplication = "{MODEL}"\n', encoding="utf-8")
    code, _, err = lawtrace(
        *("legal", "ingest", tmp_path / "notice.txt", "--recipe", tmp_path / "legal.toml"),
        *("--out", tmp_path / "case.jsonl"),
    )
    assert code == 2
    assert "roles.section_mapper, roles.common_sense: no model" in " ".join(err.split())


def test_a_role_set_on_the_command_line_needs_the_others(lawtrace: Shell, tmp_path: Path) -> None:
    path = tmp_path / "legal.toml"
    path.write_text('contexts = ["F"]\npipeline = "decomposed"\n', encoding="utf-8")
    code, _, err = lawtrace(
        "legal", "run", "--cases", tmp_path, "--recipe", path, "--set", f"roles.facts_agent={MODEL}"
    )
    assert code == 2
    assert "models: no model is named beside roles.facts_agent" in " ".join(err.split())
