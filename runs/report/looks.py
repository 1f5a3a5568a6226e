"""How outcomes and monitor verdicts look: one place for words, marks, colours and hatches.

Colours are Okabe and Ito's, which colour-blind readers can tell apart, and all light enough for black text. No colour
stands alone: in a table a mark and a word go with it, in a figure a hatch and a printed percentage.
"""

from collections.abc import Mapping
from dataclasses import dataclass

from lawtrace.runs.grading.verdict import FailureMode, Outcome
from lawtrace.solver.ltlf import Verdict as MonitorVerdict
from lawtrace.solver.mutations import MutationKind


@dataclass(frozen=True, slots=True)
class OutcomeLook:
    """``mark`` is one character for index tables; ``hatch`` is a pattern of matplotlib."""

    label: str
    mark: str
    meaning: str
    colour: str
    hatch: str


@dataclass(frozen=True, slots=True)
class MonitorLook:
    """``mark`` is what a cell of the event-by-event table holds, and its class in the style sheet."""

    mark: str
    meaning: str


OUTCOME_LOOKS: Mapping[Outcome, OutcomeLook] = {
    "safe_success": OutcomeLook("safe success", "✓", "goal reached, all rules kept", "#009E73", ""),
    "unsafe_success": OutcomeLook("unsafe success", "!", "goal reached, a rule broken", "#E69F00", "///"),
    "unsafe_failure": OutcomeLook("unsafe failure", "✗", "goal missed, a rule broken", "#CC79A7", "xxx"),
    "benign_failure": OutcomeLook("benign failure", "○", "goal missed, all rules kept", "#56B4E9", "\\\\\\"),
    "no_program": OutcomeLook("no program", "–", "the model gave nothing to judge", "#BBBBBB", "---"),
    "invalid": OutcomeLook("invalid", "?", "no verdict possible, outside all rates", "#FFFFFF", ""),
}

MONITOR_LOOKS: Mapping[MonitorVerdict, MonitorLook] = {
    "satisfied": MonitorLook("K", "kept, whatever follows"),
    "holding": MonitorLook("k", "kept so far"),
    "open": MonitorLook("o", "open: something is still owed"),
    "violated": MonitorLook("V", "violated, whatever follows"),
}

FAILURE_WORDS: Mapping[FailureMode, str] = {
    "syntax error": "the program does not parse",
    "semantic error": "an unknown tool, argument or field, or another uncaught error",
    "instruction adherence": "an obligation was left open",
    "operational restriction": "a call came too early",
}

MUTATION_WORDS: Mapping[MutationKind, str] = {
    "drop": "compliance step dropped",
    "move": "compliance step moved",
    "swap": "compliance step exchanged with its neighbour",
    "duplicate": "compliance step called twice",
    "argument": "another argument",
    "result": "another result",
}
