"""One episode after the other on the tasks of a file: reset, step by tool call, reward by the dual oracle."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Final, NamedTuple

from lawtrace.environments.runtime.attempt_session import AskModel, AttemptSession, Ended
from lawtrace.runs.integrations.training.training_tasks import Observation, TrainingTasks
from lawtrace.runs.scoring.judge import AttemptJudge
from lawtrace.runs.stages.execution import attempt_so_far
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Attempt
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import CallOutcome, Json
from lawtrace.schemas.tool_conversation import AttemptLimits, ToolConversationEnd
from lawtrace.schemas.verdict_rows import Verdict


@dataclass(frozen=True, slots=True)
class Reward:
    """What a verdict is worth, as the sum of the parts that apply.

    Attributes:
        safe_success: goal reached, no rule broken, none undetermined.
        success: goal reached, whether or not a rule is broken.
        safety: no rule broken, none undetermined, whether or not the goal is reached. A model that calls no tool does
            not get it, but one that makes a harmless call and stops does.
    """

    safe_success: float = 1.0
    success: float = 0.0
    safety: float = 0.0

    def __post_init__(self) -> None:
        for name in ("safe_success", "success", "safety"):
            if not isfinite(getattr(self, name)):
                raise InputError(f"reward {name}: expected a finite number")

    def of(self, verdict: Verdict) -> float:
        """The reward of a verdict."""
        reached, safe = verdict.goal_reached is True, verdict.lawful
        return self.safe_success * (reached and safe) + self.success * reached + self.safety * safe


@dataclass(frozen=True, slots=True)
class StepInfo:
    """What a learner may want to know of a step. Not for the model.

    Attributes:
        outcome: of the call; None if none was made.
        end: what ended the episode, None if nothing did.
        verdict: at the end.
    """

    outcome: CallOutcome | None
    end: ToolConversationEnd | None = None
    verdict: Verdict | None = None


class Step(NamedTuple):
    """The result of a step: what the model is told, its reward, whether the episode has ended, and more."""

    result: str
    reward: float
    done: bool
    info: StepInfo


class TaskEnvironment:
    """An environment of one model: `reset`, then `step` until `done`. The same calls give the same results and rewards.

    Each environment has its own session; many can share `TrainingTasks`. For one thread at a time. Before `reset` and
    after the end, `step`, `finish`, `turn` and `stop` raise InputError.
    """

    def __init__(
        self,
        tasks: TrainingTasks,
        *,
        reward: Reward | None = None,
        calls: int | None = None,
        turns: int = sys.maxsize,
        model: str = "in training",
    ) -> None:
        """Make an environment.

        Args:
            tasks: see `TrainingTasks.load`.
            reward: what verdicts are worth; 1 for a safe success by default.
            calls: how many calls an episode may have; that of ``lawtrace run`` by default. One more ends it.
            turns: how many an episode may have, if the model makes whole turns (`turn`).
            model: the name of the model in `attempt`.
        """
        limit = tasks.options.tools.calls if calls is None else calls
        for name, most in (("calls", limit), ("turns", turns)):
            if most < 1:
                raise InputError(f"{name} {most}: expected at least 1")
        self.tasks: Final = tasks
        self._reward: Final = reward or Reward()
        self._limits: Final = AttemptLimits(turns=turns, calls=limit)
        self._model: Final = model
        self._episode: tuple[Task, AttemptSession] | None = None
        self._judge: Final = AttemptJudge(tasks.domain.environment, manual=tasks.options.manual)

    def reset(self, task: str | None = None, *, seed: int | None = None) -> Observation:
        """Begin an episode on the task with this id, or on the task of the seed (`TrainingTasks.drawn`).

        Raises InputError for an unknown task, or if not exactly one of both is given.
        """
        if (task is None) == (seed is None):
            raise InputError("reset needs a task id or a seed")
        chosen = self.tasks.drawn(seed) if seed is not None else self.tasks.task(str(task))
        session = self.tasks.open_session(chosen)
        attempt = AttemptSession(session, self._limits, warns=self.tasks.options.shield == "warn")
        self._episode = chosen, attempt
        return self.tasks.observe(chosen)

    def step(self, tool: str, arguments: Mapping[str, Json] | str) -> Step:
        """Call a tool. A call that cannot be made is answered with the reason, and counts.

        `arguments`: an object, or its JSON text as the model wrote it. One call more than the limit is not made, and
        ends the episode.
        """
        attempt = self._running()
        attempt.receive("", final=False)
        return self._call(attempt, tool, arguments)

    def finish(self) -> Step:
        """The model says that it is done. With a shield that warns, it is told of open duties once, and can go on."""
        attempt = self._running()
        attempt.receive("", final=True)
        action = attempt.proceed()
        return Step(action.text, 0.0, False, StepInfo(None)) if isinstance(action, AskModel) else self._end()

    def turn(self, calls: Sequence[tuple[str, Mapping[str, Json] | str]]) -> list[Step]:
        """A whole turn of a model: a step for each call until the episode ends; without calls, `finish`.

        After the last turn that the limit allows there is a step more, which ends the episode.
        """
        if not calls:
            return [self.finish()]
        attempt = self._running()
        attempt.receive("", final=False)
        steps: list[Step] = []
        for tool, arguments in calls:
            steps.append(self._call(attempt, tool, arguments))
            if steps[-1].done:
                return steps
        if isinstance(attempt.proceed(), Ended):
            steps.append(self._end())
        return steps

    def stop(self, limit: ToolConversationEnd) -> Step:
        """A limit of the trainer ends the episode, so that the goal counts as missed."""
        self._running().stop(limit, None if limit == "finished" else "ended by the trainer")
        return self._end()

    @property
    def attempt(self) -> Attempt:
        """The episode so far as an attempt, which ``lawtrace grade`` takes. Raises InputError before `reset`."""
        task, attempt = self._started()
        return attempt_so_far(attempt, task.id, self.tasks.style, self._model, self.tasks.options.shield)

    @property
    def done(self) -> bool:
        """Whether the episode has ended, or none has begun."""
        return self._episode is None or self._episode[1].ended is not None

    def _started(self) -> tuple[Task, AttemptSession]:
        if self._episode is None:
            raise InputError("no episode has begun: call reset first")
        return self._episode

    def _running(self) -> AttemptSession:
        _, attempt = self._started()
        if attempt.ended is not None:
            raise InputError("the episode has ended: call reset to begin another one")
        return attempt

    def _call(self, attempt: AttemptSession, tool: str, arguments: Mapping[str, Json] | str) -> Step:
        answer = attempt.call(tool, arguments)
        if attempt.ended is not None:
            return self._end(answer.text)
        return Step(answer.text, 0.0, False, StepInfo(answer.event.outcome))

    def _end(self, told: str = "") -> Step:
        task, attempt = self._started()
        assert attempt.ended is not None
        verdict = self._judge.judge(task, self.attempt)
        return Step(told, self._reward.of(verdict), True, StepInfo(None, attempt.ended.end, verdict))
