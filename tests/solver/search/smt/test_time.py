"""Time in the bounded encoding: calls wait for the moment at which a tool accepts them, and end with the session."""

from dataclasses import replace

import z3

from lawtrace.environments.spec.clock import EPOCH_MOMENT, Clock
from lawtrace.environments.spec.expressions import EvaluationScope
from lawtrace.environments.spec.terms import CURRENT_MOMENT, NOW
from lawtrace.solver.search.problem import Found, Impossible
from lawtrace.solver.search.smt.bounded_model_checking import BoundedEncoding
from lawtrace.solver.search.smt.symbolic_logic import SymbolicLogic
from tests.support.incident_room import EMPTY, INCIDENT_ROOM, START


def test_a_term_that_reads_the_time_is_an_expression_over_an_open_time() -> None:
    time, logic = z3.Int("time"), SymbolicLogic()
    minute = CURRENT_MOMENT.compile(logic)(EvaluationScope(EMPTY, {}, time))
    solver = z3.SimpleSolver()
    solver.add(time == START + 119, minute != (START + 60) // 60 + EPOCH_MOMENT)
    assert solver.check() == z3.unsat
    assert NOW.compile(logic)(EvaluationScope(EMPTY, {}, START)) == START


def test_the_solver_waits_until_a_tool_accepts_the_call() -> None:
    encoding = BoundedEncoding(INCIDENT_ROOM, {}, length=3, initial=EMPTY)
    answer = encoding.ask_pair("Wait", "Archive")
    assert isinstance(answer, Found)
    assert [event.tool for event in answer.trace] == ["Open", "Wait", "Archive"]
    times = [event.time or 0 for event in answer.trace]
    assert (times[2] // 60) - (times[0] // 60) >= 30
    # Without a call that waits, the incident is too young.
    refused = encoding.ask_pair("Open", "Archive")
    assert isinstance(refused, Impossible)
    assert any("less than half an hour old" in obstacle.text for obstacle in refused.core)


def test_no_call_begins_after_the_end_of_the_session() -> None:
    short = replace(INCIDENT_ROOM, clock=Clock(lambda _: START, 20 * 60))
    answer = BoundedEncoding(short, {}, length=3, initial=EMPTY).ask_pair("Wait", "Archive")
    assert isinstance(answer, Impossible)
