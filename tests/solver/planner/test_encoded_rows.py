"""Which rows of large tables Z3 is told of."""

from random import Random

from lawtrace.environments.spec.state import Row, State
from lawtrace.solver.planner.search import SMALL_TABLE, encoded_rows
from tests.support.payment_desk import PAYMENT_DESK


def desk(payees: int, *paid: int) -> State:
    """A state in which the last payee is blocked, with payments to some payees."""
    state = PAYMENT_DESK.populate(Random(1))
    rows = [Row({"payee_id": f"P-{n}", "name": f"N {n}", "blocked": n == payees - 1}) for n in range(payees)]
    payments = [Row({"payment_id": f"Y-{n}", "payee_id": f"P-{n}", "amount": 1}) for n in paid]
    return state.with_table("payees", tuple(rows)).with_table("payments", tuple(payments))


def keys(state: State, table: str) -> list[object]:
    return [row.values[PAYMENT_DESK.entities[table].key] for row in state.rows(table)]


def test_a_state_of_small_tables_is_encoded_as_it_is() -> None:
    state = desk(SMALL_TABLE)
    assert encoded_rows(PAYMENT_DESK, state, 8) is state


def test_a_large_table_has_rows_of_each_class() -> None:
    few = encoded_rows(PAYMENT_DESK, desk(1000), 4)
    assert keys(few, "payees") == ["P-0", "P-1", "P-2", "P-999"]


def test_rows_to_which_others_refer_are_encoded() -> None:
    few = encoded_rows(PAYMENT_DESK, desk(1000, 500, 501), 2)
    assert keys(few, "payees") == ["P-0", "P-500", "P-501", "P-999"]


def test_a_row_that_a_tool_names_is_encoded() -> None:
    """Pay reads the balance of account A."""
    accounts = tuple(Row({"account_id": f"{n}" if n < 999 else "A", "balance": n}) for n in range(1000))
    few = encoded_rows(PAYMENT_DESK, desk(3).with_table("accounts", accounts), 4)
    assert keys(few, "accounts") == ["0", "1", "2", "A"]
