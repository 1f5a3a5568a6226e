"""Human evaluation: the same sample for every rater, ratings kept as they are given, agreement beyond chance."""

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from lawtrace.runs.cli.app import app
from lawtrace.runs.legal.ratings import RatingRow, draw_sample, rater_scores, rating_agreement
from lawtrace.runs.store.stage_files import read_rows
from tests.support.legal.small_cases import BOOK


def rated(rater: str, question: str, faithful: bool, clear: bool = True) -> RatingRow:
    return RatingRow(rater=rater, question=question, faithfulness=faithful, clarity=clear, expertise=True)


@given(st.integers(1, 10), st.integers())
def test_a_sample_is_drawn_by_seed_without_repeats(count: int, seed: int) -> None:
    sample = draw_sample(BOOK.cases, count, seed)
    ids = [question.id for _, question in sample]
    assert len(set(ids)) == len(ids) == min(count, 4)
    assert draw_sample(BOOK.cases, count, seed) == sample


def test_raters_and_their_agreement() -> None:
    rows = [
        *(rated("ann", f"q{n}", faithful) for n, faithful in enumerate([True, True, False, False])),
        *(rated("bob", f"q{n}", faithful) for n, faithful in enumerate([True, False, False, False])),
        rated("ann", "q9", True),
    ]
    ann, bob = rater_scores(rows)
    assert (ann.rated, ann.shares["faithfulness"], bob.shares["faithfulness"]) == (5, 0.6, 0.25)
    faithful, clear, _ = rating_agreement(rows)
    assert (faithful.questions, faithful.unanimous) == (4, 0.75)
    assert faithful.kappa == pytest.approx(0.5)
    assert (clear.unanimous, clear.kappa) == (1.0, None)
    assert rating_agreement(rows[:4]) == []


def test_a_rater_goes_on_where_they_stopped(tmp_path: Path) -> None:
    cases, out = tmp_path / "cases.jsonl", tmp_path / "ratings.jsonl"
    cases.write_text("".join(case.model_dump_json() + "\n" for case in BOOK.cases), encoding="utf-8")
    words = ["legal", "evaluate", "--cases", str(cases), "--out", str(out), "--rater", "ann", "--json"]
    stopped = CliRunner().invoke(app, words, input="y\nn\ny\ny\n")
    assert stopped.exit_code != 0
    assert len(read_rows(out, RatingRow)) == 1
    result = CliRunner().invoke(app, words, input="y\ny\ny\n" * 3)
    assert result.exit_code == 0, result.output
    found = json.loads(result.stdout.splitlines()[-1])
    assert found["raters"]["ann"] == {"rated": 4, "faithfulness": 1.0, "clarity": 0.75, "expertise": 1.0}
