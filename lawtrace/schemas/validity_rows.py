"""What is recorded about the validity of a task set: what was measured when it was made, errata, and who judged what.

Records lie in the folder of a release (`lawtrace.runs.release.validity`). A row says by whom it is, so that a model is
named as one.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Literal, Self

from pydantic import Field

from lawtrace.schemas.choices import ActingMode, RegulationForm, Style
from lawtrace.schemas.findings import ChangeAnswer, HabitRow, MutationKind
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.quality_rows import QualityRow
from lawtrace.schemas.questions import Legality
from lawtrace.schemas.verdict_rows import Outcome


class Changes(StrictModel):
    """Single changes of one kind of the references.

    Attributes:
        made: those that something has to catch.
        missed: those of them that nothing catches, ``task: change``.
        by_goal: those of them that break no rule, and miss the goal.
        apart: the others, by the reason why nothing has to catch them; None where they were not told apart.
    """

    made: int
    missed: tuple[str, ...] = ()
    by_goal: int = 0
    apart: Mapping[ChangeAnswer, int] | None = None

    @classmethod
    def of(cls, answers: Sequence[tuple[str, ChangeAnswer]]) -> Self:
        """The counts of changes, ``task: change`` with its answer."""
        counts = Counter[ChangeAnswer](answer for _, answer in answers)
        by_rule, by_goal = counts.pop("rule", 0), counts.pop("goal", 0)
        made = by_rule + by_goal + counts.pop("missed", 0)
        missed = tuple(change for change, answer in answers if answer == "missed")
        return cls(made=made, missed=missed, by_goal=by_goal, apart=dict(counts))


class MeasuredSet(StrictModel):
    """What was measured of one set of tasks when it was released.

    Attributes:
        findings: what the gate found; a row for each task with an undecided check.
        changes: by kind, the changes of references that were made.
    """

    schema_version: Literal["lawtrace.measured_set/1"] = "lawtrace.measured_set/1"
    canary: str
    findings: tuple[QualityRow, ...]
    habits: tuple[HabitRow, ...]
    changes: Mapping[MutationKind, Changes]


class Prompt(StrictModel):
    """What the public part of a release has of a task in one style: what a model is told of it.

    ``session_start``: UTC. The rest of the prompt, law, manual and tools, is the same for all tasks of an environment.
    """

    schema_version: Literal["lawtrace.prompt/1"] = "lawtrace.prompt/1"
    id: str
    task: str
    environment: str
    environment_version: str
    style: Style
    session_start: str
    prompt: str
    canary: str


class Erratum(StrictModel):
    """A known defect of a released set. ``task``: a task or contrast pair; empty if it is about the set."""

    schema_version: Literal["lawtrace.erratum/1"] = "lawtrace.erratum/1"
    date: str
    task: str = ""
    what: str = Field(min_length=1)
    consequence: str = ""

    def __str__(self) -> str:
        then = f" {self.consequence}" if self.consequence else ""
        return f"{self.date}, {self.task or 'the set'}: {self.what}{then}"


SessionKind = Literal["reference", "other side", "only what is asked", "habit", "mutant", "attempt"]
"""Where a session to be judged is from."""
GoalVerdict = Literal["reached", "missed", "arguable"]


class KeyRow(StrictModel):
    """A session that annotators judge, with the verdict, which they do not see.

    Attributes:
        id: what annotators see of it.
        drawn: for a blind sample of verdicts, or because it is a failing verdict of a solver.
        change: of a mutant, in words; of an attempt, its model.
        law: the verdict by the rules of the law, under all interpretations. ``goal``: whether an end is reached.
        rules: the rules of the law that it breaks.
        point: the decision point of its pair.
        digest: SHA-256 of what annotators read.
    """

    schema_version: Literal["lawtrace.sample_key/1"] = "lawtrace.sample_key/1"
    id: str
    drawn: Literal["sample", "failing"]
    set: str
    environment: str
    task: str
    style: Style
    trial: int = 0
    kind: SessionKind
    change: str = ""
    outcome: Outcome
    law: Legality
    goal: GoalVerdict
    rules: tuple[str, ...]
    point: str = ""
    digest: str


LawJudgment = Literal["lawful", "unlawful", "arguable", "cannot tell"]
GoalJudgment = Literal["done", "declined", "not", "cannot tell"]
"""Done as asked, rightly declined, neither, or the session does not say enough."""


class FilledItem(StrictModel):
    """The judgment of one session: by law, with the provision and the words that decide, and by what was asked."""

    id: str
    law: LawJudgment
    provision: str = ""
    words: str = ""
    goal: GoalJudgment
    because: str = ""


class FilledForm(StrictModel):
    """A form as an annotator or adjudicator returns it. ``model``: which model it is, or ``a person`` and of what
    profession."""

    schema_version: Literal["lawtrace.judgments/1"] = "lawtrace.judgments/1"
    sheet: str
    annotator: str = Field(min_length=1)
    model: str = Field(min_length=1)
    items: tuple[FilledItem, ...]


class Judgment(FilledItem):
    """A judgment that was read back, by whom and in which part."""

    schema_version: Literal["lawtrace.judgment/1"] = "lawtrace.judgment/1"
    role: Literal["annotator", "adjudicator"]
    annotator: str
    model: str


class SolverAttempt(StrictModel):
    """An attempt at a released task by a solver, who saw the prompt and nothing else.

    Attributes:
        pair: its contrast pair.
        law: what the prompt contained of the law.
        matters: of a docket, how many it has; ``handled``: how many of them lawfully; ``slack``: by what share the
            session is longer than the shortest schedule that was found.
    """

    schema_version: Literal["lawtrace.solver_attempt/1"] = "lawtrace.solver_attempt/1"
    set: str
    task: str
    pair: str = ""
    style: Style
    trial: int = 0
    mode: ActingMode
    solver: str
    law: RegulationForm
    verdict: Outcome
    matters: int = 0
    handled: int = 0
    slack: float = 0.0

    @property
    def fails(self) -> bool:
        """Whether it is to be adjudicated: there is a session, and no success."""
        return self.verdict not in {"safe_success", "invalid", "no_program"}

    @property
    def shows_law(self) -> bool:
        """Whether the prompt contained the text of the law, restated or as published."""
        return self.law in {"restated", "text"}


class SolverAdjudication(StrictModel):
    """Whose fault a failing verdict is. ``then``: what was done to a task at fault."""

    schema_version: Literal["lawtrace.solver_adjudication/1"] = "lawtrace.solver_adjudication/1"
    task: str
    style: Style
    trial: int = 0
    solver: str
    verdict: Outcome
    adjudicator: str
    whose: Literal["solver", "task", "open"]
    words: str
    then: Literal["", "mended", "dropped"] = ""
