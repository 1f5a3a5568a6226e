"""Comparison of runs, and of verdicts after grading again: flips and the rules that changed them."""

from pathlib import Path

import pytest

from lawtrace.runs.report.run_comparison import ComparisonSide, compare_runs, comparison_table, read_side
from lawtrace.runs.report.verdict_index import graded_verdict
from lawtrace.runs.scoring.verdict_changes import compare_rules, compare_verdicts
from lawtrace.runs.tasks import Task
from lawtrace.schemas.choices import STYLES, Style
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.instructions import Instruction
from lawtrace.schemas.questions import ReadingsVerdict, TraceOutcome
from lawtrace.schemas.verdict_rows import Outcome, RuleVerdict, Verdict
from lawtrace.solver.rules import Rule

STYLE: Style = "goal"


def task(name: str, text: str = "Do it.") -> Task:
    return Task(
        id=name,
        environment="banking",
        rules=(),
        applicable=(),
        initial_state={},
        target_state={},
        program="",
        instructions={style: Instruction(style=style, text=text, variables={}) for style in STYLES},
    )


def verdict(name: str, outcome: Outcome, *, model: str = "m", broken: tuple[str, ...] = ()) -> Verdict:
    rules = tuple(
        RuleVerdict(
            rule=rule,
            formula="G a",
            provisions=(),
            template="general",
            kept=False,
            triggered=True,
            applicable=True,
            broken_at=0,
            states=(),
            explanation="",
        )
        for rule in broken
    )
    return Verdict(
        task=name,
        style=STYLE,
        model=model,
        outcome=outcome,
        goal_reached=True,
        rules=rules,
        differences=(),
        failure_modes=(),
        reason=f"{name} is {outcome}",
    )


def side(name: str, *verdicts: Verdict, text: str = "Do it.") -> ComparisonSide:
    tasks = {("", row.task): task(row.task, text) for row in verdicts}
    return ComparisonSide(name, [graded_verdict(row) for row in verdicts], tasks)


def test_flips_have_both_reasons_and_unmatched_tasks_are_counted() -> None:
    found = compare_runs(
        side("A", verdict("1", "safe_success"), verdict("2", "unsafe_success"), verdict("3", "safe_success")),
        side("B", verdict("1", "safe_success"), verdict("2", "safe_success"), verdict("4", "safe_success")),
    )
    (line,) = found.lines
    assert (line.safe_success.pairs, line.unmatched) == (2, 2)
    assert line.safe_success.difference == 0.5
    assert line.unsafe_success is not None
    assert line.unsafe_success.difference == -0.5
    (flip,) = found.flips
    assert flip.outcomes == ("unsafe_success", "safe_success")
    assert flip.reasons == ("2 is unsafe_success", "2 is safe_success")


def test_a_difference_may_turn_on_a_reading() -> None:
    outcomes: tuple[tuple[tuple[str], TraceOutcome], ...] = ((("a",), "kept"), (("b",), "broken"))
    arguable = verdict("2", "arguable_success").model_copy(
        update={"readings": (ReadingsVerdict(questions=("q",), outcomes=outcomes),)}
    )
    first = side("A", verdict("1", "safe_success"), verdict("2", "unsafe_success"))
    found = compare_runs(first, side("B", verdict("1", "safe_success"), arguable))
    assert found.lines[0].bounds == (0.0, 0.5)
    assert "Greatest difference" in [column.title for column in comparison_table(found).columns]
    assert compare_runs(first, first).lines[0].bounds is None


def test_attempts_invalid_on_both_sides_are_not_unmatched() -> None:
    found = compare_runs(
        side("A", verdict("1", "safe_success"), verdict("2", "invalid"), verdict("3", "invalid")),
        side("B", verdict("1", "safe_success"), verdict("2", "invalid"), verdict("3", "safe_success")),
    )
    assert [line.unmatched for line in found.lines] == [1]


