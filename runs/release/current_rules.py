"""Tasks that exist, under the rules that their environment has now.

Prompts, states and references stay as they are; the gate says whether they still hold. What follows from the rules is
found again: which rules the reference triggers, and on which rules of the law a contrast pair turns.
"""

from collections.abc import Sequence

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.tasks import Task, curated_rules
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import completed_replay


def with_current_rules(tasks: Sequence[Task], domain: Domain) -> list[Task]:
    """The tasks with the rules of the environment. Raises InputError if these cannot be read."""
    rules = curated_rules(domain, dockets=any(task.docket is not None for task in tasks))
    sides: dict[str, list[Task]] = {}
    for task in tasks:
        if task.contrast is not None:
            sides.setdefault(task.contrast.pair, []).append(task)
    return [_with_rules(domain.environment, rules, task, sides) for task in tasks]


def _with_rules(environment: Environment, rules: tuple[Rule, ...], task: Task, sides: dict[str, list[Task]]) -> Task:
    events, contrast = [call.event for call in task.planned], task.contrast
    triggered = tuple(verdict.rule for verdict in judge_rules(rules, events, ()) if verdict.triggered)
    if contrast is not None:
        law = {rule.id for rule in rules if rule.source == "law"}
        broken: set[str] = set()
        for one in sides[contrast.pair]:
            for other in sides[contrast.pair]:
                session = completed_replay(environment, one.initial(environment), other.planned)
                verdicts = judge_rules(rules, session.events, ()) if session and other.id != one.id else ()
                broken |= {verdict.rule for verdict in verdicts if verdict.broken and verdict.rule in law}
        contrast = contrast.model_copy(update={"rules": tuple(sorted(broken))})
    return task.model_copy(update={"rules": rules, "applicable": triggered, "contrast": contrast})
