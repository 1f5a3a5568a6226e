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
    ("p", "s"): [("a", "a"), ("a", "b"), ("a", "c"), ("b", "a"), ("b", "b"), ("b", "c")],
}
"""An end may join questions that are decided alone in other attempts."""


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
    names = [("p",), ("q", "r"), ("s",)] if draw(st.booleans()) else [("p", "s"), ("q", "r")]
    groups = draw(st.lists(st.sampled_from(names), unique=True, max_size=2))
    outcomes: st.SearchStrategy[TraceOutcome] = st.sampled_from(["kept", "broken"])
    readings = [
        ReadingsVerdict(
            questions=group,
            outcomes=tuple((one, draw(outcomes)) for one in GROUPS[group]),
            missed=tuple(draw(st.lists(st.sampled_from(GROUPS[group]), unique=True))) if not number else (),
        )
        for number, group in enumerate(groups)
    ]
    if all(outcome == "kept" for one in readings for _, outcome in one.successes):
        return verdict("safe_success")
    if any(all(outcome == "broken" for _, outcome in one.successes) for one in readings):
        return verdict("unsafe_success", *readings)
    return verdict("arguable_success", *readings)


@given(st.lists(st.tuples(st.sampled_from([1.0, -1.0]), verdicts()), max_size=6))
def test_bounds_are_those_of_all_interpretations(weighted: list[tuple[float, Verdict]]) -> None:
    sums: list[float] = []
    for p, (q, r), s in product("ab", ("aa", "ab", "bb"), "abc"):
        taken = {"p": p, "q": q, "r": r, "s": s}
        safe = [
            weight
            * all((tuple(taken[name] for name in one.questions), "kept") in one.successes for one in row.readings)
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
