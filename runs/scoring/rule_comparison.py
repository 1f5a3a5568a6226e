"""Comparison of a rule set with a gold set: a rule is found if an automaton over the environment's calls is equivalent.
Rules on time, several objects or sums have none; they are found if they are written the same.

There are two levels, because one rule of one set may equal seven of another: rules as written, and *elementary* rules,
into which a template rule that binds several tools is split (`!((!c) U (a | b))` is two).
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.violations import TemplateName
from lawtrace.solver.logic.syntax import ForAll, Formula, Or
from lawtrace.solver.logic.templates import InstructionAdherence, OperationalRestriction, match_template
from lawtrace.solver.rule_transforms import same_rule
from lawtrace.solver.rules import Rule


class RuleScore(StrictModel):
    """Numbers of distinct extracted rules, gold rules, correct extracted rules and found gold rules."""

    extracted: int
    gold: int
    right: int
    found: int

    @property
    def precision(self) -> float | None:
        return self.right / self.extracted if self.extracted else None

    @property
    def recall(self) -> float | None:
        return self.found / self.gold if self.gold else None


class ProvisionScore(StrictModel):
    """One provision cited by gold rules: which of these were found, and whether a found rule cites it too."""

    citation: str
    found: tuple[str, ...]
    missed: tuple[str, ...]
    cited: bool


class RuleSetComparison(StrictModel):
    """The comparison of a rule set with a gold set."""

    rules: RuleScore
    elementary: RuleScore
    templates: dict[TemplateName, RuleScore]
    provisions: tuple[ProvisionScore, ...]
    missed: tuple[str, ...]
    surplus: tuple[str, ...]


def compare_rule_sets(extracted: Sequence[Rule], gold: Sequence[Rule]) -> RuleSetComparison:
    """Compare two rule sets of one environment. Equivalent rules count once."""
    distinct = distinct_rules(extracted)
    missed, surplus = unmatched_rules(distinct, gold)
    templates: list[TemplateName] = ["operational restriction", "instruction adherence", "general"]
    by_template: dict[TemplateName, RuleScore] = {
        name: _score(*([rule for rule in rules if rule.template == name] for rules in (distinct, gold)))
        for name in templates
    }
    ours, theirs = distinct_rules(elementary_rules(distinct)), distinct_rules(elementary_rules(gold))
    return RuleSetComparison(
        rules=_score(distinct, gold),
        elementary=_score(ours, theirs),
        templates={name: score for name, score in by_template.items() if score.extracted or score.gold},
        provisions=_by_provision(distinct, gold),
        missed=missed,
        surplus=surplus,
    )


def unmatched_rules(extracted: Sequence[Rule], gold: Sequence[Rule]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The ids of the gold rules without an equivalent extracted rule, and of the extracted rules without a gold one."""
    missed = tuple(rule.id for rule in gold if not _has_equivalent(rule, extracted))
    return missed, tuple(rule.id for rule in extracted if not _has_equivalent(rule, gold))


def elementary_rules(rules: Iterable[Rule]) -> list[Rule]:
    """The rules with template rules that bind several tools split into one for each; the conjunction is the same."""
    split: list[Rule] = []
    for rule in rules:
        parts = _parts(rule)
        for number, formula in enumerate(parts, 1):
            changes = {"id": f"{rule.id}/{number}", "formula": str(formula)} if len(parts) > 1 else {}
            split.append(Rule.model_validate({**rule.model_dump(), **changes}))
    return split


def _parts(rule: Rule) -> list[Formula]:
    quantified = isinstance(rule.parsed, ForAll)
    match match_template(rule.parsed):
        case OperationalRestriction(check, Or(actions)) if not quantified:
            return [OperationalRestriction(check, action).formula for action in actions]
        case InstructionAdherence(Or(triggers), outcome) if not quantified:
            return [InstructionAdherence(trigger, outcome).formula for trigger in triggers]
        case _:
            return [rule.parsed]


def _score(extracted: Sequence[Rule], gold: Sequence[Rule]) -> RuleScore:
    return RuleScore(
        extracted=len(extracted),
        gold=len(gold),
        right=sum(_has_equivalent(rule, gold) for rule in extracted),
        found=sum(_has_equivalent(rule, extracted) for rule in gold),
    )


def distinct_rules(rules: Iterable[Rule]) -> list[Rule]:
    """The rules without those that are equivalent to an earlier one."""
    distinct: list[Rule] = []
    for rule in rules:
        if not _has_equivalent(rule, distinct):
            distinct.append(rule)
    return distinct


def _has_equivalent(rule: Rule, others: Sequence[Rule]) -> bool:
    return any(_same_formula(rule.formula, other.formula) for other in others)


@lru_cache(maxsize=10_000)
def _same_formula(one: str, other: str) -> bool:
    """Each pair of rules is compared several times, for the set, its elementary rules, templates and provisions."""
    return same_rule(Rule(id="one", formula=one), Rule(id="other", formula=other))


def _by_provision(extracted: Sequence[Rule], gold: Sequence[Rule]) -> tuple[ProvisionScore, ...]:
    citations = list(dict.fromkeys(citation for rule in gold for citation in rule.provisions))
    cited = {citation for rule in extracted for citation in rule.provisions}
    scores: list[ProvisionScore] = []
    for citation in citations:
        own = [rule for rule in gold if citation in rule.provisions]
        found = tuple(rule.id for rule in own if _has_equivalent(rule, extracted))
        missed = tuple(rule.id for rule in own if rule.id not in found)
        scores.append(ProvisionScore(citation=citation, found=found, missed=missed, cited=citation in cited))
    return tuple(scores)
