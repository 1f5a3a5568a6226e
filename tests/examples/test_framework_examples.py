"""The examples of other agent frameworks: a refused call, the advice followed, an open duty, and a log for audits.

Each runs in a process of its own, because the package of the Agents SDK has the name of one of our folders.
"""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.shell import Shell

pytestmark = pytest.mark.integration

EXAMPLES = Path(__file__).parents[2] / "examples"
PACKAGES = {"langgraph": "langchain", "openai_agents": "openai-agents"}
ADVICE = "Not carried out. Call get_reservation(reservation_id='G2LTC4') first."


def python(folder: str, cwd: Path, *arguments: str) -> str:
    try:
        importlib.metadata.distribution(PACKAGES[folder])
    except importlib.metadata.PackageNotFoundError:
        pytest.skip(f"needs {PACKAGES[folder]}")
    ran = subprocess.run([sys.executable, *arguments], cwd=cwd, capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


@pytest.mark.parametrize("folder", PACKAGES)
def test_a_refused_agent_follows_the_advice_and_its_log_is_audited(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    *calls, duty = python(folder, tmp_path, str(EXAMPLES / folder / "guarded_agent.py")).splitlines()
    assert [line.split(":")[0] for line in calls] == ["cancel_reservation", "get_reservation", "cancel_reservation"]
    assert ADVICE in calls[0]
    assert duty.startswith("Open: Call send_confirmation(reservation_id='G2LTC4').")
    monkeypatch.chdir(tmp_path)
    code, _, err = Shell(monkeypatch, capsys)(
        "audit", "guard.jsonl", "--tools", "guard.jsonl", "--rules", EXAMPLES / "rules.toml", "--complete", "--json"
    )
    assert code == 1, err
    (row,) = (json.loads(line) for line in Path("audit.jsonl").read_text(encoding="utf-8").splitlines())
    verdicts = {rule["rule"]: rule for rule in row["rules"]}
    assert verdicts["read-first"]["kept"]
    assert verdicts["confirmation"]["broken_at"] is None, "only the end decides"
    assert not verdicts["confirmation"]["kept"]
    logged = [json.loads(line) for line in Path("guard.jsonl").read_text(encoding="utf-8").splitlines()]
    said = [(role, line[role]) for line in logged for role in ("user", "agent") if role in line]
    assert said == [("user", "Please cancel G2LTC4."), ("agent", "It is cancelled.")]


BROKEN = """
import asyncio, json, runpy, sys
import lawtrace

example = runpy.run_path(sys.argv[1])

def cancel_reservation(reservation_id: str) -> str:
    '''A tool that fails.'''
    raise RuntimeError("the desk is on fire")

tools = [example["get_reservation"], cancel_reservation]
guard = lawtrace.Guard(example["RULES"], [*tools, "send_confirmation"])
open_guard = lambda *_: guard
"""
LANGCHAIN = """
names = ("get_reservation", "cancel_reservation")
model = example["ScriptedModel"](responses=[example["calling"](name) for name in names])
agent = example["create_agent"](model, tools, middleware=[example["GuardMiddleware"](open_guard)])
try:
    agent.invoke({"messages": [example["HumanMessage"]("Cancel.")]})
except RuntimeError as error:
    print(error)
"""
TWO_USERS = """
import runpy, sys, lawtrace

example = runpy.run_path(sys.argv[1])
guard = lawtrace.Guard(example["RULES"], example["TOOLS"])
middleware = example["GuardMiddleware"](lambda name, login: guard.open_session(principal=login.principal))
names = ("get_reservation", "cancel_reservation")
steps = [step for name in names for step in (example["calling"](name), example["AIMessage"]("Done."))]
model = example["ScriptedModel"](responses=steps)
agent = example["create_agent"](model, example["TOOLS"], middleware=[middleware], context_schema=example["Login"])
for user in ("ann", "bob"):
    asked = {"messages": [example["HumanMessage"]("Cancel G2LTC4.")]}
    done = agent.invoke(asked, context=example["Login"](user, "clerk"))
    print(*(message.text for message in done["messages"] if isinstance(message, example["ToolMessage"])))
"""
AGENTS_SDK = """
function_call, calling = example["function_call"], example["calling"]
steps = [
    [function_call("cancel_reservation", "[1]", call_id="1")],
    [function_call("cancel_reservation", "{", call_id="2")],
    calling("get_reservation", 3),
    calling("cancel_reservation", 4),
    [example["assistant_message"]("Sorry.")],
]
example["set_tracing_disabled"](True)
model = example["ScriptedModel"](steps)
agent = example["Agent"]("clerk", model=model, tools=[example["guarded_tool"](tool) for tool in tools])
done = asyncio.run(example["Runner"].run(agent, "Cancel.", context=example["Session"](guard)))
for item in done.new_items:
    if item.type == "tool_call_output_item":
        print(item.output)
"""
END = """
print(json.loads(guard.snapshot())["session"]["traces"][0]["queue"], guard.finish())
"""


def is_known(end: str, error: str) -> bool:
    """Whether the guard knows at the end what it should: a cancellation that timed out may have to be confirmed."""
    return end == "[] ()" if error == "RuntimeError" else end.startswith("[] (OpenDuty(rule='confirmation'")


def test_what_one_user_of_langchain_has_read_does_not_serve_another(tmp_path: Path) -> None:
    said = python("langgraph", tmp_path, "-c", TWO_USERS, str(EXAMPLES / "langgraph" / "guarded_agent.py"))
    anns, bobs = said.splitlines()
    assert "business" in anns
    assert bobs.startswith(ADVICE)


@pytest.mark.parametrize("error", ["RuntimeError", "TimeoutError"])
def test_errors_in_langchain(error: str, tmp_path: Path) -> None:
    source = (BROKEN + LANGCHAIN + END).replace("RuntimeError", error)
    said = python("langgraph", tmp_path, "-c", source, str(EXAMPLES / "langgraph" / "guarded_agent.py"))
    failed, end = said.splitlines()
    assert failed == "the desk is on fire"
    assert is_known(end, error)


@pytest.mark.parametrize("error", ["RuntimeError", "TimeoutError"])
def test_errors_and_malformed_arguments_in_the_agents_sdk(error: str, tmp_path: Path) -> None:
    source = (BROKEN + AGENTS_SDK + END).replace("RuntimeError", error)
    said = python("openai_agents", tmp_path, "-c", source, str(EXAMPLES / "openai_agents" / "guarded_agent.py"))
    malformed = "The arguments are not a JSON object."
    *_, failed, end = said.splitlines()
    assert said.splitlines()[:2] == [malformed, malformed]
    assert failed == "The call failed: the desk is on fire"
    assert is_known(end, error)
