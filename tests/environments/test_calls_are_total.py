"""No call makes the simulator raise, whatever its name and arguments."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from environments.banking import ENVIRONMENT
from environments.simulation import INVALID_CALL
from environments.state import encode_state
from tests.support.small_bank import GOOD, MAIN, STATE, do

ANY_JSON: st.SearchStrategy[Any] = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=12)
    | st.sampled_from([MAIN, "P-000001"]),
    lambda below: st.lists(below, max_size=3) | st.dictionaries(st.text(max_size=6), below, max_size=3),
    max_leaves=6,
)


def arguments_for(name: str) -> st.SearchStrategy[dict[str, Any]]:
    """Anything, and what is nearly right."""
    nearly = st.fixed_dictionaries(
        {},
        optional={
            key: st.just(GOOD[name][key]) | ANY_JSON for key in ENVIRONMENT.signatures[name] if key in GOOD[name]
        },
    )
    return nearly | st.dictionaries(st.sampled_from(list(ENVIRONMENT.signatures[name]) or ["x"]) | st.text(), ANY_JSON)


@settings(max_examples=120)
@given(st.sampled_from(list(ENVIRONMENT.tools)).flatmap(lambda name: st.tuples(st.just(name), arguments_for(name))))
def test_calls_are_total(drawn: tuple[str, dict[str, Any]]) -> None:
    name, arguments = drawn
    event, after = do(name, arguments)
    tool = ENVIRONMENT.tools[name]
    assert event.arguments == arguments or any(value != value for value in arguments.values())
    assert (after is STATE) or (event.completed and tool.effects)
    match event.outcome:
        case "completed" | "failed":
            assert isinstance(event.result, dict)
            assert event.error is None
            encode_state(after, ENVIRONMENT.entities)
        case "raised":
            assert event.error is not None
            assert event.error.split(":")[0] in {raised.exception for raised in tool.raises}
        case "rejected":
            assert event.error is not None
            assert event.error.startswith(INVALID_CALL)
        case "shielded":
            pytest.fail("nothing stands in front of the tools here")


@settings(max_examples=40)
@given(st.text(), st.dictionaries(st.text(max_size=4), ANY_JSON, max_size=2))
def test_any_name_of_a_tool_may_be_called(name: str, arguments: dict[str, Any]) -> None:
    event, after = do(name, arguments)
    assert event.outcome == "rejected" or name in ENVIRONMENT.tools
    assert after is STATE
