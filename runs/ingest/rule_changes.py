"""What becomes of each rule from one version of a rule set to the next."""

from collections.abc import Sequence
from typing import Literal

from lawtrace.solver.rules import Rule

RuleChange = Literal["same", "reworded", "added", "removed"]
"""What becomes of a rule: ``reworded`` if its formula is another one. Rules are told apart by their ids."""


def compare_rules(old: Sequence[Rule], new: Sequence[Rule]) -> dict[str, RuleChange]:
    """What becomes of each rule, by id: the new rules in order, then those that are removed."""
    before, after = {rule.id: rule for rule in old}, {rule.id: rule for rule in new}
    changes: dict[str, RuleChange] = {}
    for name, rule in after.items():
        earlier = before.get(name)
        changes[name] = "added" if earlier is None else "same" if earlier.parsed == rule.parsed else "reworded"
    return {**changes, **{name: "removed" for name in before if name not in after}}
