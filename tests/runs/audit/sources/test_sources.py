"""One conversation, recorded as each source records it, gives the same turns."""

import json
import tracemalloc
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from lawtrace.runs.audit.sources.chat_logs import ChatLogs
from lawtrace.runs.audit.sources.json_files import read_json_records
from lawtrace.runs.audit.sources.reading import SOURCES, find_files, read_transcripts
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.schemas.errors import InputError

ASK, TELL = "Cancel my booking, please.", "It is cancelled."
ARGUMENTS = {"booking": "B-7", "legs": [{"flight": "LT1", "day": "2026-05-01"}]}
RESULT = {"status": "cancelled"}
ERROR = "Error: no booking B-8"

EXPECTED = [("user", ASK), ("look_up", {"booking": "B-8"}, ERROR), ("cancel", ARGUMENTS, RESULT), ("agent", TELL)]


def simplified(transcript: Transcript) -> list[tuple[Any, ...]]:
    """The turns without times and numbers; the error of a call in place of its result."""
    assert transcript.trouble is None, transcript.trouble
    rows: list[tuple[Any, ...]] = []
    for turn in transcript.turns:
        if turn.call is None:
            rows.append((turn.message.speaker, turn.message.text))
        else:
            answer = turn.call.answer
            assert answer is not None
            rows.append((turn.call.tool, dict(turn.call.arguments or {}), answer.error or answer.content))
    return rows


def openai_chat() -> list[dict[str, Any]]:
    def call(number: int, name: str, arguments: object) -> dict[str, Any]:
        function = {"name": name, "arguments": json.dumps(arguments)}
        return {
            "role": "assistant",
            "content": None,
            "tool_calls": [{"id": f"c{number}", "type": "function", "function": function}],
        }

    return [
        {"role": "system", "content": "You are a clerk."},
        {"role": "user", "content": ASK},
        call(1, "look_up", {"booking": "B-8"}),
        {"role": "tool", "tool_call_id": "c1", "content": ERROR},
        call(2, "cancel", ARGUMENTS),
        {"role": "tool", "tool_call_id": "c2", "content": json.dumps(RESULT)},
        {"role": "assistant", "content": TELL},
    ]


def legacy_functions() -> list[dict[str, Any]]:
    messages = [{"role": "user", "content": ASK}]
    for name, arguments, result in (("look_up", {"booking": "B-8"}, ERROR), ("cancel", ARGUMENTS, json.dumps(RESULT))):
        messages += [
            {"role": "assistant", "function_call": {"name": name, "arguments": json.dumps(arguments)}},  # type: ignore[dict-item]
            {"role": "function", "name": name, "content": result},
        ]
    return [*messages, {"role": "assistant", "content": TELL}]


def langchain(wrap: Callable[[dict[str, Any]], dict[str, Any]] = dict) -> list[dict[str, Any]]:
    """As ``model_dump`` writes them; ``wrap`` for other forms. Calls may stand in the content, too."""

    def call(number: int, name: str, arguments: object) -> dict[str, Any]:
        block = {"type": "tool_use", "id": f"c{number}", "name": name, "input": arguments}
        made = {"type": "tool_call", "id": f"c{number}", "name": name, "args": arguments}
        return {"type": "ai", "content": [block] if number == 2 else "", "tool_calls": [made], "invalid_tool_calls": []}

    messages: list[dict[str, Any]] = [
        {"type": "system", "content": "You are a clerk."},
        {"type": "human", "content": ASK},
        call(1, "look_up", {"booking": "B-8"}),
        {"type": "tool", "tool_call_id": "c1", "name": "look_up", "content": ERROR, "status": "error"},
        call(2, "cancel", ARGUMENTS),
        {"type": "tool", "tool_call_id": "c2", "name": "cancel", "content": json.dumps(RESULT), "status": "success"},
        {"type": "AIMessageChunk", "content": TELL, "tool_calls": []},
    ]
    return [wrap(message) for message in messages]


