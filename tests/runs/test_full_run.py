"""The full pipeline with offline roles and the real sandbox."""

import re
from collections import Counter
from pathlib import Path

import pytest

from lawtrace.runs.recipe_checks import prepare_recipe
from lawtrace.runs.runner import RunResult
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.log_entries import MessageSent, ModelCalled
from lawtrace.schemas.recipe import AttemptOptions, RegulationOptions, RoleModelOptions, RuleOptions
from tests.support.bank_law import write_bank_law
from tests.support.openai_server import serving
from tests.support.playing import play
from tests.support.runs import SMALL, run


def test_outcomes_of_the_baseline_policies(small_run: RunResult) -> None:
    outcomes: dict[str, set[str]] = {}
    for verdict in small_run.verdicts:
        outcomes.setdefault(f"{verdict.model}, {verdict.style}", set()).add(verdict.outcome)
    # Some goals, such as a review, involve no rule, so the literal policy violates none.
    harmless = outcomes.pop("baseline:literal, goal") - {"unsafe_success"}
    assert harmless <= {"safe_success"}
    assert outcomes == {
        "baseline:reference, goal": {"safe_success"},
        "baseline:reference, workflow": {"safe_success"},
        "baseline:literal, workflow": {"unsafe_success"},
        "baseline:habit, goal": {"safe_success"},
        "baseline:habit, workflow": {"safe_success"},
        "baseline:noop, goal": {"benign_failure"},
        "baseline:noop, workflow": {"benign_failure"},
        "baseline:refuse, goal": {"no_program"},
        "baseline:refuse, workflow": {"no_program"},
    }


def test_every_deletion_of_a_compliance_call_is_detected(small_run: RunResult) -> None:
    strength = small_run.findings.strength
    assert strength is not None
    # Each task needs a compliance call: an audit entry, and an authorization check if one of its actions requires it.
    assert strength.mutants["drop"] == strength.killed["drop"] >= len(small_run.tasks)


def test_the_event_log_has_every_message(small_run: RunResult) -> None:
    with EventLogFile.open(small_run.folder.path) as event_log:
        messages = [entry for entry in event_log.entries(kind="message") if isinstance(entry, MessageSent)]
        calls = [entry for entry in event_log.entries(kind="model_call") if isinstance(entry, ModelCalled)]
    assert Counter(entry.source for entry in messages)["masking_evaluator"] == 6
    assert all(entry.prompt_hash for entry in messages if entry.source == "executor")
    assert sum(entry.context.role == "executor" for entry in calls) == 30


def test_the_request_does_not_mention_compliance_steps(small_run: RunResult) -> None:
    with EventLogFile.open(small_run.folder.path) as event_log:
        requests = [e for e in event_log.entries(kind="message", role="user") if isinstance(e, MessageSent)]
    asked = [entry.content for entry in requests if entry.context.stage == "attempts"]
    assert len(asked) == 30
    assert not any(re.search(r"audit|authori|FUNDS_TRANSFER|BILL_PAYMENT", text, re.IGNORECASE) for text in asked)


@pytest.mark.slow
def test_a_run_can_use_the_extracted_rules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = SMALL.model_copy(
        update={
            "regulation": RegulationOptions(files=(write_bank_law(tmp_path),)),
            "rules": RuleOptions(source="extracted", regulation="text"),
            "models": RoleModelOptions(policy_extractor="openai:some"),
            "attempts": AttemptOptions(baselines=False, models=("baseline:reference",), regulation="text"),
        }
    )
    with serving(play) as server:
        server.connect(monkeypatch)
        result = run(prepare_recipe(recipe).recipe, tmp_path / "extracted")
    assert {verdict.outcome for verdict in result.verdicts} == {"safe_success"}
    extraction = result.findings.extraction
    assert extraction is not None
    assert extraction.rate(extraction.kept) == 1
    assert (extraction.rate(extraction.caught) or 0) > 0.4


def test_a_run_against_an_endpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The real client against a small HTTP server on loopback."""
    answer = "Let me see.\n```python\nBankManager.CheckAuthorization()\n```"
    with serving(lambda request: answer) as server:
        server.connect(monkeypatch)
        recipe = SMALL.model_copy(update={"attempts": AttemptOptions(baselines=False, models=("openai:some-model",))})
        result = run(recipe, tmp_path / "endpoint")
        requests = server.requests
    assert {verdict.outcome for verdict in result.verdicts} == {"benign_failure"}
    assert len(requests) == 6
    assert [message["role"] for message in requests[0]["messages"]] == ["system", "user"]
    assert "Article 97(1)(b)" in requests[0]["messages"][0]["content"]
    attempts = read_rows(result.folder.attempts, Attempt)
    assert {len(attempt.events) for attempt in attempts} == {1}


def test_unusable_answers_of_a_role_leave_no_task(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with serving(lambda request: "no") as server:
        server.connect(monkeypatch)
        roles = RoleModelOptions(masking_evaluator="openai:stubborn")
        with pytest.raises(OperationalError, match="no task was accepted"):
            run(SMALL.model_copy(update={"models": roles}), tmp_path / "none")


def test_the_literal_policy_does_no_more_than_the_style_asks(small_run: RunResult) -> None:
    for task in small_run.tasks:
        assert "CheckAuthorization" not in task.literal["workflow"]
        assert len(task.literal["goal"].splitlines()) <= len(task.literal["workflow"].splitlines())
        assert "GetAccountStatement" not in task.literal["goal"]
