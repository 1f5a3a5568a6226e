"""The context of the stages of a recipe, in the process of a run or in a worker."""

from pathlib import Path

from lawtrace.agents.event_log import EventLog
from lawtrace.agents.models.stack import ModelClients
from lawtrace.agents.role_models import ConfiguredRoleModels
from lawtrace.environments.domains.loader import Domain
from lawtrace.environments.progress import NoProgress, StageProgress
from lawtrace.environments.sandbox import Jail
from lawtrace.prompts.loader import prompts_of
from lawtrace.runs.stages.resolve import published_law
from lawtrace.runs.stages.stage import StageContext
from lawtrace.schemas.recipe import Recipe


def stage_context(
    recipe: Recipe,
    domain: Domain,
    *,
    clients: ModelClients,
    event_log: EventLog,
    jail: Jail,
    folder: Path,
    progress: StageProgress | None = None,
    variant: str | None = None,
) -> StageContext:
    """The context of the stages of a recipe."""
    prompts = prompts_of(recipe.prompts)
    return StageContext(
        recipe=recipe,
        domain=domain,
        published=published_law(recipe, domain),
        clients=clients,
        role_models=ConfiguredRoleModels(clients, recipe.models.specs(), recipe.parameters, prompts),
        prompts=prompts,
        event_log=event_log,
        jail=jail,
        progress=progress or NoProgress(),
        folder=folder,
        variant=variant,
    )
