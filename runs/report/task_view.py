"""The calls of a trace as lines of a table, a rule after each of them, and which of a very long trace to show."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from lawtrace.environments.events import CallOutcome, Event, Json
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.labels import MONITOR_LABELS
from lawtrace.runs.report.text import cut, show_call, show_value, unique_anchors, visible
from lawtrace.runs.schemas.task_rows import ActingMode, Attempt, StateRow, Task
from lawtrace.runs.schemas.verdict_rows import Verdict
from lawtrace.solver.ltlf import Verdict as MonitorVerdict
from lawtrace.solver.masking.instructions import Style
from lawtrace.solver.shield import ShieldMode

MOST_SHOWN = 40
LAST_SHOWN = 5
SHORT_RESULT = 60


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call; ``beginning`` is the start of a result that is too long for a cell, None if it is not."""

    number: int
    call: str
    outcome: CallOutcome
    result: str
    beginning: str | None


def call_lines(events: Sequence[Event], numbers: Iterable[int]) -> list[CallLine]:
    """The events with those indices, numbered from 1 as people count."""
    return [_call_line(number, events[number]) for number in numbers]


def _call_line(number: int, event: Event) -> CallLine:
    result = visible(cut(event.error, SHORT_RESULT * 5)) if event.error else show_value(event.result)
    beginning = None if len(result) <= SHORT_RESULT else result[: SHORT_RESULT - 10] + "…"
    return CallLine(number + 1, show_call(event), event.outcome, result, beginning)


# A large report has hundreds of thousands of these: the mark is the class too, and no template makes them.
_CELLS = {verdict: f'<td class="{look.mark}">{look.mark}</td>' for verdict, look in MONITOR_LABELS.items()}


def monitor_cells(states: Sequence[MonitorVerdict], numbers: Iterable[int]) -> Markup:
    """The cells of a rule: before the first event, and after each of those with these indices; none without states."""
    if not states:
        return Markup()
    return Markup(_CELLS[states[0]] + "".join(_CELLS[states[number + 1]] for number in numbers))  # noqa: S704 (ours)


def shown_numbers(count: int, important: Iterable[int]) -> list[int]:
    """The indices of the events to show: all of an ordinary trace; of a long one its start, its end, and around where
    something broke."""
    if count <= MOST_SHOWN + LAST_SHOWN:
        return list(range(count))
    around = {near for number in important for near in (number - 1, number, number + 1)}
    shown = {*range(MOST_SHOWN), *range(count - LAST_SHOWN, count), *around}
    return sorted(number for number in shown if 0 <= number < count)


ANSWER_CHARACTERS = 3000
PROGRAM_LINES = 250
SHORTEST_COMMENT = 12
"""An answer with fewer characters than this beside its program says nothing of its own."""


@dataclass(frozen=True, slots=True)
class AttemptSource:
    """Who made an attempt."""

    model: str
    style: Style
    trial: int


@dataclass(slots=True)
class AttemptCard:
    """One attempt, or several that are alike, as a task's page shows it.

    Attributes:
        words: what the model said beside its program, or instead of one; None if nothing.
        program: its lines; None if there is none, or if it is the reference program.
        calls: the events that are shown; ``hidden`` says how many of a long trace are not.
        numbers: the indices of those events, for the columns of the monitor's table.
    """

    anchor: str
    tries: list[AttemptSource]
    verdict: Verdict
    attempt: Attempt | None
    words: str | None
    program: list[str] | None
    is_reference: bool
    calls: list[CallLine]
    numbers: list[int]
    hidden: int

    @property
    def bad(self) -> frozenset[int]:
        """The numbers, from 1 as people count, of the calls after which a rule could no longer be kept."""
        return frozenset(rule.broken_at + 1 for rule in self.verdict.rules if rule.broken_at is not None)

    @property
    def makers(self) -> dict[str, list[str]]:
        """Model -> its tries, as ``goal`` or ``goal, trial 2``."""
        makers: dict[str, list[str]] = {}
        for one in self.tries:
            trial = f" (trial {one.trial + 1})" if one.trial else ""
            makers.setdefault(one.model, []).append(f"{one.style}{trial}")
        return makers


@dataclass(frozen=True, slots=True)
class StateChange:
    """What the task changes in one field or row; None where a row is created (before) or deleted (after)."""

    table: str
    row: str
    field: str | None
    before: Json
    after: Json


@dataclass(slots=True)
class TaskView:
    """A task and the cards of its attempts. ``cells`` is its row of the index: who -> the card."""

    anchor: str
    task: Task
    program: list[str]
    calls: list[CallLine]
    changes: list[StateChange]
    cards: list[AttemptCard] = field(default_factory=list[AttemptCard])
    cells: dict[tuple[str, Style], list[AttemptCard]] = field(
        default_factory=dict[tuple[str, Style], list[AttemptCard]]
    )


