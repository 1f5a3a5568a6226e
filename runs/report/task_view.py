"""View of a task and its attempts: the request, the reference, and the evidence for each verdict.

Identical attempts are shown once with the names of all their models: a baseline writes the same program for both
styles, and good models write the reference program.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from markupsafe import Markup

from lawtrace.environments.spec.clock import SECONDS_PER_DAY
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.labels import MONITOR_LABELS
from lawtrace.runs.report.text import cut, show_call, show_fact, show_value, unique_anchors, visible
from lawtrace.runs.scoring.metrics import group_by
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.events import CallOutcome, Event, Json, event_labels
from lawtrace.schemas.task_rows import End, StateRow
from lawtrace.schemas.verdict_rows import OUTCOMES, Outcome, Verdict
from lawtrace.schemas.violations import Verdict as MonitorVerdict

MOST_SHOWN = 40
LAST_SHOWN = 5
SHORT_RESULT = 60


@dataclass(frozen=True, slots=True)
class CallLine:
    """One call or message.

    Attributes:
        label: what it is called, as in the explanations of rules.
        time: when it began, with the days since the first call if there are any; empty if unknown.
        beginning: the start of a result that is too long for a table cell, else None.
    """

    label: str
    time: str
    call: str
    outcome: CallOutcome
    result: str
    beginning: str | None


def call_lines(events: Sequence[Event], numbers: Iterable[int]) -> list[CallLine]:
    """The events with these indices."""
    first, labels = next((event.time for event in events if event.time is not None), 0), event_labels(events)
    return [_call_line(labels[number], events[number], first // SECONDS_PER_DAY) for number in numbers]


def _call_line(label: str, event: Event, first_day: int) -> CallLine:
    result = visible(cut(event.error, SHORT_RESULT * 5)) if event.error else show_value(event.result)
    beginning = None if len(result) <= SHORT_RESULT else result[: SHORT_RESULT - 10] + "…"
    time = "" if event.time is None else _show_time(event.time, first_day)
    return CallLine(label, time, show_call(event), event.outcome, result, beginning)


def _show_time(seconds: int, first_day: int) -> str:
    day, second = divmod(seconds, SECONDS_PER_DAY)
    clock = f"{second // 3600:02d}:{second // 60 % 60:02d}:{second % 60:02d}"
    return clock if day == first_day else f"{clock} +{day - first_day} d"


# Rendered here, not in a template: a large report has hundreds of thousands of these cells.
_CELLS = {verdict: f'<td class="{look.mark}">{look.mark}</td>' for verdict, look in MONITOR_LABELS.items()}


def monitor_cells(states: Sequence[MonitorVerdict], numbers: Iterable[int]) -> Markup:
    """The state of a rule before the first event and after each event with these indices; empty without states."""
    if not states:
        return Markup()
    return Markup(_CELLS[states[0]] + "".join(_CELLS[states[number + 1]] for number in numbers))  # noqa: S704 (ours)


def shown_numbers(count: int, important: Iterable[int]) -> list[int]:
    """The indices of the events to show: all of a short trace; in a long one the start, the end and the neighbours of
    important events."""
    if count <= MOST_SHOWN + LAST_SHOWN:
        return list(range(count))
    around = {near for number in important for near in (number - 1, number, number + 1)}
    shown = {*range(MOST_SHOWN), *range(count - LAST_SHOWN, count), *around}
    return sorted(number for number in shown if 0 <= number < count)


ANSWER_CHARACTERS = 3000
PROGRAM_LINES = 250
SHORTEST_COMMENT = 12
"""Shorter text beside the program is not shown."""


@dataclass(slots=True)
class AttemptCard:
    """One attempt, or several identical ones.

    Attributes:
        sources: each model that made it -> in which styles and trials.
        words: the model's text outside its program, or None.
        program: lines of the program; None if missing or equal to the reference program.
        calls: the events shown; ``hidden`` counts the omitted events of a long trace.
        numbers: the indices of the events shown, for the columns of the monitor table.
    """

    anchor: str
    sources: dict[str, list[str]]
    verdict: Verdict
    attempt: Attempt | None
    words: str | None
    program: list[str] | None
    is_reference: bool
    calls: list[CallLine]
    numbers: list[int]
    hidden: int

    @property
    def labels(self) -> list[str]:
        """What each event is called; of a verdict without its attempt, all count as calls."""
        if self.attempt is not None:
            return event_labels(self.attempt.events)
        rules = self.verdict.rules
        steps = [step for rule in rules for one in rule.violations for step in (one.step, one.certain or 0)]
        steps += [at for rule in rules for at in (rule.broken_at or 0, len(rule.states))]
        return [str(number) for number in range(1, max(steps, default=0) + 2)]

    @property
    def bad(self) -> frozenset[str]:
        """The labels of the events that broke a rule irrevocably."""
        labels = self.labels
        return frozenset(labels[rule.broken_at] for rule in self.verdict.rules if rule.broken_at is not None)


@dataclass(frozen=True, slots=True)
class StateChange:
    """A change of one field or row; ``before`` is None for a created row, ``after`` for a deleted one."""

    table: str
    row: str
    field: str | None
    before: Json
    after: Json


@dataclass(frozen=True, slots=True)
class AttemptMark:
    """A link to an attempt in the task index. ``rules``: the ids of those that are broken or undetermined."""

    outcome: Outcome
    anchor: str
    rules: tuple[str, ...]


@dataclass(slots=True)
class TaskView:
    """A task with the cards of its attempts.

    Attributes:
        title: heading of its environment.
        targets: what the target is called, or each end, with its changes of the initial state.
        marks: (model, style) -> the attempts, for the index of tasks.
    """

    anchor: str
    title: str
    task: Task
    program: list[str]
    calls: list[CallLine]
    targets: list[tuple[str, list[StateChange]]]
    cards: list[AttemptCard] = field(default_factory=list[AttemptCard])
    marks: dict[tuple[str, str], list[AttemptMark]] = field(default_factory=dict[tuple[str, str], list[AttemptMark]])

    @property
    def goal(self) -> str:
        """The first of its instructions."""
        return next((one.text for one in self.task.instructions.values()), "")

    @property
    def fact(self) -> str:
        """Of the side of a contrast pair, what sets it apart."""
        contrast = self.task.contrast
        return show_fact(contrast.fact, contrast.value) if contrast else ""

    def rank(self, model: str, style: str) -> int | None:
        """The worst outcome of a model in a style, for sorting; None without an attempt."""
        return max((OUTCOMES.index(mark.outcome) for mark in self.marks.get((model, style), ())), default=None)


def view_tasks(content: ReportContent) -> list[TaskView]:
    """A view of each task, in order. Attempts without a verdict are left out; verdicts without an attempt are kept."""
    attempts = {attempt.answer.id: attempt for attempt in content.attempts}
    judged = group_by(content.verdicts, lambda verdict: verdict.task)
    anchors = unique_anchors([f"task-{task.id}" for task in content.tasks])
    return [
        view_task(
            task, judged.get(task.id, ()), attempts, anchor=anchor, title=content.scenario_title(task.environment)
        )
        for anchor, task in zip(anchors, content.tasks, strict=True)
    ]


def view_task(
    task: Task,
    verdicts: Sequence[Verdict],
    attempts: Mapping[str, Attempt | None],
    *,
    anchor: str = "task",
    title: str = "",
) -> TaskView:
    """The view of a task with the verdicts on it. ``attempts``: by the answer that a verdict names."""
    view = TaskView(
        anchor,
        title or task.environment,
        task,
        _program_lines(task.program),
        call_lines([call.event for call in task.calls], range(len(task.calls))),
        [
            (_name_target(task, end), state_changes(task.initial_state, end.state or task.target_state))
            for end in task.ends or (End(),)
        ],
    )
    cards: dict[str, AttemptCard] = {}
    for verdict in verdicts:
        attempt = attempts.get(verdict.answer)
        words = _words(attempt)
        key = _content_key(verdict, attempt, words)
        if key not in cards:
            cards[key] = _card(f"{anchor}--attempt-{len(cards) + 1}", task, verdict, attempt, words)
        card = cards[key]
        label = f"{verdict.style} (trial {verdict.trial + 1})" if verdict.trial else verdict.style
        card.sources.setdefault(verdict.contender, []).append(label)
        mark = AttemptMark(verdict.outcome, card.anchor, tuple(rule.rule for rule in verdict.rules if not rule.kept))
        view.marks.setdefault((verdict.contender, verdict.style), []).append(mark)
    view.cards = list(cards.values())
    return view


def _card(anchor: str, task: Task, verdict: Verdict, attempt: Attempt | None, words: str | None) -> AttemptCard:
    events = attempt.events if attempt else ()
    program = attempt.answer.program if attempt else None
    is_reference = program is not None and program.strip() == task.program.strip()
    numbers = shown_numbers(len(events), [rule.broken_at for rule in verdict.rules if rule.broken_at is not None])
    return AttemptCard(
        anchor,
        {},
        verdict,
        attempt,
        words,
        None if program is None or is_reference else _program_lines(program),
        is_reference,
        call_lines(events, numbers),
        numbers,
        len(events) - len(numbers),
    )


def _content_key(verdict: Verdict, attempt: Attempt | None, words: str | None) -> str:
    """A key that is equal for attempts with identical cards."""
    judgement = verdict.model_dump_json(
        exclude={"style": True, "model": True, "trial": True, "answer": True, "rules": {"__all__": {"message"}}}
    )
    made = attempt.model_dump_json(exclude={"answer": True, "events": {"__all__": {"message"}}}) if attempt else ""
    program = attempt.answer.program if attempt else None
    return "\n".join([judgement, made, program or "", words or ""])


def _words(attempt: Attempt | None) -> str | None:
    if attempt is None:
        return None
    answer = attempt.answer
    if answer.conversation is not None:
        said = [
            (turn.after, 0, f"User ({', '.join(turn.moves).replace('_', ' ')}): {turn.text}")
            for turn in answer.conversation.user
        ]
        said += [
            (number, 1, f"Turn {number + 1}: {turn.text}")
            for number, turn in enumerate(answer.conversation.turns)
            if turn.text
        ]
        return visible(cut("\n".join(text for _, _, text in sorted(said)), ANSWER_CHARACTERS)) or None
    if not answer.text:
        return None
    if answer.program is None:
        return visible(cut(answer.text, ANSWER_CHARACTERS))
    rest = answer.text.replace(answer.program.strip(), "[the program]").strip()
    if len(rest.replace("[the program]", "").replace("```python", "").replace("```", "").strip()) < SHORTEST_COMMENT:
        return None
    return visible(cut(rest, ANSWER_CHARACTERS))


def _name_target(task: Task, end: End) -> str:
    under = " and ".join(f"{question} is {' or '.join(readings)}" for question, readings in end.under.items())
    return f"End, {end}{f', if {under}' if under else ''}" if task.ends else "Target"


def _program_lines(program: str) -> list[str]:
    lines = visible(program.rstrip()).split("\n")
    if len(lines) > PROGRAM_LINES:
        return [*lines[:PROGRAM_LINES], f"… ({len(lines) - PROGRAM_LINES} more lines)"]
    return lines


def state_changes(before: StateRow, after: StateRow) -> list[StateChange]:
    """The differences of two states, in the order of tables and rows."""
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
