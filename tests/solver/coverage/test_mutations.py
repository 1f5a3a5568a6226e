"""Mutation testing: detection of mutated compliance calls by the rules."""

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.solver.coverage.mutations import measure_mutation_score, mutants_of
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.rules import Rule, load_rules

RULES = load_rules(load_domain("banking").gold_file)
TRACES = [
    (str(number), trace) for number, trace in enumerate(synthesize(ENVIRONMENT, RULES, count=12, length=8, seed=5), 1)
]


def test_every_dropped_compliance_call_is_detected() -> None:
    strength = measure_mutation_score(ENVIRONMENT, RULES, TRACES)
    assert strength.killed["drop"] == strength.mutants["drop"] == 24
    assert not any(survivor.kind == "drop" for survivor in strength.survivors)


def test_the_published_rules_detect_only_changes_of_order() -> None:
    strength = measure_mutation_score(ENVIRONMENT, RULES, TRACES)
    assert 0 < strength.killed["move"] < strength.mutants["move"]
    assert strength.killed["argument"] == strength.killed["duplicate"] == 0
    assert sum(strength.mutants.values()) == sum(strength.killed.values()) + len(strength.survivors)


def test_a_rule_on_the_event_list_detects_a_wrong_list() -> None:
    looking = Rule(id="named", formula='G(PayBill -> F RecordAuditEvent("BILL_PAYMENT" in events))')
    plain = measure_mutation_score(ENVIRONMENT, RULES, TRACES)
    strict = measure_mutation_score(ENVIRONMENT, [*RULES, looking], TRACES)
    assert strict.killed["argument"] > plain.killed["argument"]


def test_a_mutant_differs_from_its_trace_and_from_the_others() -> None:
    _, trace = TRACES[0]
    original = tuple((event.tool, event.arguments) for event in trace.events)
    mutants = [mutant.calls for mutant in mutants_of(ENVIRONMENT, RULES, trace)]
    assert original not in mutants
    assert {len(calls) for calls in mutants} == {7, 8, 9}


def test_without_rules_nothing_is_detected() -> None:
    strength = measure_mutation_score(ENVIRONMENT, [], TRACES[:2])
    assert sum(strength.killed.values()) == 0


LOOKING = [
    *RULES,
    Rule(id="large-needs-audit", formula="G(TransferFunds(amount > 250) -> F RecordAuditEvent)"),
    Rule(id="authorized", formula="!((!CheckAuthorization(result.authorized)) U PayBill)"),
]


def test_observed_arguments_and_results_are_mutated() -> None:
    strength = measure_mutation_score(ENVIRONMENT, LOOKING, TRACES)
    plain = measure_mutation_score(ENVIRONMENT, RULES, TRACES)
    assert plain.mutants["result"] == 0
    authorizations = sum(trace.tools.count("CheckAuthorization") for _, trace in TRACES)
    assert strength.mutants["result"] == authorizations
    paying = sum("PayBill" in trace.tools for _, trace in TRACES)
    assert strength.kills_by_rule["authorized"] >= strength.killed["result"] == paying
    transfers = sum(trace.tools.count("TransferFunds") for _, trace in TRACES)
    assert plain.mutants["argument"] + 2 * transfers <= strength.mutants["argument"]


def test_amounts_are_mutated_around_the_constant() -> None:
    name, trace = next((name, trace) for name, trace in TRACES if "TransferFunds" in trace.tools)
    changes = [mutant.change for mutant in mutants_of(ENVIRONMENT, LOOKING, trace) if "amount" in mutant.change]
    assert {change.rpartition(" ")[2] for change in changes} >= {"249", "250", "251"}, name


def test_kills_by_rule_add_up() -> None:
    strength = measure_mutation_score(ENVIRONMENT, RULES, TRACES)
    assert set(strength.kills_by_rule) == {rule.id for rule in RULES}
    assert max(strength.kills_by_rule.values()) <= sum(strength.killed.values()) <= sum(strength.kills_by_rule.values())
    alone = {rule.id: measure_mutation_score(ENVIRONMENT, [rule], TRACES).kills_by_rule[rule.id] for rule in RULES}
    assert alone == strength.kills_by_rule


def test_survivors_have_a_reason() -> None:
    strength = measure_mutation_score(ENVIRONMENT, RULES, TRACES)
    whys = {(survivor.kind, survivor.reason) for survivor in strength.survivors}
    assert {why for kind, why in whys if kind == "argument"} == {"no rule looks at it"}
    # A call moved past calls that no rule names: each rule reads the same letters.
    assert {why for kind, why in whys if kind == "move"} == {"no rule looks at it"}
    # A repeated recording call records the same list again, which the log accepts.
    assert all(why == "the rules allow it" for kind, why in whys if kind == "duplicate")
    # A wrong list that no rule reads, and one that a rule reads and the tool refuses.
    strict = [Rule(id="some", formula='G(PayBill -> F RecordAuditEvent("FUNDS_TRANSFER" in events))'), *RULES]
    assert {survivor.reason for survivor in measure_mutation_score(ENVIRONMENT, strict, TRACES).survivors} >= {
        "the rules allow it",
        "no rule looks at it",
    }


def test_refused_mutants_have_their_own_reason() -> None:
    rule = Rule(id="small", formula="G !TransferFunds(amount > 100000)")
    traces = [(name, trace) for name, trace in TRACES if "TransferFunds" in trace.tools]
    strength = measure_mutation_score(ENVIRONMENT, [rule], traces)
    spoilt = [
        survivor for survivor in strength.survivors if survivor.kind == "argument" and "amount" in survivor.change
    ]
    assert spoilt
    assert {survivor.reason for survivor in spoilt} == {"the call was refused"}


def test_exchanging_two_equal_calls_changes_nothing() -> None:
    doubled = Rule(id="twice", formula="F(CheckAuthorization & X CheckAuthorization)")
    traces = synthesize(ENVIRONMENT, [*RULES, doubled], count=1, length=8, seed=1, mode="coverage")
    strength = measure_mutation_score(ENVIRONMENT, RULES, [("doubled", next(traces))])
    assert "nothing changed" in {survivor.reason for survivor in strength.survivors}
