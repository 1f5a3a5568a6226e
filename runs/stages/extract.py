"""Regulation and tools to rules, and how the extracted rules compare with the curated set."""

from collections.abc import Sequence

from agents.casting import Casting
from agents.conversations.extracting import Extraction, extract_rules
from agents.ledger import Context, Ledger
from environments.catalogue import Setting
from runs.findings import ExtractionScore
from solver.ltlf import equivalent
from solver.rules import Rule

__all__ = ["extract", "score_extraction"]


async def extract(
    setting: Setting,
    *,
    casting: Casting,
    ledger: Ledger,
    most_rounds: int,
    critic: bool = True,
    variant: str | None = None,
) -> Extraction:
    """Hold the conversation of policy extractor and LTL critic over the setting's regulation."""
    return await extract_rules(
        setting.environment,
        setting.regulation,
        casting=casting,
        context=Context(stage="rules", role="policy_extractor", variant=variant),
        ledger=ledger,
        most_rounds=most_rounds,
        critic=critic,
    )


def score_extraction(extracted: Sequence[Rule], curated: Sequence[Rule], *, restated: bool) -> ExtractionScore:
    """Found means: some rule of the other set has an equivalent automaton. Text does not count."""
    distinct: list[Rule] = []
    for rule in extracted:
        # Saying a rule twice is no second find.
        if not _has_equivalent(rule, distinct):
            distinct.append(rule)
    missed = tuple(rule.id for rule in curated if not _has_equivalent(rule, distinct))
    surplus = tuple(rule.id for rule in distinct if not _has_equivalent(rule, curated))
    return ExtractionScore(len(distinct), len(curated), len(curated) - len(missed), restated, missed, surplus)


def _has_equivalent(rule: Rule, others: Sequence[Rule]) -> bool:
    return any(equivalent(rule.automaton, other.automaton) for other in others)
