"""Statistics of the stages of a run beside their rows: files of one line."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import shorten
from typing import Annotated, Literal, get_args

from pydantic import PlainSerializer

from lawtrace.schemas.attempt_rows import Execution
from lawtrace.schemas.choices import Style
from lawtrace.schemas.events import Event
from lawtrace.schemas.habits import Habit
from lawtrace.schemas.models import StrictModel

IN_ORDER = PlainSerializer(sorted)
"""Sets have no order, and the same seed gives the same bytes."""


@dataclass(frozen=True, slots=True)
class Coverage:
    """The coverage of a set of traces.

    Attributes:
        traces: the number of traces.
        pairs: distinct ordered pairs of adjacent completed calls.
        all_pairs: the square of the number of tools.
        critical: critical tools that occur.
        all_critical: critical tools of the environment.
    """

    traces: int
    pairs: Annotated[frozenset[tuple[str, str]], IN_ORDER]
    all_pairs: int
    critical: Annotated[frozenset[str], IN_ORDER]
    all_critical: Annotated[frozenset[str], IN_ORDER]

    @property
    def atc(self) -> float:
        """Adjacent-tool coverage: distinct adjacent pairs / |A| squared, from 0 to 1."""
        return len(self.pairs) / self.all_pairs

    @property
    def critical_share(self) -> float:
        """S.C. coverage: critical tools that occur / critical tools, from 0 to 1."""
        return len(self.critical) / len(self.all_critical) if self.all_critical else 1.0


MutationKind = Literal[
    "drop", "move", "swap", "duplicate", "argument", "result", "late", "early", "other object", "limit"
]

MUTATION_KINDS: tuple[MutationKind, ...] = get_args(MutationKind)


SurvivalReason = Literal[
    "no rule looks at it",
    "the rules allow it",
    "the call was refused",
    "nothing changed",
    "the deadline is after the end of the session",
]
"""*no rule looks at it*: each rule reads the same of the calls as before. *the rules allow it*: some rule reads
something else and is still kept. *the call was refused*: a tool refused a call, or the session had ended. *nothing
changed*: the calls and times are the same as before. *the deadline is after the end of the session*: a rule still
demands something, but the session cannot show whether it is done.
"""


ChangeAnswer = Literal[
    "rule",
    "goal",
    "missed",
    "it changes nothing",
    "a tool refuses it",
    "a result, which no session can change",
    "no duty needs the call",
    "no deadline for it ends there",
]
"""What catches a single change of a reference: a *rule* is broken, or the *goal* is missed. *missed*: a duty is left
unfulfilled, and nothing catches it. The others leave no duty unfulfilled."""


@dataclass(frozen=True, slots=True)
class Detection:
    """A mutant that rules detected: its trace, the change, and the rules."""

    trace: str
    kind: MutationKind
    change: str
    rules: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no rule detected: its trace, the change, and the reason."""

    trace: str
    kind: MutationKind
    change: str
    reason: SurvivalReason


@dataclass(frozen=True, slots=True)
class MutationScore:
    """The result of mutation testing.

    Attributes:
        mutants: the number of mutants of each kind.
        killed: how many of them broke a rule.
        kills_by_rule: for each rule the number of mutants it detected; several rules may detect the same one.
        detections: the mutants that rules detected.
        survivors: the others.
    """

    mutants: Mapping[MutationKind, int]
    killed: Mapping[MutationKind, int]
    kills_by_rule: Mapping[str, int]
    detections: tuple[Detection, ...]
    survivors: tuple[Survivor, ...]


@dataclass(frozen=True, slots=True)
class TaskFunnel:
    """The task funnel: traces tried, pairs accepted, and why the others were dropped (reason -> count).

    ``rounds``: number of accepted instructions (two per pair) by the rounds of their conversation.
    """

    traces: int
    accepted: int
    rounds: Mapping[int, int] = field(default_factory=dict[int, int])
    dropped: Mapping[str, int] = field(default_factory=dict[str, int])

    @property
    def mean_rounds(self) -> float | None:
        written = sum(self.rounds.values())
        return sum(number * count for number, count in self.rounds.items()) / written if written else None


