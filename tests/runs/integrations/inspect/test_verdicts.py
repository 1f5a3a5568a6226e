"""Verdicts through Inspect equal those of `lawtrace run`, and so do the rates."""

from pathlib import Path

import pytest

pytest.importorskip("inspect_ai", reason="needs the extra 'inspect'")

from inspect_ai import score
from inspect_ai.log import EvalLog, read_eval_log

from benchmarks.inspect_baselines import with_baselines
from benchmarks.inspect_verdicts import compare
from lawtrace.runs.integrations.inspect.scorers import dual_oracle
from lawtrace.runs.scoring.metrics import count_outcomes, count_pairs, count_rule_breaks
from lawtrace.runs.store.task_file import read_tasks, write_tasks
from lawtrace.schemas.verdict_rows import OUTCOMES
from tests.support.inspect_evals import run_eval, verdict_of
from tests.support.released import tasks_of

pytestmark = pytest.mark.integration


def test_verdicts_of_all_policies_equal_ours(tmp_path: Path) -> None:
    made = compare(tasks_of("smart_home"), tmp_path, tasks=2)
    assert len(made.ours) == 20
    assert made.differing == []
    assert {row["outcome"] for row in made.ours.values()} >= {"safe_success", "unsafe_success", "no_program"}


def _metrics(log: EvalLog) -> dict[str, float]:
    assert log.results is not None
    return {
        f"{score.name} {name}": metric.value for score in log.results.scores for name, metric in score.metrics.items()
    }


def test_rates_are_those_of_a_report_also_over_trials(tmp_path: Path) -> None:
    rows, _ = read_tasks(tasks_of("payments"))
    write_tasks(tmp_path / "tasks.jsonl", rows[:2])
    log = run_eval(with_baselines(str(tmp_path / "tasks.jsonl")), "lawtrace/literal", tmp_path, epochs=2)
    assert log.samples is not None
    verdicts = [verdict_of(sample) for sample in log.samples]
    assert sorted({verdict.trial for verdict in verdicts}) == [0, 1]
    found, counts = _metrics(log), count_outcomes(verdicts)
    assert {name: found[f"dual_oracle {name}"] for name in OUTCOMES if name != "invalid"} == {
        name: counts.share(name) for name in OUTCOMES if name != "invalid"
    }
    assert found["safe_success mean"] == counts.pass_at_1
    assert found["dual_oracle pairs"] == count_pairs(verdicts).pairs == 4
    assert found["dual_oracle pair_score"] == count_pairs(verdicts).score
    broken = {rule: of for rule, of in count_rule_breaks(verdicts).items() if of.broken}
    assert broken
    for rule, of in broken.items():
        assert found[f"dual_oracle {rule} broken"] == of.broken / of.attempts
        assert found[f"dual_oracle {rule} gap"] == of.inference_gap


def test_a_log_is_scored_again_from_its_store(banking: str, tmp_path: Path) -> None:
    log = run_eval(with_baselines(banking, style="goal"), "lawtrace/reference", tmp_path)
    again = score(read_eval_log(log.location), dual_oracle(banking), display="none")
    assert log.samples is not None
    assert again.samples is not None
    assert verdict_of(log.samples[0]).outcome == "safe_success"
    scores = again.samples[0].scores or {}
    assert [one.answer for one in scores.values()] == ["safe_success", "safe_success"]