def test_a_task_that_changed_is_named() -> None:
    found = compare_runs(
        side("A", verdict("1", "safe_success")), side("B", verdict("1", "safe_success"), text="Do that.")
    )
    assert found.changed_tasks == {"1": ("instructions",)}


def test_two_models_of_one_run() -> None:
    run = side("A", verdict("1", "safe_success", model="x"), verdict("1", "benign_failure", model="y"))
    found = compare_runs(run, run, ("x", "y"))
    assert found.lines[0].safe_success.difference == -1
    assert found.flips[0].model == "x / y"


def variants(name: str, **outcomes: tuple[Outcome, ...]) -> ComparisonSide:
    """An ablation: variant -> the outcomes of its tasks 1, 2, ..."""
    ids = [(variant, str(number)) for variant, of in outcomes.items() for number in range(1, len(of) + 1)]
    results = [
        graded_verdict(verdict(str(number), outcome), variant)
        for variant, of in outcomes.items()
        for number, outcome in enumerate(of, 1)
    ]
    return ComparisonSide(name, results, {(variant, number): task(number) for variant, number in ids})


def test_ablations_over_the_same_tasks_are_compared_by_variant() -> None:
    found = compare_runs(
        variants("A", off=("safe_success", "unsafe_success"), warn=("safe_success",), old=("safe_success",)),
        variants("B", warn=("benign_failure",), off=("safe_success", "safe_success")),
    )
    (line,) = found.lines
    assert (line.safe_success.pairs, line.safe_success.first_only, line.safe_success.second_only) == (3, 1, 1)
    assert [(flip.variant, flip.task) for flip in found.flips] == [("off", "2"), ("warn", "1")]
    with pytest.raises(InputError, match=r"no variant in common; compare one of the variants of A \(A/variants/01"):
        compare_runs(variants("A", off=("safe_success",), warn=("safe_success",)), side("B", verdict("1", "invalid")))


def test_nothing_in_common_is_an_error() -> None:
    one = side("A", verdict("1", "safe_success"))
    with pytest.raises(InputError, match="no task in common"):
        compare_runs(one, side("B", verdict("2", "safe_success")))
    with pytest.raises(InputError, match="no model in common"):
        compare_runs(one, side("B", verdict("1", "safe_success", model="other")))
    with pytest.raises(InputError, match="no verdict on nobody; it has m"):
        compare_runs(one, one, ("m", "nobody"))
    with pytest.raises(InputError, match="both have a verdict on"):
        compare_runs(one, side("B", verdict("1", "invalid")))


def test_a_changed_verdict_names_the_rules() -> None:
    before = [
        verdict("1", "safe_success"),
        verdict("2", "unsafe_success", broken=("a", "b")),
        verdict("3", "safe_success"),
    ]
    after = [
        verdict("1", "unsafe_success", broken=("c",)),
        verdict("2", "unsafe_success", broken=("b",)),
        verdict("3", "safe_success"),
    ]
    first, second = compare_verdicts(before, after)
    assert (first.after.task, first.now_broken, first.no_longer_broken) == ("1", ("c",), ())
    assert "safe_success -> unsafe_success, now broken: c" in str(first)
    assert "still unsafe_success, no longer broken: a" in str(second)
    (back,) = compare_verdicts([after[0]], [before[0]])
    assert back.no_longer_broken == ("c",)


def test_changed_rules_are_listed() -> None:
    def judged_by(**formulas: str) -> Task:
        rules = tuple(Rule(id=name, formula=formula) for name, formula in formulas.items())
        return task("1").model_copy(update={"rules": rules})

    changed = compare_rules([judged_by(a="F x", b="F y", c="F z")], [judged_by(a="F x", b="G y", d="F w")])
    assert [str(rule) for rule in changed] == ["b changed from F y to G y", "c removed", "d added: F w"]


def test_a_missing_run_folder_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such run folder"):
        read_side(tmp_path / "nowhere")
