"""The pages of the tasks, as values: what was asked, and every attempt with the evidence for its verdict.

Attempts are often alike: a baseline writes the same program for both styles, and good models write the reference
program. Attempts that are alike in everything but who made them are shown once, with everybody's name on it; that
keeps the file small and tells the reader something.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from lawtrace.environments.events import Json
from lawtrace.runs.grading.verdict import VerdictRow
from lawtrace.runs.report.content import ReportContent
from lawtrace.runs.report.events import CallLine, call_lines, shown_numbers
from lawtrace.runs.report.texts import cut, unique_anchors
from lawtrace.runs.stages.rows import AttemptRow, JsonState, Mode, TaskRow
from lawtrace.runs.visibility import visible
from lawtrace.solver.masking import Style
from lawtrace.solver.shield import ShieldMode

ANSWER_CHARACTERS = 3000
PROGRAM_LINES = 250
OWN_WORDS_FROM = 12
"""An answer with fewer characters than this beside its program says nothing of its own."""


@dataclass(frozen=True, slots=True)
class Try:
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
    tries: list[Try]
    verdict: VerdictRow
    attempt: AttemptRow | None
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
class TaskPage:
    """A task and the cards of its attempts. ``cells`` is its row of the index: who -> the card."""

    anchor: str
    task: TaskRow
    program: list[str]
    calls: list[CallLine]
    changes: list[StateChange]
    cards: list[AttemptCard] = field(default_factory=list[AttemptCard])
    cells: dict[tuple[str, Style], list[AttemptCard]] = field(
        default_factory=dict[tuple[str, Style], list[AttemptCard]]
    )


def task_pages(content: ReportContent) -> list[TaskPage]:
    """A page for each task, in order. An attempt without a verdict is not shown; a verdict without attempt is."""
    attempts = defaultdict[tuple[str, Style, str, Mode, ShieldMode, int], list[AttemptRow]](list)
    for attempt in content.attempts:
        place = attempt.task, attempt.style, attempt.model, attempt.mode, attempt.shield, attempt.trial
        attempts[place].append(attempt)
    verdicts = defaultdict[str, list[tuple[VerdictRow, AttemptRow | None]]](list)
    for verdict in content.verdicts:
        # Several runs in one report may hold the same try; they come in the same order here and there.
        place = verdict.task, verdict.style, verdict.model, verdict.mode, verdict.shield, verdict.trial
        waiting = attempts[place]
        verdicts[verdict.task].append((verdict, waiting.pop(0) if waiting else None))
    anchors = unique_anchors([f"task-{task.id}" for task in content.tasks])
    return [_page(anchor, task, verdicts.pop(task.id, [])) for anchor, task in zip(anchors, content.tasks, strict=True)]


def _page(anchor: str, task: TaskRow, judged: Sequence[tuple[VerdictRow, AttemptRow | None]]) -> TaskPage:
    page = TaskPage(
        anchor,
        task,
        _lines(task.program),
        call_lines([call.event for call in task.calls], range(len(task.calls))),
        state_changes(task.initial_state, task.target_state),
    )
    by_likeness: dict[str, AttemptCard] = {}
    for verdict, attempt in judged:
        words = _words(attempt)
        likeness = _likeness(verdict, attempt, words)
        if likeness not in by_likeness:
            number = f"{anchor}--attempt-{len(by_likeness) + 1}"
            by_likeness[likeness] = _card(number, task, verdict, attempt, words)
        card = by_likeness[likeness]
        card.tries.append(Try(verdict.contender, verdict.style, verdict.trial))
        page.cells.setdefault((verdict.contender, verdict.style), []).append(card)
    page.cards = list(by_likeness.values())
    return page


def _card(
    anchor: str, task: TaskRow, verdict: VerdictRow, attempt: AttemptRow | None, words: str | None
) -> AttemptCard:
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


def _likeness(verdict: VerdictRow, attempt: AttemptRow | None, words: str | None) -> str:
    """Equal for attempts between which a reader would see no difference."""
    who = {"style", "model", "trial"}
    made = attempt.model_dump_json(exclude={*who, "answer"}) if attempt else ""
    return "\n".join([verdict.model_dump_json(exclude=who), made, words or ""])


def _words(attempt: AttemptRow | None) -> str | None:
    if attempt is not None and attempt.transcript:
        said = [f"Turn {number}: {turn.text}" for number, turn in enumerate(attempt.transcript, 1) if turn.text]
        return visible(cut("\n".join(said), ANSWER_CHARACTERS)) or None
    if attempt is None or not attempt.answer:
        return None
    if attempt.program is None:
        return visible(cut(attempt.answer, ANSWER_CHARACTERS))
    rest = attempt.answer.replace(attempt.program.strip(), "[the program]").strip()
    if len(rest.replace("[the program]", "").replace("```python", "").replace("```", "").strip()) < OWN_WORDS_FROM:
        return None
    return visible(cut(rest, ANSWER_CHARACTERS))


def _lines(program: str) -> list[str]:
    lines = visible(program.rstrip()).split("\n")
    if len(lines) > PROGRAM_LINES:
        return [*lines[:PROGRAM_LINES], f"… ({len(lines) - PROGRAM_LINES} more lines)"]
    return lines


def state_changes(before: JsonState, after: JsonState) -> list[StateChange]:
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
