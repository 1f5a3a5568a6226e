"""Votes and acceptance: rounds, unanimity and majority, edits, quota, agreement."""

from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lawtrace.environments.errors import InputError
from lawtrace.runs.scoring.agreement import fleiss_kappa
from lawtrace.runs.web.review.agreement import summarize_review
from lawtrace.runs.web.review.append_log import AppendLog
from lawtrace.runs.web.review.voting import (
    Decision,
    OpinionRow,
    ReviewItem,
    ReviewProtocol,
    ReviewState,
    load_protocol,
    text_digest,
)

RECIPES = Path(__file__).parents[4] / "recipes" / "review"


def rule(name: str) -> ReviewItem:
    return ReviewItem(name, name, name, f"words of {name}")


def pair(name: str) -> list[ReviewItem]:
    return [
        ReviewItem(f"{name}/{style}", f"{name}/{style}", name, f"{style} of {name}") for style in ("goal", "workflow")
    ]


def said(reviewer: str, item: ReviewItem, decision: Decision = "accept", round_: int = 1, text: str = "") -> OpinionRow:
    return OpinionRow(reviewer=reviewer, item=item.id, digest=item.digest, round=round_, decision=decision, text=text)


def test_unanimity_in_every_round() -> None:
    protocol = ReviewProtocol(reviewers=("ada", "ben"), rounds=2)
    one, two, three = map(rule, ("one", "two", "three"))
    rows = [said(name, item, round_=number) for number in (1, 2) for item in (one, two) for name in ("ada", "ben")]
    rows[-1] = said("ben", two, "reject", 2)
    rows += [said("ada", three), said("ben", three, "reject")]
    state = ReviewState(protocol, [one, two, three], rows)
    assert {name: (item_state.status, item_state.round) for name, item_state in state.states.items()} == {
        "one": ("accepted", 2),
        "two": ("rejected", 2),
        "three": ("rejected", 1),
    }
    assert state.accepted() == [one]


def test_a_majority_is_more_than_half() -> None:
    one = rule("one")
    cases: list[tuple[tuple[Decision, ...], str]] = [
        (("accept", "accept", "reject"), "accepted"),
        (("accept", "reject", "reject"), "rejected"),
    ]
    for votes, status in cases:
        rows = [said(name, one, vote) for name, vote in zip(("a", "b", "c"), votes, strict=True)]
        assert ReviewState(ReviewProtocol(reviewers=3, decision="majority"), [one], rows).groups == {"one": status}
    tie = [said("a", one), said("b", one, "reject")]
    assert ReviewState(ReviewProtocol(reviewers=2, decision="majority"), [one], tie).groups == {"one": "rejected"}


def test_opinions_of_the_current_round_are_hidden() -> None:
    protocol, one = ReviewProtocol(reviewers=2, rounds=2), rule("one")
    assert ReviewState(protocol, [one], [said("ada", one)]).past_opinions(one) == []
    rows = [said("ada", one), said("ben", one), said("ada", one, round_=2)]
    assert [(number, row.reviewer) for number, row in ReviewState(protocol, [one], rows).past_opinions(one)] == [
        (1, "ada"),
        (1, "ben"),
    ]


def test_an_edit_is_a_new_item_for_all_reviewers() -> None:
    protocol, one = ReviewProtocol(reviewers=2), rule("one")
    rows = [said("ada", one, "edit", text="better words"), said("ben", one)]
    state = ReviewState(protocol, [one], rows)
    edited = state.items[1]
    assert (edited.id, edited.words, edited.edited_by) == ("one~2", "better words", "ada")
    assert state.groups == {"one": "pending"}
    assert [item.id for item in state.pending_for("ben")] == ["one~2"]
    rows += [said("ada", edited), said("ben", edited)]
    assert ReviewState(protocol, [one], rows).accepted() == [edited]


def test_a_pair_passes_only_if_both_styles_pass() -> None:
    protocol, items = ReviewProtocol(), [*pair("t1"), *pair("t2")]
    state = ReviewState(
        protocol, items, [said("ada", items[0], "reject"), said("ada", items[2]), said("ada", items[3])]
    )
    assert state.groups == {"t1": "rejected", "t2": "accepted"}
    assert state.pending_for("ada") == []
    assert [item.group for item in state.accepted()] == ["t2", "t2"]


