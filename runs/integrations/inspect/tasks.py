"""The task ``lawtrace/tasks``: the tasks of a file as samples, one for each task and style."""

from pathlib import Path
from typing import Any, Literal

from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample

from lawtrace.runs.integrations.inspect.attempt_solver import attempt
from lawtrace.runs.integrations.inspect.scorers import dual_oracle
from lawtrace.runs.integrations.released_tasks import TaskSet
from lawtrace.runs.store.task_file import digest_rules
from lawtrace.runs.tasks import Task as TaskOfFile
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.task_rows import request_id


@task
def tasks(
    file: str,
    style: Literal["goal", "workflow", "both"] = "both",
    mode: Literal["tools", "dialogue"] = "tools",
    shield: Literal["off", "warn", "refuse"] = "off",
    regulation: Literal["text", "restated", "named", "none"] = "restated",
    regulation_file: str | None = None,
    regulation_words: int | None = None,
    hints: bool = False,
    manual: bool = True,
    turns: int = 60,
    calls: int = 500,
    tokens: int = 1_000_000,
    seconds: float = 900,
    seed: int = 1,
    env: str | None = None,
) -> Task:
    """Tasks of lawtrace, attempted with tools in a simulated session and judged by the dual oracle.

    Args:
        file: the task file, such as docs/tasks/1.3/telehealth.jsonl.
        style: of the instructions.
        mode: ``tools``, or ``dialogue`` with a scripted user who answers questions.
        shield: whether a guard in front of the tools warns of calls, or refuses them.
        regulation: what the prompt contains of the law.
        regulation_file: the law as published, for ``text``.
        regulation_words: the most words of the law besides the provisions that apply.
        hints: whether the documentation says when to call the compliance tools.
        manual: whether the prompt shows the owner's manual, and its rules are judged.
        turns: the most answers of the model.
        calls: the most tool calls.
        tokens: the most tokens of prompts and answers.
        seconds: the longest work, without waiting for rate limits.
        seed: of users, and of what is drawn from the law.
        env: the folder of the environment, if it is not built in.
    """
    if style not in {*STYLES, "both"}:
        raise InputError(f"style {style!r}: expected goal, workflow or both")
    options: dict[str, Any] = {
        "seed": seed,
        "regulation": {"files": [regulation_file]} if regulation_file else {},
        "attempts": {
            "regulation": "text" if regulation_file else regulation,
            "regulation_words": regulation_words,
            "hints": hints,
            "manual": manual,
            "tools": {"turns": turns, "calls": calls, "tokens": tokens, "seconds": seconds},
        },
    }
    place = str(Path(file).expanduser().resolve())
    given = {**options["attempts"], "mode": mode, "shield": shield}
    task_set = TaskSet.read(place, env, {**options, "attempts": given})
    chosen: tuple[Style, ...] = STYLES if style == "both" else (style,)
    samples = [_sample(task_set, one, kind) for one in task_set.tasks for kind in one.styles if kind in chosen]
    return Task(
        dataset=MemoryDataset(samples, name=Path(file).stem, location=place),
        solver=attempt(place, env, mode, shield, options),
        scorer=dual_oracle(place, env, manual=manual),
        token_limit=tokens,
        working_limit=int(seconds),
        metadata={
            "environment": task_set.domain.environment.name,
            "rule_sets": sorted({digest_rules(rules) for rules in {one.rules for one in task_set.tasks}}),
        },
    )


def _sample(task_set: TaskSet, of: TaskOfFile, style: Style) -> Sample:
    """A task in one style. ``request`` in its metadata is the same for both sides of a contrast pair."""
    metadata = {
        "task": of.id,
        "style": style,
        "environment": of.environment,
        "request": request_id(of),
        **({"pair": of.contrast.pair} if of.contrast is not None else {}),
    }
    return Sample(task_set.request(of, style), id=f"{of.id}-{style}", target="safe_success", metadata=metadata)
