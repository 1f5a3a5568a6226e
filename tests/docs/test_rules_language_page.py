"""The formulas of docs/rules-language.md: they parse, print back, fit the named environment, and judge their traces."""

import ast
import json
import re
from datetime import UTC, datetime
from typing import cast

import pytest

from lawtrace.environments.domains.loader import load_domain
from lawtrace.environments.errors import FormulaError
from lawtrace.environments.events import Event
from lawtrace.solver.ltlf import parse
from lawtrace.solver.ltlf.metric import MetricMonitor, MetricRule
from lawtrace.solver.ltlf.terms import FUNCTIONS
from lawtrace.solver.rules import Rule, check_rules
from tests.support.pages import ROOT

PAGE = (ROOT / "docs" / "rules-language.md").read_text(encoding="utf-8")
EXAMPLES = re.findall(r"```rule(?: (\w+))?\n(.*?)\n\n(.*?)```", PAGE, re.DOTALL)
SECTIONS = dict(re.findall(r"^## ([^\n]+)\n(.*?)(?=^## |\Z)", PAGE, re.DOTALL | re.MULTILINE))
INLINE = re.findall(r"\| `(G [^`]+)` \|", SECTIONS["Values"]) + re.findall(
    r"^    (G\(.*)$", SECTIONS["Aggregates"], re.MULTILINE
)
VALUES = {"kept": True, "broken": False, "undetermined": None}


def test_there_are_enough_examples() -> None:
    assert len(EXAMPLES) >= 10
    assert {name for name in FUNCTIONS if f"{name}(" in " ".join(INLINE)} == set(FUNCTIONS)


@pytest.mark.parametrize("formula", [*INLINE, *(formula for _, formula, _ in EXAMPLES)])
def test_formulas_parse_and_print_back(formula: str) -> None:
    assert str(parse(str(parse(formula)))) == str(parse(formula))
    MetricRule(parse(formula))


@pytest.mark.parametrize("window", re.findall(r"`(\[[^`]+\])`", SECTIONS["Windows"]))
def test_windows_parse(window: str) -> None:
    parse(f"F{window} a")


@pytest.mark.parametrize("aggregate", re.findall(r"^\| `([^`]+)`", SECTIONS["Aggregates"], re.MULTILINE))
def test_aggregates_parse(aggregate: str) -> None:
    parse(f"forall c: G(Pay(card == c) -> {aggregate} <= 1)" if "c)" in aggregate else f"G(Pay -> {aggregate} <= 1)")


@pytest.mark.parametrize("formula", re.findall(r"^\| `([^`]+)` \|", SECTIONS["Errors"], re.MULTILINE))
def test_bad_formulas_are_refused_with_the_place(formula: str) -> None:
    with pytest.raises(FormulaError, match=r"^line 1, column \d+: "):
        parse(formula)


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
    monitor = MetricMonitor(MetricRule(parse(formula)))
    end: int | None = None
    for line in trace.splitlines():
        if line.startswith("end "):
            end = _time(line.removeprefix("end "))
        else:
            monitor.feed(_event(line))
    assert monitor.value_at_end(end) is VALUES[value]


def _time(text: str) -> int:
    return int(datetime.fromisoformat(text).replace(tzinfo=UTC).timestamp())


def _event(line: str) -> Event:
    found = re.fullmatch(r"(\S+ \S+) (\w+\(.*?\))(?: -> (.*))?", line)
    assert found, line
    call = cast("ast.Call", ast.parse(found[2], mode="eval").body)
    arguments = {str(keyword.arg): ast.literal_eval(keyword.value) for keyword in call.keywords}
    tool = cast("ast.Name", call.func).id
    return Event(tool, arguments, result=json.loads(found[3]) if found[3] else None, time=_time(found[1]))
