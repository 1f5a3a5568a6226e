"""Regulation and tools to rules, and the score of extracted rules beside gold rules."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from lawtrace.agents.conversations.formalization import Formalizing
from lawtrace.agents.conversations.formalized_group import FormalizedGroup, GivenJudgment, latest_answers
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles.extraction_roles import ANNOTATOR, LTL_CRITIC, POLICY_EXTRACTOR
from lawtrace.environments.regulations.regulation import Provision
from lawtrace.runs.scoring.rule_behaviour import JudgedSet, is_about, score_behaviour
from lawtrace.runs.scoring.session_bank import make_sessions
from lawtrace.runs.stages.stage import StageContext, StageInputs
from lawtrace.runs.store.stage_files import read_rows
from lawtrace.schemas.findings import ExtractionScore
from lawtrace.schemas.log_entries import Context
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.solver.rules import Rule

SCORED_REFERENCES = 5
"""On how many lawful sessions, with their mutants, the rules of a run are scored."""


async def formalize(
    context: StageContext, groups: Mapping[str, Sequence[Provision]], on_group: Callable[[], None]
) -> list[FormalizedGroup]:
    """Write rules over the tools of the domain, by the recipe of a run."""
    recipe, options = context.recipe, context.recipe.rules
    critic = recipe.models.ltl_critic

    def models_of(spec: ModelSpec) -> RoleModels:
        models = {POLICY_EXTRACTOR.name: spec, ANNOTATOR.name: spec, LTL_CRITIC.name: spec}
        if critic is not None:
            models[LTL_CRITIC.name] = ModelSpec.parse(critic)
        return RoleModels(context.clients, models, recipe.parameters, context.prompts)

    formalizing = Formalizing(
        environment=context.domain.environment,
        regulation=context.extracted_regulation,
        models_of=models_of,
        formalizers=[*map(ModelSpec.parse, recipe.formalizers)],
        annotators=[*map(ModelSpec.parse, options.annotators)],
        answers=latest_answers(read_rows(options.answers, GivenJudgment) if options.answers else ()),
        context=Context(stage="rules", role=POLICY_EXTRACTOR.name, variant=context.variant),
        event_log=context.event_log,
        rounds=recipe.conversation.rounds,
        feedback=options.feedback,
        trials=1 + context.resumed,
        recorded=context.clients.recorded_message,
    )
    return await formalizing.groups(groups, on_group)


def count_extraction(groups: Sequence[FormalizedGroup], extracted: Sequence[Rule]) -> ExtractionScore:
    """Count provisions and rules."""
    return ExtractionScore(
        rules=len(extracted),
        provisions=sum(len(group.provisions) for group in groups),
        bound=len({citation for rule in extracted for citation in rule.provisions}),
        models=", ".join(dict.fromkeys(one.model for group in groups for one in group.formalizations)),
    )


def score_sessions(
    score: ExtractionScore, groups: Sequence[FormalizedGroup], extracted: Sequence[Rule], inputs: StageInputs
) -> ExtractionScore:
    """Add what the rules say of sessions, beside the curated rules about the same provisions."""
    environment, scope = inputs.domain.environment, [citation for group in groups for citation in group.provisions]
    gold = [rule for rule in inputs.rules if rule.source == "law" and is_about(rule, scope)]
    if not gold:
        return score
    seed = inputs.recipe.seed
    sessions = make_sessions(environment, gold, inputs.rules, count=SCORED_REFERENCES, seed=seed)
    found = score_behaviour(environment, JudgedSet(extracted, sessions), JudgedSet(gold, sessions), sessions)
    caught = found.mutants.count + found.breaches.count, found.mutants.of + found.breaches.of
    return replace(score, kept=(found.references.count, found.references.of), caught=caught)
