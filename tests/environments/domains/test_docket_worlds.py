"""What the dense worlds declare for dockets only."""

from random import Random

import pytest

from lawtrace.environments.runtime.session import Session
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.dockets import find_queue
from lawtrace.solver.rules import check_rules, load_rules


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