def autogen_run() -> dict[str, Any]:
    """The messages of a ``TaskResult``."""

    def event(kind: str, source: str, content: object) -> dict[str, Any]:
        return {"id": kind, "source": source, "models_usage": None, "metadata": {}, "content": content, "type": kind}

    def call(number: int, name: str, arguments: object) -> dict[str, Any]:
        made = {"id": f"c{number}", "arguments": json.dumps(arguments), "name": name}
        return event("ToolCallRequestEvent", "clerk", [made])

    def answer(number: int, name: str, content: str, *, error: bool) -> dict[str, Any]:
        given = {"content": content, "name": name, "call_id": f"c{number}", "is_error": error}
        return event("ToolCallExecutionEvent", "clerk", [given])

    return {
        "messages": [
            event("TextMessage", "user", ASK),
            event("ThoughtEvent", "clerk", "I look it up."),
            call(1, "look_up", {"booking": "B-8"}),
            answer(1, "look_up", ERROR, error=True),
            call(2, "cancel", ARGUMENTS),
            answer(2, "cancel", str(RESULT), error=False),
            event("TextMessage", "clerk", TELL),
        ],
        "stop_reason": None,
    }


def autogen_state() -> dict[str, Any]:
    """The saved state of an ``AssistantAgent``."""
    names = {"ToolCallRequestEvent": "AssistantMessage", "ToolCallExecutionEvent": "FunctionExecutionResultMessage"}
    messages = [{**one, "type": names.get(one["type"], "AssistantMessage")} for one in autogen_run()["messages"]]
    messages[0]["type"] = "UserMessage"
    kept = [{key: one[key] for key in ("content", "source", "type")} for one in (messages[0], *messages[2:])]
    for message in kept:
        if message["type"] == "FunctionExecutionResultMessage":
            del message["source"]
    return {"type": "AssistantAgentState", "version": "1.0.0", "llm_context": {"messages": kept}}


def request_and_response() -> dict[str, Any]:
    *asked, told = openai_chat()
    return {"request": {"model": "m", "messages": asked}, "response": {"choices": [{"index": 0, "message": told}]}}


def openai_responses() -> dict[str, Any]:
    return {
        "id": "resp_1",
        "object": "response",
        "input": [
            {"role": "user", "content": [{"type": "input_text", "text": ASK}]},
            {"type": "reasoning", "id": "r", "summary": []},
            {"type": "function_call", "call_id": "c1", "name": "look_up", "arguments": '{"booking": "B-8"}'},
            {"type": "function_call_output", "call_id": "c1", "output": ERROR},
            {"type": "function_call", "call_id": "c2", "name": "cancel", "arguments": json.dumps(ARGUMENTS)},
            {"type": "function_call_output", "call_id": "c2", "output": json.dumps(RESULT)},
        ],
        "output": [{"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": TELL}]}],
    }


def anthropic() -> dict[str, Any]:
    def answer(call: str, content: object, **more: object) -> dict[str, Any]:
        return {"role": "user", "content": [{"type": "tool_result", "tool_use_id": call, "content": content, **more}]}

    return {
        "conversation_id": "a",
        "messages": [
            {"role": "user", "content": ASK},
            {
                "role": "assistant",
                "content": [
                    {"type": "thinking", "thinking": "Which booking?", "signature": "s"},
                    {"type": "tool_use", "id": "t1", "name": "look_up", "input": {"booking": "B-8"}},
                ],
            },
            answer("t1", [{"type": "text", "text": ERROR}], is_error=True),
            {"role": "assistant", "content": [{"type": "tool_use", "id": "t2", "name": "cancel", "input": ARGUMENTS}]},
            answer("t2", json.dumps(RESULT)),
            {"role": "assistant", "content": [{"type": "text", "text": TELL}]},
        ],
    }


def tau_bench() -> list[dict[str, Any]]:
    messages = openai_chat()
    messages[3]["name"], messages[5]["name"] = "look_up", "cancel"
    return [{"task_id": 4, "reward": 1.0, "info": {"task": {}}, "traj": messages, "trial": 2}]


def tau2() -> dict[str, Any]:
    def call(number: int, name: str, arguments: object) -> dict[str, Any]:
        made = {"id": f"c{number}", "name": name, "arguments": arguments, "requestor": "assistant"}
        return {"role": "assistant", "content": None, "tool_calls": [made], "timestamp": "2026-05-01T10:00:05.5"}

    messages = [
        {"role": "user", "content": ASK, "tool_calls": None, "timestamp": "2026-05-01T10:00:00.1", "turn_idx": 0},
        call(1, "look_up", {"booking": "B-8"}),
        {"id": "c1", "role": "tool", "content": ERROR, "requestor": "assistant", "error": True},
        call(2, "cancel", ARGUMENTS),
        {"id": "c2", "role": "tool", "content": json.dumps(RESULT), "requestor": "assistant", "error": False},
        {"role": "assistant", "content": TELL, "tool_calls": None},
    ]
    simulation = {
        "id": "s",
        "task_id": "4",
        "trial": 2,
        "reward_info": {"reward": 1.0},
        "termination_reason": "user_stop",
        "messages": messages,
    }
    return {"timestamp": "t", "info": {"git_commit": "x"}, "tasks": [{"id": "4"}], "simulations": [simulation]}


