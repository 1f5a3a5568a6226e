"""Cross references of a small rule set checked by hand, and of every built-in rule set."""

import pytest

from lawtrace.environments.domains.banking import ENVIRONMENT
from lawtrace.environments.regulations.regulation import Provision, Regulation
from lawtrace.solver.declarations.loader import BUILT_IN_DOMAINS, load_domain
from lawtrace.solver.lint.cross_references import CrossReference, cross_reference
from lawtrace.solver.rules import Rule, load_rules

REGULATION = Regulation(
    id="R",
    title="T",
    source="S",
    restated=True,
    provisions=tuple(Provision(citation=citation, text="Words.") for citation in ("1", "2", "3")),
)
RULES = [
    Rule(id="a", formula="!((!CheckAuthorization) U PayBill)", regulation="R", provisions=("1", "2")),
    Rule(id="b", formula="G(PayBill -> F RecordAuditEvent)", regulation="R", provisions=("2",)),
    Rule(id="c", formula="F SearchPayee", regulation="other", provisions=("3",)),
    Rule(id="d", formula="F SearchPayee"),
]


def test_cross_references_of_a_small_rule_set() -> None:
    found = cross_reference(ENVIRONMENT, REGULATION, RULES)
    assert {citation: set(linked.targets) for citation, linked in found.provisions.items()} == {
        "1": {"CheckAuthorization", "PayBill"},
        "2": {"CheckAuthorization", "PayBill", "RecordAuditEvent"},
        "3": set(),
    }
    assert found.provisions["2"].rules == ("a", "b")
    assert found.tools["PayBill"] == CrossReference(("a", "b"), ("1", "2"))
    assert found.tools["SearchPayee"] == CrossReference(("c", "d"), ())
    assert found.tools["TransferFunds"] == CrossReference((), ())


@pytest.mark.parametrize("name", BUILT_IN_DOMAINS)
def test_the_directions_agree(name: str) -> None:
    domain = load_domain(name)
    found = cross_reference(domain.environment, domain.regulation, load_rules(domain.rules_file))
    forth = {(citation, tool) for citation, linked in found.provisions.items() for tool in linked.targets}
    back = {(citation, tool) for tool, linked in found.tools.items() for citation in linked.targets}
    back = {(citation, tool) for citation, tool in back if citation in found.provisions}
    assert forth == back
    assert forth
