"""Decisions of reviewers: what is accepted, edits, stale decisions, agreement."""

from pathlib import Path

import pytest

from lawtrace.runs.scoring.agreement import fleiss_kappa
from lawtrace.runs.web.append_log import AppendLog
from lawtrace.runs.web.review.decisions import Decision, OpinionRow, ReviewItem, ReviewState


def rule(name: str) -> ReviewItem:
    return ReviewItem(name, name, f"words of {name}")


def pair(name: str) -> list[ReviewItem]:
    return [ReviewItem(f"{name}/{style}", name, f"{style} of {name}") for style in ("goal", "workflow")]


def said(reviewer: str, item: ReviewItem, decision: Decision = "accept", text: str = "") -> OpinionRow:
    return OpinionRow(reviewer=reviewer, item=item.id, digest=item.digest, decision=decision, text=text)


def test_an_item_is_accepted_if_all_needed_reviewers_accept_it() -> None:
    items = one, two, three = [rule(name) for name in ("one", "two", "three")]
    rows = [said("ada", one), said("ben", one), said("ada", two), said("ben", two, "reject"), said("ada", three)]
    state = ReviewState(items, rows, needed=2)
    assert state.groups() == {"one": "accepted", "two": "rejected", "three": "pending"}
    assert state.accepted() == [one]
    assert [item.id for item in state.pending_for("ben")] == ["three"]
    assert state.pending_for("ada") == []


def test_an_edit_replaces_the_words_and_asks_the_others_again() -> None:
    one = rule("one")
    rows = [said("ben", one), said("ada", one, "edit", "better words")]
    state = ReviewState([one], rows, needed=2)
    (edited,) = state.items
    assert (edited.id, edited.words, edited.edited_by) == ("one", "better words", "ada")
    assert [item.id for item in state.pending_for("ben")] == ["one"]
    state = ReviewState([one], [*rows, said("ben", one, "reject"), said("ben", edited)], needed=2)
    assert (state.accepted(), state.summary().stale) == ([edited], 1)
    assert state.summary().compared == 0


def test_a_pair_passes_only_if_both_styles_pass() -> None:
    items = [*pair("t1"), *pair("t2")]
    state = ReviewState(items, [said("ada", items[0], "reject"), said("ada", items[2]), said("ada", items[3])])
    assert state.groups() == {"t1": "rejected", "t2": "accepted"}
    assert state.pending_for("ada") == []
    assert [item.group for item in state.accepted()] == ["t2", "t2"]


def test_the_last_decision_counts_and_all_are_kept(tmp_path: Path) -> None:
    one, log = rule("one"), AppendLog(tmp_path / "opinions.jsonl", OpinionRow)
    log.append(said("ada", one))
    before = log.path.read_bytes()
    log.append(said("ada", one, "reject"))
    assert log.path.read_bytes().startswith(before)
    again = AppendLog(log.path, OpinionRow)
    assert (again.rows, len(again.rows)) == (log.rows, 2)
    assert ReviewState([one], again.rows).groups() == {"one": "rejected"}


def test_kappas_of_a_worked_example() -> None:
    """Two raters, ten items: both accept 5, neither accepts 3, each alone accepts 1. Observed 0.8, by chance 0.52."""
    left, right = "aaaaa nnn a n".replace(" ", ""), "aaaaa nnn n a".replace(" ", "")
    assert fleiss_kappa([list(labels) for labels in zip(left, right, strict=True)]) == pytest.approx(7 / 12)
    items = [rule(str(number)) for number in range(10)]
    rows = [
        said(name, item, "accept" if label == "a" else "reject")
        for name, labels in (("ada", left), ("ben", right))
        for item, label in zip(items, labels, strict=True)
    ]
    summary = ReviewState(items, rows, needed=2).summary()
    assert (summary.compared, summary.unanimous, summary.accepted) == (10, 0.8, 5)
    assert (summary.cohen_kappa, summary.fleiss_kappa) == (pytest.approx(7 / 12), pytest.approx(7 / 12))
