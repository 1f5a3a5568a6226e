"""Conversations on a terminal, with control characters escaped."""

from collections.abc import Callable, Iterable, Mapping, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from lawtrace.runs.report.message_view import MessagePart, MessageView, conversation_title, describe_call, view_message
from lawtrace.runs.report.run_kinds import outcome_label
from lawtrace.runs.report.text import visible
from lawtrace.runs.report.transcript_diff import ConversationDiff, DiffPiece
from lawtrace.runs.report.verdict_index import Cause
from lawtrace.runs.store.event_log_queries import ConversationKey, LoggedMessage
from lawtrace.schemas.call_options import Price
from lawtrace.schemas.log_entries import RequestMessage

CONTEXT_WORDS = 12
"""Words shown on each side of a difference."""


def print_heading(
    console: Console, conversation: ConversationKey, lines: str = "", *, other: ConversationKey | None = None
) -> None:
    title = Text(conversation_title(conversation, other), style="bold")
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


def print_diff(console: Console, diff: ConversationDiff, sides: tuple[str, str]) -> None:
    """Print the first message that differs, word by word: removed words in brackets, added words in braces."""
    place, other = diff.places
    print_heading(console, place, other=other)
    for conversation, side in zip(diff.conversations, sides, strict=True):
        if conversation is None:
            console.print(Text(f"missing in {visible(side)}", style="bold"))
            console.print()
            return
    for message, side in zip(diff.lines, sides, strict=True):
        if message is None:
            console.print(Text(f"ends after {diff.same} messages in {visible(side)}; the other continues:"))
    console.print(Text(f"the first {diff.same} messages are the same, then message {diff.same + 1}:", style="dim"))
    console.print(Padding(_diff_text(diff.pieces), (0, 0, 1, 4)))


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


def _diff_text(pieces: Sequence[DiffPiece]) -> Text:
    text = Text()
    for number, piece in enumerate(pieces):
        match piece.kind:
            case "both":
                text.append(_shortened(piece.text, first=number == 0, last=number == len(pieces) - 1), style="dim")
            case "first":
                text.append(f"[-{piece.text}-]", style="red")
            case "second":
                text.append(f"{{+{piece.text}+}}", style="green")
    return text


def _shortened(text: str, *, first: bool, last: bool) -> str:
    words = text.split(" ")
    if len(words) <= 3 * CONTEXT_WORDS:
        return text
    start = [] if first else words[:CONTEXT_WORDS]
    end = [] if last else words[-CONTEXT_WORDS:]
    left_out = len(words) - len(start) - len(end)
    return " ".join([*start, f"… ({left_out} words) …", *end])
