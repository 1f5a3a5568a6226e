"""One episode after the other on the tasks of a file: reset, step by tool call, reward by the dual oracle."""

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import isfinite
from typing import Any, Final, NamedTuple, cast

from lawtrace.environments.runtime.attempt_session import AskModel, AttemptSession, Ended
from lawtrace.runs.integrations.training.shaping import Potential, Shaping
from lawtrace.runs.integrations.training.training_tasks import TrainingTasks
from lawtrace.runs.scoring.judge import RuleJudge, judge
from lawtrace.runs.stages.session_attempts import attempt_of
from lawtrace.runs.tasks import Task
from lawtrace.schemas.attempt_rows import Answer, Attempt
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import CallOutcome, Json
from lawtrace.schemas.tool_conversation import AttemptLimits, ToolConversationEnd
from lawtrace.schemas.verdict_rows import Verdict

EpisodeEnd = ToolConversationEnd
"""What ended an episode: the model, or a limit."""


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
        reached, safe = verdict.goal_reached is True, verdict.outcome in {"safe_success", "benign_failure"}
        return self.safe_success * (reached and safe) + self.success * reached + self.safety * safe


@dataclass(frozen=True, slots=True)
class Observation:
    """What a model is given at the start of an episode.

    Attributes:
        task: the id of the task.
        system: the system prompt.
        instruction: the message of the user.
        tools: as the OpenAI API takes them.
    """

    task: str
    system: str
    instruction: str
    tools: tuple[dict[str, Any], ...]

    @property
    def messages(self) -> list[dict[str, str]]:
        """The first messages of a conversation."""
        return [{"role": "system", "content": self.system}, {"role": "user", "content": self.instruction}]


@dataclass(frozen=True, slots=True)
class StepInfo:
    """What a learner may want to know of a step. Not for the model.

    Attributes:
        outcome: of the call; None if none was made.
        potential: after the step; 0 without shaping and at the end.
        shaping: the part of the reward that is due to shaping.
        end: what ended the episode, None if nothing did.
        verdict: at the end.
    """

    outcome: CallOutcome | None
    potential: float
    shaping: float
    end: EpisodeEnd | None = None
    verdict: Verdict | None = None


class Step(NamedTuple):
    """The result of a step: what the model is told, its reward, whether the episode has ended, and more."""

    result: str
    reward: float
    done: bool
    info: StepInfo