def test_a_quota_limits_the_offered_items() -> None:
    protocol, items = ReviewProtocol(quota=2), [item for n in range(5) for item in pair(f"t{n}")]
    rows: list[OpinionRow] = []
    judged: list[str] = []
    while waiting := ReviewState(protocol, items, rows).pending_for("ada"):
        judged.append(waiting[0].group)
        rows.append(said("ada", waiting[0], "reject" if waiting[0].group == "t1" else "accept"))
    assert judged == ["t0", "t0", "t1", "t2", "t2"]
    assert summarize_review(ReviewState(protocol, items, rows)).rate == pytest.approx(2 / 3)


def test_opinions_on_old_words_or_of_unknown_reviewers_are_ignored() -> None:
    one = rule("one")
    rows = [said("ada", one).model_copy(update={"digest": text_digest("old words")}), said("eve", one)]
    state = ReviewState(ReviewProtocol(reviewers=("ada",)), [one], rows)
    assert (state.groups, state.stale) == ({"one": "pending"}, 2)


def test_the_last_opinion_counts_and_all_are_kept(tmp_path: Path) -> None:
    one, log = rule("one"), AppendLog(tmp_path / "opinions.jsonl", OpinionRow)
    log.append(said("ada", one))
    before = log.path.read_bytes()
    log.append(said("ada", one, "reject"))
    assert log.path.read_bytes().startswith(before)
    again = AppendLog(log.path, OpinionRow)
    assert (again.rows, len(again.rows)) == (log.rows, 2)
    assert ReviewState(ReviewProtocol(), [one], again.rows).groups == {"one": "rejected"}


def test_a_file_of_another_format_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.jsonl").write_text('{"reviewer": ""}\n', encoding="utf-8")
    with pytest.raises(InputError, match=r"x.jsonl, line 1"):
        AppendLog(tmp_path / "x.jsonl", OpinionRow)


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
    (line,) = summarize_review(ReviewState(ReviewProtocol(reviewers=2), items, rows)).rounds
    assert (line.items, line.unanimous) == (10, 0.8)
    assert (line.cohen, line.fleiss) == (pytest.approx(7 / 12), pytest.approx(7 / 12))


@given(st.lists(st.lists(st.sampled_from("ar"), min_size=3, max_size=3), min_size=1, max_size=12))
def test_fleiss_kappa_is_one_only_in_full_agreement_and_ignores_order(ratings: Sequence[Sequence[str]]) -> None:
    kappa = fleiss_kappa(ratings)
    if kappa is None:
        assert len({label for labels in ratings for label in labels}) == 1
        return
    assert -1 <= kappa <= 1
    assert (kappa > 1 - 1e-9) == all(len(set(labels)) == 1 for labels in ratings)
    assert fleiss_kappa([sorted(labels) for labels in reversed(ratings)]) == pytest.approx(kappa)


DECISIONS: st.SearchStrategy[Decision] = st.sampled_from(["accept", "reject", "edit"])


@given(st.lists(st.tuples(st.sampled_from("abc"), DECISIONS), max_size=60), st.integers(1, 3), st.booleans())
def test_a_review_terminates_and_accepted_items_have_the_votes(
    votes: list[tuple[str, Decision]], rounds: int, unanimous: bool
) -> None:
    protocol = ReviewProtocol(
        reviewers=("a", "b", "c"), rounds=rounds, decision="unanimous" if unanimous else "majority"
    )
    items = [*map(rule, ("one", "two")), *pair("t")]
    rows: list[OpinionRow] = []
    for number, (reviewer, decision) in enumerate(votes):
        state = ReviewState(protocol, items, rows)
        waiting = state.pending_for(reviewer)
        if waiting:
            item_state = state.states[waiting[0].id]
            rows.append(said(reviewer, waiting[0], decision, item_state.round, f"words {number}"))
    while True:
        state = ReviewState(protocol, items, rows)
        waiting = [(name, item) for name in "abc" for item in state.pending_for(name)]
        if not waiting:
            break
        name, item = waiting[0]
        rows.append(said(name, item, "accept", state.states[item.id].round))
    assert "pending" not in state.groups.values()
    for item in state.accepted():
        last = state.states[item.id].votes[-1].values()
        assert protocol.accepts(sum(row.decision == "accept" for row in last))


def test_the_protocols_of_the_paper_load() -> None:
    rules, tasks = load_protocol(RECIPES / "rules.toml"), load_protocol(RECIPES / "tasks.toml")
    assert (rules.rounds, rules.decision, tasks.quota) == (3, "unanimous", 40)
