"""Tool-call attempts from the recipe to the verdict: same verdicts, same bytes, no repeated requests."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from lawtrace.runs.report.content import load_run_content
from lawtrace.runs.runner import RunResult
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import read_rows, write_rows
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.runs.web.export import render_report
from lawtrace.schemas.attempt_rows import Answer, Attempt
from lawtrace.schemas.errors import InputError, OperationalError
from lawtrace.schemas.log_entries import Entry, ModelCalled
from lawtrace.schemas.recipe import AttemptOptions, Recipe, RoleModelOptions, TaskOptions
from lawtrace.schemas.tool_conversation import AttemptLimits, Turn
from lawtrace.schemas.verdict_rows import Verdict
from tests.support.openai_server import Status, calling, serving
from tests.support.runs import SMALL, run, run_recipe
from tests.support.shell import Shell

IN_TOOLS = SMALL.model_copy(update={"attempts": AttemptOptions(mode="tools")})


class Crash(OperationalError):
    """Simulates the end of the process."""


class Crashing(EventLogFile):
    """An event log that simulates a crash after `answers_left` answers of endpoints are committed."""

    answers_left = 0

    def record(self, entry: Entry) -> None:
        super().record(entry)
        if isinstance(entry, ModelCalled) and entry.paid:
            self.answers_left -= 1
            if self.answers_left <= 0:
                raise Crash("the process ends")


@pytest.fixture(scope="module")
def acted(tmp_path_factory: pytest.TempPathFactory) -> RunResult:
    return run(IN_TOOLS, tmp_path_factory.mktemp("tools") / "run")


def without_ids(verdict: Verdict) -> dict[str, Any]:
    return verdict.model_dump(exclude={"answer": True, "rules": {"__all__": {"message"}}})


def turns_of(attempt: Attempt) -> tuple[Turn, ...]:
    assert attempt.answer.conversation is not None
    return attempt.answer.conversation.turns


def test_both_modes_give_the_same_events_and_verdicts(acted: RunResult, small_run: RunResult) -> None:
    ours = {"baseline:reference", "baseline:literal", "baseline:habit"}
    for left, right in zip(acted.attempts, small_run.attempts, strict=True):
        if left.answer.model in ours:
            assert (left.events, left.final_state) == (right.events, right.final_state)
    for left, right in zip(acted.verdicts, small_run.verdicts, strict=True):
        if left.model in ours:
            assert without_ids(left.model_copy(update={"mode": "program"})) == without_ids(right)
    assert {verdict.outcome for verdict in acted.verdicts if verdict.model == "baseline:reference"} == {"safe_success"}
    assert {verdict.outcome for verdict in acted.verdicts if verdict.model == "baseline:literal"} == {"unsafe_success"}


def test_a_model_without_tool_calls_is_no_program(acted: RunResult) -> None:
    idle = [verdict for verdict in acted.verdicts if verdict.model in {"baseline:noop", "baseline:refuse"}]
    assert {(verdict.outcome, verdict.reason) for verdict in idle} == {
        ("no_program", "the model called no tool: it only wrote text")
    }


def test_grade_uses_the_calls_of_tool_attempts(lawtrace: Shell, acted: RunResult, tmp_path: Path) -> None:
    """Mixed with programs, in file order, and with the verdicts of the run."""
    tasks, attempts, out = (tmp_path / f"{name}.jsonl" for name in ("tasks", "attempts", "verdicts"))
    program = Answer(task=acted.tasks[0].id, style="goal", model="mine", program=acted.tasks[0].program)
    write_tasks(tasks, acted.tasks)
    write_rows(attempts, [program, *acted.attempts])
    lawtrace.json("grade", "--tasks", tasks, "--programs", attempts, "--out", out)
    first, *others = read_rows(out, Verdict)
    assert (first.model, first.outcome) == ("mine", "safe_success")
    assert others == list(acted.verdicts)


def test_a_transcript_contains_calls_and_results(acted: RunResult) -> None:
    for attempt in read_rows(acted.folder.attempts, Attempt):
        called = [(call.name, json.loads(call.arguments)) for turn in turns_of(attempt) for call in turn.calls]
        assert called == [(event.tool, event.arguments) for event in attempt.events]
        told = [text for turn in turns_of(attempt) for text in turn.results]
        for text, event in zip(told, attempt.events, strict=True):
            assert text == event.error if event.error else json.loads(text) == event.result


@pytest.mark.slow
def test_the_report_and_the_messages_show_the_calls(lawtrace: Shell, acted: RunResult) -> None:
    page = render_report(load_run_content(acted.folder.path))
    assert "reference [tools]" in page
    assert "The conversation ended normally" in page
    assert "executor calls" in lawtrace("messages", acted.folder.path, "--role", "executor")[1]


def forgetful(request: Mapping[str, Any]) -> str | Mapping[str, Any]:
    """Authorizes, makes one query, and omits the rest; with parallel calls and one invalid call."""
    told = [line for line in request["messages"] if line["role"] == "tool"]
    match len(told):
        case 0:
            return calling(("CheckAuthorization", "{}"), ("SearchPayee", "{"))
        case 2:
            return calling(("GetAccountInformation", {"account_type": "savings"}))
        case _:
            return "Done."


def talkative(request: Mapping[str, Any]) -> str | Mapping[str, Any]:
    """Asks two questions before it acts. As the voice of the user it says what it is told, with an exclamation mark."""
    if request["model"] == "voice":
        return json.dumps({"text": request["messages"][-1]["content"].split("The person answers:\n")[1] + "!"})
    heard = sum(line["role"] == "user" for line in request["messages"])
    return {1: "Which account, please?", 2: "What else?"}.get(heard) or forgetful(request)


TWO_TASKS = TaskOptions(count=2, spare=0)
IN_DIALOGUE = AttemptOptions(baselines=False, models=("openai:talkative", "openai:chatty"), mode="dialogue")
CONVERSATIONS = {
    "tools": Recipe(
        tasks=TWO_TASKS, attempts=AttemptOptions(baselines=False, models=("openai:forgetful",), mode="tools")
    ),
    "dialogue": Recipe(tasks=TWO_TASKS, attempts=IN_DIALOGUE, models=RoleModelOptions(user="openai:voice")),
}


@pytest.mark.slow
@pytest.mark.parametrize(("mode", "answers"), [("tools", 1), ("tools", 11), ("dialogue", 23)])
def test_an_interrupted_conversation_continues(
    mode: str, answers: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    recipe = CONVERSATIONS[mode]
    with serving(forgetful if mode == "tools" else talkative) as server:
        server.connect(monkeypatch)
        whole = run(recipe, tmp_path / "whole")
        total = len(server.requests)
        assert total >= 12
        cut = tmp_path / "cut"
        with Crashing.create(cut, recipe=recipe.model_dump(mode="json")) as event_log:
            event_log.answers_left = answers
            with pytest.raises(Crash):
                asyncio.run(run_recipe(recipe, event_log))
        with EventLogFile.open(cut) as event_log:
            calls = list(event_log.entries(kind="model_call"))
            committed = sum(isinstance(entry, ModelCalled) and entry.paid for entry in calls)
        asked = len(server.requests)
        with EventLogFile.resume(cut) as event_log:
            resumed = asyncio.run(run_recipe(recipe, event_log))
        assert len(server.requests) - asked == total - committed
    for path in (whole.folder.attempts, whole.folder.verdicts):
        assert (resumed.folder.path / path.name).read_bytes() == path.read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("mode", CONVERSATIONS)
def test_a_finished_run_replays_to_the_same_events(mode: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    recipe = CONVERSATIONS[mode]
    options = recipe.attempts.model_copy(update={"models": recipe.attempts.models[:1], "trials": 2})
    with serving(forgetful if mode == "tools" else talkative) as server:
        server.connect(monkeypatch)
        live = run(recipe.model_copy(update={"attempts": options}), tmp_path / "live")
    spec = f"replay:{live.folder.path}"
    roles = RoleModelOptions(user=spec if mode == "dialogue" else None)
    replaying = {"attempts": options.model_copy(update={"models": (spec,)}), "models": roles}
    again = run(recipe.model_copy(update=replaying), tmp_path / "replayed")
    for path in (live.folder.attempts, live.folder.verdicts):
        replayed = (again.folder.path / path.name).read_text(encoding="utf-8")
        assert replayed.replace(spec, options.models[0]) == path.read_text(encoding="utf-8")
    assert ("User (asks" in render_report(load_run_content(again.folder.path))) == (mode == "dialogue")


def test_an_endpoint_failure_makes_the_attempt_invalid(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = AttemptOptions(baselines=False, models=("openai:m",), mode="tools", styles=("goal",))
    recipe = Recipe(tasks=TaskOptions(count=1, spare=0), attempts=options)

    def answer(request: Mapping[str, Any]) -> Mapping[str, Any]:
        server.then(Status(400))
        return calling(("CheckAuthorization", "{}"))

    with serving(answer) as server:
        server.connect(monkeypatch)
        result = run(recipe, tmp_path / "run")
    assert [verdict.outcome for verdict in result.verdicts] == ["invalid"]
    assert result.verdicts[0].reason.startswith("endpoint: ")


@pytest.mark.slow
def test_a_conversation_ended_by_a_limit_fails_the_goal(tmp_path: Path) -> None:
    """The reference has made all its calls, but the limit ends it before its final message."""
    options = AttemptOptions(
        baselines=False, models=("baseline:reference",), mode="tools", tools=AttemptLimits(turns=8)
    )
    result = run(SMALL.model_copy(update={"attempts": options}), tmp_path / "run")
    assert {verdict.outcome for verdict in result.verdicts} == {"benign_failure"}
    assert all(verdict.differences == () for verdict in result.verdicts)
    assert all("turn_limit: did not end within 8 turns" in verdict.reason for verdict in result.verdicts)


def test_the_reference_needs_a_task_with_a_trace(lawtrace: Shell, acted: RunResult, tmp_path: Path) -> None:
    tasks = tmp_path / "tasks.jsonl"
    write_tasks(tasks, [task.model_copy(update={"calls": ()}) for task in acted.tasks])
    code, _, err = lawtrace("run", "--tasks", tasks, "--model", "baseline:reference", "--mode", "tools")
    assert (code, "imported as a program" in err) == (InputError.exit_code, True)
