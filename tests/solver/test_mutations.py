"""Oracle strength: what the rules notice when compliance steps are spoilt."""

from environments.banking import ENVIRONMENT
from environments.catalogue import load_setting
from solver.mutations import measure_strength, mutants_of
from solver.rules import Rule, load_rules
from solver.synthesis import synthesize

RULES = load_rules(load_setting("banking").rules_file)
TRACES = [
    (str(number), trace) for number, trace in enumerate(synthesize(ENVIRONMENT, RULES, count=12, length=8, seed=5), 1)
]


def test_every_dropped_compliance_step_is_noticed() -> None:
    strength = measure_strength(ENVIRONMENT, RULES, TRACES)
    assert strength.killed["drop"] == strength.mutants["drop"] == 24
    assert not any("dropped" in survivor for survivor in strength.survivors)


def test_the_published_rules_see_order_and_nothing_else() -> None:
    strength = measure_strength(ENVIRONMENT, RULES, TRACES)
    assert 0 < strength.killed["move"] < strength.mutants["move"]
    assert strength.killed["argument"] == strength.killed["duplicate"] == 0
    assert sum(strength.mutants.values()) == sum(strength.killed.values()) + len(strength.survivors)


def test_a_rule_that_looks_at_the_list_sees_a_wrong_list() -> None:
    looking = Rule(id="named", formula='G(PayBill -> F RecordAuditEvent("BILL_PAYMENT" in events))')
    plain = measure_strength(ENVIRONMENT, RULES, TRACES)
    strict = measure_strength(ENVIRONMENT, [*RULES, looking], TRACES)
    assert strict.killed["argument"] > plain.killed["argument"]


def test_a_mutant_differs_from_its_trace_and_from_the_others() -> None:
    _, trace = TRACES[0]
    original = tuple((event.tool, event.arguments) for event in trace.events)
    mutants = [mutant.calls for mutant in mutants_of(ENVIRONMENT, trace)]
    assert original not in mutants
    assert {len(calls) for calls in mutants} == {7, 8, 9}


def test_without_rules_nothing_is_noticed() -> None:
    strength = measure_strength(ENVIRONMENT, [], TRACES[:2])
    assert sum(strength.killed.values()) == 0
