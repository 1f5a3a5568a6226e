"""Regulation and tools to rules with their trail, and how the extracted rules compare with the curated set."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lawtrace.agents.aside import aside
from lawtrace.agents.casting import Casting, OfflineCasting
from lawtrace.agents.clients.budget import BudgetSpent
from lawtrace.agents.conversations.drawing import draw_rules
from lawtrace.agents.conversations.settling import settle_rules
from lawtrace.agents.conversations.trail import TrailHead, measure_funnel
from lawtrace.agents.ledger import Context, Ledger, MemoryLedger
from lawtrace.agents.roles import RoleName
from lawtrace.environments.folder import Setting
from lawtrace.runs.findings import ExtractionScore
from lawtrace.runs.trails import Trail
from lawtrace.solver.ltlf import equivalent
from lawtrace.solver.rules import Rule

EXTRACTING: tuple[RoleName, ...] = (
    "scope_aligner",
    "verifiability_refiner",
    "tool_mapper",
    "policy_extractor",
    "ltl_critic",
)
"""The roles that take part."""
_BASELINE_ROUNDS = 3


@dataclass(frozen=True, slots=True)
class Extracted:
    """The rules that were accepted, and the way to them.

    Attributes:
        failure: why provisions are left that nobody got through, or None.
        stopped_by: the budget that is spent, if that is why.
    """

    rules: tuple[Rule, ...]
    trail: Trail
    failure: str | None
    stopped_by: BudgetSpent | None = None


async def extract(
    setting: Setting,
    *,
    casting: Casting,
    ledger: Ledger,
    most_rounds: int,
    critic: bool = True,
    variant: str | None = None,
    models: Mapping[str, str] | None = None,
    doubts: Sequence[str] = (),
    most_trials: int = 1,
    on_provision: Callable[[], None] = lambda: None,
) -> Extracted:
    """Hold the conversations over the setting's regulation.

    ``models`` (by role) and ``doubts`` (of the reader of the document) are for the trail; ``most_trials`` as in
    `lawtrace.agents.conversations.drawing.draw_rules`.
    """
    drawing = await draw_rules(
        setting.environment,
        setting.regulation,
        casting=casting,
        context=Context(stage="rules", role="policy_extractor", variant=variant),
        ledger=ledger,
        most_rounds=most_rounds,
        critic=critic,
        most_trials=most_trials,
        on_provision=on_provision,
    )
    settled = await aside(lambda: settle_rules(setting.environment, setting.regulation, drawing))
    fates = [provision.fate for provision in settled.provisions]
    head = TrailHead(
        regulation=setting.regulation.id,
        title=setting.regulation.title,
        source=setting.regulation.source,
        restated=setting.regulation.restated,
        environment=setting.environment.name,
        models=dict(models or {}),
        funnel=measure_funnel(fates, settled.candidates),
        stopped=str(drawing.stopped_by) if drawing.stopped_by else None,
        doubts=tuple(doubts),
    )
    trail = Trail(head, settled.provisions, settled.candidates, tuple(drawing.pieces))
    failure = trail.unread[0].fate.because if trail.unread else None
    return Extracted(settled.rules, trail, failure, drawing.stopped_by)


async def extract_baseline(setting: Setting, *, on_provision: Callable[[], None] = lambda: None) -> Extracted:
    """What the stand-ins without a model draw from the setting's regulation: what a model's rules stand beside."""
    return await extract(
        setting,
        casting=OfflineCasting(),
        ledger=MemoryLedger(),
        most_rounds=_BASELINE_ROUNDS,
        models=dict.fromkeys(EXTRACTING, "offline"),
        on_provision=on_provision,
    )


def score_extraction(
    extracted: Sequence[Rule], curated: Sequence[Rule], *, restated: bool, trail: Trail | None = None
) -> ExtractionScore:
    """Found means: some rule of the other set has an equivalent automaton. Text does not count."""
    distinct: list[Rule] = []
    for rule in extracted:
        # Saying a rule twice is no second find.
        if not _has_equivalent(rule, distinct):
            distinct.append(rule)
    missed = tuple(rule.id for rule in curated if not _has_equivalent(rule, distinct))
    surplus = tuple(rule.id for rule in distinct if not _has_equivalent(rule, curated))
    return ExtractionScore(
        len(distinct),
        len(curated),
        len(curated) - len(missed),
        restated,
        missed,
        surplus,
        trail.funnel if trail else None,
    )


def _has_equivalent(rule: Rule, others: Sequence[Rule]) -> bool:
    return any(equivalent(rule.automaton, other.automaton) for other in others)
