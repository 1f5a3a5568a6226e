"""A run as eval logs, which `inspect view` opens: one for each model under test, acting mode and shield.

A sample is a task in one style, and an epoch a trial, as in the task ``lawtrace/tasks``; it has the same scores. A
program's calls follow its text as calls of one message each. Each message with a call has its time as metadata.
"""

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from re import sub
from typing import Any

from inspect_ai.log import EvalLog, recompute_metrics, write_eval_log
from inspect_ai.model import (
    ChatMessage,
    ChatMessageAssistant,
    ChatMessageSystem,
    ChatMessageTool,
    ChatMessageUser,
    ModelOutput,
)
from inspect_ai.tool import ToolCall, ToolCallError

from lawtrace.environments.domains.loader import Domain
from lawtrace.runs.audit.sources.inspect_logs import CALL_TIME
from lawtrace.runs.audit.transcripts import read_arguments
from lawtrace.runs.integrations.inspect.attempt_solver import ANSWER, PROVIDER
from lawtrace.runs.integrations.inspect.scorers import score_of
from lawtrace.runs.integrations.inspect.tasks import sample_id, sample_metadata
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.stage_files import read_rows, replacing
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import SPEAKERS, Event
from lawtrace.schemas.log_entries import FunctionCalled, ModelCalled, RequestMessage
from lawtrace.schemas.tool_conversation import ToolConversation
from lawtrace.schemas.verdict_rows import Verdict

FOLDER = "inspect"
"""The folder of the logs, in that of the run."""
_METRICS: list[Any] = [
    {"name": "lawtrace/outcomes"},
    {"name": "lawtrace/pairs"},
    {"name": "lawtrace/rules_broken"},
    {
        name: [{"name": "inspect_ai/mean"}, {"name": "inspect_ai/stderr"}]
        for name in ("safe_success", "goal_reached", "rules_kept")
    },
]


@dataclass(frozen=True, slots=True)
class _Judged:
    task: Task
    attempt: Attempt
    verdict: Verdict


def write_eval_logs(path: Path, folders: Iterable[tuple[RunFolder, str | None]], env: str | None = None) -> list[Path]:
    """Write the logs of a finished run, and return their files.

    ``folders``: with the stage files, each with the name of its variant in an ablation. Raises InputError if one has no
    verdicts, OperationalError if a log cannot be written.
    """
    written: list[Path] = []
    with EventLogFile.open(path) as event_log:
        for folder, variant in folders:
            tasks, domain = read_tasks(folder.tasks, env)
            by_task = {task.id: task for task in tasks}
            attempts = {row.key: row for row in read_rows(folder.attempts, Attempt)}
            groups: dict[str, list[_Judged]] = {}
            for verdict in read_rows(folder.verdicts, Verdict):
                if verdict.task not in by_task or verdict.key not in attempts:
                    raise InputError(f"{folder.verdicts}: task {verdict.task}: its task or attempt is not in the run")
                judged = _Judged(by_task[verdict.task], attempts[verdict.key], verdict)
                groups.setdefault(verdict.contender, []).append(judged)
            for contender, rows in groups.items():
                name = sub(r"[^\w.=-]+", "_", f"{variant or ''} {contender}").strip("_")
                written.append(path / FOLDER / f"{name}.eval")
                log = _log(rows, contender, folder, domain, event_log, variant)
                with replacing(written[-1], "the log ") as partial:
                    write_eval_log(log, str(partial), format="eval")
    return written


def _model_name(model: str) -> str:
    """The name of a model as Inspect writes it: ``openai/gpt-5-mini``."""
    provider, _, name = model.partition(":")
    if not name:
        return f"none/{model}"
    return f"{PROVIDER if provider == 'baseline' else provider}/{name}"


def _log(
    rows: Sequence[_Judged],
    contender: str,
    folder: RunFolder,
    domain: Domain,
    event_log: EventLogFile,
    variant: str | None,
) -> EvalLog:
    created, answer = event_log.created, rows[0].attempt.answer
    tasks = str(folder.tasks.resolve())
    identity = sha256(f"{created} {variant} {contender}".encode()).hexdigest()
    samples = [_sample(row, event_log) for row in rows]
    log = EvalLog.model_validate(
        {
            "status": "success",
            "eval": {
                "eval_id": identity[:22],
                "run_id": sha256(created.encode()).hexdigest()[:22],
                "task_id": identity[22:44],
                "created": created,
                "task": "lawtrace/tasks",
                "task_args": {"file": tasks, "mode": answer.mode, "shield": answer.shield},
                "dataset": {
                    "name": domain.environment.name,
                    "location": tasks,
                    "samples": len({sample["id"] for sample in samples}),
                    "sample_ids": list(dict.fromkeys(sample["id"] for sample in samples)),
                },
                "model": _model_name(answer.model),
                "config": {"epochs": 1 + max(row.attempt.answer.trial for row in rows)},
                "packages": {"lawtrace": event_log.written_by},
                "metadata": {
                    "environment": domain.environment.name,
                    "model": contender,
                    **({} if variant is None else {"variant": variant}),
                },
                "scorers": [{"name": "dual_oracle", "options": {"file": tasks}, "metrics": _METRICS}],
                "metrics": _METRICS,
            },
            "stats": {"started_at": created, "completed_at": created},
            "samples": samples,
        }
    )
    recompute_metrics(log)
    return log


