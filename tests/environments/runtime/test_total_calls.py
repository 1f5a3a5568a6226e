"""The simulator never raises, for any tool name and arguments."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.runtime.simulation import INVALID_CALL
from tests.support.environment_fixtures import FIXTURES, TOOLS
from tests.support.small_bank import MAIN
from tests.support.small_clinic import ADA, PLANNED

ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from([MAIN, "P-000001", ADA, PLANNED, "2026-03-03"]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=6), below, max_size=3),
    max_leaves=6,
)


def arguments_for(world: str, name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Arbitrary and nearly correct arguments."""
    signature, good = FIXTURES[world].environment.signatures[name], FIXTURES[world].good[name]
    nearly = st.fixed_dictionaries({}, optional={key: st.just(good[key]) | ANY_JSON for key in good})
    return nearly | st.dictionaries(st.sampled_from(list(signature) or ["x"]) | st.text(), ANY_JSON)


@settings(max_examples=100)
@given(st.sampled_from(TOOLS).flatmap(lambda tool: st.tuples(st.just(tool), arguments_for(*tool))))
def test_calls_are_total(drawn: tuple[tuple[str, str], dict[str, Any]]) -> None:
    (world, name), arguments = drawn
    small = FIXTURES[world]
    event, after = small.do(name, arguments)
    tool = small.environment.tools[name]
    assert event.arguments == arguments or any(value != value for value in arguments.values())
    assert (after is small.state) or (event.completed and tool.effects)
    match event.outcome:
        case "completed" | "failed":
            assert isinstance(event.result, dict)
            assert event.error is None
            small.tables(after)
        case "raised":
            assert event.error is not None
            assert event.error.split(":")[0] in {raised.exception for raised in tool.raises}
        case "rejected":
            assert event.error is not None
            assert event.error.startswith(INVALID_CALL)
        case "shielded":
            pytest.fail("nothing stands in front of the tools here")


@given(st.sampled_from(list(FIXTURES)), st.text(), st.dictionaries(st.text(max_size=4), ANY_JSON, max_size=2))
def test_any_tool_name_may_be_called(world: str, name: str, arguments: dict[str, Any]) -> None:
    event, after = FIXTURES[world].do(name, arguments)
    assert event.outcome == "rejected" or name in FIXTURES[world].environment.tools
    assert after is FIXTURES[world].state
