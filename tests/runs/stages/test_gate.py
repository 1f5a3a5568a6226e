"""The gate, on a pair of payments: what it lets pass, and what planted defects it finds."""

from collections.abc import Callable
from functools import cache

import pytest

from lawtrace.environments.spec.state import encode_state
from lawtrace.runs.stages.gate import Side, gate_findings, habit_finding
from lawtrace.runs.store.task_file import read_tasks
from lawtrace.runs.tasks import Task
from lawtrace.schemas.events import Json
from lawtrace.schemas.findings import HabitRow
from lawtrace.schemas.habits import Habit
from lawtrace.schemas.questions import Question, Reading
from lawtrace.schemas.task_rows import End, Harbour
from lawtrace.solver.declarations.loader import Domain
from lawtrace.solver.habits.refusals import reasons_to_decline, refusing_session
from lawtrace.solver.masking.instructions import requested_calls
from lawtrace.solver.traces import Trace, replay
from tests.support.released import tasks_of


@cache
def pair() -> tuple[Task, Task, Domain]:
    """A transfer that is to be made; on the second side the password is on a list of stolen ones."""
    tasks, domain = read_tasks(tasks_of("payments"), None)
    return tasks[0], tasks[1], domain


def found(*tasks: Task) -> set[tuple[str, str]]:
    domain = pair()[2]
    sides: list[Side] = []
    for task in tasks:
        initial = task.initial(domain.environment)
        asked = replay(domain.environment, initial, task.requested)
        sides.append(
            Side(
                task,
                Trace(initial, task.planned, replay(domain.environment, initial, task.planned).state),
                Trace(initial, task.requested, asked.state),
                task.styles,
            )
        )
    return {
        (task, f"{finding.check}: {finding.detail}") for task, finding in gate_findings(domain.environment, sides, {})
    }


def test_a_sound_pair_passes() -> None:
    first, second, _ = pair()
    assert found(first, second) == set()


def all_manual(task: Task) -> Task:
    return task.model_copy(update={"rules": tuple(one.model_copy(update={"source": "manual"}) for one in task.rules)})


def refused_too(task: Task) -> Task:
    """A target that a refusal reaches, which the task does not know as one."""
    domain = pair()[2]
    initial = task.initial(domain.environment)
    requested = requested_calls(domain.environment, initial, task.requested, "workflow")
    session = next(
        session
        for reason in reasons_to_decline(domain.environment)
        if (session := refusing_session(domain.environment, initial, requested, reason)) is not None
    )
    state = encode_state(session.state, domain.environment.entities)
    return task.model_copy(update={"rules": task.rules[:1], "ends": (End(), End(state=state))})


def silent(task: Task) -> Task:
    """A reference that leaves out to decline what it does not do, and a target to match."""
    domain = pair()[2]
    kept = tuple(call for call in task.planned if call.event.tool != domain.environment.declines)
    target = replay(domain.environment, task.initial(domain.environment), kept).state
    state = encode_state(target, domain.environment.entities)
    calls = tuple(call for call in task.calls if call.event.tool != domain.environment.declines)
    return task.model_copy(update={"calls": calls, "target_state": state})


def with_row(task: Task, table: str, key: str, **fields: Json) -> Task:
    rows = task.initial_state[table]
    assert isinstance(rows, dict)
    row = rows[key]
    assert isinstance(row, dict)
    state = {**task.initial_state, table: {**rows, key: {**row, **fields}}}
    return task.model_copy(update={"initial_state": state})


@pytest.mark.parametrize(
    ("plant", "said"),
    [
        (all_manual, "triggered: doing what is asked can be lawful, although the reference declines it"),
        (all_manual, "compliance needed: no law is broken by doing just what it asks"),
        (silent, "reference: the reference neither does nor declines what is asked: "),
        (refused_too, "refusal: it passes to decline with the reason"),
    ],
)
def test_a_planted_defect_is_found(plant: Callable[[Task], Task], said: str) -> None:
    first, second, _ = pair()
    details = {detail for _, detail in found(plant(first), plant(second))}
    assert any(detail.startswith(said) for detail in details), details


def test_where_the_law_is_contested_doing_what_is_asked_may_be_arguable() -> None:
    """The rule that it breaks holds under one reading; without a harbour such a task has no undisputed verdict."""
    _, second, _ = pair()
    question = Question(
        id="q",
        provisions=("RTS Article 1",),
        asks="Is it so?",
        readings=(Reading(id="yes", means="yes"), Reading(id="no", means="no")),
    )
    taken = {"under": {"q": ("yes",)}, "questions": (question,)}
    rules = tuple(one.model_copy(update=taken if one.source == "law" else {}) for one in second.rules)
    contested = second.model_copy(update={"rules": rules, "contrast": None, "ends": ()})
    doing = "triggered: doing what is asked can be lawful, although the reference declines it"
    assert doing in {detail for _, detail in found(contested)}
    labelled = contested.model_copy(update={"harbour": Harbour(questions=("q",), other="pass\n")})
    assert found(labelled) == set()


def test_a_side_that_succeeds_on_the_other_is_no_contrast() -> None:
    first, _, _ = pair()
    said = "contrast: the calls of the other side succeed here, too, at least under some readings"
    assert (first.id, said) in found(first, first)


def test_a_row_that_the_world_never_draws_is_found() -> None:
    first, second, domain = pair()
    contrast = first.contrast
    assert contrast is not None
    facts = [fact for fact in domain.environment.facts if fact.entity.table == contrast.table]
    other = next(fact for fact in facts if fact.field != contrast.field and isinstance(fact.values[0], int))
    odd = with_row(first, contrast.table, contrast.key, **{other.field: 77})
    noun = other.entity.singular
    assert any(f"the world draws no {noun} with" in detail and " 77" in detail for _, detail in found(odd, second))


@pytest.mark.parametrize("pairs_passed", [(), ("p-1", "p-3")])
def test_a_habit_that_passes_a_pair_is_found(pairs_passed: tuple[str, ...]) -> None:
    row = HabitRow(
        style="goal", name="h", habit=Habit(), passed=("p-2a",), tasks=10, pairs=5, pairs_passed=pairs_passed
    )
    finding = habit_finding(row)
    assert (finding is not None and "both sides of p-1, p-3," in finding) == bool(pairs_passed)
