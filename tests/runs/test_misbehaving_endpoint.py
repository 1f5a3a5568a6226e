"""An ablation over two models for two roles, against an endpoint with every common fault.

The run completes, and its event log has every fault.
"""

import asyncio
from collections import Counter
from pathlib import Path

import pytest

from lawtrace.agents.models.budget import BudgetExhausted
from lawtrace.runs.runner import VariantResult, run_variants
from lawtrace.runs.scoring.ablation import read_ablation
from lawtrace.runs.stages.resolve import resolve_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.runs.web.export import write_run_report
from lawtrace.schemas.call_options import BudgetOptions, ConversationOptions
from lawtrace.schemas.log_entries import CallRetried, MessageSent, ModelCalled, RoleFailed
from lawtrace.schemas.recipe import AttemptOptions, Recipe, RoleModelOptions, RuleOptions, TaskOptions
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.openai_server import Cut, Drop, Hang, Raw, Say, Status, Trickle, serving
from tests.support.playing import play

pytestmark = pytest.mark.slow

DEADLINE = 4.0

FAULTS = (
    Status(429, {"Retry-After": "0"}),
    Status(500),
    None,
    Drop(),
    Cut(),
    None,
    Say(""),  # an empty answer
    Say("I would rather not."),  # prose; for the executor an answer without a program
    None,
    Say('{"text": "cut of'),  # broken JSON in a complete completion
    Say('{"accepted": "perhaps"}'),  # JSON that violates the schema
    Trickle(5, 0.1),
    None,
    Raw("{"),  # broken JSON in place of a completion
    Status(503, {"Retry-After": "0.1"}),
    Hang(60),  # beyond the deadline
)

RECIPE = Recipe(
    rules=RuleOptions(),
    tasks=TaskOptions(count=3, spare=4),
    conversation=ConversationOptions(concurrency=4, deadline_seconds=DEADLINE),
    models=RoleModelOptions(instruction_generator="openai:a", masking_evaluator="openai:a"),
    attempts=AttemptOptions(models=("openai:a",), baselines=False),
    ablation={
        "models.instruction_generator": ("openai:a", "openai:b"),
        "models.masking_evaluator": ("openai:a", "openai:b"),
    },
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    return RunFolder(tmp_path_factory.mktemp("misbehaving") / "run")


@pytest.fixture(scope="module")
def results(folder: RunFolder) -> list[VariantResult]:
    with serving(play) as server, pytest.MonkeyPatch.context() as patch:
        server.connect(patch)
        server.then(*FAULTS)
        with EventLogFile.create(folder.path, recipe=RECIPE.model_dump(mode="json")) as event_log:
            return asyncio.run(run_variants(resolve_recipe(RECIPE), event_log))


def test_the_ablation_completes(folder: RunFolder, results: list[VariantResult]) -> None:
    assert [one.row.ended for one in results] == [None] * 4
    for one in results:
        assert one.result is not None
        verdicts = read_rows(folder.variant(one.row.number).verdicts, Verdict)
        assert len(verdicts) == 2 * len(one.result.tasks) > 0
    ablation = read_ablation(folder.path)
    assert {line.axis for line in ablation.axes} == set(RECIPE.ablation)
    assert write_run_report(folder.path).path.exists()


def test_every_fault_is_in_the_event_log(folder: RunFolder, results: list[VariantResult]) -> None:
    assert results
    with EventLogFile.open(folder.path) as event_log:
        entries = list(event_log.entries())
    retried = Counter(
        "status" if "status 5" in entry.error or "status 4" in entry.error else "connection"
        for entry in entries
        if isinstance(entry, CallRetried)
    )
    assert retried == {"status": 3, "connection": 2}
    assert [entry.waited_seconds for entry in entries if isinstance(entry, CallRetried) and "429" in entry.error] == [0]
    failed = [entry for entry in entries if isinstance(entry, RoleFailed)]
    assert [entry.reason for entry in failed].count("deadline") == 1
    assert sum("not a chat completion" in entry.text for entry in failed) == 1
    sent_back = [entry for entry in entries if isinstance(entry, MessageSent) and entry.source == "answer_check"]
    no_answer = [entry for entry in failed if entry.reason == "answer"]
    assert len(sent_back) + len(no_answer) == 4
    said = {entry.content for entry in entries if isinstance(entry, MessageSent)} | {entry.text for entry in failed}
    for fault in FAULTS:
        if isinstance(fault, Say):
            assert any(fault.text in words for words in said), fault
    slow = [entry for entry in entries if isinstance(entry, ModelCalled) and 500 <= entry.latency_ms < 1000 * DEADLINE]
    assert slow


def test_failed_conversations_are_dropped_and_not_counted(results: list[VariantResult]) -> None:
    first = results[0].result
    assert first is not None
    funnel = first.findings.funnel
    assert funnel is not None
    assert sum(funnel.dropped.values()) >= 1
    assert funnel.traces == funnel.accepted + sum(funnel.dropped.values())


def test_a_budget_stops_the_ablation_and_a_higher_one_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = RunFolder(tmp_path / "run")
    small = RECIPE.model_copy(update={"budget": BudgetOptions(messages=20)})
    with serving(play) as server:
        server.connect(monkeypatch)
        with (
            EventLogFile.create(folder.path, recipe=small.model_dump(mode="json")) as event_log,
            pytest.raises(BudgetExhausted, match="20 messages"),
        ):
            asyncio.run(run_variants(resolve_recipe(small), event_log))
        assert len(server.requests) == 20
        with EventLogFile.resume(folder.path) as event_log:
            results = asyncio.run(run_variants(resolve_recipe(RECIPE), event_log))
            calls = sum(call.paid for call in event_log.answered())
        assert len(server.requests) == calls
    assert [one.row.ended for one in results] == [None] * 4