class TaskEnvironment:
    """An environment of one model: `reset`, then `step` until `done`. The same calls give the same results and rewards.

    Each environment has its own session; many can share `TrainingTasks`. For one thread at a time.
    """

    def __init__(
        self,
        tasks: TrainingTasks,
        *,
        reward: Reward | None = None,
        shaping: Shaping | None = None,
        calls: int | None = None,
        turns: int = sys.maxsize,
        model: str = "in training",
    ) -> None:
        """Make an environment.

        Args:
            tasks: see `TrainingTasks.load`.
            reward: what verdicts are worth; 1 for a safe success by default.
            shaping: none by default.
            calls: how many calls an episode may have; that of ``lawtrace attempt`` by default. One more ends it.
            turns: how many an episode may have, if the model makes whole turns (`turn`).
            model: the name of the model in `attempt`.
        """
        limit = tasks.options.tools.calls if calls is None else calls
        if limit < 1:
            raise InputError(f"calls {limit}: expected at least 1")
        self.tasks: Final = tasks
        self._reward: Final = reward or Reward()
        self._shaping: Final = shaping or Shaping()
        self._limits: Final = AttemptLimits(turns=turns, calls=limit)
        self._model: Final = model
        self._episode: _Episode | None = None
        self._judge: Final = lru_cache(RuleJudge)
        self._potential: Final = lru_cache(Potential)

    def reset(self, task: str | None = None, *, seed: int | None = None) -> Observation:
        """Begin an episode on the task with this id, or on the task of the seed (`TrainingTasks.drawn`).

        Raises InputError for an unknown task, or if not exactly one of both is given.
        """
        if (task is None) == (seed is None):
            raise InputError("reset needs a task id or a seed")
        chosen = self.tasks.drawn(seed) if seed is not None else self.tasks.task(str(task))
        followed = self._potential(chosen.rules) if self._shaping.weight else None
        self._episode = _Episode(self.tasks, chosen, self._limits, self._shaping, self._model, followed)
        return Observation(chosen.id, self.tasks.system(chosen), self.tasks.request(chosen), self.tasks.tools)

    def step(self, tool: str, arguments: Mapping[str, Json] | str) -> Step:
        """Call a tool. A call that cannot be made is answered with the reason, and counts.

        `arguments`: an object, or its JSON text as the model wrote it. One call more than the limit is not made, and
        ends the episode. Raises InputError before `reset` and after the end.
        """
        episode = self._running()
        episode.attempt.receive("", final=False)
        return self._call(episode, tool, arguments)

    def finish(self) -> Step:
        """The model says that it is done. With a shield that warns, it is told of open duties once, and can go on.

        Raises InputError before `reset` and after the end.
        """
        episode = self._running()
        episode.attempt.receive("", final=True)
        action = episode.attempt.proceed()
        return self._going_on(episode, action.text, None) if isinstance(action, AskModel) else self._end(episode, "")

    def turn(self, calls: Sequence[tuple[str, Mapping[str, Json] | str]]) -> list[Step]:
        """A whole turn of a model: a step for each call until the episode ends; without calls, `finish`.

        After the last turn that the limit allows there is a step more, which ends the episode.
        """
        if not calls:
            return [self.finish()]
        episode = self._running()
        episode.attempt.receive("", final=False)
        steps: list[Step] = []
        for tool, arguments in calls:
            steps.append(self._call(episode, tool, arguments))
            if steps[-1].done:
                return steps
        if isinstance(episode.attempt.proceed(), Ended):
            steps.append(self._end(episode, ""))
        return steps

    def stop(self, limit: EpisodeEnd) -> Step:
        """A limit of the trainer ends the episode, so that the goal counts as missed. Raises InputError as `finish`."""
        episode = self._running()
        episode.attempt.stop(limit, None if limit == "finished" else "ended by the trainer")
        return self._end(episode, "")

    @property
    def attempt(self) -> Attempt:
        """The episode so far as an attempt, which ``lawtrace grade`` takes. Raises InputError before `reset`."""
        return self._started().row

    @property
    def potential(self) -> float:
        """The potential of shaping now; 0 without shaping and after the end. Raises InputError before `reset`."""
        return self._started().potential

    @property
    def done(self) -> bool:
        """Whether the episode has ended, or none has begun."""
        return self._episode is None or self._episode.attempt.ended is not None

    def _started(self) -> "_Episode":
        if self._episode is None:
            raise InputError("no episode has begun: call reset first")
        return self._episode

    def _running(self) -> "_Episode":
        episode = self._started()
        if episode.attempt.ended is not None:
            raise InputError("the episode has ended: call reset to begin another one")
        return episode

    def _call(self, episode: "_Episode", tool: str, arguments: Mapping[str, Json] | str) -> Step:
        if not isinstance(cast("object", tool), str):
            raise InputError(f"a tool is named by a text, not by {type(tool).__name__}")
        answer = episode.attempt.call(tool, arguments)
        if episode.attempt.ended is not None:
            return self._end(episode, answer.text)
        return self._going_on(episode, answer.text, answer.event.outcome)

    def _going_on(self, episode: "_Episode", told: str, outcome: CallOutcome | None) -> Step:
        shaping = episode.shape()
        return Step(told, shaping, False, StepInfo(outcome, episode.potential, shaping))

    def _end(self, episode: "_Episode", told: str) -> Step:
        shaping, ended = episode.end(), episode.attempt.ended
        assert ended is not None
        task = episode.task
        verdict = judge(self.tasks.domain.environment, task, episode.row, self._judge(task.rules))
        return Step(told, self._reward.of(verdict) + shaping, True, StepInfo(None, 0.0, shaping, ended.end, verdict))


class _Episode:
    """The attempt of an episode, and its potential."""

    def __init__(
        self,
        tasks: TrainingTasks,
        task: Task,
        limits: AttemptLimits,
        shaping: Shaping,
        model: str,
        followed: Potential | None,
    ) -> None:
        session = tasks.task_set.open_session(task)
        self.attempt: Final = AttemptSession(session, limits, warns=tasks.options.shield == "warn")
        self._tasks: Final = tasks
        self.task: Final = task
        self._shaping: Final = shaping
        self._model: Final = model
        self._followed: Final = followed
        self._seen = 0
        if self._followed is not None:
            self._followed.clear()
        self.potential = self._look()

    def shape(self) -> float:
        """What the step that has just been made is rewarded with besides."""
        before, self.potential = self.potential, self._look()
        return self._shaping.discount * self.potential - before

    def end(self) -> float:
        """The same for the last step: the potential of the end is 0."""
        before, self.potential = self.potential, 0.0
        return -before

    @property
    def row(self) -> Attempt:
        """The episode so far."""
        answer = Answer(
            task=self.task.id,
            style=self._tasks.style,
            model=self._model,
            mode="tools",
            shield=self._tasks.options.shield,
            program=None,
            id=self.task.id,
        )
        return attempt_of(answer, self.attempt.session, self.attempt.ended or Ended())

    def _look(self) -> float:
        if self._followed is None:
            return 0.0
        session = self.attempt.session
        events = session.events[self._seen :]
        self._seen += len(events)
        return self._shaping.weight * self._followed.after(events, session.now)
