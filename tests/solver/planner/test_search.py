"""The conflict-driven search with rules about time, sums and several objects, and with rare kinds of rows."""

from dataclasses import replace

import pytest

from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.trace_options import TraceConstraints
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import Rule
from lawtrace.solver.traces import Trace
from tests.support.payment_desk import BINDING, COOLING, HARD, PAYMENT_DESK, TWICE
from tests.support.trace_checks import check_trace
from tests.support.z3_use import counted_z3_use


def rules_of(*formulas: str) -> list[Rule]:
    return [Rule(id=f"rule-{number}", formula=formula) for number, formula in enumerate(formulas)]


def traces(*formulas: str, count: int = 3, length: int = 8, seed: int = 1) -> list[Trace]:
    rules = rules_of(*formulas)
    found = list(
        synthesize(PAYMENT_DESK, rules, count=count, length=length, seed=seed, mode="coverage", constraints=PAYING)
    )
    assert len(found) == count
    for trace in found:
        check_trace(PAYMENT_DESK, trace, rules, (), length)
    return found


PAYING = TraceConstraints(require=("Pay",))


@pytest.mark.parametrize("name", HARD)
def test_rules_on_time_sums_and_objects_are_met(name: str) -> None:
    with counted_z3_use() as use:
        for trace in traces(*HARD[name], TWICE):
            assert trace.tools.count("Pay") >= 2
    assert use.queries


def test_the_same_seed_gives_the_same_traces() -> None:
    first, second = (traces(BINDING, COOLING, TWICE, count=2, seed=7) for _ in range(2))
    assert [trace.events for trace in first] == [trace.events for trace in second]
    assert [trace.initial for trace in first] == [trace.initial for trace in second]


def test_a_trace_that_needs_a_rare_kind_of_row_gets_one() -> None:
    """One state in forty has a blocked payee."""
    for trace in traces("F Refund", count=2):
        assert any(row.values["blocked"] for row in trace.initial.rows("payees"))


def test_a_conflict_is_learned_without_calls_that_do_not_matter() -> None:
    """Of two payments to one payee neither may be the smaller: only a third payee helps, and notes do not."""
    rules = rules_of(
        "forall p: G(Pay(payee_id == p) -> !Y O Pay(payee_id == p))", "G(count(distinct payee_id of Pay) <= 1)", TWICE
    )
    with counted_z3_use() as use, pytest.raises(SearchError, match="no compliant trace of 7 calls exists"):
        list(synthesize(PAYMENT_DESK, rules, count=1, length=7, seed=1, mode="coverage"))
    assert use.queries < 450


def test_the_tool_that_declines_need_not_be_one_that_a_rule_about_rows_names() -> None:
    environment = replace(PAYMENT_DESK, declines="Note")
    rules = rules_of("forall p: G(Authenticate(payee_id == p) -> WX G !Authenticate(payee_id == p))")
    assert list(synthesize(environment, rules, count=1, length=4, seed=1, mode="coverage"))
