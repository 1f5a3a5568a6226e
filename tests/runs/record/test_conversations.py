import io

from rich.console import Console

from agents.ledger import Context, MessageSent, RoleFailed
from runs.record.reading import conversations
from runs.record.rendering import render_conversations
from runs.record.store import Record


def message(context: Context, source: str, content: str) -> MessageSent:
    return MessageSent(context=context.at(role=source), source=source, content=content, prompt_id="p")


def shown(record: Record, *, task: str | None = None, role: str | None = None) -> str:
    console = Console(file=io.StringIO(), width=100, force_terminal=False)
    render_conversations(conversations(record, task=task, role=role), console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_interleaved_messages_become_conversations_again(record: Record, context: Context) -> None:
    other = context.at(style="workflow")
    record.record(message(context, "generator", "please pay"))
    record.record(message(other, "generator", "1. pay"))
    record.record(message(context.at(turn=1), "evaluator", '{"accepted": true}'))
    record.record(RoleFailed(context=other.at(role="evaluator", turn=1), reason="deadline", text="no answer"))
    goal, workflow = conversations(record)
    assert (goal.stage, goal.task, goal.style) == ("tasks", "task-1", "goal")
    assert [line.context.role for line in goal.lines] == ["generator", "evaluator"]
    assert isinstance(workflow.lines[1], RoleFailed)
    assert [len(found.lines) for found in conversations(record, role="generator")] == [1, 1]
    assert conversations(record, task="task-9") == []


def test_models_and_trials_have_conversations_of_their_own(record: Record, context: Context) -> None:
    for model in ("openai:a", "openai:b"):
        for trial in (0, 1):
            record.record(message(context.at(conversation=model, trial=trial), "executor", "done"))
    found = conversations(record)
    assert [(one.name, one.trial) for one in found] == [
        ("openai:a", 0),
        ("openai:a", 1),
        ("openai:b", 0),
        ("openai:b", 1),
    ]


def test_what_a_resumed_run_says_again_is_kept_once(record: Record, context: Context) -> None:
    def say(writer: Record) -> None:
        writer.record(message(context, "generator", "please pay"))
        writer.record(message(context.at(turn=1), "evaluator", "no"))

    say(record)
    record.close()
    with Record.resume(record.path.parent) as resumed:
        say(resumed)
        resumed.record(message(context.at(turn=2), "generator", "please pay"))
        (conversation,) = conversations(resumed)
    assert [line.context.turn for line in conversation.lines] == [0, 1, 2]


def test_conversations_are_rendered_with_who_and_what(record: Record, context: Context) -> None:
    record.record(message(context.at(model="openai:a"), "generator", "[bold]not markup[/bold] \x1b[2J"))
    record.record(message(context.at(turn=1, trial=0), "evaluator", '{"accepted": false, "why": "leaks"}'))
    record.record(RoleFailed(context=context.at(turn=2), reason="answer", text="no JSON in it"))
    text = shown(record)
    assert "tasks · task-1 · goal" in text
    assert "0 generator  openai:a  prompt p" in text
    assert "[bold]not markup[/bold]" in text
    assert "\x1b" not in text
    assert "accepted: false" in text
    assert "instruction_generator failed: answer" in text
    assert "evaluator" not in shown(record, role="generator")
