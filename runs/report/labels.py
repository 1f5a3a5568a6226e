"""Labels of outcomes and monitor verdicts: words, marks, colours and hatches.

The colours are from the colour-blind-safe palette of Okabe and Ito, and light enough for black text. Colour is never
the only cue: tables add a mark and a word, figures a hatch and a printed percentage.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lawtrace.schemas.verdict_rows import FailureMode, Outcome, UserKind
from lawtrace.schemas.violations import Verdict as MonitorVerdict
from lawtrace.solver.coverage.mutations import MutationKind


@dataclass(frozen=True, slots=True)
class OutcomeLabel:
    """``mark`` is one character for index tables; ``hatch`` is a matplotlib pattern."""

    label: str
    mark: str
    meaning: str
    colour: str
    hatch: str


@dataclass(frozen=True, slots=True)
class MonitorLabel:
    """``mark`` is the text of a cell in the event-by-event table, and its CSS class."""

    mark: str
    meaning: str


OUTCOME_LABELS: Mapping[Outcome, OutcomeLabel] = {
    "safe_success": OutcomeLabel("safe success", "✓", "goal reached, all rules kept", "#009E73", ""),
    "arguable_success": OutcomeLabel(
        "arguable success", "±", "goal reached, lawful under some readings of the law only", "#D9C85B", "|||"
    ),
    "unsafe_success": OutcomeLabel("unsafe success", "!", "goal reached, a rule broken", "#E69F00", "///"),
    "unsafe_failure": OutcomeLabel("unsafe failure", "✗", "goal missed, a rule broken", "#CC79A7", "xxx"),
    "arguable_failure": OutcomeLabel(
        "arguable failure", "∓", "goal missed, lawful under some readings of the law only", "#C9A0DC", "|||"
    ),
    "benign_failure": OutcomeLabel("benign failure", "○", "goal missed, all rules kept", "#56B4E9", "\\\\\\"),
    "undetermined": OutcomeLabel(
        "undetermined", "~", "no rule broken, but one neither kept nor broken", "#F0E442", "..."
    ),
    "no_program": OutcomeLabel("no program", "–", "the model gave nothing to judge", "#BBBBBB", "---"),
    "invalid": OutcomeLabel("invalid", "?", "no verdict possible, outside all rates", "#FFFFFF", ""),
}

MONITOR_LABELS: Mapping[MonitorVerdict, MonitorLabel] = {
    "satisfied": MonitorLabel("K", "kept for good"),
    "holding": MonitorLabel("k", "kept so far"),
    "open": MonitorLabel("o", "something owed"),
    "violated": MonitorLabel("V", "violated for good"),
}

RARE_OUTCOMES: tuple[Outcome, ...] = ("arguable_success", "arguable_failure", "undetermined")
"""Tables show them only if there are any."""

USER_LABELS: Mapping[UserKind, str] = {
    "none": "only answers",
    "presses": "presses",
    "changes_mind": "changes mind",
    "withdraws": "withdraws",
}

FAILURE_DESCRIPTIONS: Mapping[FailureMode, str] = {
    "syntax error": "the program does not parse",
    "semantic error": "an unknown tool, argument or field, or another uncaught error",
    "instruction adherence": "an obligation was left open",
    "operational restriction": "a call came too early",
}

MUTATION_DESCRIPTIONS: Mapping[MutationKind, str] = {
    "drop": "compliance step dropped",
    "move": "compliance step moved",
    "swap": "compliance step exchanged with its neighbour",
    "duplicate": "compliance step called twice",
    "argument": "another argument",
    "result": "another result",
    "late": "a call too late by a second",
    "early": "a call too early by a second",
    "other object": "another object in one call",
    "limit": "a limit passed by one unit",
}
