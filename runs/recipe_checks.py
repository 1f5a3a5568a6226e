"""What is checked before a run begins: the inputs of its recipe, the prices and the access to its models."""

import os
from collections.abc import Iterable
from pathlib import Path
from random import Random

from lawtrace.agents.models.endpoints import access_to, unlisted_model
from lawtrace.environments.logs import get_logger
from lawtrace.runs.call_plan import CallPlan
from lawtrace.runs.stages.resolve import ResolvedRecipe, resolve_recipe
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.tasks import task_mode
from lawtrace.schemas.call_options import CallOptions
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.model_spec import ENDPOINTS, ModelSpec
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.planner.trace_spec import check_constraints, check_difficulty
from lawtrace.solver.rules import check_rules

log = get_logger(__name__)


def prepare_recipe(
    recipe: Recipe, env: str | None = None, *, whole_run: bool = True, simulated: bool = True
) -> ResolvedRecipe:
    """Resolve a recipe (``env`` overrides its environment), and check its inputs before a folder is made.

    ``whole_run``: models attempt the tasks that are made, so the law they are given must contain what the rules cite.
    ``simulated``: calls are simulated, so the environment must have a state.

    Raises InputError.
    """
    resolved = resolve_recipe(recipe, env)
    every = [inputs for _, inputs in resolved.variants]
    shown = (one.recipe.attempts.shows_documents or one.recipe.rules.regulation == "text" for one in every)
    if whole_run and recipe.regulation.files and not any(shown):
        raise InputError(
            "regulation.files is not used: set attempts.regulation = 'text' for the models under test, or "
            "rules.regulation = 'text' for the extraction"
        )
    if recipe.tasks.file and (recipe.rules.file or recipe.rules.source == "extracted"):
        raise InputError("tasks.file: its tasks have rules; leave out rules.file and rules.source")
    if whole_run and not recipe.tasks.file and (recipe.tasks.ids or recipe.tasks.limit):
        raise InputError("--task and --limit choose from the tasks of --tasks FILE; --count says how many to build")
    for inputs in every:
        environment, options = inputs.domain.environment, inputs.recipe.tasks
        check_rules(inputs.rules, environment, inputs.domain.regulation)
        if whole_run:
            _check_law(inputs)
        inputs.prompts.check()
        check_constraints(options.constraints, environment)
        check_difficulty(options.difficulty, task_mode(options, environment))
        if simulated:
            environment.populate(Random(inputs.recipe.seed))
        check_prices(inputs.recipe, models_of_recipe(inputs.recipe))
    return resolved


def _check_law(inputs: StageInputs) -> None:
    """Check that the models are shown what the rules cite, and that there is a text wherever one is read."""
    recipe, law, source = inputs.recipe, inputs.law, inputs.recipe.rules.regulation
    if source == "text" and not recipe.regulation.files:
        raise InputError("rules.regulation = 'text' needs the documents of the law: name them in regulation.files")
    if recipe.rules.source == "curated":
        own = [rule for task in inputs.given if task.published is None for rule in task.rules]
        law.check(own if inputs.given else inputs.rules)
        return
    law.check(())
    if law.form in {"text", "restated"} and law.form != source:
        raise InputError(
            f"the rules are extracted from another text (rules.regulation = {source!r}) than the models are shown "
            f"(attempts.regulation = {law.form!r}); set both to the same"
        )


def models_of_recipe(recipe: Recipe) -> list[str]:
    """The models of the recipe, for roles and under test."""
    return [*map(str, recipe.models.specs().values()), *recipe.attempts.models]


def check_prices(recipe: CallOptions, models: Iterable[str]) -> None:
    """Check that every model has a price if there is a budget of money. Raises InputError with the model."""
    if recipe.budget.money is None:
        return
    for model in dict.fromkeys(models):
        if ModelSpec.parse(model).provider in ENDPOINTS and model not in recipe.prices:
            raise InputError(f'budget.money: what does {model!r} cost? Give its price in [prices."{model}"]')


def check_access(plan: CallPlan, run: str, tested: Iterable[str] = ()) -> None:
    """Check before the first call that every model has its address and key, or its event log to replay, and that the
    agents among the models under test can be imported. A model that its endpoint does not list is a warning: some
    endpoints answer to other names. ``run``: its name.

    Raises InputError with what is missing.
    """
    for spec in dict.fromkeys(map(ModelSpec.parse, (*(line.model for line in plan.calls), *tested))):
        if spec.provider == "replay":
            EventLogFile.open(Path(spec.name)).close()
        elif spec.provider in ENDPOINTS:
            access_to(spec.provider, os.environ, spec)
            if warning := unlisted_model(spec, os.environ):
                log.warning(warning, run=run)
        elif spec.provider == "python":
            from lawtrace.agents.own_agent import load_agent  # imports AutoGen, which a dry run does not

            load_agent(spec.name)
