"""Coverage analysis: feasible pairs agree with brute force, suites cover them, and certificates hold."""

from itertools import product as all_words
from random import Random

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.spec.state import Row, State
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.trace_options import ToolPair, TraceMode
from lawtrace.solver.automata.compiler import compile_formula
from lawtrace.solver.coverage.certificates import Certificate, Certifier
from lawtrace.solver.coverage.coverage_analysis import CoverageAnalysis, analyse_coverage, most_new_first, traces_needed
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.planner.product import Product
from lawtrace.solver.planner.sequence_graph import ToolSequence
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.trace_spec import TraceSpec, adjacent_pairs
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.search.problem import Found, Unknown
from lawtrace.solver.search.smt.bounded_model_checking import BoundedEncoding
from tests.support.payment_desk import PAYMENT_DESK
from tests.support.random_environments import random_multi_tool_environment
from tests.support.trace_checks import keeps

RULES = load_rules(load_domain("banking").gold_file)


def product_of(mode: TraceMode, length: int, rules: tuple[Rule, ...] = tuple(RULES)) -> Product:
    return Product(ENVIRONMENT, TraceSpec(ENVIRONMENT, rules, mode).automata(length))


def accepted_sequences(product: Product, length: int) -> list[ToolSequence]:
    """All accepted sequences, by brute force over moves."""
    walks: list[tuple[int, ToolSequence]] = [(0, ())]
    for place in range(length):
        walks = [
            (move.target, (*walk, move.tool))
            for node, walk in walks
            for move in product.completable_moves(node, length - place)
        ]
    return [walk for _, walk in walks]


@pytest.fixture(scope="module")
def tasks() -> CoverageAnalysis:
    return analyse_coverage(ENVIRONMENT, RULES, mode="tasks", length=8, count=40, seed=1)


@pytest.mark.parametrize(("mode", "length"), [("tasks", 6), ("coverage", 4)])
def test_pairs_agree_with_brute_force(mode: TraceMode, length: int) -> None:
    product = product_of(mode, length)
    walks = accepted_sequences(product, length)
    assert product.feasible_pairs(length) == {pair for walk in walks for pair in adjacent_pairs(walk)}


def test_the_suite_covers_every_feasible_pair(tasks: CoverageAnalysis) -> None:
    assert (len(tasks.feasible), len(tasks.certificates), tasks.undecided, tasks.missing) == (54, 10, (), ())
    assert tasks.needed is not None
    assert tasks.needed <= 12
    assert tasks.suite.traces == 40


def test_greedy_cover_takes_the_trace_with_most_new_pairs_first() -> None:
    found = synthesize(ENVIRONMENT, RULES, count=20, length=6, seed=1)
    suite = most_new_first(trace.events for trace in found)
    pairs = [adjacent_pairs([event.tool for event in events]) for events in suite]
    gains = [len(own - set[ToolPair]().union(*pairs[:number])) for number, own in enumerate(pairs)]
    assert gains == sorted(gains, reverse=True)
    everything, last = frozenset[ToolPair]().union(*pairs), sum(gain > 0 for gain in gains)
    assert traces_needed(suite, everything) == last
    assert traces_needed(suite[: last - 1], everything) is None


def test_undecided_pairs_count_as_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lawtrace.solver.search.smt.bounded_model_checking.QUERY_RLIMIT", 1)
    environment, formulas = random_multi_tool_environment(4)
    rules = [Rule(id=formula, formula=formula) for formula in formulas]
    analysis = analyse_coverage(environment, rules, mode="coverage", length=3, count=10, seed=1)
    shown = analysis.feasible - {*analysis.undecided}
    assert (len(shown), len(analysis.undecided)) == (3, 33)
    assert shown == analysis.suite.pairs


@pytest.mark.slow
def test_a_short_suite_lists_its_missing_pairs() -> None:
    short = analyse_coverage(ENVIRONMENT, RULES, mode="tasks", length=8, count=3, seed=1)
    assert (short.suite.traces, short.needed) == (3, None)
    assert len(short.missing) == 54 - len(short.suite.pairs)


