"""The rules of twin questions: what follows, with which proof, and that each topic is decided by its facts."""

from itertools import product

import pytest

from lawtrace.runs.legal.twins.horn import HornRule, Topic, derive, load_rules

RULES = load_rules()


@pytest.mark.parametrize("topic", RULES.topics, ids=lambda topic: topic.id)
def test_exactly_one_goal_follows_from_all_facts_of_a_topic(topic: Topic) -> None:
    names = [fact.name for fact in RULES.facts_of(topic) if not fact.weighs]
    assert names
    verdicts: set[bool] = set()
    rules = [rule for rule in RULES.rules if {name.removeprefix("not ") for name in rule.given} <= {*names, *THEN}]
    for values in product((True, False), repeat=len(names)):
        facts = dict(zip(names, values, strict=True))
        proofs = derive(rules, facts)
        if any(together <= proofs.keys() for together in RULES.impossible):
            continue
        assert (topic.infringed in proofs) != (topic.kept in proofs), facts
        verdicts.add(topic.infringed in proofs)
    assert verdicts == {True, False}


THEN = {rule.then for rule in RULES.rules}


def test_negation_stands_before_facts_alone() -> None:
    facts = {fact.name for fact in RULES.facts}
    literals = [literal for rule in RULES.rules for literal in rule.given]
    assert {literal.removeprefix("not ") for literal in literals} <= facts | THEN
    assert {literal.removeprefix("not ") for literal in literals if literal.startswith("not ")} <= facts
    assert not {fact.name for fact in RULES.facts if fact.weighs} & {
        literal.removeprefix("not ") for literal in literals
    }


def test_a_proof_names_provisions_and_the_fewest_facts() -> None:
    (topic,) = [topic for topic in RULES.topics if topic.id == "notification"]
    late = {"controller": True, "breach": True, "risk_unlikely": False, "notified": True, "in_time": False}
    assert RULES.verdict(topic, late) is None  # whether it was feasible is open
    found = RULES.verdict(topic, late | {"feasible": True})
    assert found is not None
    infringed, proof = found
    assert infringed
    assert proof.leaves() == ("controller", "breach", "not risk_unlikely", "not in_time", "feasible")
    assert proof.lines()[:3] == (
        "infringed_33_1 (Article 33(1) GDPR, first sentence)",
        "  owed (Articles 33(1) and 4(12) GDPR)",
        "    controller",
    )
    excused = RULES.verdict(topic, late | {"feasible": False, "reasons": True})
    assert excused is not None
    assert not excused[0]
    assert RULES.verdict(topic, late | {"in_time": True, "notified": False}) is None  # impossible


def test_an_unknown_fact_satisfies_neither_itself_nor_its_negation() -> None:
    rules = [HornRule(then="a", given=("x",), provision=""), HornRule(then="b", given=("not x",), provision="")]
    assert {*derive(rules, {})} == set()
    assert {*derive(rules, {"x": False})} == {"not x", "b"}