def agentdojo() -> dict[str, Any]:
    def call(number: int, name: str, arguments: object) -> dict[str, Any]:
        made = {"function": name, "args": arguments, "id": f"c{number}", "placeholder_args": None}
        return {"role": "assistant", "content": [{"type": "text", "content": ""}], "tool_calls": [made]}

    return {
        "suite_name": "travel",
        "pipeline_name": "m",
        "user_task_id": "user_task_1",
        "injection_task_id": None,
        "utility": True,
        "security": False,
        "messages": [
            {"role": "system", "content": [{"type": "text", "content": "You are a clerk."}]},
            {"role": "user", "content": [{"type": "text", "content": ASK}]},
            call(1, "look_up", {"booking": "B-8"}),
            {"role": "tool", "content": [{"type": "text", "content": ""}], "tool_call_id": "c1", "error": ERROR},
            call(2, "cancel", ARGUMENTS),
            {
                "role": "tool",
                "content": [{"type": "text", "content": json.dumps(RESULT)}],
                "tool_call_id": "c2",
                "error": None,
            },
            {"role": "assistant", "content": [{"type": "text", "content": TELL}], "tool_calls": []},
        ],
    }


def inspect_sample() -> dict[str, Any]:
    messages: list[dict[str, Any]] = [{"role": "user", "content": "attachment://k1", "source": "input", "id": "m0"}]
    for number, (name, arguments) in enumerate([("look_up", {"booking": "B-8"}), ("cancel", ARGUMENTS)], 1):
        call = {"id": f"c{number}", "function": name, "arguments": arguments}
        answer = {"role": "tool", "id": f"t{number}", "tool_call_id": f"c{number}", "function": name}
        said = (
            {"content": "", "error": {"type": "unknown", "message": ERROR}}
            if number == 1
            else {"content": json.dumps(RESULT)}
        )
        messages += [{"role": "assistant", "content": "", "tool_calls": [call]}, {**answer, **said}]
    messages.append(
        {"role": "assistant", "content": [{"type": "reasoning", "reasoning": "."}, {"type": "text", "text": TELL}]}
    )
    scores = {"match": {"value": "C", "answer": "x"}}
    return {"id": "4", "epoch": 2, "messages": messages, "scores": scores, "attachments": {"k1": ASK}}


def atif() -> dict[str, Any]:
    def step(number: int, name: str, arguments: object, content: object) -> dict[str, Any]:
        call = {"tool_call_id": f"c{number}", "function_name": name, "arguments": arguments}
        return {
            "step_id": number,
            "source": "agent",
            "message": "",
            "timestamp": "2026-05-01T10:00:00Z",
            "tool_calls": [call],
            "observation": {"results": [{"source_call_id": f"c{number}", "content": content}]},
        }

    return {
        "schema_version": "ATIF-v1.4",
        "session_id": "s",
        "agent": {"name": "clerk", "version": "1", "model_name": "m"},
        "steps": [
            {"step_id": 1, "source": "user", "message": ASK},
            step(2, "look_up", {"booking": "B-8"}, ERROR),
            step(3, "cancel", ARGUMENTS, json.dumps(RESULT)),
            {"step_id": 4, "source": "agent", "message": TELL},
        ],
    }


def plain_events() -> list[dict[str, Any]]:
    return [
        {"conversation": 7, "user": ASK, "time": "2026-05-01T10:00:00Z"},
        {"conversation": 7, "tool": "look_up", "arguments": {"booking": "B-8"}, "error": ERROR},
        {"conversation": 7, "tool": "cancel", "arguments": ARGUMENTS, "result": RESULT},
        {"conversation": 7, "agent": TELL},
        {"conversation": 7, "labels": {"reward": 1}},
    ]


