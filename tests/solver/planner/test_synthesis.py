"""Synthesis: every trace meets the specification."""

import os
import subprocess
import sys
from dataclasses import replace
from random import Random

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.runtime.state_diff import compare_states
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.state import Row, State
from lawtrace.schemas.errors import SearchError
from lawtrace.schemas.events import Json
from lawtrace.schemas.trace_options import TraceMode
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.planner.synthesis import synthesize
from lawtrace.solver.planner.trace_spec import mode_formulas
from lawtrace.solver.rules import Rule, load_rules
from lawtrace.solver.traces import Trace, print_program
from tests.support.trace_checks import check_trace, keeps

RULES = load_rules(load_domain("banking").rules_file)


def programs(environment: Environment, seed: int, count: int = 6, mode: TraceMode = "tasks") -> list[str]:
    traces = synthesize(environment, RULES, count=count, length=8, seed=seed, mode=mode)
    return [print_program(environment, trace.calls) for trace in traces]


@pytest.mark.parametrize("length", [5, 8, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("mode", ["tasks", "coverage"])
def test_every_trace_meets_the_spec(mode: TraceMode, length: int) -> None:
    traces = list(synthesize(ENVIRONMENT, RULES, count=15, length=length, seed=5, mode=mode))
    assert len(traces) == 15
    for trace in traces:
        check_trace(ENVIRONMENT, trace, RULES, mode_formulas(ENVIRONMENT, mode).values(), length)
        if mode == "tasks":
            assert compare_states(ENVIRONMENT, trace.initial, trace.final, trace.initial) != ()


def test_every_compliance_call_of_a_task_is_needed() -> None:
    """Without any compliance call, some rule is broken."""
    for trace in synthesize(ENVIRONMENT, RULES, count=15, length=8, seed=2):
        for number, event in enumerate(trace.events):
            if event.tool in ENVIRONMENT.compliance_tools:
                shorter = trace.events[:number] + trace.events[number + 1 :]
                assert not all(keeps(rule.formula, shorter) for rule in RULES)


def test_the_same_seed_gives_the_same_traces() -> None:
    assert programs(ENVIRONMENT, 1) == programs(ENVIRONMENT, 1)


def test_a_larger_count_keeps_the_first_traces() -> None:
    assert programs(ENVIRONMENT, 1, count=9)[:6] == programs(ENVIRONMENT, 1)


def test_different_seeds_and_modes_differ() -> None:
    drawn = [programs(ENVIRONMENT, 1), programs(ENVIRONMENT, 2), programs(ENVIRONMENT, 1, mode="coverage")]
    assert len({program for listed in drawn for program in listed}) == 18


@pytest.mark.slow
def test_nothing_depends_on_the_hash_seed() -> None:
    code = (
        "from tests.solver.planner.test_synthesis import TIGHT, programs, ENVIRONMENT\n"
        "print(programs(ENVIRONMENT, 4, 3), programs(TIGHT, 4, 3))"
    )
    printed = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            capture_output=True,
            check=True,
            text=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert printed == {f"{programs(ENVIRONMENT, 4, 3)} {programs(TIGHT, 4, 3)}\n"}


@pytest.mark.parametrize(
    ("length", "mode", "message"),
    [
        (2, "tasks", r"no compliant trace of 2 calls exists: .*something changes.* need more calls; ask for 5"),
        (0, "tasks", "ask for 5, the shortest from there on"),
    ],
)
def test_an_impossible_length_names_a_possible_one(length: int, mode: TraceMode, message: str) -> None:
    with pytest.raises(SearchError, match=message):
        list(synthesize(ENVIRONMENT, RULES, count=1, length=length, seed=0, mode=mode))


@pytest.mark.parametrize(
    "formula", ["false", "F PayBill & G !PayBill", "G !CheckAuthorization", "!F(TransferFunds | PayBill)"]
)
def test_rules_that_no_trace_keeps_are_refused(formula: str) -> None:
    rules = [*RULES, Rule(id="never", formula=formula)]
    with pytest.raises(SearchError, match=r"nor of any other length: .*rule never"):
        list(synthesize(ENVIRONMENT, rules, count=1, length=8, seed=0))


# Rules on arguments and results.

CONDITIONED = {
    "granted": "!((!CheckAuthorization(result.authorized)) U TransferFunds)",
    "recorded-bill": 'G(PayBill -> F RecordAuditEvent("BILL_PAYMENT" in events))',
    "large": "G(TransferFunds(amount > 400) -> O GetAccountStatement)",
    "very-large": "F TransferFunds(amount >= 499.5)",
    "between": "G !PayBill(amount > 20 and amount < 490)",
    "savings-first": 'G(GetAccountInformation -> O GetAccountInformation(account_type == "savings"))',
    "same-account": "G !SearchTransactions(min_amount > 5)",
}


@pytest.mark.parametrize("mode", ["tasks", pytest.param("coverage", marks=pytest.mark.slow)])
@pytest.mark.parametrize(
    "names",
    [*(pytest.param((name,), marks=pytest.mark.slow) for name in CONDITIONED), tuple(CONDITIONED)],
    ids="+".join,
)
def test_conditions_are_planned_and_realised(names: tuple[str, ...], mode: TraceMode) -> None:
    rules = [*RULES, *(Rule(id=name, formula=CONDITIONED[name]) for name in names)]
    traces = list(synthesize(ENVIRONMENT, rules, count=12, length=10, seed=4, mode=mode))
    assert len(traces) == 12
    for trace in traces:
        check_trace(ENVIRONMENT, trace, rules, mode_formulas(ENVIRONMENT, mode).values(), 10)


@pytest.mark.parametrize(
    "formula",
    [
        "F TransferFunds(amount > 500)",
        "F CheckAuthorization(not result.authorized)",
        'G !RecordAuditEvent("BILL_PAYMENT" in events) & F PayBill',
    ],
)
def test_unsatisfiable_conditions_are_refused_at_once(formula: str) -> None:
    with pytest.raises(SearchError, match="no compliant trace of 8 calls exists"):
        list(synthesize(ENVIRONMENT, [*RULES, Rule(id="never", formula=formula)], count=1, length=8, seed=0))


# Rules about the same account, transfer after transfer.

QUANTIFIED = {
    "statement-first": (
        "forall a: G(TransferFunds(from_account_number == a) -> O GetAccountStatement(account_number == a))"
    ),
    "no-return": "forall a: G(TransferFunds(from_account_number == a) -> G !TransferFunds(to_account_number == a))",
    "search-after": "forall a: G(PayBill(from_account_number == a) -> F SearchTransactions(account_number == a))",
    "payee-once": "forall p: G(PayBill(payee_id == p) -> WX G !PayBill(payee_id == p))",
    "date-once": "forall d: G(PayBill(payment_date == d) -> WX G !PayBill(payment_date == d))",
}


@pytest.mark.slow
@pytest.mark.parametrize("names", [*((name,) for name in QUANTIFIED), tuple(QUANTIFIED)[:3]], ids="+".join)
def test_quantified_rules_are_planned_and_realised(names: tuple[str, ...]) -> None:
    rules = [*RULES, *(Rule(id=name, formula=QUANTIFIED[name]) for name in names)]
    rules.append(Rule(id="two-payments", formula="F((PayBill | TransferFunds) & X F (PayBill | TransferFunds))"))
    traces = list(synthesize(ENVIRONMENT, rules, count=10, length=11, seed=6))
    assert len(traces) == 10
    for trace in traces:
        check_trace(ENVIRONMENT, trace, rules, mode_formulas(ENVIRONMENT, "tasks").values(), 11)


# Tight balances: most samples fail, so Z3 must choose the numbers.


def tight(random: Random) -> State:
    """Accounts whose balances cover one smallest payment or slightly more."""
    state = ENVIRONMENT.populate(random)
    accounts = tuple(Row({**row.values, "balance": random.randint(21_00, 26_00)}) for row in state.tables["accounts"])
    return state.with_table("accounts", accounts)


TIGHT = replace(ENVIRONMENT, name="tight", populate=tight)
MANY_PAYMENTS = [
    *RULES,
    Rule(id="two-bills", formula="F(PayBill & X F PayBill)"),
    Rule(id="a-transfer", formula="F TransferFunds"),
]


def amounts(trace: Trace) -> list[Json]:
    return [event.arguments["amount"] for event in trace.events if "amount" in event.arguments]


@pytest.mark.slow
def test_tight_balances_allow_every_trace() -> None:
    traces = list(synthesize(TIGHT, MANY_PAYMENTS, count=10, length=9, seed=3))
    assert len(traces) == 10
    for trace in traces:
        check_trace(TIGHT, trace, MANY_PAYMENTS, mode_formulas(TIGHT, "tasks").values(), 9)
        # Sampled amounts go up to 500, so Z3 chose these.
        assert all(isinstance(amount, float) and 10 <= amount <= 80 for amount in amounts(trace))
    assert programs(TIGHT, 3) == programs(TIGHT, 3)


@pytest.mark.slow
def test_balances_too_small_for_a_sequence_are_an_error() -> None:
    def empty(random: Random) -> State:
        state = ENVIRONMENT.populate(random)
        return state.with_table(
            "accounts", tuple(Row({**row.values, "balance": 1_00}) for row in state.tables["accounts"])
        )

    with pytest.raises(SearchError, match="no arguments and times for them"):
        list(synthesize(replace(ENVIRONMENT, name="empty", populate=empty), RULES, count=1, length=8, seed=0))


def test_looked_up_arguments_are_unambiguous() -> None:
    """A path into a result always refers to its only row."""
    for trace in synthesize(ENVIRONMENT, RULES, count=15, length=8, seed=9):
        for planned in trace.calls:
            for (origin,) in planned.looked_up.values():
                result = trace.events[origin.step].result
                assert isinstance(result, dict)
                rows = result[str(origin.path[0])]
                assert isinstance(rows, list)
                assert len(rows) == 1
                assert origin.path[1] == 0