def view_tasks(content: ReportContent) -> list[TaskView]:
    """A page for each task, in order. An attempt without a verdict is not shown; a verdict without attempt is."""
    attempts = defaultdict[tuple[str, Style, str, ActingMode, ShieldMode, int], list[Attempt]](list)
    for attempt in content.attempts:
        place = attempt.task, attempt.style, attempt.model, attempt.mode, attempt.shield, attempt.trial
        attempts[place].append(attempt)
    verdicts = defaultdict[str, list[tuple[Verdict, Attempt | None]]](list)
    for verdict in content.verdicts:
        # Several runs in one report may hold the same try; they come in the same order here and there.
        place = verdict.task, verdict.style, verdict.model, verdict.mode, verdict.shield, verdict.trial
        waiting = attempts[place]
        verdicts[verdict.task].append((verdict, waiting.pop(0) if waiting else None))
    anchors = unique_anchors([f"task-{task.id}" for task in content.tasks])
    return [
        _view_task(anchor, task, verdicts.pop(task.id, [])) for anchor, task in zip(anchors, content.tasks, strict=True)
    ]


def _view_task(anchor: str, task: Task, judged: Sequence[tuple[Verdict, Attempt | None]]) -> TaskView:
    page = TaskView(
        anchor,
        task,
        _lines(task.program),
        call_lines([call.event for call in task.calls], range(len(task.calls))),
        state_changes(task.initial_state, task.target_state),
    )
    by_likeness: dict[str, AttemptCard] = {}
    for verdict, attempt in judged:
        words = _words(attempt)
        likeness = _content_key(verdict, attempt, words)
        if likeness not in by_likeness:
            number = f"{anchor}--attempt-{len(by_likeness) + 1}"
            by_likeness[likeness] = _card(number, task, verdict, attempt, words)
        card = by_likeness[likeness]
        card.tries.append(AttemptSource(verdict.contender, verdict.style, verdict.trial))
        page.cells.setdefault((verdict.contender, verdict.style), []).append(card)
    page.cards = list(by_likeness.values())
    return page


def _card(anchor: str, task: Task, verdict: Verdict, attempt: Attempt | None, words: str | None) -> AttemptCard:
    events = attempt.events if attempt else ()
    program = attempt.program if attempt else None
    is_reference = program is not None and program.strip() == task.program.strip()
    numbers = shown_numbers(len(events), [rule.broken_at for rule in verdict.rules if rule.broken_at is not None])
    return AttemptCard(
        anchor,
        [],
        verdict,
        attempt,
        words,
        None if program is None or is_reference else _lines(program),
        is_reference,
        call_lines(events, numbers),
        numbers,
        len(events) - len(numbers),
    )


def _content_key(verdict: Verdict, attempt: Attempt | None, words: str | None) -> str:
    """Equal for attempts between which a reader would see no difference."""
    who = {"style", "model", "trial"}
    made = attempt.model_dump_json(exclude={*who, "answer"}) if attempt else ""
    return "\n".join([verdict.model_dump_json(exclude=who), made, words or ""])


def _words(attempt: Attempt | None) -> str | None:
    if attempt is not None and attempt.transcript:
        said = [f"Turn {number}: {turn.text}" for number, turn in enumerate(attempt.transcript, 1) if turn.text]
        return visible(cut("\n".join(said), ANSWER_CHARACTERS)) or None
    if attempt is None or not attempt.answer:
        return None
    if attempt.program is None:
        return visible(cut(attempt.answer, ANSWER_CHARACTERS))
    rest = attempt.answer.replace(attempt.program.strip(), "[the program]").strip()
    if len(rest.replace("[the program]", "").replace("```python", "").replace("```", "").strip()) < SHORTEST_COMMENT:
        return None
    return visible(cut(rest, ANSWER_CHARACTERS))


def _lines(program: str) -> list[str]:
    lines = visible(program.rstrip()).split("\n")
    if len(lines) > PROGRAM_LINES:
        return [*lines[:PROGRAM_LINES], f"… ({len(lines) - PROGRAM_LINES} more lines)"]
    return lines


def state_changes(before: StateRow, after: StateRow) -> list[StateChange]:
    """What differs between two states in outside form, in the order of tables and rows."""
    changes: list[StateChange] = []
    for table in dict.fromkeys([*before, *after]):
        old, new = _rows(before.get(table)), _rows(after.get(table))
        for key in dict.fromkeys([*old, *new]):
            if key not in old or key not in new:
                changes.append(StateChange(table, key, None, old.get(key), new.get(key)))
                continue
            was, becomes = _rows(old[key]), _rows(new[key])
            changes += [
                StateChange(table, key, name, was.get(name), becomes.get(name))
                for name in dict.fromkeys([*was, *becomes])
                if was.get(name) != becomes.get(name)
            ]
    return changes


def _rows(value: Json) -> dict[str, Json]:
    return value if isinstance(value, dict) else {}