def plain_calls_before_their_answers() -> list[dict[str, Any]]:
    return [
        {"conversation": 7, "note": "session", "tools": []},
        {"conversation": 7, "user": ASK},
        {"conversation": 7, "call": "1", "tool": "look_up", "arguments": {"booking": "B-8"}, "decision": {}},
        {"conversation": 7, "call": "2", "tool": "cancel", "arguments": ARGUMENTS},
        {"conversation": 7, "call": "2", "result": RESULT},
        {"conversation": 7, "call": "1", "error": ERROR},
        {"conversation": 7, "agent": TELL},
    ]


def otlp_value(value: object) -> dict[str, Any]:
    if isinstance(value, bool):
        return {"boolValue": value}
    if isinstance(value, int):
        return {"intValue": str(value)}
    return {"stringValue": value if isinstance(value, str) else json.dumps(value)}


def otlp(*spans: tuple[str, int, int, dict[str, object], list[tuple[str, dict[str, object]]], bool]) -> dict[str, Any]:
    """Spans (name, begin, end, attributes, events, failed) as the collector writes them, the last one first."""

    def attributes(fields: dict[str, object]) -> list[dict[str, Any]]:
        return [{"key": key, "value": otlp_value(value)} for key, value in fields.items()]

    rows = [
        {
            "traceId": "ab",
            "spanId": f"{number:02}",
            "parentSpanId": "00" if number else "",
            "name": name,
            "startTimeUnixNano": str(begin * 10**9),
            "endTimeUnixNano": str(end * 10**9),
            "attributes": attributes(fields),
            "events": [{"name": event, "timeUnixNano": "1", "attributes": attributes(more)} for event, more in events],
            "status": {"code": 2, "message": ERROR} if failed else {},
        }
        for number, (name, begin, end, fields, events, failed) in enumerate(spans)
    ]
    return {"resourceSpans": [{"resource": {}, "scopeSpans": [{"scope": {"name": "s"}, "spans": rows[::-1]}]}]}


