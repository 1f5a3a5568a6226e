"""Tasks under review: a pair is two instructions for one reference trace and passes only if both pass."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from lawtrace.runs.report.text import show_call
from lawtrace.runs.store.task_file import write_tasks
from lawtrace.runs.tasks import Task
from lawtrace.runs.web.review.decisions import ReviewItem
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.masking.instructions import check_wording, find_leaks
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace


@dataclass(frozen=True, slots=True)
class TaskContext:
    """The values shown beside an instruction: the calls of the reference, with hidden calls marked."""

    task: Task
    style: Style
    other: str | None
    calls: tuple[tuple[str, bool], ...]
    applicable: tuple[Rule, ...]


class TaskReview:
    """A task file under review; see `RuleReview` in ``rule_items.py``, which has the same methods."""

    noun = "pair"
    template = "review/task_context.html.jinja"

    def __init__(self, tasks: Sequence[Task], domain: Domain) -> None:
        self.title = f"Tasks for {domain.environment.name}"
        self._tasks = {task.id: task for task in tasks}
        self._domain = domain

    def items(self) -> list[ReviewItem]:
        return [
            ReviewItem(f"{task.id}/{style}", task.id, task.instructions[style].text)
            for task in self._tasks.values()
            for style in STYLES
            if style in task.instructions
        ]

    def context(self, item: ReviewItem) -> TaskContext:
        task, style = self._tasks[item.group], self._style(item)
        hidden = self._domain.environment.compliance_tools
        others = [instruction.text for name, instruction in task.instructions.items() if name != style]
        return TaskContext(
            task=task,
            style=style,
            other=others[0] if others else None,
            calls=tuple((show_call(call.event), call.event.tool in hidden) for call in task.calls),
            applicable=tuple(rule for rule in task.rules if rule.id in task.applicable),
        )

    def check_edit(self, item: ReviewItem, text: str) -> str | None:
        """The text gets the checks of a generated instruction: all required values, no hint of a hidden step."""
        if not text.strip():
            return "an instruction needs words"
        task, environment = self._tasks[item.group], self._domain.environment
        instruction = task.instructions[self._style(item)].model_copy(update={"text": text})
        if task.calls:
            trace = Trace(task.initial(environment), task.planned, task.target(environment))
            objections = check_wording(environment, trace, instruction)
        else:
            objections = find_leaks(environment, text)
        return "; ".join(objections) or None

    def export(self, accepted: Sequence[ReviewItem], path: Path) -> int:
        words = {item.id: item.words for item in accepted}
        rows: list[Task] = []
        for task in self._tasks.values():
            if any(f"{task.id}/{style}" in words for style in task.instructions):
                instructions = {
                    style: {**instruction.model_dump(), "text": words[f"{task.id}/{style}"]}
                    for style, instruction in task.instructions.items()
                }
                rows.append(Task.model_validate({**task.model_dump(), "instructions": instructions}))
        return write_tasks(path, rows)

    def _style(self, item: ReviewItem) -> Style:
        return next(style for style in STYLES if item.id.endswith(f"/{style}"))
