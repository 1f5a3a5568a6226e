"""Resolving the environment of a run or a task file: a built-in one, or a folder named by the user.

The Python code in a folder runs only if the folder is named on the command line, or in a recipe named there. The
environment named in an event log or task file is data and never causes code to run.
"""

from pathlib import Path

from pydantic import ValidationError

from lawtrace.environments.domains.loader import Domain, is_folder, load_domain
from lawtrace.environments.regulations.documents import (
    PublishedLaw,
    all_files,
    files_digest,
    read_published_law,
    regulation_files,
)
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_files import file_digest
from lawtrace.runs.store.text_file import texts_file
from lawtrace.schemas.errors import InputError, describe_validation_error
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.rule_transforms import check_tool_subset, restrict_rules
from lawtrace.solver.rules import Rule, load_rules


def resolve_recipe(recipe: Recipe, env: str | None = None) -> Recipe:
    """The recipe with its environment resolved (``env`` overrides it) and its digest.

    Raises InputError if there is no such environment, or if its digest is not the pinned one.
    """
    if env is not None:
        recipe = recipe.model_copy(update={"environment": env})
    domain = checked_recipe_environment(recipe)
    where = str(domain.folder) if is_folder(recipe.environment) else recipe.environment
    rules = recipe.rules.model_copy(update={"sha256": curated_rules_digest(recipe)})
    tasks = recipe.tasks.model_copy(update={"texts_sha256": texts_digest(recipe, domain.environment.name)})
    regulation = recipe.regulation.model_copy(update={"sha256": regulation_digest(recipe)})
    resolved = {"environment": where, "declaration": domain.digest}
    return recipe.model_copy(update={**resolved, "regulation": regulation, "rules": rules, "tasks": tasks})


def load_recipe_environment(recipe: Recipe) -> Domain:
    """The domain of the recipe with the offered tools, without a check of its digest."""
    domain = load_domain(recipe.environment)
    if recipe.tools == "all":
        return domain
    check_tool_subset(domain.environment, recipe.tools)
    return domain.restricted_to(recipe.tools)


def curated_rules_digest(recipe: Recipe) -> str | None:
    """The digest of the recipe's rule file; None without one, since the domain's digest covers its own rules."""
    options = recipe.rules
    if options.file is None or options.sha256 is not None:
        return options.sha256
    try:
        return file_digest(options.file)
    except OSError as error:
        raise InputError(f"{options.file}: cannot be read: {error.strerror}") from error


def regulation_digest(recipe: Recipe) -> str | None:
    """The digest of the documents of the law; None without any. Raises InputError if it is not the pinned one."""
    options = recipe.regulation
    if not options.files:
        return None
    digest = files_digest(all_files(options.files))
    if options.sha256 not in {None, digest}:
        raise InputError(
            f"{options.files[0]}: the documents of the law have changed (digest was {str(options.sha256)[:12]}, is "
            f"{digest[:12]}); restore them, or start a new run"
        )
    return digest


def published_law(recipe: Recipe, domain: Domain) -> PublishedLaw | None:
    """The documents of the law for the environment; None if the recipe names none.

    Raises InputError if one cannot be read, or if they are not the pinned ones.
    """
    if regulation_digest(recipe) is None:
        return None
    rules = load_rules(domain.rules_file)
    citations = {citation for rule in rules for citation in rule.provisions} | domain.regulation.by_citation.keys()
    return read_published_law(regulation_files(recipe.regulation.files, domain.environment.name), citations)


def texts_digest(recipe: Recipe, environment: str) -> str | None:
    """The digest of the texts written by hand; None without any. Raises InputError if it is not the pinned one."""
    options = recipe.tasks
    if options.texts is None:
        return None
    file = texts_file(options.texts, environment)
    try:
        digest = file_digest(file)
    except OSError as error:
        raise InputError(f"{file}: cannot be read: {error.strerror}") from error
    if options.texts_sha256 not in {None, digest}:
        raise InputError(
            f"{file}: the texts have changed (digest was {str(options.texts_sha256)[:12]}, is {digest[:12]}); restore "
            "the file, or start a new run"
        )
    return digest


def curated_rules(recipe: Recipe, domain: Domain) -> tuple[Rule, ...]:
    """The rules of the recipe's file or of the domain, limited to the offered tools."""
    file, pinned = recipe.rules.file, recipe.rules.sha256
    if file is not None and pinned is not None and file.is_file() and file_digest(file) != pinned:
        raise InputError(
            f"{file}: the rules have changed (digest was {pinned[:12]}, is {file_digest(file)[:12]}); restore "
            "the file, or start a new run"
        )
    return _rules_over_offered_tools(recipe, domain, file or domain.rules_file)


def gold_rules(recipe: Recipe, domain: Domain) -> tuple[Rule, ...]:
    """The gold rules of the domain, limited to the offered tools; used unless the recipe has a rule file."""
    return _rules_over_offered_tools(recipe, domain, domain.gold_file)


def _rules_over_offered_tools(recipe: Recipe, domain: Domain, file: Path) -> tuple[Rule, ...]:
    rules = load_rules(file)
    return tuple(rules) if recipe.tools == "all" else restrict_rules(rules, domain.environment.tools)


def checked_recipe_environment(recipe: Recipe) -> Domain:
    """The domain of the recipe. Raises InputError if its digest is not the pinned one."""
    domain = load_recipe_environment(recipe)
    if recipe.declaration not in {None, domain.digest}:
        raise InputError(
            f"{domain.folder}: the declaration of {domain.environment.name!r} has changed (was "
            f"{str(recipe.declaration)[:12]}, is {domain.digest[:12]}); restore it, or start a new run"
        )
    return domain


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
