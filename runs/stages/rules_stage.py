"""Regulation and tools to rules with provenance, and the score of extracted rules against gold rules."""

from collections.abc import Callable, Sequence

from lawtrace.agents.conversations.provenance import ExtractionProvenance
from lawtrace.agents.conversations.rule_extraction import extract_rules
from lawtrace.agents.event_log import MemoryEventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.regulations.regulation import Regulation
from lawtrace.runs.scoring.rule_comparison import distinct_rules, unmatched_rules
from lawtrace.runs.stages.stage import StageContext
from lawtrace.schemas.choices import EXTRACTION_ROLES
from lawtrace.schemas.findings import ExtractionScore
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelParameters, ModelSpec
from lawtrace.solver.rules import Rule

_BASELINE_ROUNDS = 3


async def extract_from(context: StageContext, on_provision: Callable[[], None]) -> ExtractionProvenance:
    """Extract rules over the tools of the domain, by the recipe of a run."""
    conversation, regulation = context.recipe.conversation, context.extracted_regulation
    read = context.published if regulation is not context.domain.regulation else None
    return await extract_rules(
        context.domain.environment,
        regulation,
        role_models=context.role_models,
        context=Context(stage="rules", role="policy_extractor", variant=context.variant),
        event_log=context.event_log,
        most_rounds=conversation.rounds,
        critic=conversation.critic,
        most_trials=1 + context.resumed,
        parse_warnings=read.parse_warnings if read else (),
        on_provision=on_provision,
    )


async def run_offline_extraction(
    domain: Domain, regulation: Regulation, *, on_provision: Callable[[], None] = lambda: None
) -> ExtractionProvenance:
    """Extract rules with the offline roles, as a baseline for a model's rules."""
    log = MemoryEventLog()
    offline: dict[str, ModelSpec] = dict.fromkeys(EXTRACTION_ROLES, ModelSpec("offline"))
    return await extract_rules(
        domain.environment,
        regulation,
        role_models=RoleModels(ModelClients(log), offline, ModelParameters()),
        context=Context(stage="rules", role="policy_extractor"),
        event_log=log,
        most_rounds=_BASELINE_ROUNDS,
        on_provision=on_provision,
    )


def rests_on(rules: Sequence[Rule], regulation: Regulation) -> bool:
    """Whether the text has every provision that the rules cite. A published text has no short name to compare."""
    return bool(rules) and all(
        rule.provisions
        and (not regulation.restated or rule.regulation == regulation.id)
        and all(map(regulation.cited, rule.provisions))
        for rule in rules
    )


def score_extraction(
    extracted: Sequence[Rule], gold: Sequence[Rule], provenance: ExtractionProvenance
) -> ExtractionScore:
    """Score rules as `lawtrace.runs.scoring.rule_comparison` compares them, if the gold rules rest on the text read."""
    distinct = distinct_rules(extracted)
    has_gold = rests_on(gold, provenance.regulation())
    missed, surplus = unmatched_rules(distinct, gold) if has_gold else ((), ())
    head = provenance.head
    return ExtractionScore(
        len(distinct),
        len(gold) if has_gold else None,
        len(gold) - len(missed) if has_gold else 0,
        restated=head.restated,
        source=head.source,
        extracted_by=", ".join(dict.fromkeys(head.models.values())),
        missed=missed,
        surplus=surplus,
        steps=head.funnel,
    )
