"""Traces are made in parts that do not depend on each other."""

import pytest

from lawtrace.runs.stages.traces_stage import TracePlan, synthesize_traces
from lawtrace.schemas.task_rows import TraceRow
from lawtrace.schemas.trace_options import TraceConstraints
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.rules import load_rules

BANKING, DESK = load_domain("banking"), load_domain("privacy_desk")


def traces(plan: TracePlan) -> list[TraceRow]:
    domain = DESK if plan.mode == "contrasts" else BANKING
    rules = load_rules(domain.rules_file)
    return [row for part in plan.parts() for row in synthesize_traces(domain.environment, rules, plan, part)]


def plan(count: int, part_size: int) -> TracePlan:
    return TracePlan(mode="tasks", length=6, count=count, seed=2, part_size=part_size)


def test_more_traces_begin_with_the_same() -> None:
    fewer, more = traces(plan(7, 3)), traces(plan(11, 3))
    assert more[:7] == fewer
    assert len({row.id for row in more}) == 11


def test_a_part_alone_is_the_part_among_all() -> None:
    of_all = plan(8, 3)
    rules = load_rules(BANKING.rules_file)
    assert of_all.parts() == [range(3), range(3, 6), range(6, 8)]
    assert synthesize_traces(BANKING.environment, rules, of_all, range(3, 6)) == traces(of_all)[3:6]


def test_traces_of_parts_of_another_size_have_other_ids() -> None:
    assert {row.id for row in traces(plan(4, 2))}.isdisjoint(row.id for row in traces(plan(4, 3)))


def test_a_distance_makes_all_traces_one_part() -> None:
    constraints = TraceConstraints(distance=2)
    far = TracePlan(mode="tasks", length=6, count=8, seed=2, part_size=3, constraints=constraints)
    assert far.parts() == [range(8)]


def test_contrast_pairs_are_not_cut() -> None:
    pairs = TracePlan(mode="contrasts", length=8, count=7, seed=1, part_size=3)
    assert pairs.parts() == [range(2), range(2, 4)]
    assert [len(part) * pairs.rows for part in pairs.parts()] == [4, 4]


@pytest.mark.slow
def test_both_sides_of_a_contrast_pair_are_in_its_part() -> None:
    pairs = TracePlan(mode="contrasts", length=8, count=3, seed=1, part_size=2)
    rows = traces(pairs)
    assert len(rows) == 4
    for first, second in zip(rows[::2], rows[1::2], strict=True):
        assert first.contrast is not None
        assert second.contrast is not None
        assert first.contrast.pair == second.contrast.pair