def test_certificates_hold_in_every_short_trace(tasks: CoverageAnalysis) -> None:
    """A pair that is infeasible for any length occurs in no sequence, and occurs without one of its causes."""
    walks = [walk for length in (4, 5) for walk in accepted_sequences(product_of("tasks", length), length)]
    occurring = {pair for walk in walks for pair in adjacent_pairs(walk)}
    for certificate in tasks.certificates:
        assert certificate.scope == "any length"
        assert certificate.pair not in occurring
        assert certificate.obstacles
        for cause, steps in certificate.without.items():
            assert cause in certificate.causes
            assert certificate.pair in adjacent_pairs(steps)


@pytest.mark.slow
def test_causes_are_necessary_and_sufficient() -> None:
    """Without any one cause the pair is possible; the causes alone exclude it."""
    analysis = analyse_coverage(ENVIRONMENT, RULES, mode="tasks", length=6, count=1, seed=1)
    certificate = next(c for c in analysis.certificates if c.pair == ("RecordAuditEvent", "PayBill"))
    assert certificate.causes == ("rule record-bill", "trace mode tasks: RecordAuditEvent at most once")
    assert "in traces of any length" in str(certificate)
    assert "Without rule record-bill there is one: RecordAuditEvent, PayBill." in certificate.proof
    without = tuple(rule for rule in RULES if rule.id != "record-bill")
    assert certificate.pair in product_of("tasks", 7, without).feasible_pairs(7)


@pytest.mark.slow
def test_a_pair_that_needs_more_calls_names_the_number() -> None:
    analysis = analyse_coverage(ENVIRONMENT, RULES, mode="coverage", length=4, count=5, seed=1)
    for certificate in analysis.certificates:
        if certificate.scope == "any length":
            continue
        shortest = certificate.shortest
        assert shortest is not None
        assert len(shortest) > 4
        assert certificate.pair in adjacent_pairs(shortest)
        assert certificate.pair not in product_of("coverage", 4).feasible_pairs(len(shortest) - 1)
        assert f"{len(shortest)} at least" in str(certificate)
    assert {certificate.scope for certificate in analysis.certificates} == {"any length", "this length"}


@pytest.mark.slow
def test_a_pair_that_only_z3_finds_is_feasible(monkeypatch: pytest.MonkeyPatch) -> None:
    """If the product excludes too much, Z3 still finds the trace."""
    lost = ("CheckAuthorization", "SearchPayee")
    avoids = compile_formula(parse("G !(CheckAuthorization & X SearchPayee)"))

    def planned(spec: TraceSpec, length: int) -> Product:
        return Product(spec.environment, [*spec.automata(length), avoids])

    for module in ("coverage.coverage_analysis", "planner.synthesis"):
        monkeypatch.setattr(f"lawtrace.solver.{module}.feasible_product", planned)
    analysis = analyse_coverage(ENVIRONMENT, RULES, mode="coverage", length=6, count=40, seed=1)
    assert lost in analysis.feasible
    assert lost in analysis.suite.pairs
    assert analysis.undecided == ()


@pytest.mark.slow
def test_pairs_are_decided_under_rules_on_time_objects_and_sums() -> None:
    """Each feasible pair is in a trace that the simulator and the monitors accept; the others have a certificate."""
    rules = [
        Rule(id="authenticate", formula="forall a: G(Pay(amount == a) -> O[<= 5min] Authenticate(amount == a))"),
        Rule(id="pause", formula="G(Pay -> !O[> 0s, < 2h] Pay)"),
        Rule(id="limit", formula="G(Pay -> sum(amount of Pay [<= 1d]) <= 300)"),
        Rule(id="report", formula="G(Pay -> F[<= 1d] Report)"),
    ]
    analysis = analyse_coverage(PAYMENT_DESK, rules, mode="tasks", length=5, count=200, seed=1)
    assert (analysis.missing, analysis.undecided) == ((), ())
    found = {certificate.pair: certificate for certificate in analysis.certificates}
    assert str(found["Pay", "Pay"]) == "Pay -> Pay is impossible in traces of this length: rule pause excludes it."
    assert found["Pay", "Pay"].skeletons == ()  # no automaton knows of hours: Z3 excludes it
    reported = found["Report", "Pay"]
    assert (reported.scope, reported.skeletons) == ("any length", ("rule report",))
    assert "Of rule report what it says of tools alone is enough." in reported.proof
    assert analysis.triggered["report"] > 0