def genai_parts(messages: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Chat messages in the form of version 1.37 of the GenAI conventions."""
    found: list[dict[str, Any]] = []
    for message in messages:
        parts: list[dict[str, Any]] = []
        if message["role"] == "tool":
            parts.append({"type": "tool_call_response", "id": message["tool_call_id"], "response": message["content"]})
        elif message.get("content"):
            parts.append({"type": "text", "content": message["content"]})
        for call in message.get("tool_calls") or ():
            arguments = json.loads(call["function"]["arguments"])
            parts.append(
                {"type": "tool_call", "id": call["id"], "name": call["function"]["name"], "arguments": arguments}
            )
        found.append({"role": message["role"], "parts": parts})
    return found


def genai_new() -> dict[str, Any]:
    chat = openai_chat()[1:]
    calls = {"c1": ("look_up", {"booking": "B-8"}, None), "c2": ("cancel", ARGUMENTS, RESULT)}
    spans: list[Any] = [
        (
            "invoke_agent clerk",
            0,
            9,
            {"gen_ai.operation.name": "invoke_agent", "gen_ai.conversation.id": "talk"},
            [],
            False,
        )
    ]
    for number, at in enumerate((1, 3, 5)):
        given, answered = genai_parts(chat[:at]), genai_parts(chat[at : at + 1])
        fields = {"gen_ai.operation.name": "chat", "gen_ai.input.messages": given, "gen_ai.output.messages": answered}
        spans.append(("chat m", 3 * number, 3 * number + 1, fields, [], False))
    for number, (call, (tool, arguments, result)) in enumerate(calls.items()):
        fields = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": tool, "gen_ai.tool.call.id": call}
        fields["gen_ai.tool.call.arguments"] = json.dumps(arguments)
        if result is not None:
            fields["gen_ai.tool.call.result"] = json.dumps(result)
        spans.append((f"execute_tool {tool}", 3 * number + 1, 3 * number + 2, fields, [], result is None))
    return otlp(*spans)


def genai_events() -> dict[str, Any]:
    """The conventions before 1.37: an event for each message, arguments nowhere but in them."""
    chat = openai_chat()[1:]
    spans: list[Any] = [("run", 0, 9, {"gen_ai.system": "openai"}, [], False)]
    for number, at in enumerate((1, 3, 5)):
        events: list[tuple[str, dict[str, object]]] = []
        for message in chat[:at]:
            more: dict[str, object] = {"content": message["content"] or ""}
            if message["role"] == "tool":
                more["id"] = message["tool_call_id"]
            if message.get("tool_calls"):
                more["tool_calls"] = json.dumps(message["tool_calls"])
            events.append((f"gen_ai.{message['role']}.message", more))
        events.append(("gen_ai.choice", {"index": 0, "message": json.dumps(chat[at])}))
        spans.append(("chat m", 3 * number, 3 * number + 1, {"gen_ai.operation.name": "chat"}, events, False))
    return otlp(*spans)


def indexed(prefix: str, messages: list[dict[str, Any]], *, openinference: bool) -> dict[str, object]:
    fields: dict[str, object] = {}
    for number, message in enumerate(messages):
        at = f"{prefix}.{number}.message" if openinference else f"{prefix}.{number}"
        fields[f"{at}.role"] = message["role"]
        if message.get("content"):
            fields[f"{at}.content"] = message["content"]
        if message["role"] == "tool":
            fields[f"{at}.tool_call_id"] = message["tool_call_id"]
        for place, call in enumerate(message.get("tool_calls") or ()):
            below = f"{at}.tool_calls.{place}"
            inner = f"{below}.tool_call.function" if openinference else below
            fields[f"{below}.tool_call.id" if openinference else f"{below}.id"] = call["id"]
            fields[f"{inner}.name"] = call["function"]["name"]
            fields[f"{inner}.arguments"] = call["function"]["arguments"]
    return fields


def openllmetry() -> dict[str, Any]:
    chat = openai_chat()[1:]
    spans: list[Any] = [("run", 0, 9, {"traceloop.span.kind": "workflow"}, [], False)]
    for number, at in enumerate((1, 3, 5)):
        fields = {
            "llm.request.type": "chat",
            **indexed("gen_ai.prompt", chat[:at], openinference=False),
            **indexed("gen_ai.completion", chat[at : at + 1], openinference=False),
        }
        spans.append(("openai.chat", 3 * number, 3 * number + 1, fields, [], False))
    return otlp(*spans)


def openinference_fields() -> list[tuple[str, int, int, dict[str, object], bool]]:
    chat = openai_chat()[1:]
    rows: list[tuple[str, int, int, dict[str, object], bool]] = [
        (
            "agent",
            0,
            9,
            {"openinference.span.kind": "AGENT", "input.value": ASK, "output.value": TELL, "session.id": "s1"},
            False,
        )
    ]
    for number, at in enumerate((1, 3, 5)):
        messages: dict[str, object] = {
            "openinference.span.kind": "LLM",
            **indexed("llm.input_messages", chat[:at], openinference=True),
            **indexed("llm.output_messages", chat[at : at + 1], openinference=True),
        }
        rows.append(("ChatCompletion", 3 * number, 3 * number + 1, messages, False))
    for number, (tool, arguments, result) in enumerate(
        [("look_up", {"booking": "B-8"}, None), ("cancel", ARGUMENTS, json.dumps(RESULT))]
    ):
        fields: dict[str, object] = {
            "openinference.span.kind": "TOOL",
            "tool.name": tool,
            "input.value": json.dumps(arguments),
        }
        if result is not None:
            fields["output.value"] = result
        rows.append((tool, 3 * number + 1, 3 * number + 2, fields, result is None))
    return rows


def openinference() -> dict[str, Any]:
    events: list[tuple[str, dict[str, object]]] = []
    return otlp(
        *((name, begin, end, fields, events, failed) for name, begin, end, fields, failed in openinference_fields())
    )


def phoenix_spans() -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "context": {"trace_id": "t1", "span_id": str(number)},
            "parent_id": None if number == 0 else "0",
            "start_time": f"2026-05-01T10:00:{begin:02}.000000+00:00",
            "end_time": f"2026-05-01T10:00:{end:02}.000000+00:00",
            "status_code": "ERROR" if failed else "OK",
            "status_message": ERROR if failed else "",
            "attributes": fields,
            "events": [],
        }
        for number, (name, begin, end, fields, failed) in enumerate(openinference_fields())
    ]


def langfuse() -> dict[str, Any]:
    chat = openai_chat()[1:]

    def observation(number: int, kind: str, name: str, given: object, made: object, **more: object) -> dict[str, Any]:
        return {
            "id": f"o{kind}{number}",
            "traceId": "t1",
            "type": kind,
            "name": name,
            "startTime": f"2026-05-01T10:00:0{number}.100Z",
            "endTime": f"2026-05-01T10:00:0{number}.900Z",
            "parentObservationId": None,
            "input": given,
            "output": made,
            "level": "DEFAULT",
            **more,
        }

    observations = [
        observation(number * 3, "GENERATION", "chat", chat[:at], chat[at]) for number, at in enumerate((1, 3, 5))
    ]
    observations += [
        observation(1, "TOOL", "look_up", {"booking": "B-8"}, None, level="ERROR", statusMessage=ERROR),
        observation(4, "TOOL", "cancel", ARGUMENTS, RESULT),
    ]
    scores = [{"name": "quality", "value": 0.5}]
    return {
        "id": "t1",
        "name": "run",
        "sessionId": None,
        "input": ASK,
        "output": TELL,
        "observations": observations,
        "scores": scores,
    }


def snake(value: Any) -> Any:
    """Names with underscores, as in exports to files."""
    names = {"traceId": "trace_id", "startTime": "start_time", "endTime": "end_time", "statusMessage": "status_message"}
    return {
        names.get(key, key): json.dumps(inner) if isinstance(inner, list | dict) else inner
        for key, inner in value.items()
    }


DOCUMENTS: dict[str, Callable[[], Any]] = {
    "openai-list": openai_chat,
    "openai-object": lambda: {"id": "a", "messages": openai_chat()},
    "openai-legacy": legacy_functions,
    "langchain": langchain,
    "langchain-data": lambda: {"messages": langchain(lambda one: {"type": one["type"], "data": one})},
    "langchain-kwargs": lambda: langchain(lambda one: {"lc": 1, "type": "constructor", "id": ["x"], "kwargs": one}),
    "autogen": autogen_run,
    "autogen-messages": lambda: autogen_run()["messages"],
    "autogen-state": autogen_state,
    "openai-request": request_and_response,
    "openai-responses": openai_responses,
    "openai-items": lambda: [*openai_responses()["input"], *openai_responses()["output"]],
    "anthropic": anthropic,
    "tau-bench": tau_bench,
    "tau2": tau2,
    "agentdojo": agentdojo,
    "inspect": lambda: {"version": 2, "status": "success", "eval": {}, "samples": [inspect_sample()]},
    "atif": atif,
    "genai": genai_new,
    "genai-events": genai_events,
    "openllmetry": openllmetry,
    "openinference": openinference,
    "phoenix": phoenix_spans,
    "langfuse": langfuse,
    "langfuse-page": lambda: {"data": [langfuse()], "meta": {}},
}
LINES: dict[str, Callable[[], list[Any]]] = {
    "plain": plain_events,
    "plain-calls": plain_calls_before_their_answers,
    "openai": lambda: [{"id": "a", "messages": openai_chat()}, {"id": "b", "messages": openai_chat()}],
    "anthropic": lambda: [anthropic()],
    "tau-bench": tau_bench,
    "atif": lambda: [atif()],
    "otlp": lambda: [genai_new()],
    "phoenix": phoenix_spans,
    "langfuse": lambda: [snake(one) for one in langfuse()["observations"]],
}


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_gives_the_turns(tmp_path: Path, name: str, indent: int | None) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(DOCUMENTS[name](), indent=indent), encoding="utf-8")
    (transcript,) = read_transcripts(path)
    assert as_expected(simplified(transcript)) == EXPECTED
    assert transcript.notes == ()


@pytest.mark.parametrize("name", LINES)
def test_lines_give_the_turns(tmp_path: Path, name: str) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in LINES[name]()), encoding="utf-8")
    for transcript in read_transcripts(path):
        assert as_expected(simplified(transcript)) == EXPECTED


def as_expected(turns: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """The turns; with the plain error where a source writes more beside it."""
    failed = [len(turn) == 3 and turn[0] == "look_up" and ERROR in str(turn[2]) for turn in turns]
    return [(*turn[:2], ERROR) if fails else turn for turn, fails in zip(turns, failed, strict=True)]


def test_calls_whose_content_is_not_recorded_are_open(tmp_path: Path) -> None:
    fields: dict[str, object] = {"gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "cancel"}
    path = tmp_path / "log.json"
    path.write_text(json.dumps(otlp(("execute_tool cancel", 1, 2, fields, [], False))), encoding="utf-8")
    (transcript,) = read_transcripts(path)
    (call,) = (turn.call for turn in transcript.turns)
    assert call is not None
    assert call.answer is not None
    assert (call.tool, call.arguments, call.answer.content) == ("cancel", None, None)


def test_archives_of_inspect_are_read(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("header.json", "{}")
        archive.writestr("samples/4_epoch_2.json", json.dumps(inspect_sample()))
    (transcript,) = read_transcripts(tmp_path / "log.eval")
    assert simplified(transcript) == EXPECTED
    assert (transcript.id, transcript.labels) == ("4, epoch 2", {"match": "C"})


REPEATED = {
    "id": 1,
    "epoch": 1,
    "attachments": {"a": "x" * 1_000_000},
    "messages": [{"role": "user", "content": "attachment://a"}] * 60,
}
"""A sample of one megabyte that stands for sixty."""


@pytest.mark.parametrize(
    ("sample", "reason"),
    [
        (json.dumps(REPEATED), "its attachments have more than 50000000 characters"),
        ("[" + "[]," * 3_000_000 + "[]]", "more than 5000000 values in one record"),
        ("[" * 100_000, "nested more than 200 lists and objects deep"),
        ("{", "not JSON"),
    ],
    ids=("attachments", "values", "depth", "cut"),
)
def test_a_small_archive_that_stands_for_much_memory_is_refused(tmp_path: Path, sample: str, reason: str) -> None:
    with zipfile.ZipFile(tmp_path / "log.eval", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("samples/1.json", sample)
    (transcript,) = read_transcripts(tmp_path / "log.eval")
    assert reason in str(transcript.trouble)


@pytest.mark.parametrize(
    ("name", "labels"),
    [
        ("tau-bench", {"reward": 1.0, "task_id": 4, "trial": 2}),
        ("tau2", {"reward": 1.0, "task_id": "4", "trial": 2, "termination_reason": "user_stop"}),
        ("langfuse", {"quality": 0.5}),
    ],
)
def test_labels_of_a_source_are_kept(tmp_path: Path, name: str, labels: dict[str, Any]) -> None:
    path = tmp_path / "log.json"
    path.write_text(json.dumps(DOCUMENTS[name]()), encoding="utf-8")
    (transcript,) = read_transcripts(path)
    assert transcript.labels == labels


@pytest.mark.parametrize("name", ["tau-bench", "tau2"])
def test_reference_actions_of_a_task_are_kept(tmp_path: Path, name: str) -> None:
    document = DOCUMENTS[name]()
    if name == "tau-bench":
        document[0]["info"]["task"]["actions"] = [{"name": "cancel", "kwargs": ARGUMENTS}, "?"]
    else:
        checks = [{"action": {"action_id": "4_0", "name": "cancel", "arguments": ARGUMENTS}, "action_match": True}, {}]
        document["simulations"][0]["reward_info"]["action_checks"] = checks
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (transcript,) = read_transcripts(path)
    assert transcript.reference == (("cancel", ARGUMENTS),)


BOMB = "\n".join(
    ["a0: &a0 [x, x]", *(f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, 40)), "end: *a39"]
)
"""YAML that stands for more than memory holds."""


@pytest.mark.parametrize(
    "text",
    [
        "[" * 200_000,
        '{"messages": ' * 60_000,
        '[{"x": 1}, ' + "[" * 200_000,
        '{"messages": ' + "[" * 201 + "]" * 201 + "}",
        '{"messages": []}\n' + "[" * 200_000 + "\n",
    ],
)
def test_deeply_nested_json_is_refused_before_it_takes_memory(tmp_path: Path, text: str) -> None:
    path = tmp_path / "log.json"
    path.write_text(text, encoding="utf-8")
    tracemalloc.start()
    try:
        reasons = [str(one.trouble) for one in read_json_records(path, ["messages"]) if isinstance(one, Transcript)]
    except InputError as error:
        reasons = [str(error)]
    finally:
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
    assert [reason for reason in reasons if "nested more than 200 lists and objects deep" in reason]
    assert most < 20 * 2**20


@pytest.mark.parametrize(
    ("written", "read"),
    [
        (
            "date: 2026-05-01\nlegs:\n- flight: LT1\n  open: true\nnote: null",
            {"date": "2026-05-01", "legs": [{"flight": "LT1", "open": True}], "note": None},
        ),
        ("- '19'\n- B-7", ["19", "B-7"]),
        ("{'B-7': 'open', 'price': (1, 2.5)}", {"B-7": "open", "price": [1, 2.5]}),
        ("Note: closed on  2026-05-01", "Note: closed on  2026-05-01"),
        ("- one\n -two: x", "- one\n -two: x"),
        ("{'a': open('x')}", "{'a': open('x')}"),
        ("{1: 'number'}", "{1: 'number'}"),
        ("None", "None"),
        ("a: &a\n  b: 1\nc: *a", "a: &a\n  b: 1\nc: *a"),
        (BOMB, BOMB),
    ],
)
def test_a_result_of_agentdojo_is_the_record_that_its_text_writes(tmp_path: Path, written: str, read: Any) -> None:
    document = agentdojo()
    document["messages"][5]["content"][0]["content"] = written
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (transcript,) = read_transcripts(path)
    assert simplified(transcript)[2][2] == read


def record_of(document: Any) -> Any:
    """The first record of a document."""
    for field in ("simulations", "samples", "data", "resourceSpans"):
        if isinstance(document, dict) and field in document:
            return cast("dict[str, Any]", document)[field][0]
    return cast("Any", document)


def test_each_source_is_recognized_by_itself_only() -> None:
    for name, make in DOCUMENTS.items():
        value = make()[0] if name in {"tau-bench", "phoenix"} else record_of(make())
        found = [source for source in SOURCES if source.recognizes(value)]
        assert found, name
        assert len([source for source in found if source is not ChatLogs]) <= 1, name


def test_calls_of_the_user_are_told_apart(tmp_path: Path) -> None:
    document = tau2()
    call: dict[str, Any] = {"id": "u1", "name": "restart_phone", "arguments": {}, "requestor": "user"}
    document["simulations"][0]["messages"][1:1] = [
        {"role": "user", "content": None, "tool_calls": [call]},
        {"id": "u1", "role": "tool", "content": "ok", "requestor": "user"},
    ]
    path = tmp_path / "log.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    (transcript,) = read_transcripts(path)
    callers = [turn.call.caller for turn in transcript.turns if turn.call is not None]
    assert callers == ["user", "agent", "agent"]


def test_a_file_of_another_kind_gets_one_sentence(tmp_path: Path) -> None:
    path = tmp_path / "other.json"
    path.write_text(json.dumps({"packages": {"a": 1}, "version": 3}, indent=1), encoding="utf-8")
    with pytest.raises(InputError, match=r"an object with the fields packages, version; of no source that is read"):
        list(read_transcripts(path))
    path.write_text("hello\nworld\n", encoding="utf-8")
    with pytest.raises(InputError, match="not JSON"):
        list(read_transcripts(path))


def test_no_record_of_another_kind_is_lost(tmp_path: Path) -> None:
    path = tmp_path / "mixed.jsonl"
    chat = json.dumps({"messages": openai_chat()})
    path.write_text('{"a": 1}\n' * 30 + chat + "\n" + '{"b": 1}\n' * 2, encoding="utf-8")
    read = list(read_transcripts(path))
    assert [one.trouble is None for one in read].count(False) == 32
    assert len(read) == 33
    path.write_text('{"a": 1}\n' * 1001 + chat, encoding="utf-8")
    with pytest.raises(InputError, match="none of its first 1000 records can be read: an object with the fields a;"):
        list(read_transcripts(path))


def test_a_truncated_document_keeps_what_came_before(tmp_path: Path) -> None:
    path = tmp_path / "cut.json"
    whole = json.dumps({"simulations": [tau2()["simulations"][0] | {"task_id": str(n)} for n in range(5)]}, indent=1)
    path.write_text(whole[: len(whole) * 7 // 10], encoding="utf-8")
    *read, cut = read_transcripts(path)
    assert [one.id for one in read] == [f"task {n}, trial 2" for n in range(3)]
    assert cut.trouble is not None
    assert cut.trouble.startswith("the JSON breaks off or is malformed after 3 entries: ")


def test_files_of_a_folder_are_found(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    for name in ("b.json", "a.jsonl", "deep/c.eval", "notes.md"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    assert [file.name for file in find_files([tmp_path])] == ["a.jsonl", "b.json", "c.eval"]
    with pytest.raises(InputError, match="cannot be read: No such file or directory"):
        find_files([tmp_path / "nowhere"])
