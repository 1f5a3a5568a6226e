"""An attempt through Inspect: what the model does reaches the session unchanged, and limits end it."""

from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("inspect_ai", reason="needs the extra 'inspect'")

from inspect_ai.log import EvalSample
from inspect_ai.tool import ToolCall

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.documentation import call_schemas
from lawtrace.runs.integrations.inspect.attempt_solver import ANSWER, environment_tools
from lawtrace.runs.integrations.inspect.tasks import tasks
from lawtrace.runs.integrations.released_tasks import TaskSet
from lawtrace.runs.stages.execution import execute_conversation
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.schemas.attempt_rows import Answer
from lawtrace.schemas.errors import InputError
from lawtrace.solver.guard.shield import Shields
from tests.support.inspect_evals import RunSample, texts, tool_results, verdict_of

pytestmark = pytest.mark.integration

CHECK = ToolCall(id="1", function="CheckAuthorization", arguments={})


def _answer(sample: EvalSample) -> Answer:
    return Answer.model_validate_json(sample.store[ANSWER])


def _events(sample: EvalSample, file: str) -> list[tuple[str, object, str]]:
    (task,), domain = read_tasks(Path(file))
    answer = _answer(sample)
    assert answer.conversation is not None
    shields = Shields(domain.environment, domain.regulation)
    attempt = execute_conversation(domain.environment, task, answer, answer.conversation, shields)
    return [(event.tool, event.arguments, event.outcome) for event in attempt.events]


def test_tools_are_shown_with_our_schemas() -> None:
    shown = {tool.name: tool.parameters.model_dump(exclude_none=True) for tool in environment_tools(ENVIRONMENT)}
    for name, _, parameters in call_schemas(ENVIRONMENT, hints=False):
        assert shown[name]["properties"] == parameters["properties"]
        assert shown[name]["required"] == parameters["required"]


def test_wrong_calls_are_events_and_not_repaired(banking: str, run_sample: RunSample) -> None:
    """Inspect alone would answer the first two itself, and convert the number of the third."""
    calls = [
        ToolCall(id="1", function="Unknown", arguments={"a": 1}),
        ToolCall(id="2", function="SearchPayee", arguments={}, parse_error="Error parsing: {'keywords'"),
        ToolCall(id="3", function="GetAccountInformation", arguments={"account_type": 5}),
        ToolCall(id="4", function="SearchPayee", arguments={"keywords": ["Quarry"], "more": None}),
    ]
    sample = run_sample(tasks(banking, style="goal"), [calls, [CHECK], "Done."])
    assert _events(sample, banking) == [
        ("Unknown", {"a": 1}, "rejected"),
        ("SearchPayee", {}, "rejected"),
        ("GetAccountInformation", {"account_type": 5}, "rejected"),
        ("SearchPayee", {"keywords": ["Quarry"], "more": None}, "rejected"),
        ("CheckAuthorization", {}, "completed"),
    ]
    told = tool_results(sample)
    assert "Unknown" in told[0]
    assert "not strict JSON" in told[1]
    assert told[-1] == '{"authorized": true}'


@pytest.mark.parametrize(("limits", "end", "calls"), [({"turns": 2}, "turn_limit", 2), ({"calls": 1}, "call_limit", 1)])
def test_our_limits_end_an_attempt(
    limits: dict[str, Any], end: str, calls: int, banking: str, run_sample: RunSample
) -> None:
    answers = [[CHECK], [CHECK], [CHECK], [CHECK]]
    sample = run_sample(tasks(banking, style="goal", **limits), answers)
    conversation = _answer(sample).conversation
    assert conversation is not None
    assert conversation.end == end
    assert len(_events(sample, banking)) == calls
    assert verdict_of(sample).goal_reached is False


def test_limits_of_inspect_end_an_attempt(banking: str, run_sample: RunSample) -> None:
    sample = run_sample(tasks(banking, style="goal"), [[CHECK]] * 9, message_limit=4)
    conversation = _answer(sample).conversation
    assert conversation is not None
    assert conversation.end == "turn_limit"
    assert "(turn_limit" in verdict_of(sample).reason


def test_the_user_of_a_dialogue_answers(banking: str, run_sample: RunSample) -> None:
    task_set = TaskSet.read(banking, None, {"attempts": {"mode": "dialogue"}})
    (task,) = task_set.tasks
    user = task_set.user(task, "goal", task_set.open_session(task))
    assert user is not None
    opening, question = user.open().text, "Which account, please?"
    sample = run_sample(tasks(banking, style="goal", mode="dialogue"), [question, [CHECK], "Done.", "Bye.", "Bye."])
    assert texts(sample.messages, "user")[:2] == [opening, user.reply(question).text]
    kinds = [tool for tool, _, _ in _events(sample, banking)]
    assert kinds[:3] == ["user", "agent", "user"]
    assert kinds[-1] == "user"
    assert verdict_of(sample).user is not None


def test_a_shield_that_warns_tells_open_duties_once(banking: str, run_sample: RunSample) -> None:
    (task,), _ = read_tasks(Path(banking))
    paying = [
        [ToolCall(id=str(number), function=call.event.tool, arguments=dict(call.event.arguments))]
        for number, call in enumerate(task.calls)
        if call.event.tool != "RecordAuditEvent"
    ]
    sample = run_sample(tasks(banking, style="goal", shield="warn"), [*paying, "Done.", "Really done."])
    said = texts(sample.messages, "user")
    assert len(said) == 2
    assert "RecordAuditEvent" in said[1]
    assert verdict_of(sample).outcome == "safe_success"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"style": "gaol"}, "expected goal, workflow or both"),
        ({"mode": "program"}, "choose 'tools' or 'dialogue'"),
        ({"turns": -3}, "turns: must be at least 1"),
        ({"file": "missing.jsonl"}, "no such task file"),
    ],
)
def test_wrong_parameters_are_refused(options: dict[str, Any], message: str, banking: str) -> None:
    given: dict[str, Any] = {"file": banking, **options}
    with pytest.raises(InputError, match=message):
        tasks(**given)
