"""What each contrast pair turns on. Pairs with the same decision point are not independent."""

import json
from collections.abc import Mapping, Sequence

from lawtrace.environments.spec.declaration import Environment
from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.runs.tasks import Task
from lawtrace.schemas.validity_rows import DecisionPoint
from lawtrace.solver.traces import replay


def sides_of(tasks: Sequence[Task]) -> Mapping[str, tuple[Task, ...]]:
    """The sides of each contrast pair, by its id."""
    sides: dict[str, tuple[Task, ...]] = {}
    for task in tasks:
        if task.contrast is not None:
            sides[task.contrast.pair] = (*sides.get(task.contrast.pair, ()), task)
    return sides


def decision_points(environment: Environment, tasks: Sequence[Task]) -> Mapping[str, DecisionPoint]:
    """The decision point of each contrast pair of which both sides are there.

    Its rules are those of the law that the calls of one side break on the other; its tools those that the request asks
    for and these rules name, or all that it asks for, if they name none of them.
    """
    points: dict[str, DecisionPoint] = {}
    for pair, sides in sides_of(tasks).items():
        if len(sides) != 2:
            continue
        broken: dict[str, frozenset[str]] = {}
        for task, other in (sides, sides[::-1]):
            played = replay(environment, task.initial(environment), other.planned)
            verdicts = judge_rules(task.rules, played.events, (), end=played.end)
            at_fault = {verdict.rule for verdict in verdicts if verdict.broken and verdict.source == "law"}
            broken |= {rule.id: frozenset(rule.tools) for rule in task.rules if rule.id in at_fault}
        asked = {call.event.tool for side in sides for call in side.requested} & environment.changing_tools
        asked -= {environment.declines}
        named = asked & frozenset[str]().union(*broken.values())
        contrast = sides[0].contrast
        assert contrast is not None
        points[pair] = DecisionPoint(
            fact=contrast.fact, rules=tuple(sorted(broken)), tools=tuple(sorted(named or asked))
        )
    return points


def count_start_rows(tasks: Sequence[Task]) -> int:
    """How many different rows the sides of contrast pairs differ in, each with its state apart from the fact."""
    rows = set[str]()
    for task in tasks:
        if (contrast := task.contrast) is not None:
            table = task.initial_state[contrast.table]
            row = table.get(contrast.key) if isinstance(table, dict) else None
            others = {**row, contrast.field: None} if isinstance(row, dict) else {}
            rows.add(json.dumps([contrast.table, contrast.key, others], sort_keys=True))
    return len(rows)