@dataclass(frozen=True, slots=True)
class ExtractionScore:
    """Extracted rules, and what they say of sessions beside the gold rules about the same provisions.

    Attributes:
        rules: how many there are.
        provisions: how many were read; ``bound``: on how many of them a rule rests.
        models: those that wrote the rules.
        kept: lawful sessions that the rules keep, and how many there are; None if not counted.
        caught: sessions that break the gold rules and that the rules break, too, and how many there are.
    """

    rules: int
    provisions: int
    bound: int
    models: str
    kept: tuple[int, int] | None = None
    caught: tuple[int, int] | None = None

    @staticmethod
    def rate(counted: tuple[int, int] | None) -> float | None:
        """A share of sessions; None if there are none."""
        return counted[0] / counted[1] if counted and counted[1] else None

    @property
    def sentence(self) -> str:
        """What was extracted from the text, and the score if there is one."""
        rules = f"{self.rules} rule{'' if self.rules == 1 else 's'}"
        text = f"Extraction ({self.models}): {self.provisions} provisions, {self.bound} of them with a rule; {rules}."
        if self.kept is not None and self.caught is not None:
            text += " Of {1} lawful sessions they allow {0};".format(*self.kept)
            text += " of {1} that break a gold rule they forbid {0}.".format(*self.caught)
        return text


@dataclass(frozen=True, slots=True)
class ModelBaseline:
    """Coverage of programs written by a model (P Table 2), under the same rules as the search.

    Attributes:
        programs: number of programs.
        finished: number of these that finished.
        compliant: number of the finished ones that kept every rule.
        coverage: of all programs, compliant or not.
        compliant_coverage: of the compliant ones alone.
    """

    model: str
    programs: int
    finished: int
    compliant: int
    coverage: Coverage
    compliant_coverage: Coverage


class TaskFunnelRow(StrictModel):
    """The funnel, as written by the stage that builds the tasks."""

    schema_version: Literal["lawtrace.task_funnel/1"] = "lawtrace.task_funnel/1"
    funnel: TaskFunnel


class OracleStrengthRow(StrictModel):
    """Number of changes of traces that the rules detect."""

    schema_version: Literal["lawtrace.oracle_strength/2"] = "lawtrace.oracle_strength/2"
    strength: MutationScore


class HabitRunnerUp(StrictModel):
    """A habit that passes no more tasks than the best one. ``passed``: how many."""

    name: str
    passed: int


class HabitRow(StrictModel):
    """The best habit for the tasks of a run in one style.

    Attributes:
        name: in words.
        passed: the ids of the tasks that it passes, in simulation, of ``tasks`` in all.
        pairs_passed: the ids of the contrast pairs of which it passes both sides, of ``pairs`` in all.
    """

    schema_version: Literal["lawtrace.habit/2"] = "lawtrace.habit/2"
    style: Style
    name: str
    habit: Habit
    passed: tuple[str, ...]
    tasks: int
    pairs_passed: tuple[str, ...] = ()
    pairs: int = 0
    runners_up: tuple[HabitRunnerUp, ...] = ()

    @property
    def rate(self) -> float:
        return len(self.passed) / self.tasks

    @property
    def sentence(self) -> str:
        """``Best habit, goal style: 97.5 % of tasks (39 of 40): CheckAuthorization before every call.``

        With contrast pairs, the share of these follows that of the tasks. A long name is cut.
        """
        shares = [_share(len(self.passed), self.tasks, "tasks")]
        if self.pairs:
            shares.append(_share(len(self.pairs_passed), self.pairs, "pairs"))
        name = self.name if len(self.name) <= 120 else shorten(self.name, 120, placeholder=" ...")
        return f"Best habit, {self.style} style: {', '.join(shares)}: {name}{'' if name.endswith('...') else '.'}"


def habit_sentences(rows: Sequence[HabitRow]) -> list[str]:
    """The sentence of each habit, or one for all styles if they differ in the style alone."""
    joined = {row.sentence.replace(f"{row.style} style", "each style", 1) for row in rows}
    return [*joined] if len(joined) == 1 < len(rows) else [row.sentence for row in rows]


def _share(part: int, whole: int, what: str) -> str:
    return f"{100 * part / whole:.3g} % of {what} ({part} of {whole})"


class Findings(StrictModel):
    """Task funnel, mutation score, best habits and extraction score of a run. None: not measured."""

    schema_version: Literal["lawtrace.findings/2"] = "lawtrace.findings/2"
    funnel: TaskFunnel | None = None
    strength: MutationScore | None = None
    baseline: ModelBaseline | None = None
    extraction: ExtractionScore | None = None
    """The score of the offline roles on the same text, beside that of a model."""
    habits: tuple[HabitRow, ...] = ()


class BaselineRow(StrictModel):
    """One program of the baseline: how it ended in the sandbox, its events and the rules they broke."""

    schema_version: Literal["lawtrace.baseline/1"] = "lawtrace.baseline/1"
    model: str
    number: int
    program: str
    execution: Execution
    events: tuple[Event, ...]
    broken: tuple[str, ...]

    @property
    def compliant(self) -> bool:
        """Whether it finished and kept every rule."""
        return not self.execution.died and not self.broken