def test_trigger_counts(tasks: CoverageAnalysis) -> None:
    assert [*tasks.triggered] == [rule.id for rule in RULES]
    assert all(0 < count <= 40 for count in tasks.triggered.values())


def certifier_of(spec: TraceSpec, length: int, *states: State) -> Certifier:
    automata = {requirement.name: requirement.automaton for requirement in spec.requirements(length)}
    encodings = [BoundedEncoding(spec.environment, automata, length=length, initial=state) for state in states]
    return Certifier(spec, encodings, length)


TASKS = TraceSpec(ENVIRONMENT, tuple(RULES), "tasks")


def test_z3_decides_pairs_that_no_trace_shows() -> None:
    """Without money, the product allows a payment, no trace executes it, and Z3 names the cause."""
    pair, rich = ("PayBill", "RecordAuditEvent"), ENVIRONMENT.populate(Random(1))
    rows = tuple(Row({**row.values, "balance": 5_00}) for row in rich.tables["accounts"])
    broke = rich.with_table("accounts", rows)
    certificate = certifier_of(TASKS, 6, broke).decide(pair, planned=True)
    assert isinstance(certificate, Certificate)
    assert certificate.scope == "this length"
    assert "balance does not cover" in str(certificate)
    found = certifier_of(TASKS, 6, broke, rich).decide(pair, planned=True)
    assert isinstance(found, Found)
    assert pair in adjacent_pairs(tuple(event.tool for event in found.trace))
    assert all(keeps(rule.formula, found.trace) for rule in RULES)


def test_without_z3_only_what_rules_alone_exclude_is_certain(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lawtrace.solver.search.smt.bounded_model_checking.QUERY_RLIMIT", 1)
    certifier = certifier_of(TASKS, 8, ENVIRONMENT.populate(Random(1)))
    twice = certifier.decide(("CheckAuthorization", "CheckAuthorization"), planned=False)
    assert isinstance(twice, Certificate)
    assert twice.scope == "any length"
    assert "Z3 did not decide" in twice.proof
    assert isinstance(certifier.decide(("CheckAuthorization", "RecordAuditEvent"), planned=False), Unknown)
    assert isinstance(certifier.decide(("PayBill", "RecordAuditEvent"), planned=True), Unknown)


@pytest.mark.slow
def test_a_certificate_names_the_refusal_that_matters() -> None:
    home = load_domain("smart_home").environment
    certifier = certifier_of(TraceSpec(home, (), "coverage"), 3, home.populate(Random(1)))
    certificate = certifier.decide(("LockDoor", "LockDoor"), planned=False)
    assert isinstance(certificate, Certificate)
    assert (certificate.scope, certificate.uses_preconditions) == ("any length", True)
    assert str(certificate).endswith("LockDoor is refused: The door is already locked.")


def test_no_trace_of_that_length_is_an_error() -> None:
    with pytest.raises(SearchError, match="need more calls; ask for 5"):
        analyse_coverage(ENVIRONMENT, RULES, mode="tasks", length=2, count=1, seed=1)


@pytest.mark.slow
def test_the_same_seed_gives_the_same_analysis(tasks: CoverageAnalysis) -> None:
    assert analyse_coverage(ENVIRONMENT, RULES, mode="tasks", length=8, count=40, seed=1) == tasks


def test_every_pair_is_decided() -> None:
    for length in (2, 3):
        analysis = analyse_coverage(ENVIRONMENT, RULES, mode="coverage", length=length, count=2, seed=1)
        decided = analysis.feasible | {certificate.pair for certificate in analysis.certificates}
        assert decided == set(all_words(ENVIRONMENT.tools, repeat=2))
