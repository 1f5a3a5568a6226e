"""Conversations on a terminal. Whatever was said is shown, not obeyed: `visible` has written out control characters."""

from collections.abc import Iterable, Sequence

from rich.console import Console
from rich.padding import Padding
from rich.rule import Rule
from rich.text import Text

from lawtrace.runs.report.blame import Cause
from lawtrace.runs.report.labels import OUTCOME_LABELS
from lawtrace.runs.report.message_view import MessagePart, MessageView, conversation_title, view_message
from lawtrace.runs.report.text import visible
from lawtrace.runs.report.transcript_diff import ConversationDiff, DiffPiece
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.runs.store.event_log_queries import ConversationKey, LoggedMessage

CONTEXT_WORDS = 12
"""Words on each side of a difference; what is the same for longer is left out."""


def print_heading(console: Console, place: ConversationKey, lines: str = "") -> None:
    title = Text(conversation_title(place), style="bold")
    if lines:
        title.append(f"  {lines}", style="dim")
    console.print(Rule(title, align="left"))


def print_messages(console: Console, lines: Iterable[LoggedMessage], causes: Sequence[Cause] = ()) -> None:
    """Who spoke in which turn, through which model, and what; under it, which rule broke there."""
    for said in lines:
        shown = view_message(said.line)
        console.print(_speaker(shown))
        words = _words(shown)
        console.print(Padding(words, (0, 0, 0, 4))) if words else None
        for rule in [rule for number, rule in causes if number == said.number]:
            why = "here the attempt failed" if rule is None else f"breaks {rule.rule}: {rule.explanation}"
            cited = f" ({'; '.join(rule.provisions)})" if rule is not None and rule.provisions else ""
            console.print(Padding(Text(f"◀ {visible(why + cited)}", style="bold red"), (0, 0, 0, 4)))
        console.print()


def print_verdict(console: Console, verdict: Verdict) -> None:
    look = OUTCOME_LABELS[verdict.outcome]
    text = Text(f"{look.mark} {look.label}", style="bold")
    text.append(f": {visible(verdict.reason)}", style="default")
    console.print(text)
    console.print()


def print_diff(console: Console, parting: ConversationDiff, sides: tuple[str, str]) -> None:
    """The first line in which a conversation differs, its words side by side: removed in brackets, added in braces."""
    here = next(conversation for conversation in parting.conversations if conversation is not None)
    print_heading(console, here.place)
    for missing, side in zip(parting.conversations, sides, strict=True):
        if missing is None:
            console.print(Text(f"not in {visible(side)} at all", style="bold"))
            console.print()
            return
    for said, side in zip(parting.lines, sides, strict=True):
        if said is None:
            console.print(Text(f"ends after {parting.same} messages in {visible(side)}, where the other goes on:"))
    console.print(Text(f"the same for {parting.same} messages, then message {parting.same + 1}:", style="dim"))
    console.print(Padding(_pieces(parting.pieces), (0, 0, 1, 4)))


def _speaker(shown: MessageView) -> Text:
    text = Text(f"{shown.turn:>2} ", style="dim")
    style = {"user": "bold", "role": "bold cyan", "code": "green", "failure": "bold red"}[shown.seat]
    if shown.good is not None:
        text.append("✓ " if shown.good else "✗ ", style="green" if shown.good else "bold red")
    text.append(shown.speaker, style=style)
    if shown.remark:
        text.append(f" {shown.remark}", style=style)
    if shown.calls:
        text.append(" calls", style="cyan")
    if shown.seat == "code":
        text.append("  code", style="dim")
    if shown.model:
        text.append(f"  {shown.model}", style="dim")
    if shown.prompt:
        text.append(f"  prompt {shown.prompt}", style="dim")
    return text


def _words(shown: MessageView) -> Text | None:
    lines = [_part(part) for part in shown.parts] + list(shown.calls)
    return Text("\n".join(lines)) if lines else None


def _part(part: MessagePart) -> str:
    text = part.text + "".join(f"\n  - {item}" for item in part.items)
    return text if part.name is None else f"{part.name}: {text}"


def _pieces(pieces: Sequence[DiffPiece]) -> Text:
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
