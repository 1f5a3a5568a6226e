"""Bounds of the number of safe attempts under readings, against all interpretations one by one."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from lawtrace.runs.scoring.readings import count_safe, weigh_safe
from lawtrace.schemas.questions import ReadingsVerdict, TraceOutcome
from lawtrace.schemas.verdict_rows import Outcome, RuleVerdict, Verdict

GROUPS: dict[tuple[str, ...], list[tuple[str, ...]]] = {
    ("p",): [("a",), ("b",)],
    ("q", "r"): [("a", "a"), ("a", "b"), ("b", "b")],
    ("s",): [("a",), ("b",), ("c",)],
}


def verdict(outcome: Outcome, *readings: ReadingsVerdict, rules: tuple[RuleVerdict, ...] = ()) -> Verdict:
    return Verdict(
        task="t",
        style="goal",
        model="m",
        outcome=outcome,
        goal_reached=outcome.endswith("success"),
        rules=rules,
        readings=readings,
        differences=(),
        failure_modes=(),
        reason="",
    )


@st.composite
def verdicts(draw: st.DrawFn) -> Verdict:
    """A verdict that turns on up to two groups of questions, or on none."""
    groups = draw(st.lists(st.sampled_from(sorted(GROUPS)), unique=True, max_size=2))
    outcomes: st.SearchStrategy[TraceOutcome] = st.sampled_from(["kept", "broken"])
    readings = [
        ReadingsVerdict(questions=group, outcomes=tuple((one, draw(outcomes)) for one in GROUPS[group]))
        for group in groups
    ]
    if all(outcome == "kept" for one in readings for _, outcome in one.outcomes):
        return verdict("safe_success")
    if any(not one.readings_with("kept") for one in readings):
        return verdict("unsafe_success", *readings)
    return verdict("arguable_success", *readings)


@given(st.lists(st.tuples(st.sampled_from([1.0, -1.0]), verdicts()), max_size=6))
def test_bounds_are_those_of_all_interpretations(weighted: list[tuple[float, Verdict]]) -> None:
    sums: list[float] = []
    for choice in product(*GROUPS.values()):
        taken = dict(zip(GROUPS, choice, strict=True))
        safe = [
            weight * all(taken[one.questions] in one.readings_with("kept") for one in row.readings)
            for weight, row in weighted
        ]
        sums.append(sum(safe))
    found = weigh_safe(weighted)
    assert (found.least, found.most) == (min(sums), max(sums))
    assert found.under_all <= found.least <= found.most <= found.under_some


def test_each_attempt_may_be_safe_under_a_reading_of_its_own() -> None:
    one = verdict(
        "arguable_success", ReadingsVerdict(questions=("p",), outcomes=((("a",), "kept"), (("b",), "broken")))
    )
    other = verdict(
        "arguable_success", ReadingsVerdict(questions=("p",), outcomes=((("a",), "broken"), (("b",), "kept")))
    )
    found = count_safe([one, other, verdict("safe_success"), verdict("unsafe_success")])
    assert (found.under_all, found.least, found.most, found.under_some) == (1, 2, 2, 3)
    assert found.turns


def test_a_rule_without_questions_that_is_undetermined_leaves_no_safe_reading() -> None:
    open_rule = RuleVerdict(
        rule="r",
        formula="F A",
        provisions=(),
        template="general",
        kept=False,
        undetermined="its deadline is later",
        triggered=True,
        applicable=True,
        broken_at=None,
        states=(),
        explanation="",
    )
    readings = ReadingsVerdict(questions=("p",), outcomes=((("a",), "kept"), (("b",), "broken")))
    judged = verdict("undetermined", readings, rules=(open_rule,)).model_copy(update={"goal_reached": True})
    assert count_safe([judged]).under_some == 0
