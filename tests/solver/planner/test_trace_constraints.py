"""Trace constraints: every trace meets them, or the smallest conflict is named."""

import re
from itertools import combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.schemas.errors import InputError, SearchError
from lawtrace.schemas.trace_options import TraceConstraints, TraceMode
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic.syntax import Atom
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.trace_spec import TraceSpec, adjacent_pairs, completed_calls_automaton, counting_automaton
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.traces import Trace
from tests.support.trace_checks import check_trace

RULES = load_rules(load_domain("banking").rules_file)
TOOLS = tuple(ENVIRONMENT.tools)


def traces(
    constraints: TraceConstraints, count: int = 12, length: int = 8, mode: TraceMode = "tasks", seed: int = 1
) -> list[Trace]:
    return list(
        synthesize(ENVIRONMENT, RULES, count=count, length=length, seed=seed, mode=mode, constraints=constraints)
    )


def complaint(constraints: TraceConstraints, count: int = 12, length: int = 8, mode: TraceMode = "tasks") -> str:
    with pytest.raises(SearchError) as caught:
        traces(constraints, count, length, mode)
    return str(caught.value)


def differences(one: Trace, other: Trace) -> int:
    return sum(first != second for first, second in zip(one.tools, other.tools, strict=True))


@pytest.mark.slow
@settings(max_examples=25)
@given(
    require=st.sets(st.sampled_from(TOOLS), max_size=2),
    forbid=st.sets(st.sampled_from(TOOLS), max_size=2),
    pairs=st.sets(st.tuples(st.sampled_from(TOOLS), st.sampled_from(TOOLS)), max_size=2),
    compliance=st.sampled_from([None, (0.0, 0.5), (0.25, 0.25), (0.5, 1.0)]),
    distance=st.integers(0, 3),
    mode=st.sampled_from(["tasks", "coverage"]),
)
def test_every_trace_meets_the_constraints_or_the_search_explains_why_not(
    require: set[str],
    forbid: set[str],
    pairs: set[tuple[str, str]],
    compliance: tuple[float, float] | None,
    distance: int,
    mode: TraceMode,
) -> None:
    constraints = TraceConstraints(
        require=tuple(sorted(require)),
        forbid=tuple(sorted(forbid)),
        pairs=tuple(sorted(pairs)),
        compliance=compliance,
        distance=distance,
    )
    found: list[Trace] = []
    why = ""
    made = synthesize(ENVIRONMENT, RULES, count=6, length=8, seed=3, mode=mode, constraints=constraints)
    try:
        found.extend(made)  # keeps what came before an error
    except SearchError as error:
        why = str(error)
    assert len(found) == 6 or re.search(r"exclude|need more calls|differs from each of them", why)
    for trace in found:
        check_trace(ENVIRONMENT, trace, RULES, (), 8)
        assert require <= set(trace.tools)
        assert not forbid & set(trace.tools)
        assert not pairs or pairs & adjacent_pairs(trace.tools)
        share = sum(tool in ENVIRONMENT.compliance_tools for tool in trace.tools) / 8
        assert compliance is None or compliance[0] <= share <= compliance[1]
    assert all(differences(one, other) >= distance for one, other in combinations(found, 2))


def test_each_target_pair_occurs_before_any_repeats() -> None:
    wanted = (("CheckAuthorization", "SearchPayee"), ("PayBill", "PayBill"), ("TransferFunds", "RecordAuditEvent"))
    first = traces(TraceConstraints(pairs=wanted), count=3)
    assert {pair for trace in first for pair in adjacent_pairs(trace.tools)} >= set(wanted)


def test_constraints_are_deterministic() -> None:
    constraints = TraceConstraints(require=("PayBill",), distance=3, compliance=(0.2, 0.3))
    assert [trace.events for trace in traces(constraints)] == [trace.events for trace in traces(constraints)]


@pytest.mark.parametrize(
    ("constraints", "mode", "named", "not_named"),
    [
        (TraceConstraints(require=("PayBill",), forbid=("SearchPayee", "TransferFunds")), "tasks",
         ("required tool PayBill", "forbidden tool SearchPayee"), ("TransferFunds", "trace mode")),
        (TraceConstraints(require=("PayBill",), forbid=("RecordAuditEvent",)), "coverage",
         ("rule record-bill", "required tool PayBill", "forbidden tool RecordAuditEvent"), ("record-transfer",)),
        (TraceConstraints(pairs=(("RecordAuditEvent", "RecordAuditEvent"),)), "coverage",
         ("one of the target pairs (RecordAuditEvent -> RecordAuditEvent)", "preconditions"), ("rule",)),
    ],
)  # fmt: skip
def test_an_impossible_combination_names_a_minimal_conflict(
    constraints: TraceConstraints, mode: TraceMode, named: tuple[str, ...], not_named: tuple[str, ...]
) -> None:
    text = complaint(constraints, mode=mode)
    assert "nor of any other length" in text
    assert all(part in text for part in named), text
    assert not any(part in text for part in not_named), text


