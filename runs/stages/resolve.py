"""Resolving the environment of a run or a task file: a built-in one, or a folder named by the user.

The Python code in a folder runs only if the folder is named on the command line, or in a recipe named there. The
environment named in an event log or task file is data and never causes code to run.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import ValidationError

from lawtrace.environments.regulations.published_law import (
    all_files,
    files_digest,
    read_published_law,
    regulation_files,
)
from lawtrace.prompts.loader import prompts_of
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import file_digest
from lawtrace.runs.store.task_file import find_task_file, read_tasks, select_tasks
from lawtrace.runs.tasks import Task, curated_rules
from lawtrace.runs.variants import Variant, variants_of
from lawtrace.schemas.errors import InputError, describe_validation_error, input_errors
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import Domain, is_folder, load_domain
from lawtrace.solver.rule_transforms import check_tool_subset, restrict_rules
from lawtrace.solver.rules import Rule, load_rules


@dataclass(frozen=True, slots=True)
class ResolvedRecipe:
    """A recipe with the digests of all that it names, read once when a command begins, and each variant with the inputs
    of its stages. A recipe without an ablation is its own single variant."""

    recipe: Recipe
    variants: tuple[tuple[Variant, StageInputs], ...]

    @property
    def inputs(self) -> StageInputs:
        """The inputs of a recipe without an ablation."""
        ((_, inputs),) = self.variants
        return inputs


def resolve_recipe(recipe: Recipe, env: str | None = None) -> ResolvedRecipe:
    """Read the environment of a recipe (``env`` overrides it), its rules, its prompts and its documents of the law.

    Raises InputError if one is missing, or if its digest is not the pinned one.
    """
    if env is not None:
        recipe = recipe.model_copy(update={"environment": env})
    domain = load_domain(recipe.environment)
    where = str(domain.folder) if is_folder(recipe.environment) else recipe.environment
    _check_declaration(recipe, domain)
    rules = recipe.rules.model_copy(update={"sha256": curated_rules_digest(recipe)})
    regulation = recipe.regulation.model_copy(update={"sha256": regulation_digest(recipe)})
    resolved = {"environment": where, "declaration": domain.digest}
    recipe = recipe.model_copy(update={**resolved, "regulation": regulation, "rules": rules})
    domains = {where: domain}
    variants: list[tuple[Variant, StageInputs]] = []
    for variant in variants_of(recipe):
        name = variant.recipe.environment
        domains[name] = domains.get(name) or load_domain(name)
        variants.append((variant, inputs_of(variant.recipe, domains[name])))
    return ResolvedRecipe(recipe if recipe.ablation else variants[0][1].recipe, tuple(variants))


def inputs_of(recipe: Recipe, domain: Domain) -> StageInputs:
    """The inputs of the stages of a recipe without an ablation. ``domain``: its environment, with all tools."""
    _check_declaration(recipe, domain)
    domain = offered_tools(recipe, domain)
    tasks, given = recipe.tasks, list[Task]()
    if tasks.file is not None:
        place = find_task_file(tasks.file, recipe.environment)
        digest = _digest_of(place, tasks.sha256, "its tasks have")
        recipe = recipe.model_copy(update={"tasks": tasks.model_copy(update={"sha256": digest})})
        given = select_tasks(read_tasks(place, recipe.environment)[0], tasks, place)
    dockets = tasks.trace_mode == "dockets" or any(task.docket is not None for task in given)
    domain = domain.for_dockets() if dockets else domain
    curated, file = curated_rules(domain, dockets=dockets), recipe.rules.file
    curated_rules_digest(recipe)  # checks the file
    published = None
    if regulation_digest(recipe) is not None:
        citations = {citation for rule in curated for citation in rule.provisions}
        citations |= domain.regulation.by_citation.keys()
        published = read_published_law(regulation_files(recipe.regulation.files, domain.environment.name), citations)
    return StageInputs(
        recipe=recipe,
        domain=domain,
        rules=rules_over_offered_tools(recipe, domain, load_rules(file) if file else curated),
        prompts=prompts_of(recipe.prompts),
        published=published,
        given=tuple(given),
    )


def offered_tools(recipe: Recipe, domain: Domain) -> Domain:
    """The domain with the tools that the recipe offers."""
    if recipe.tools == "all":
        return domain
    check_tool_subset(domain.environment, recipe.tools)
    return domain.restricted_to(recipe.tools)


def curated_rules_digest(recipe: Recipe) -> str | None:
    """The digest of the recipe's rule file; None without one, since the domain's digest covers its own rules. Raises
    InputError if it is not the pinned one."""
    options = recipe.rules
    return None if options.file is None else _digest_of(options.file, options.sha256, "the rules have")


def regulation_digest(recipe: Recipe) -> str | None:
    """The digest of the documents of the law; None without any. Raises InputError if it is not the pinned one."""
    options = recipe.regulation
    if not options.files:
        return None
    digest = files_digest(all_files(options.files))
    _check_pinned(options.files[0], options.sha256, digest, "the documents of the law have")
    return digest


def _digest_of(file: Path, pinned: str | None, what: str) -> str:
    with input_errors(file):
        digest = file_digest(file)
    _check_pinned(file, pinned, digest, what)
    return digest


def _check_pinned(place: Path, pinned: str | None, digest: str, what: str) -> None:
    """Raises InputError if a digest is not the one that the recipe has."""
    if pinned not in {None, digest}:
        raise InputError(
            f"{place}: {what} changed (was {str(pinned)[:12]}, is {digest[:12]}); restore what was there, or start a "
            "new run"
        )


def rules_over_offered_tools(recipe: Recipe, domain: Domain, rules: tuple[Rule, ...]) -> tuple[Rule, ...]:
    """Of the rules those about the tools that the recipe offers."""
    return rules if recipe.tools == "all" else restrict_rules(rules, domain.environment.tools)


def _check_declaration(recipe: Recipe, domain: Domain) -> None:
    what = f"the declaration of {domain.environment.name!r} has"
    _check_pinned(domain.folder, recipe.declaration, domain.digest, what)


def recorded_recipe(event_log: EventLogFile, env: str | None = None) -> Recipe:
    """The recipe of a recorded run; ``env`` is the folder of its environment, if it is not built in.

    Raises InputError if ``env`` is needed and missing, or if the event log does not belong to a whole run.
    """
    folder, recorded = event_log.path.parent, event_log.recipe
    if isinstance(recorded, dict) and "stage" in recorded:
        raise InputError(
            f"{folder}: recorded by the single stage {recorded['stage']!r}; run that command again to continue"
        )
    try:
        recipe = Recipe.model_validate(recorded)
    except ValidationError as error:
        raise InputError(
            f"{folder}: its recipe cannot be read ({describe_validation_error(error)}); resume with the "
            "lawtrace version that started it, or start a new run"
        ) from error
    return with_allowed_environment(recipe, env, folder)


def with_allowed_environment(recipe: Recipe, env: str | None, source: Path) -> Recipe:
    """A recipe that was read from a file, with the environment's folder that the user gave.

    Raises InputError if the recipe names a folder and the user none: what a file says never causes code to run.
    """
    if not is_folder(recipe.environment):
        return recipe
    if env is None:
        raise InputError(
            f"{source}: the environment of this run is not built in and runs Python; allow it with --env "
            f"{recipe.environment}"
        )
    return recipe.model_copy(update={"environment": env})
