"""What the dense worlds declare for dockets only."""

from pathlib import Path
from random import Random

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.runs.store.task_file import read_tasks, write_tasks
from lawtrace.runs.tasks import curated_rules
from lawtrace.schemas.task_rows import Docket
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.dockets import find_queue
from lawtrace.solver.rules import check_rules, load_rules

ROOT = Path(__file__).parents[3]


@pytest.mark.parametrize("world", ["privacy_desk", "clinic"])
def test_a_docket_has_its_own_states_times_and_rules(world: str) -> None:
    domain = load_domain(world)
    environment, file = domain.environment, domain.docket_rules_file
    assert environment.populate_docket is not None
    assert file is not None
    for size in (3, 20, 28):
        state = environment.populate_docket(Random(size), size)
        assert state == environment.populate_docket(Random(size), size)
        listed = Session(environment, state).call(find_queue(environment).name, {}).event.result
        assert isinstance(listed, dict)
        assert [len(rows) for rows in listed.values() if isinstance(rows, list)] == [size]
    for_dockets = domain.for_dockets().regulation
    check_rules(load_rules(file), environment, for_dockets)
    assert domain.regulation.manual_text() == "\n".join(for_dockets.manual_text().split("\n")[:-1])


def test_a_file_of_dockets_has_the_manual_of_dockets(tmp_path: Path) -> None:
    """So prompts of a release and texts for annotators show what dockets are judged by."""
    tasks, domain = read_tasks(ROOT / "docs/tasks/2.2/references/privacy_desk.jsonl")
    docket = Docket(matters=(), length=1, shortest=1, order=(), obstacles=())
    write_tasks(tmp_path / "dockets.jsonl", [tasks[0].model_copy(update={"docket": docket})])
    _, for_dockets = read_tasks(tmp_path / "dockets.jsonl")
    assert for_dockets.regulation == domain.for_dockets().regulation != domain.regulation
    rules, further = (curated_rules(for_dockets, dockets=dockets) for dockets in (False, True))
    assert [rule.provisions for rule in further[len(rules) :]] == [("Manual 14",)] * (len(further) - len(rules)) != []
