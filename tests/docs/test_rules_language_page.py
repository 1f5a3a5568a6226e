"""The formulas of docs/rules-language.md: they parse, print back, fit the named environment, and judge their traces."""

import re

import pytest

from lawtrace.runs.scoring.judge import judge_rules
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.logic.parser import parse
from lawtrace.solver.logic.terms import FUNCTIONS
from lawtrace.solver.monitoring.first_order import FirstOrderMonitor, FirstOrderRule
from lawtrace.solver.rules import Rule, check_rules
from lawtrace.solver.trace_notation import read_trace
from tests.support.pages import ROOT

PAGE = (ROOT / "docs" / "rules-language.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```rule(?: (\w+))?\n(.*?)\n\n(.*?)```", PAGE, re.DOTALL)
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
INLINE = re.findall(r"\| `(G [^`]+)` \|", SECTIONS["Values"]) + re.findall(
    r"^    (G\(.*)$", SECTIONS["Aggregates"], re.MULTILINE
)
VALUES = {"kept": True, "broken": False, "undetermined": None}


def test_there_are_enough_examples() -> None:
    assert len(EXAMPLES) >= 9
    assert {name for name in FUNCTIONS if f"{name}(" in " ".join(INLINE)} == set(FUNCTIONS)


@pytest.mark.parametrize("formula", [*INLINE, *(formula for _, formula, _ in EXAMPLES)])
def test_formulas_parse_and_print_back(formula: str) -> None:
    assert str(parse(str(parse(formula)))) == str(parse(formula))
    FirstOrderRule(parse(formula))


@pytest.mark.parametrize("window", re.findall(r"`(\[[^`]+\])`", SECTIONS["Windows"]))
def test_windows_parse(window: str) -> None:
    parse(f"F{window} a")


@pytest.mark.parametrize("aggregate", re.findall(r"^\| `([^`]+)`", SECTIONS["Aggregates"], re.MULTILINE))
def test_aggregates_parse(aggregate: str) -> None:
    parse(f"forall c: G(Pay(card == c) -> {aggregate} <= 1)" if "c)" in aggregate else f"G(Pay -> {aggregate} <= 1)")


@pytest.mark.parametrize(("environment", "formula", "_"), [example for example in EXAMPLES if example[0]])
def test_formulas_fit_the_environment(environment: str, formula: str, _: str) -> None:
    check_rules([Rule(id="r", formula=formula)], load_domain(environment).environment)


@pytest.mark.parametrize(
    ("formula", "value", "trace"),
    [
        (formula, value, trace)
        for _, formula, traces in EXAMPLES
        for value, trace in re.findall(r"(kept|broken|undetermined)\n((?:(?:\d|end).*\n)+)", traces)
    ],
)
def test_traces_are_judged(formula: str, value: str, trace: str) -> None:
    monitor, written = FirstOrderMonitor(FirstOrderRule(parse(formula))), read_trace(trace)
    for event in written.events:
        monitor.feed(event)
    assert monitor.verdict_at_end(written.end) is VALUES[value]


EVIDENCE = [
    'call 1 is FindBreach(breach == "B-1"); no NotifyAuthority(breach == "B-1") from 2026-03-06 09:00:00 to 2026-03-09 '
    '09:00:00; call 3 is NotifyAuthority(breach == "B-1"): too late',
    'call 2 is Pay(amount == 20 and payee == "P-2"); no Authenticate(amount == 20 and payee == "P-2" and '
    "result.passed) from 2026-03-06 08:56:00 to 2026-03-06 09:01:00",
    "<= 150 is false: the value is 260 (50, 50, 50, 50, 50, 10) [calls 1, 2, 3, 4, 5 and 6]",
    'call 1 is GiveConsent(person == "Ann"); call 2 is WithdrawConsent(person == "Ann"): interruption',
    'for o = "O-1", s = "Ann": call 2 is Verify(operation == "O-1" and staff == "Ann"); '
    'call 1 is Initiate(operation == "O-1" and staff == "Ann")',
    ">= 5 is true: the value is 5 [calls 1, 2, 3, 4 and 5]; call 6 is not BlockAccess",
    'no Extend(request == "Q-1") from 2026-01-31 09:00:00 to 2026-02-28 23:59:59',
    'call 1 is PayBill; message m1 is user("yes" in words); message m2 is user: interruption',
    "sum(amount of PayBill [<= 24h]) <= 1000 is false: the value is 1200 (600, 600) [calls 2 and 3]",
]
"""What the violation of each example says, in part."""


@pytest.mark.parametrize(("example", "said"), [*zip(EXAMPLES, EVIDENCE, strict=True)])
def test_violations_say_which_events_count(example: tuple[str, str, str], said: str) -> None:
    _, formula, traces = example
    broken = re.search(r"broken\n((?:\d.*\n)+)", traces)
    assert broken
    (row,) = judge_rules([Rule(id="r", formula=formula)], read_trace(broken[1]).events, (), explained=True)
    assert said in row.explanation
    first = row.violations[0]
    assert first.step in first.evidence[0].steps
    assert all(step <= (first.certain or first.step) for found in first.evidence for step in found.steps)


def test_an_open_duty_says_what_is_due() -> None:
    rule = Rule(id="r", formula=EXAMPLES[0][1])
    (row,) = judge_rules(
        [rule], read_trace('2026-03-06 09:00 FindBreach(breach="B-1")').events, (), complete=False, explained=True
    )
    assert row.undetermined.endswith('NotifyAuthority(breach == "B-1") is due by 2026-03-09 09:00:00')
    assert [found.role for found in row.violations[0].evidence] == ["occasion", "due"]
