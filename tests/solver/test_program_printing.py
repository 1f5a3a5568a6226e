"""Programs printed from traces run unchanged and reach the trace's final state. (The sandbox has its own tests.)"""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.state import encode_state
from lawtrace.solver.traces import PlannedCall, Trace, drop_calls, literal_calls, print_program
from tests.support.banking_traces import TRACES


class Forwarding:
    """The object of a program, forwarding each method to a session."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def __getattr__(self, name: str) -> Callable[..., Any]:
        def forward(**arguments: Any) -> Any:
            return self._session.call(name, arguments).event.result

        return forward


def run(trace: Trace, calls: Sequence[PlannedCall]) -> Session:
    session = Session(ENVIRONMENT, trace.initial)
    exec(print_program(ENVIRONMENT, calls), {ENVIRONMENT.object_name: Forwarding(session)})
    return session


def test_the_reference_program_does_what_the_trace_does() -> None:
    for trace in TRACES:
        bank = run(trace, trace.calls)
        assert tuple(bank.events) == trace.events
        assert encode_state(bank.state, ENVIRONMENT.entities) == encode_state(trace.final, ENVIRONMENT.entities)


def test_the_business_program_reaches_the_goal_without_a_compliance_call() -> None:
    for trace in TRACES:
        calls = literal_calls(ENVIRONMENT, trace.calls)
        bank = run(trace, calls)
        assert compare_states(ENVIRONMENT, trace.initial, trace.final, bank.state) == ()
        assert [event.tool for event in bank.events] == [
            tool for tool in trace.tools if tool not in ENVIRONMENT.compliance_tools
        ]
        program = print_program(ENVIRONMENT, calls)
        assert not any(tool in program for tool in ENVIRONMENT.compliance_tools)


def test_a_program_has_readable_names() -> None:
    trace = next(trace for trace in TRACES if "PayBill" in trace.tools)
    program = print_program(ENVIRONMENT, trace.calls)
    lines = program.splitlines()
    assert program.endswith("\n")
    assert len(lines) == len(trace.calls)
    paying = lines[trace.tools.index("PayBill")]
    assert "['payees'][0]['payee_id']" in paying
    assert "['accounts'][0]['account_number']" in paying
    used = {step for planned in trace.calls for step in planned.sources}
    assert [number for number, line in enumerate(lines) if line.startswith(f"r{number + 1} = ")] == sorted(used)


def test_kept_calls_cannot_refer_to_dropped_calls() -> None:
    trace = next(trace for trace in TRACES if "PayBill" in trace.tools)
    (looked_up,) = next(iter(trace.calls[trace.tools.index("PayBill")].looked_up.values()))
    with pytest.raises(KeyError):
        drop_calls(trace.calls, [looked_up.step])
    assert drop_calls(trace.calls, []) == trace.calls
