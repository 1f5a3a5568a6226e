"""Effects and results of the smart-home tools."""

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lawtrace.environments.domains.smart_home import ENVIRONMENT
from lawtrace.environments.domains.smart_home.entities import ACCESS_CODE, WITHOUT_END
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.simulation import INVALID_CALL
from lawtrace.environments.spec.state import State, decode_state
from lawtrace.environments.spec.types import MOMENT
from lawtrace.schemas.events import Json
from tests.support.small_home import CODE, EXPIRED, GOOD, GRANT, INSIDE, OUTSIDE, STATE, do, tables


@pytest.mark.parametrize("time", ["2026-01-15", "last week", "2026-01-15 25:00"])
def test_a_malformed_time_of_the_history_rejects_the_call(time: str) -> None:
    event, after = do("ViewAccessHistory", {**GOOD["ViewAccessHistory"], "start_time": time})
    assert event.outcome == "rejected"
    assert event.error is not None
    assert event.error.startswith(INVALID_CALL)
    assert after is STATE


def test_a_new_guest_has_an_identifier_and_no_access() -> None:
    event, after = do("AddGuest", GOOD["AddGuest"])
    assert event.result == {"guest_id": "guest_4"}
    assert tables(after)["guests"]["guest_4"] == {"guest_id": "guest_4", **GOOD["AddGuest"]}
    assert do("RevokeGuestAccess", {"guest_ids": ["guest_4"]}, after)[0].outcome == "raised"


def test_a_grant_is_one_access_for_each_guest() -> None:
    _, after = do("GrantGuestAccess", {**GRANT, "guest_ids": [OUTSIDE, EXPIRED]})
    made = [tables(after)["accesses"][key] for key in ("A-00003", "A-00004")]
    assert [access["guest_id"] for access in made] == [OUTSIDE, EXPIRED]
    assert [access["end_time"] for access in made] == [GRANT["end_time"]] * 2


def test_a_permanent_grant_ignores_the_given_times() -> None:
    for times in ({}, {"start_time": GRANT["start_time"], "end_time": GRANT["end_time"]}):
        _, after = do("GrantGuestAccess", {"guest_ids": [OUTSIDE], "permanent": True, **times})
        access = tables(after)["accesses"]["A-00003"]
        assert (access["start_time"], access["end_time"]) == ("2026-02-01 12:00", MOMENT.encode(WITHOUT_END))


def test_a_revocation_removes_current_access_only() -> None:
    _, granted = do("GrantGuestAccess", {**GRANT, "guest_ids": [EXPIRED]})
    _, after = do("RevokeGuestAccess", {"guest_ids": [EXPIRED, INSIDE]}, granted)
    assert list(tables(after)["accesses"]) == ["A-00002"]


def test_a_code_is_made_and_revoked_once() -> None:
    event, after = do("GenerateTemporaryAccessCode", GOOD["GenerateTemporaryAccessCode"])
    assert isinstance(event.result, dict)
    code = str(event.result["access_code"])
    assert ACCESS_CODE.decode(code) == code
    _, revoked = do("RevokeTemporaryAccessCode", {"access_code": code}, after)
    assert tables(revoked)["access_codes"][code]["status"] == "revoked"
    assert do("RevokeTemporaryAccessCode", {"access_code": code}, revoked)[0].outcome == "raised"
    assert tables(revoked)["access_codes"][CODE] == tables(STATE)["access_codes"][CODE]


@pytest.mark.parametrize(("now", "outcome"), [("2026-02-01 12:00", "completed"), ("2026-02-01 12:01", "raised")])
def test_codes_and_accesses_expire_by_the_environment_clock(now: str, outcome: str) -> None:
    session: Json = {"current": {**tables(STATE)["session"]["current"], "now": now}}
    state = decode_state({**tables(STATE), "session": session}, ENVIRONMENT.entities)
    assert do("RevokeTemporaryAccessCode", {"access_code": CODE}, state)[0].outcome == outcome


def test_the_history_includes_both_ends_of_the_period() -> None:
    event, _ = do("ViewAccessHistory", GOOD["ViewAccessHistory"])
    assert event.result == {
        "access_history": [
            {
                "guest_id": guest_id,
                "guest_name": name,
                "guest_email": f"{name.split()[0].lower()}@example.org",
                "access_time": time,
            }
            for guest_id, name, time in (
                (EXPIRED, "Edda Marsh", "2026-01-20 07:05"),
                (INSIDE, "Mara Quell", "2026-01-31 22:00"),
            )
        ]
    }


@settings(max_examples=40)
@given(st.integers(0, 2**32))
def test_an_initial_state_has_guests_of_every_kind(seed: int) -> None:
    state = ENVIRONMENT.populate(Random(seed))
    assert state == ENVIRONMENT.populate(Random(seed))
    now = next(state.rows("session")).values["now"]
    guests = [row.values["guest_id"] for row in state.rows("guests")]
    ends = {row.values["guest_id"]: row.values["end_time"] for row in state.rows("accesses")}
    assert set(ends) < set(guests)
    assert [end > now for end in ends.values()] == [True, True, False]
    emails = [row.values["guest_email"] for row in state.rows("guests")]
    assert len(set(emails)) == len(emails)
    codes = [row.values["end_time"] > now for row in state.rows("access_codes")]
    assert codes == [True, False]
    times = [row.values["access_time"] for row in state.rows("access_history")]
    assert times == sorted(times)
    assert times
    assert max(times) < now
    for name in ("SearchGuests", "ViewAccessHistory"):
        found = [_found(state, name, Random(n)) for n in range(20)]
        assert any(found), "a look-up answers with what the state holds"


def _found(state: State, name: str, random: Random) -> bool:
    tool = ENVIRONMENT.tools[name]
    arguments = {
        parameter.name: parameter.type.encode(parameter.source.sampler.draw(random, state))  # type: ignore[union-attr]
        for parameter in tool.parameters
    }
    event = Session(ENVIRONMENT, state).call(name, arguments).event
    return isinstance(event.result, dict) and bool(event.result[tool.results[0].name])
