"""Refusals without a thought, in a parcel office that may decline."""

import pytest

from lawtrace.solver.habits.refusals import reasons_to_decline, refusing_calls, refusing_session
from tests.support.declining_office import WORLD, WORLD_OF_KINDS, initial_state, request
from tests.support.parcel_office import OFFICE

FRAGILE = initial_state("fragile")
REQUEST = request(FRAGILE)


def test_each_reason_is_tried_and_the_change_is_not_made() -> None:
    reasons = reasons_to_decline(WORLD)
    assert reasons == [{"reason": "it is fragile"}, {"reason": "it is unsealed"}]
    for reason in reasons:
        session = refusing_session(WORLD, FRAGILE, REQUEST, reason)
        assert session is not None
        assert [event.tool for event in session.events][-1] == "DeclineParcel"
        assert "SendParcel" not in [event.tool for event in session.events]
        parcel = REQUEST[-1].event.arguments["parcel_id"]
        assert session.events[-1].arguments == {"parcel_id": parcel, **reason}


def test_the_first_reason_that_completes_is_taken() -> None:
    calls = refusing_calls(WORLD, FRAGILE, REQUEST)
    assert calls is not None
    assert calls[-1].event.arguments["reason"] == "it is fragile"


def test_it_is_said_what_is_declined() -> None:
    assert reasons_to_decline(WORLD_OF_KINDS) == reasons_to_decline(WORLD)
    calls = refusing_calls(WORLD_OF_KINDS, FRAGILE, REQUEST)
    assert calls is not None
    assert calls[-1].event.arguments["request"] == "a dispatch"


@pytest.mark.parametrize("requested", [REQUEST, ()])
def test_nothing_is_declined_where_no_tool_does_it(requested: tuple[()]) -> None:
    assert reasons_to_decline(OFFICE) == []
    assert refusing_calls(OFFICE, FRAGILE, requested) is None
