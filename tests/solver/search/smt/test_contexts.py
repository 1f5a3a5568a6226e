"""What Z3 has encoded before in a process has no influence on a search."""

import z3

from lawtrace.solver.search.smt.call_encoding import CallEncoding
from tests.support.proof_desk import PROOF_DESK, desk_state


def steps_of_z3() -> int:
    """How many of its steps Z3 has made after a query: a query ends at a limit of them."""
    encoding = CallEncoding(PROOF_DESK, {}, desk_state(), rlimit=1_000_000)
    for _ in range(3):
        encoding.push(tuple(PROOF_DESK.tools))
    assert encoding.solver.check(*encoding.selectors) == z3.sat
    return encoding.solver.statistics().get_key_value("rlimit count")


def test_a_query_takes_as_many_steps_whatever_was_encoded_before() -> None:
    alone = steps_of_z3()
    encoded = [z3.Int(f"earlier {number}") > number for number in range(2_000)]
    solver = z3.SimpleSolver()
    solver.add(*encoded)
    assert solver.check() == z3.sat
    assert steps_of_z3() == alone
