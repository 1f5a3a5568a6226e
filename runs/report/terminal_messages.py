"""Conversations on a terminal, with control characters escaped."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from lawtrace.runs.report.message_view import MessagePart, MessageView, conversation_title, describe_call, view_message
from lawtrace.runs.report.run_kinds import outcome_label
from lawtrace.runs.report.text import visible
from lawtrace.runs.report.verdict_index import Cause
from lawtrace.runs.store.event_log_queries import ConversationKey, LoggedMessage
from lawtrace.schemas.call_options import Price
from lawtrace.schemas.log_entries import RequestMessage


def print_heading(console: Console, conversation: ConversationKey, lines: str = "") -> None:
    title = Text(conversation_title(conversation), style="bold")
    if lines:
        title.append(f"  {lines}", style="dim")
    console.print(Rule(title, align="left"))


def print_messages(
    console: Console,
    messages: Iterable[LoggedMessage],
    causes: Sequence[Cause] = (),
    *,
    prices: Mapping[str, Price] = {},
    request_of: Callable[[LoggedMessage], Sequence[RequestMessage]] | None = None,
) -> None:
    """Print messages with turn, role, model and figures of the model call; below a message, the rules it broke.

    Args:
        request_of: what the model was sent, to print it before the message.
    """
    for message in messages:
        view = view_message(message.line)
        console.print(_speaker(view, describe_call(message.call, prices)))
        for sent in request_of(message) if request_of else ():
            console.print(Padding(Text(f"sent as {visible(sent.role)}:", style="dim"), (0, 0, 0, 6)))
            console.print(Padding(Text(visible(sent.content), style="dim"), (0, 0, 0, 8)))
        if body := _body(view):
            console.print(Padding(body, (0, 0, 0, 4)))
        for rule in [cause.rule for cause in causes if cause.message == message.id]:
            why = "the attempt failed here" if rule is None else f"breaks {rule.rule}: {rule.explanation}"
            cited = f" ({'; '.join(rule.provisions)})" if rule is not None and rule.provisions else ""
            console.print(Padding(Text(f"◀ {visible(why + cited)}", style="bold red"), (0, 0, 0, 4)))
        console.print()


def print_outcome(console: Console, outcome: str, reason: str) -> None:
    label = outcome_label(outcome)
    text = Text(f"{label.mark} {label.label}", style="bold")
    if reason:
        text.append(f": {visible(reason)}", style="default")
    console.print(text)
    console.print()


def _speaker(view: MessageView, figures: str) -> Text:
    text = Text(f"{view.turn:>2} ", style="dim")
    style = {"user": "bold", "role": "bold cyan", "code": "green", "failure": "bold red"}[view.kind]
    if view.passed is not None:
        text.append("✓ " if view.passed else "✗ ", style="green" if view.passed else "bold red")
    text.append(view.speaker, style=style)
    if view.to:
        text.append(f" → {view.to}", style=style)
    if view.remark:
        text.append(f" {view.remark}", style=style)
    if view.calls:
        text.append(" calls", style="cyan")
    if view.kind == "code":
        text.append("  code", style="dim")
    if view.model:
        text.append(f"  {view.model}", style="dim")
    if view.prompt:
        text.append(f"  prompt {view.prompt}", style="dim")
    if figures:
        text.append(f"  {figures}", style="dim")
    return text


def _body(view: MessageView) -> Text | None:
    lines = [_part(part) for part in view.parts] + list(view.calls)
    return Text("\n".join(lines)) if lines else None


def _part(part: MessagePart) -> str:
    text = part.text + "".join(f"\n  - {item}" for item in part.items)
    return text if part.name is None else f"{part.name}: {text}"
