"""Rules are merged by proof, and a merged rule keeps every provision."""

from hypothesis import given
from hypothesis import strategies as st

from lawtrace.solver.ltlf import product, shortest_accepted
from lawtrace.solver.merging import implies, merge_rules
from lawtrace.solver.rules import Rule

FORMULAS = (
    "!((!Check) U Pay)",
    "Check R !Pay",
    "!((!Check) U (Pay | Move))",
    "G(Pay -> F Log)",
    "G((Pay | Move) -> F Log)",
    "G(!Pay)",
    "G(Pay -> F (Log | Tell))",
    "forall p: G(Pay(p == payee) -> F Log)",
)


def rules(formulas: list[str]) -> list[Rule]:
    return [Rule(id=f"r{n}", formula=formula, provisions=(f"Article {n}",)) for n, formula in enumerate(formulas)]


def test_equivalent_and_implied_rules_become_one_that_rests_on_all_provisions() -> None:
    kept, merges = merge_rules(
        rules(["!((!Check) U Pay)", "Check R !Pay", "!((!Check) U (Pay | Move))", "G(Pay -> F Log)"])
    )
    assert [(rule.id, rule.provisions) for rule in kept] == [
        ("r2", ("Article 2", "Article 0", "Article 1")),
        ("r3", ("Article 3",)),
    ]
    assert {merge.rule.id: (merge.into, merge.because) for merge in merges} == {
        "r0": ("r2", "implied"),
        "r1": ("r2", "implied"),  # by way of r0, which says the same
    }


def test_quantified_rules_are_merged_only_as_they_are_written() -> None:
    one, other = FORMULAS[-1], "forall q: G(Pay(q == payee) -> F Log)"
    kept, merges = merge_rules(rules([one, one, other]))
    assert ([rule.id for rule in kept], [merge.rule.id for merge in merges]) == (["r0", "r2"], ["r1"])


@given(st.lists(st.sampled_from(FORMULAS[:-1]), min_size=1, max_size=5))
def test_what_is_kept_says_all_and_no_provision_is_lost(formulas: list[str]) -> None:
    given_rules = rules(formulas)
    kept, merges = merge_rules(given_rules)
    assert {citation for rule in kept for citation in rule.provisions} == {r.provisions[0] for r in given_rules}
    assert len(kept) + len(merges) == len(given_rules)
    for merge in merges:
        into = next(rule for rule in kept if rule.id == merge.into)
        assert implies(into, merge.rule)
        assert (merge.because == "equivalent") == implies(merge.rule, into)
    for rule in kept:
        for other in kept:
            if rule is not other:
                broken = product(rule.automaton, other.automaton, lambda left, right: left and not right)
                assert shortest_accepted(broken) is not None
