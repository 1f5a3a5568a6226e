"""Sessions of released tasks with their verdicts, for annotators: of references, habits, mutants and models."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Final, Self, TypeVar

from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.release.task_set import read_manifest, read_measured
from lawtrace.runs.scoring.judge import AttemptJudge
from lawtrace.runs.stages.artifacts import ATTEMPTS, VERDICTS
from lawtrace.runs.stages.habits import wrap_task
from lawtrace.runs.stages.resolve import recorded_recipe
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.run_folder import RunFolder
from lawtrace.runs.store.task_file import find_release, read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Attempt, Execution
from lawtrace.schemas.choices import RegulationForm, Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.questions import Legality
from lawtrace.schemas.validity_rows import GoalVerdict, MeasuredSet, SessionKind, SolverAttempt
from lawtrace.schemas.verdict_rows import Verdict
from lawtrace.solver.coverage.mutations import mutants_of
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.interpretations import judge_legality, question_groups
from lawtrace.solver.masking.instructions import requested_calls
from lawtrace.solver.trace_notation import tell_session
from lawtrace.solver.traces import PlannedCall, Trace

MUTANTS: Final = 4
"""How many mutants of a reference are drawn."""
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ReleasedSet:
    """A set of a release, or a task file. ``measured``: None for a file."""

    name: str
    tasks: Sequence[Task]
    domain: Domain
    measured: MeasuredSet | None = None


def read_sets(place: Path) -> list[ReleasedSet]:
    """The sets of a release with references, or a task file as one. Raises InputError."""
    place = find_release(place)
    if not (place / "manifest.json").is_file():
        return [ReleasedSet(place.stem, *read_tasks(place))]
    manifest = read_manifest(place)
    files = {name: place / manifest.task_file(name) for name in manifest.environments}
    return [ReleasedSet(name, *read_tasks(file), read_measured(place, name)) for name, file in files.items()]


@dataclass(frozen=True, slots=True)
class RunAttempt:
    """An attempt of a run at a released task. ``law``: what its prompt contained of the law."""

    set: ReleasedSet
    task: Task
    attempt: Attempt
    verdict: Verdict
    law: RegulationForm

    def row(self) -> SolverAttempt:
        """The attempt in brief."""
        verdict, docket = self.verdict, self.task.docket
        return SolverAttempt(
            set=self.set.name,
            task=self.task.id,
            pair=verdict.pair or "",
            style=verdict.style,
            trial=verdict.trial,
            mode=verdict.mode,
            solver=verdict.contender,
            law=self.law,
            verdict=verdict.outcome,
            matters=len(docket.matters) if docket else 0,
            handled=sum(matter.right for matter in verdict.matters),
            slack=round(docket.length / docket.shortest - 1, 1) if docket else 0.0,
        )


@dataclass(frozen=True, slots=True)
class JudgedSession:
    """A session at a released task with its verdict.

    Attributes:
        change: of a mutant, in words; of an attempt, its model; of a habit, its name.
    """

    set: ReleasedSet
    task: Task
    kind: SessionKind
    change: str
    attempt: Attempt
    verdict: Verdict

    @classmethod
    def of(cls, made: RunAttempt) -> Self:
        """The session of an attempt of a run."""
        return cls(made.set, made.task, "attempt", made.verdict.contender, made.attempt, made.verdict)

    @property
    def point(self) -> str:
        """The decision point of the pair; empty without one."""
        return "" if self.task.contrast is None else self.task.contrast.point

    @property
    def law(self) -> Legality:
        return judge_legality(question_groups(self.task.rules), self.verdict.rules)[0]

    @property
    def goal(self) -> GoalVerdict:
        if any(one.missed for one in self.verdict.readings):
            return "arguable"
        return "reached" if self.verdict.goal_reached else "missed"

    @property
    def told(self) -> str:
        """What an annotator reads."""
        attempt, request = self.attempt, self.task.instructions[self.verdict.style]
        values = "".join(f"\n{name} = {value!r}" for name, value in request.variables.items())
        told = tell_session(attempt.events, attempt.end or 0)
        if attempt.execution is not None and attempt.execution.died:
            told += f"\nThe agent's program stopped with an error after these calls: {attempt.execution.error}."
        asked = f"{request.text.strip()}{values}".replace("\n", "\n> ")
        return f"The user asked:\n\n> {asked}\n\n{told}"


def run_attempts(runs: Sequence[Path], sets: Sequence[ReleasedSet]) -> list[RunAttempt]:
    """The attempts of runs at tasks of these sets. Raises InputError if a run has none."""
    known = {task.id: (one, task) for one in sets for task in one.tasks}
    found: list[RunAttempt] = []
    for run in runs:
        folder = RunFolder(run).existing()
        with EventLogFile.open(run) as event_log:
            law = recorded_recipe(event_log).attempts.regulation
        verdicts = {verdict.key: verdict for verdict in VERDICTS.read(folder.verdicts)}
        rows = [row for row in ATTEMPTS.read(folder.attempts) if row.answer.task in known and row.key in verdicts]
        if not rows:
            raise InputError(f"{run}: no attempts at these tasks; `lawtrace run --tasks RELEASE --model M` makes some")
        found += [RunAttempt(*known[row.answer.task], row, verdicts[row.key], law) for row in rows]
    return found


def sessions_of(sets: Sequence[ReleasedSet], attempts: Iterable[RunAttempt], random: Random) -> list[JudgedSession]:
    """Different sessions: what search, habits and mutants do, and the attempts of models."""
    found: dict[str, JudgedSession] = {}
    for made in attempts:
        if made.attempt.execution is not None and not made.verdict.model.startswith("baseline:"):
            one = JudgedSession.of(made)
            found.setdefault(f"{one.task.id} {one.told}", one)
    for of in sets:
        judge = AttemptJudge(of.domain.environment)
        for task in of.tasks:
            for kind, change, style, attempt in _played(of, task, random):
                verdict = judge.judge(task, attempt.model_copy(update={"answer": _answer(task, style)}))
                one = JudgedSession(of, task, kind, change, attempt, verdict)
                found.setdefault(f"{task.id} {one.told}", one)
    return [one for one in found.values() if one.law != "undetermined"]


def _answer(task: Task, style: Style) -> Answer:
    return Answer(task=task.id, style=style, program=None)


def _played(of: ReleasedSet, task: Task, random: Random) -> Iterator[tuple[SessionKind, str, Style, Attempt]]:
    """Sessions that no model made: kind, change, style, and the session as an attempt."""
    environment, style = of.domain.environment, random.choice(task.styles)
    if not task.calls:
        return
    yield "reference", "", style, _play(of, task, _calls(task.planned))
    asked = requested_calls(environment, task.initial(environment), task.requested, style)
    yield "only what is asked", "", style, _play(of, task, _calls(asked))
    for other in of.tasks:
        if task.contrast and other.contrast and other.contrast.pair == task.contrast.pair and other.id != task.id:
            yield "other side", "", style, _play(of, task, _calls(other.planned))
    for row in of.measured.habits if of.measured else ():
        if row.style in task.styles:
            wrapped = wrap_task(environment, task, row.style, row.habit)
            yield "habit", row.name, row.style, _play(of, task, _calls(wrapped.calls))
    trace = Trace(task.initial(environment), task.planned, task.target(environment))
    mutants = [one for one in mutants_of(environment, task.rules, trace) if not one.answers]
    for mutant in random.sample(mutants, min(MUTANTS, len(mutants))):
        attempt = _play(of, task, mutant.calls, mutant.pauses)
        if all(event.completed for event in attempt.events):
            yield "mutant", mutant.change, style, attempt


_Calls = Sequence[tuple[str, Mapping[str, Json]]]


def _calls(planned: Sequence[PlannedCall]) -> _Calls:
    return [(call.event.tool, call.event.arguments) for call in planned]


def _play(of: ReleasedSet, task: Task, calls: _Calls, pauses: Mapping[int, int] | None = None) -> Attempt:
    """The session of these calls."""
    environment = of.domain.environment
    session = Session(environment, task.initial(environment))
    for number, (tool, arguments) in enumerate(calls):
        session.advance_time((pauses or {}).get(number, 0))
        session.call(tool, arguments)
    return Attempt(
        answer=_answer(task, task.styles[0]),
        execution=Execution("finished", None, None, None, "", len(calls)),
        events=tuple(session.events),
        end=session.end,
        final_state=encode_state(session.state, environment.entities),
    )


def draw(sessions: Sequence[JudgedSession], count: int, random: Random) -> list[JudgedSession]:
    """So many sessions, in a random order: of each set, of each verdict in it, and of each decision point and kind in
    that, as many as of others, as far as there are."""
    by_set = defaultdict[str, dict[tuple[str, str], list[JudgedSession]]](dict)
    for one in random.sample(sessions, len(sessions)):
        by_set[one.set.name].setdefault((one.law, one.goal), []).append(one)
    ordered = [_taking_turns([_spread(some) for some in verdicts.values()]) for verdicts in by_set.values()]
    chosen = _taking_turns(ordered)[:count]
    return random.sample(chosen, len(chosen))


def _spread(sessions: Sequence[JudgedSession]) -> list[JudgedSession]:
    groups = defaultdict[tuple[str, str], list[JudgedSession]](list)
    for one in sessions:
        groups[one.point, one.kind].append(one)
    return _taking_turns([*groups.values()])


def _taking_turns(lists: Sequence[Sequence[Item]]) -> list[Item]:
    """The first items of the lists, then the second ones, and so on."""
    longest = max(map(len, lists), default=0)
    return [one[number] for number in range(longest) for one in lists if number < len(one)]
