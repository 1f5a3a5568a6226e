"""The attributes of spans, in the vocabularies in use.

- OpenTelemetry's GenAI conventions: ``gen_ai.input.messages`` and ``gen_ai.tool.call.arguments`` (version 1.37 and
  later); events such as ``gen_ai.user.message``, or ``gen_ai.prompt.0.content`` before that.
- OpenInference: ``llm.input_messages.0.message.content``, ``tool.name`` with ``input.value`` and ``output.value``.
- OpenLLMetry: ``traceloop.entity.input`` of a tool.

Attributes are flat: ``{"llm.input_messages.0.message.role": "user"}``.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, cast

from lawtrace.environments.literals import fields_of, items_of, parse_if_json
from lawtrace.runs.audit.sources.chat_messages import read_messages, text_of
from lawtrace.runs.audit.sources.spans import Span
from lawtrace.runs.audit.transcripts import RecordedAnswer, RecordedCall, RecordedMessage, read_arguments
from lawtrace.schemas.events import Json

CONVERSATION_KEYS: Final = (
    "gen_ai.conversation.id",
    "session.id",
    "traceloop.association.properties.session_id",
    "langfuse.session.id",
)
_PARTS: Final = ("text", "tool_call", "tool_call_response")
_ARGUMENTS: Final = (
    "gen_ai.tool.call.arguments",
    "gen_ai.tool.arguments",
    "ai.toolCall.args",
    "tool.parameters",
    "input.value",
    "traceloop.entity.input",
)
_RESULTS: Final = (
    "gen_ai.tool.call.result",
    "gen_ai.tool.result",
    "ai.toolCall.result",
    "output.value",
    "traceloop.entity.output",
)
_NAMES: Final = (
    "gen_ai.tool.name",
    "tool.name",
    "ai.toolCall.name",
    "tool_call.function.name",
    "traceloop.entity.name",
)

_IDS: Final = ("gen_ai.tool.call.id", "tool_call.id", "tool.id", "ai.toolCall.id")


def is_known(attributes: Mapping[str, Any]) -> bool:
    """Whether the attributes are of one of the vocabularies."""
    return any(
        key.startswith(("gen_ai.", "openinference.", "llm.", "traceloop.", "ai.toolCall.")) for key in attributes
    )


def read_span(span: Mapping[str, Any]) -> Span:
    """A span of its ``name``, ``begin`` and ``end``, flat ``attributes``, ``events`` (name and attributes), whether it
    is the ``root`` of its trace, and ``error``: the message of its status, if that is an error."""
    attributes: Mapping[str, Any] = span["attributes"]
    begin, end, root = span["begin"], span["end"], span["root"]
    kind = str(attributes.get("openinference.span.kind") or attributes.get("traceloop.span.kind") or "").lower()
    operation = attributes.get("gen_ai.operation.name")
    named = "gen_ai.tool.name" in attributes or "ai.toolCall.name" in attributes
    if operation == "execute_tool" or kind == "tool" or (not operation and named):
        return Span("tool", begin, end, root=root, call=_call(span["name"], attributes, span["error"]))
    inputs, outputs = _messages(attributes, span["events"])
    if inputs or outputs:
        # A span of an agent repeats the messages of its models.
        if kind in {"agent", "chain", "workflow", "task"} or operation in {"invoke_agent", "invoke_workflow"}:
            return Span("other", begin, end, root=root, asked=_last_text(inputs), told=_last_text(outputs))
        return Span("model", begin, end, root=root, inputs=tuple(inputs), outputs=tuple(outputs))
    asked, told = (_talk(attributes.get(key)) for key in ("input.value", "output.value"))
    return Span("other", begin, end, root=root, asked=asked, told=told)


def _call(name: str, attributes: Mapping[str, Any], error: str | None) -> RecordedCall:
    tool = next((str(attributes[key]) for key in _NAMES if attributes.get(key)), name.removeprefix("execute_tool "))
    raw = next((_nested(attributes, key) for key in _ARGUMENTS if _nested(attributes, key) is not None), None)
    arguments = None if raw is None else read_arguments(raw)
    if "traceloop.entity.input" in attributes and arguments is not None:
        arguments = fields_of(arguments.get("inputs")) or fields_of(arguments.get("kwargs")) or arguments
    results = [_nested(attributes, key) for key in _RESULTS]
    result = next((value for value in results if value is not None), None)
    call = next((str(attributes[key]) for key in _IDS if attributes.get(key)), None)
    # The span has ended, so the call has; its content may have been left out on purpose.
    return RecordedCall(tool, arguments, call, RecordedAnswer(_unwrapped(result), error))


def _unwrapped(result: Json) -> Json:
    """The content of a result that a framework has put into a tool message of its own."""
    value = parse_if_json(result)
    fields = fields_of(value)
    if set(fields) >= {"content", "tool_call_id"}:
        return text_of(fields["content"])
    return value


def _messages(
    attributes: Mapping[str, Any], events: Sequence[tuple[str, Mapping[str, Any]]]
) -> tuple[list[RecordedMessage], list[RecordedMessage]]:
    """The messages that a model was sent, and those that it answered."""
    for given, answered in (
        ("gen_ai.input.messages", "gen_ai.output.messages"),
        ("gen_ai.prompt", "gen_ai.completion"),
        ("llm.input_messages", "llm.output_messages"),
    ):
        inputs, outputs = _nested(attributes, given), _nested(attributes, answered)
        if inputs is not None or outputs is not None:
            return _read_all(inputs), _read_all(outputs)
    for _, fields in events:  # the conventions of 2025 put both lists on one event
        if "gen_ai.input.messages" in fields or "gen_ai.output.messages" in fields:
            return _read_all(fields.get("gen_ai.input.messages")), _read_all(fields.get("gen_ai.output.messages"))
    return _of_events(events)


def _of_events(events: Sequence[tuple[str, Mapping[str, Any]]]) -> tuple[list[RecordedMessage], list[RecordedMessage]]:
    inputs: list[RecordedMessage] = []
    outputs: list[RecordedMessage] = []
    for name, flat in events:
        if not (found := re.fullmatch(r"gen_ai\.(?:(\w+)\.message|(choice)|content\.(prompt|completion))", name)):
            continue
        role, choice, content = found.groups()
        fields = {**fields_of(parse_if_json(flat.get("gen_ai.event.content"))), **fields_of(unflatten(flat))}
        if content:
            (inputs if content == "prompt" else outputs).extend(_read_all(_nested(flat, f"gen_ai.{content}")))
        elif choice:
            outputs.append(_read({"role": "assistant", **fields, **fields_of(parse_if_json(fields.get("message")))}))
        else:
            inputs.append(_read({"role": role, **fields}))
    return inputs, outputs


def _read_all(raw: Json) -> list[RecordedMessage]:
    value = parse_if_json(raw)
    if isinstance(value, str):
        return [RecordedMessage("user", value)]
    return [_read(fields_of(entry)) for entry in (items_of(value) or ([value] if value else []))]


def _read(entry: Mapping[str, Any]) -> RecordedMessage:
    entry = fields_of(entry.get("message")) or entry
    role = str(entry.get("role", "user")).lower()
    if "parts" in entry:
        parts = [part for part in map(fields_of, items_of(entry["parts"])) if part.get("type") in _PARTS]
        message = {"role": "system" if role == "tool" else role, "content": parts}  # an answer names its call itself
    else:
        calls = [fields_of(call).get("tool_call") or call for call in items_of(parse_if_json(entry.get("tool_calls")))]
        content = _content(entry.get("content", entry.get("contents")))
        message = {**entry, "role": role, "content": content, "tool_calls": calls}
    (read,) = read_messages([message])
    return read


def _content(content: Json) -> Json:
    """Blocks of OpenInference, or written as JSON, in the form of the others."""
    written = parse_if_json(content)
    if not isinstance(written, list):
        return content
    inner = [(block, fields_of(fields_of(block).get("message_content"))) for block in items_of(written)]
    return [{"type": "text", **fields} if fields else block for block, fields in inner]


def _talk(value: Json) -> str:
    """The text of an input or output value: a text, or the last message of a list."""
    parsed = parse_if_json(value)
    if isinstance(parsed, str):
        return parsed
    fields = fields_of(parsed)
    entries = items_of(fields.get("messages")) or items_of(parsed)
    if entries:
        return _talk(fields_of(entries[-1]).get("content"))
    texts = [text for text in fields.values() if isinstance(text, str)]
    return texts[0] if len(texts) == 1 else ""


def _last_text(messages: Sequence[RecordedMessage]) -> str:
    return messages[-1].text if messages else ""


def _nested(attributes: Mapping[str, Any], key: str) -> Json:
    """The value of an attribute, also if its parts are attributes of their own: ``key.0.role``."""
    if key in attributes:
        return attributes[key]
    below = {name[len(key) + 1 :]: value for name, value in attributes.items() if name.startswith(f"{key}.")}
    return unflatten(below) if below else None


def flatten(value: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Nested objects and lists of objects as flat attributes."""
    flat: dict[str, Any] = {}
    for key, inner in value.items():
        entries = {str(number): entry for number, entry in enumerate(items_of(inner))}
        parts = fields_of(inner) or (entries if any(isinstance(entry, dict) for entry in entries.values()) else {})
        flat |= flatten(parts, f"{before}{key}.") if parts else {f"{before}{key}": inner}
    return flat


def unflatten(attributes: Mapping[str, Any]) -> Json:
    """The inverse of `flatten`: an object, or a list if all keys begin with a number."""
    tree: dict[str, Any] = {}
    for key, value in attributes.items():
        *path, last = key.split(".")
        node = tree
        for step in path:
            if step not in node or not isinstance(node[step], dict):  # of a text and its parts, keep the parts
                node[step] = {}
            node = cast("dict[str, Any]", node[step])
        node.setdefault(last, value)
    return _lists(tree)


def _lists(tree: Json) -> Json:
    if not isinstance(tree, dict):
        return tree
    fields = {key: _lists(value) for key, value in fields_of(tree).items()}
    if fields and all(key.isdigit() for key in fields):
        return [fields[key] for key in sorted(fields, key=int)]
    return fields
