"""Rules with an equal in a gold set: an automaton over the environment's calls is equivalent.

Rules on time, several objects or sums have none; they count as equal if they are written the same. What rules say of
sessions is compared by `lawtrace.runs.scoring.rule_behaviour`.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from lawtrace.solver.rule_transforms import same_rule
from lawtrace.solver.rules import Rule


def unmatched_rules(extracted: Sequence[Rule], gold: Sequence[Rule]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the gold rules without an equivalent extracted rule, and of the extracted rules without a gold one."""
    missed = tuple(rule.id for rule in gold if not _has_equivalent(rule, extracted))
    return missed, tuple(rule.id for rule in extracted if not _has_equivalent(rule, gold))


def distinct_rules(rules: Iterable[Rule]) -> list[Rule]:
    """The rules without those that are equivalent to an earlier one."""
    distinct: list[Rule] = []
    for rule in rules:
        if not _has_equivalent(rule, distinct):
            distinct.append(rule)
    return distinct


def _has_equivalent(rule: Rule, others: Sequence[Rule]) -> bool:
    return any(_same_formula(str(rule.parsed), str(other.parsed)) for other in others)


@lru_cache(maxsize=10_000)
def _same_formula(one: str, other: str) -> bool:
    """Each pair of rules is compared several times."""
    return same_rule(Rule(id="one", formula=one), Rule(id="other", formula=other))
