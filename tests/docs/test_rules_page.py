"""The rule sets of docs/rules.md have the findings that the page shows."""

import re
from pathlib import Path

import pytest

from lawtrace.solver.lint.rule_sets import analyse_rules
from lawtrace.solver.rules import Rule
from tests.support.bare_environment import bare_environment

PAGE = Path(__file__).parents[2] / "docs" / "rules.md"
EXAMPLES = re.findall(r"^```check\n(.*?)^```", PAGE.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


def test_the_page_has_examples() -> None:
    assert len(EXAMPLES) == 2


@pytest.mark.slow
@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.partition(":")[0])
def test_the_findings_are_those_shown(example: str) -> None:
    written, expected = (part.splitlines() for part in example.strip().split("\n\n"))
    rules = [Rule(id=name, formula=formula) for name, formula in (line.split(": ", 1) for line in written)]
    analysis = analyse_rules(bare_environment(rule.formula for rule in rules), rules)
    (finding,) = analysis.findings
    message, *refuting = expected
    assert f"{finding.kind}: {finding.message}" == message
    for line in refuting:
        rule, trace = line.removeprefix("without ").split(": ", 1)
        assert ", ".join(finding.without[rule]) == trace
