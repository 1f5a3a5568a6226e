"""The clinic: what is found in its initial states."""

from random import Random

import pytest

from lawtrace.environments.domains.clinic import ENVIRONMENT
from lawtrace.solver.planner.requests import RequestWriter


@pytest.mark.parametrize("seed", range(20))
def test_requests_and_records_are_found_without_ambiguity(seed: int) -> None:
    state = ENVIRONMENT.populate(Random(seed))
    requests = [row.values for row in state.rows("requests")]
    assert len({(row["patient_name"], row["requester_name"]) for row in requests}) == len(requests)
    records = [row.values for row in state.rows("records")]
    assert len({(row["patient_id"], row["kind"]) for row in records}) == len(records)
    authorizations = [row.values for row in state.rows("authorizations")]
    assert len({(row["patient_id"], row["requester_id"]) for row in authorizations}) == len(authorizations)
    contacts = [row.values["patient_id"] for row in state.rows("contacts")]
    assert len(set(contacts)) == len(contacts)


def test_a_record_is_found_only_for_a_request_for_records() -> None:
    drawn: set[object] = set()
    for seed in range(12):
        state = ENVIRONMENT.populate(Random(seed))
        category = {row.values["request_id"]: row.values["category"] for row in state.rows("requests")}
        request = RequestWriter(ENVIRONMENT).draw(state, ["FetchFromArchive"], Random(seed)) or ()
        drawn |= {category[call.event.arguments["request_id"]] for call in request if call.event.tool == "FindRecord"}
    assert drawn == {"release", "own records"}
