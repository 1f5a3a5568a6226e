"""A fuzzer: whatever arguments a model writes, no call that is carried out breaks a rule by what its tool reads."""

import pytest

from benchmarks.guard_fuzz import ADAPTERS, fuzz, missing, session

SESSIONS = {"core": 150, "autogen": 60}
OF_A_FRAMEWORK = {"langgraph", "agents-sdk", "inspect"}


@pytest.mark.parametrize(
    "adapter", [pytest.param(name, marks=[pytest.mark.integration] * (name in OF_A_FRAMEWORK)) for name in ADAPTERS]
)
def test_no_call_that_is_carried_out_breaks_a_rule(adapter: str) -> None:
    if package := missing(adapter):
        pytest.skip(f"needs {package}")
    tally = fuzz(adapter, 1, SESSIONS.get(adapter, 20))
    assert tally.broken == []
    assert tally.carried_out > tally.calls / 10, "most calls are hostile, not all"


def test_without_a_guard_most_sessions_break_a_rule() -> None:
    """So the check of the fuzzer sees what a guard has to prevent."""
    broken = 0
    for number in range(100):
        unguarded = session(2, number)
        unguarded.run_unguarded()
        broken += bool(unguarded.broken())
    assert broken > 70
