"""Twin questions from the command line: by rules alone, with models in the roles, and as cases of a run."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.agents.legal.twin_writing import FoundFact, check_fact
from lawtrace.environments.legal.case import Case
from lawtrace.environments.legal.dataset import load_dataset
from lawtrace.runs.legal.twins.horn import load_rules
from lawtrace.runs.legal.twins.shortcuts import balance, measure_shortcuts, twins_in
from tests.runs.legal.cli.test_case_preparation import FACTS, NOTICE, fact, write_facts
from tests.support.openai_server import serving
from tests.support.shell import Shell

ROOT = Path(__file__).parents[4]
MODEL = "openai:twins"


@pytest.fixture
def case(lawtrace: Shell, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "notice.txt").write_text(NOTICE, encoding="utf-8")
    lawtrace("legal", "ingest", "notice.txt", "--out", "case.jsonl")
    return tmp_path / "case.jsonl"


def check_pairs(cases: tuple[Case, ...]) -> int:
    """Twins differ in one fact and in their answers, and each answer follows from what its question states."""
    rules = load_rules()
    pairs = twins_in(cases)
    for twins in pairs:
        values: list[dict[str, bool]] = []
        for one in twins:
            assert one.twin is not None
            topic = rules.topic(one.twin.topic)
            values.append({fact.fact: fact.holds for fact in one.twin.facts})
            verdict = rules.verdict(topic, values[-1])
            assert verdict is not None
            assert one.answer == ("Yes" if verdict[0] == (one.twin.asks == "infringed") else "No")
            assert {*one.twin.deciding} <= {name if holds else f"not {name}" for name, holds in values[-1].items()}
            changed = [fact for fact in one.twin.facts if fact.basis == "changed"]
            assert one.text.count("(changed from the decision)") == len(changed)
            assert all(f"(paragraph {ref})" in one.text for ref in one.paragraphs)
        assert {one.answer for one in twins} == {"Yes", "No"}
        assert len({*values[0].items()} ^ {*values[1].items()}) == 2
    return len(pairs)


def test_facts_become_pairs_that_run_as_cases(lawtrace: Shell, case: Path, tmp_path: Path) -> None:
    facts = write_facts(tmp_path, FACTS)
    written = lawtrace.json("legal", "twins", case, "--facts", facts, "--out", "cases/twins.jsonl")
    again = lawtrace.json("legal", "twins", case, "--facts", facts, "--out", "again/twins.jsonl")
    assert (tmp_path / "cases/twins.jsonl").read_bytes() == (tmp_path / "again/twins.jsonl").read_bytes()
    assert written["questions"] == again["questions"] == 2 * check_pairs(load_dataset(tmp_path / "cases").cases)
    assert written["questions"] >= 4
    shared = lawtrace.json("legal", "twins", case, "--facts", facts, "--without-text", "--out", "shared/twins.jsonl")
    assert shared["questions"] == written["questions"]
    (plain,) = load_dataset(tmp_path / "shared").cases
    assert plain.document is None
    assert {chunk.agent for chunk in plain.chunks} == {"F", "LR", "AR"}
    assert "failed to lock" not in (tmp_path / "shared/twins.jsonl").read_text(encoding="utf-8")
    checked = lawtrace.json("legal", "check", "--cases", "cases")
    assert checked["shortcuts"] == written["shortcuts"]
    assert checked["shortcuts"]["always Yes"] == 0.5
    ran = lawtrace.json(
        "legal",
        "run",
        "--cases",
        "cases",
        "--set",
        "contexts=['F', 'F+LR+AR']",
        "--set",
        "retrievers=['bm25']",
        "--out",
        "run",
    )
    assert {score["metric"] for score in ran["tasks"]} == {"both right"}
    assert {score["of"] for score in ran["tasks"]} == {written["questions"] // 2}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (fact("in_place", "9", "lock"), "cites '9', which is not a paragraph"),
        (fact("in_place", "5", "did lock the laptop"), "does not occur in paragraph 5"),
        (fact("notified", "5", "the laptop"), "the topic has no such fact"),
    ],
)
def test_facts_are_checked_against_the_decision(
    lawtrace: Shell, case: Path, tmp_path: Path, wrong: dict[str, Any], said: str
) -> None:
    facts = write_facts(tmp_path, [*FACTS, wrong])
    code, _, err = lawtrace("legal", "twins", case, "--facts", facts, "--out", "twins.jsonl")
    assert code == 2
    assert said in " ".join(err.split())


def test_without_a_model_the_facts_must_be_given(lawtrace: Shell, case: Path) -> None:
    code, _, err = lawtrace("legal", "twins", case, "--out", "twins.jsonl")
    assert code == 2
    assert "roles.fact_finder" in err
    (case.parent / "half.toml").write_text(f'[roles]\ntwin_writer = "{MODEL}"\n', encoding="utf-8")
    code, _, err = lawtrace("legal", "twins", case, "--recipe", "half.toml", "--out", "twins.jsonl")
    assert code == 2
    assert "no model is named beside" in " ".join(err.split())


def answer(request: Mapping[str, Any]) -> str:
    """Plays all four roles. The evaluator objects once; the second reader decides by the sentence of one fact."""
    system, last = request["messages"][0]["content"], request["messages"][-1]["content"]
    if "list facts that it states" in system:
        return json.dumps({"party": "Bottle Works", "facts": FACTS})
    if "You write the facts" in system:
        issues = json.loads(system.split("```json issues\n")[1].split("\n```")[0])
        fact_names = [(issue["issue"], fact["fact"]) for issue in issues for fact in issue["facts"]]
        better = "better " if "Objections" in last or "not clear" in last else ""
        return json.dumps(
            {
                "sentences": [
                    {
                        "issue": issue,
                        "fact": name,
                        "yes": f"It is {better}so with {name}.",
                        "no": f"It is {better}not so with {name}.",
                    }
                    for issue, name in fact_names
                ]
            }
        )
    if "You review the facts" in system:
        faults = [] if "better" in last else [{"issue": 1, "fact": "risk", "fault": "it is not clear"}]
        return json.dumps({"faults": faults})
    questions = json.loads(system.split("```json questions\n")[1].split("\n```")[0])
    return json.dumps({"answers": [{"question": one["question"], "answer": read(one["text"])} for one in questions]})


def read(text: str) -> str:
    kept = any(
        said in text
        for said in (
            "so with in_place",
            "so with equivalent",
            "not so with risk",
            "not so with available",
            "not so with proportionate",
            "not so with personal_data",
            "not so with controller",
        )
        if said.startswith("not") or f"not {said}" not in text
    )
    return "Yes" if kept == ("comply" in text) else "No"


def test_models_find_word_review_and_read(
    lawtrace: Shell, case: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    roles = "".join(f'{role} = "{MODEL}"\n' for role in ("fact_finder", "twin_writer", "twin_evaluator", "twin_reader"))
    (tmp_path / "models.toml").write_text(f"[roles]\n{roles}", encoding="utf-8")
    with serving(answer) as server:
        server.connect(monkeypatch)
        written = lawtrace.json("legal", "twins", case, "--recipe", "models.toml", "--out", "cases/twins.jsonl")
    assert written["read"] == written["questions"] > 0
    dataset = load_dataset(tmp_path / "cases")  # the facts beside the cases are no dataset
    assert dataset.problems == ()
    assert 2 * check_pairs(dataset.cases) == written["questions"]
    questions = [question for case in dataset.cases for question in case.questions]
    assert all("better" in question.text for question in questions)
    assert {question.twin.read_by for question in questions if question.twin} == {MODEL}
    (tmp_path / "run.toml").write_text(f'models = ["{MODEL}"]\ncontexts = ["F+LR+AR"]\nretrievers = ["bm25"]\n')
    with serving(lambda request: '{"answer": "Yes"}') as server:
        server.connect(monkeypatch)
        ran = lawtrace.json("legal", "run", "--cases", "cases", "--recipe", "run.toml", "--out", "run")
        sent = json.dumps(server.requests)
    assert {score["score"] for score in ran["tasks"]} == {0.0}  # one answer to both twins
    assert "so with in_place" in sent
    assert not [mark for mark in ("infringed_32_1", "kept_32_1", "deciding", "proof") if mark in sent]
    found = json.loads(Path(written["facts"]).read_text(encoding="utf-8"))
    assert found["facts"] == FACTS


def test_words_must_not_quote_the_decision() -> None:
    text = "The laptop lay on the back seat of a car that stood unlocked in the street all night."
    found = FoundFact.model_validate(fact("in_place", "5", "on the back seat", holds=False) | {"words": text})
    known = {"security-measure": ["in_place"]}
    assert "must not quote" in (check_fact(found, {"5": text}, known) or "")
    own = found.model_copy(update={"words": "Bottle Works left its laptop in an open car overnight."})
    assert check_fact(own, {"5": text}, known) is None


def test_the_shipped_questions_follow_from_the_rules_and_no_shortcut_answers_them() -> None:
    dataset = load_dataset(ROOT / "docs" / "legal" / "twins")
    assert dataset.problems == ()
    assert check_pairs(dataset.cases) >= 50
    pairs = twins_in(dataset.cases)
    assert max(measure_shortcuts(pairs).values()) <= 0.55
    assert balance(pairs) == pairs
    assert all(one.twin and one.twin.read_by for twins in pairs for one in twins)