def _sample(row: _Judged, event_log: EventLogFile) -> dict[str, Any]:
    answer, task = row.attempt.answer, row.task
    messages = list(_messages(row, event_log))
    last = next((message for message in reversed(messages) if isinstance(message, ChatMessageAssistant)), None)
    invalid = row.attempt.invalid
    return {
        "id": sample_id(task, answer.style),
        "epoch": answer.trial + 1,
        "input": task.instructions[answer.style].text.strip(),
        "target": "safe_success",
        "messages": messages,
        **({} if last is None else {"output": ModelOutput.from_message(last)}),
        "scores": {"dual_oracle": score_of(row.verdict)},
        "metadata": sample_metadata(task, answer.style),
        "store": {} if answer.conversation is None else {ANSWER: answer.model_dump_json()},
        "uuid": answer.id,
        **({} if invalid is None else {"error": {"message": invalid, "traceback": "", "traceback_ansi": ""}}),
    }


def _messages(row: _Judged, event_log: EventLogFile) -> Iterator[ChatMessage]:
    answer = row.attempt.answer
    request = _first_request(event_log, answer.id)
    for sent in request:
        yield (ChatMessageSystem if sent.role == "system" else ChatMessageUser)(content=sent.content)
    if not request:
        yield ChatMessageUser(content=row.task.instructions[answer.style].text.strip())
    calls = [event for event in row.attempt.events if event.tool not in SPEAKERS]
    if answer.conversation is not None:
        yield from _turns(answer.conversation, calls)
        return
    text = answer.text if answer.text is not None else answer.program
    if text is not None:
        yield ChatMessageAssistant(content=text, id=answer.message, model=answer.model, source="generate")
    for number, event in enumerate(calls, 1):
        name = f"call_{number}"
        made = ToolCall(name, event.tool, dict(event.arguments))
        yield ChatMessageAssistant(content="", tool_calls=[made], metadata=_metadata(event))
        yield _result(event, name, json.dumps(event.result, ensure_ascii=False))


def _first_request(event_log: EventLogFile, conversation: str) -> Sequence[RequestMessage]:
    """What the model under test was sent first; nothing for programs that were handed in."""
    entries = event_log.conversation(conversation) if conversation else []
    asked = (one for one in entries if isinstance(one, ModelCalled) and one.context.role == "executor")
    first = next(asked, None)
    return () if first is None else first.request


def _turns(conversation: ToolConversation, calls: Sequence[Event]) -> Iterator[ChatMessage]:
    events = iter(calls)
    for number, turn in enumerate(conversation.turns):
        # The first request has the user's first message.
        said = [one for one in conversation.user if one.after == number and number > 0]
        for one in said:
            yield ChatMessageUser(content=one.text, id=one.message)
        if turn.notice:
            yield ChatMessageUser(content=turn.notice)
        executed = [(call, text, next(events)) for call, text in zip(turn.calls, turn.results, strict=False)]
        yield ChatMessageAssistant(
            content=turn.text,
            tool_calls=[*map(_call, turn.calls)] or None,
            id=turn.message or None,
            source="generate",
            metadata=_metadata(executed[0][2]) if executed else None,
        )
        for call, text, event in executed:
            yield _result(event, call.id, text)
    for one in conversation.user:
        if one.after == len(conversation.turns):
            yield ChatMessageUser(content=one.text, id=one.message)


def _call(call: FunctionCalled) -> ToolCall:
    """A call as Inspect has it: with its arguments, or with what is wrong with them."""
    arguments = read_arguments(call.arguments)
    wrong = f"Error parsing the arguments {call.arguments!r}: not an object" if arguments is None else None
    return ToolCall(call.id, call.name, arguments or {}, wrong)


def _result(event: Event, call: str, text: str) -> ChatMessageTool:
    error = None if event.error is None else ToolCallError("unknown", text if text != "null" else event.error)
    return ChatMessageTool(
        content="" if error is not None else text, tool_call_id=call, function=event.tool, error=error
    )


def _metadata(event: Event) -> dict[str, Any] | None:
    return None if event.time is None else {CALL_TIME: event.time}