def test_a_too_short_length_suggests_the_shortest_feasible_one() -> None:
    constraints = TraceConstraints(require=("PayBill", "TransferFunds"))
    spec = re.search(r"need more calls; ask for (\d+)", complaint(constraints, length=5))
    assert spec is not None
    shortest = int(spec[1])
    assert traces(constraints, count=1, length=shortest)
    assert all("need more calls" in complaint(constraints, length=length) for length in range(5, shortest))


def test_no_other_length_is_suggested_for_a_share() -> None:
    """At most a tenth of the calls: zero of eight, one of ten."""
    constraints = TraceConstraints(require=("CheckAuthorization",), compliance=(0, 0.1))
    text = complaint(constraints, mode="coverage")
    assert "any other length" not in text
    assert "required tool CheckAuthorization and share of compliance steps from 0 to 0.1 (0 of 8 calls)" in text
    assert "need more calls; ask for 10" in text
    assert traces(constraints, mode="coverage", count=1, length=10)


def test_a_too_large_share_names_the_conflict() -> None:
    text = complaint(TraceConstraints(compliance=(0.5, 1.0)))
    assert "share of compliance steps from 0.5 to 1 (4 to 8 of 8 calls)" in text
    assert "at most once" in text
    assert "exclude each other at that length" in text
    assert "rule" not in text


def test_a_smaller_feasible_length_is_suggested() -> None:
    hurry = Rule(id="hurry", formula="F TransferFunds & !X X X X X X X true")
    with pytest.raises(
        SearchError, match=r"of 8 calls exists: rule hurry .* at that length; there are some of 7 calls"
    ):
        list(synthesize(ENVIRONMENT, [hurry], count=1, length=8, seed=1, mode="coverage"))


def test_a_share_without_a_whole_number_of_calls() -> None:
    assert "no whole number of 8 calls" in complaint(TraceConstraints(compliance=(0.3, 0.3)))


def test_all_distinct_traces_are_found() -> None:
    """Few sequences have five calls: there are exactly as many traces as sequences, in any order."""
    constraints = TraceConstraints(distance=1)
    counted = re.search(r"after (\d+) traces there is no further one", complaint(constraints, count=1000, length=5))
    assert counted is not None
    total = int(counted[1])
    for seed in range(3):
        assert len({trace.tools for trace in traces(constraints, count=total, length=5, seed=seed)}) == total
    everything = {
        trace.tools for seed in range(30) for trace in traces(TraceConstraints(), count=5, length=5, seed=seed)
    }
    assert len(everything) <= total


def test_an_unknown_tool_is_named_with_the_nearest() -> None:
    with pytest.raises(InputError, match="did you mean PayBill"):
        traces(TraceConstraints(forbid=("PayBil",)))


@pytest.mark.parametrize("raw", [{"compliance": (0.5, 0.2)}, {"compliance": (0, 1.5)}, {"distance": -1}, {"odd": 1}])
def test_invalid_constraints(raw: dict[str, object]) -> None:
    with pytest.raises(ValidationError):
        TraceConstraints.model_validate(raw)


@given(st.lists(st.sampled_from(["a", "b", ""]), max_size=9), st.integers(0, 3), st.integers(0, 4))
def test_the_counting_automaton_counts_calls(calls: list[str], low: int, more: int) -> None:
    trace = [{Atom(name)} if name else set[Atom]() for name in calls]
    assert counting_automaton(["a"], low, low + more).accepts(trace) is (low <= calls.count("a") <= low + more)


@given(st.lists(st.sampled_from([*TOOLS, ""]), max_size=5), st.integers(0, 5))
def test_completed_calls_counts_and_refuses_refusals(calls: list[str], count: int) -> None:
    trace = [{Atom(name)} if name else set[Atom]() for name in calls]
    assert completed_calls_automaton(ENVIRONMENT, count).accepts(trace) is ("" not in calls and len(calls) == count)
    assert completed_calls_automaton(ENVIRONMENT).accepts(trace) is ("" not in calls and len(calls) > 0)


def test_requirements_are_readable() -> None:
    spec = TraceSpec(
        ENVIRONMENT, tuple(RULES), "tasks", TraceConstraints(require=("PayBill",), compliance=(0.25, 0.25))
    )
    texts = [requirement.name for requirement in spec.requirements(8)]
    assert texts[0] == "rule authorize-before-transfer"
    assert "trace mode tasks: CheckAuthorization at most once" in texts
    assert texts[-2:] == ["required tool PayBill", "share of compliance steps from 0.25 to 0.25 (2 of 8 calls)"]
