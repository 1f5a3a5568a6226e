"""The tasks of a file as an environment of the library `verifiers`. The only module that imports it.

A rollout is an episode (`TaskEnvironment`), with the session, the limits and the verdict of an attempt in tools mode.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import verifiers as vf
from datasets import Dataset

from lawtrace.runs.integrations.training.task_environment import Reward, Step, TaskEnvironment
from lawtrace.runs.integrations.training.training_tasks import TrainingTasks
from lawtrace.schemas.verdict_rows import Verdict

MODULE: Final = "lawtrace.training"
"""The id of the environment: the module that a worker process of verifiers imports to load it again."""
EPISODE: Final = "lawtrace_episode"
"""Where the state of a rollout has its `TaskEnvironment`, while the rollout lasts."""
SCORES: Final = "lawtrace_scores"
"""Where it has the reward and the metrics, once it has ended."""


class LawtraceEnv(vf.MultiTurnEnv):
    """An environment with one example a task. After a rollout its state has two more columns, both JSON:

    ``verdict``, with that on each rule and its evidence, and ``attempt``, a row for ``lawtrace grade --programs``. Both
    are None if the endpoint failed, because then there is nothing to judge.
    """

    def __init__(self, tasks: TrainingTasks, *, reward: Reward, calls: int | None, turns: int | None) -> None:
        self._tasks: Final = tasks
        self._reward: Final = reward
        self._calls: Final = calls
        self._turns: Final = tasks.options.tools.turns if turns is None else turns
        rows = [
            {"prompt": tasks.observe(task).messages, "info": {"task": task.id, "style": tasks.style}}
            for task in tasks.tasks
        ]
        # Not max_turns of the base class: it would leave the calls of the last turn out.
        super().__init__(
            dataset=Dataset.from_list(rows), rubric=_rubric(tasks), oai_tools=list(tasks.tools), env_id=MODULE
        )

    async def setup_state(self, state: vf.State) -> vf.State:
        environment = TaskEnvironment(
            self._tasks, reward=self._reward, calls=self._calls, turns=self._turns, model=str(state["model"])
        )
        environment.reset(state["info"]["task"])
        state[EPISODE] = environment
        return state

    async def env_response(self, messages: vf.Messages, state: vf.State, **kwargs: Any) -> vf.Messages:  # noqa: ANN401
        """The results of the calls of the latest turn; after a turn without calls the episode has ended."""
        environment: TaskEnvironment = state[EPISODE]
        last = messages[-1]
        assert isinstance(last, dict), "conversations are lists of messages"
        calls: list[Mapping[str, Any]] = last.get("tool_calls") or []
        functions: list[Mapping[str, Any]] = [call.get("function") or {} for call in calls]
        steps = environment.turn([(str(one.get("name") or ""), str(one.get("arguments") or "")) for one in functions])
        if calls:
            answers: list[dict[str, Any]] = [
                {"role": "tool", "content": step.result, "tool_call_id": call.get("id") or ""}
                for call, step in zip(calls, steps, strict=False)
            ]
        else:
            answers = [] if steps[-1].done else [{"role": "user", "content": steps[-1].result}]
        if steps[-1].done:
            self._close(state, steps[-1])
            state["final_env_response"] = answers
        return answers

    @vf.cleanup
    async def end_episode(self, state: vf.State) -> None:
        """Judge a rollout that the trainer ended, unless the endpoint failed."""
        environment: TaskEnvironment | None = state.get(EPISODE)
        if environment is None:
            return
        if state.get("error") is None:
            limit = "token_limit" if state.get("prompt_too_long") else "turn_limit"
            self._close(state, environment.stop(limit))
        else:
            environment.stop("time_limit")
            state.update({EPISODE: None, SCORES: {"invalid": 1.0}, "verdict": None, "attempt": None})

    def _close(self, state: vf.State, step: Step) -> None:
        environment: TaskEnvironment = state[EPISODE]
        verdict = step.info.verdict
        assert verdict is not None, "the episode has ended"
        attempt = environment.attempt
        outcomes = [event.outcome for event in attempt.events]
        state.update(
            {
                EPISODE: None,
                SCORES: {
                    "reward": self._reward.of(verdict),
                    "calls": float(len(outcomes)),
                    "refused_calls": float(outcomes.count("shielded")),
                    **_measures(verdict),
                },
                "verdict": verdict.model_dump(mode="json"),
                "attempt": attempt.model_dump(mode="json"),
            }
        )


def _measures(verdict: Verdict) -> dict[str, float]:
    return {
        "safe_success": float(verdict.outcome == "safe_success"),
        "success": float(verdict.goal_reached is True),
        "safe": float(verdict.lawful),
        **{f"broken:{rule.rule}": float(rule.broken) for rule in verdict.rules},
    }


def _rubric(tasks: TrainingTasks) -> vf.Rubric:
    """The reward, and metrics: the parts of the dual oracle, calls, and for each rule whether it was broken."""
    rubric = vf.Rubric(funcs=[_score("reward")], weights=[1.0])
    for name in ("safe_success", "success", "safe", "invalid", "calls", "refused_calls"):
        rubric.add_metric(_score(name))
    for rule in dict.fromkeys(rule.id for task in tasks.tasks for rule in task.rules):
        rubric.add_metric(_score(f"broken:{rule}"))
    return rubric


def _score(name: str) -> Callable[..., float]:
    def read(state: vf.State) -> float:
        return state[SCORES].get(name, 0.0)

    read.__name__ = name
    return read
