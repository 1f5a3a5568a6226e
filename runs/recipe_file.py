"""Loading a recipe file. Errors name the key, and for an unknown key the nearest known one.

The texts of the user's prompt files are loaded too, so that a run can be repeated without the files.
"""

import difflib
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar, cast

from pydantic import BaseModel, ValidationError

from lawtrace.environments.toml_file import read_toml
from lawtrace.prompts.loader import PUBLISHED
from lawtrace.schemas.call_options import BUILT_IN_PROMPT, CallOptions, PromptOptions
from lawtrace.schemas.errors import InputError, describe_validation_error, near_names
from lawtrace.schemas.events import Json
from lawtrace.schemas.model_spec import ModelSpec
from lawtrace.schemas.recipe import Recipe, RoleModelOptions, RuleOptions
from lawtrace.solver.declarations.loader import is_folder

Checked = TypeVar("Checked", bound=BaseModel)
Words = TypeVar("Words", bound=PromptOptions)


def quickstart(environment: str | None = None) -> Recipe:
    """The recipe of `lawtrace run` without one: the defaults, and in banking rules of real models from a recording."""
    if environment not in {None, "banking"}:
        return Recipe()
    rules = RuleOptions(
        provisions=("Article 64", "Article 68", "Article 72", "Article 97"),
        formalizers=("replay:banking#first", "replay:banking#second"),
        annotators=("replay:banking#reader",),
    )
    return Recipe(rules=rules, models=RoleModelOptions(ltl_critic="replay:banking#critic"))


def load_recipe(path: Path) -> Recipe:
    """Read a recipe. Raises InputError with the file, the key, and for an unknown key the nearest known one."""
    folder = path.resolve().parent
    recipe = read_recipe(path, Recipe)
    rules, law, tasks = recipe.rules, recipe.regulation, recipe.tasks
    axes = {axis: tuple(_located(axis, value, folder) for value in values) for axis, values in recipe.ablation.items()}
    recipe = recipe.model_copy(
        update={
            "regulation": law.model_copy(update={"files": tuple(folder / file for file in law.files)}),
            "rules": rules.model_copy(
                update={"file": rules.file and folder / rules.file, "answers": rules.answers and folder / rules.answers}
            ),
            "tasks": tasks.model_copy(update={"file": tasks.file and _located_tasks(tasks.file, folder)}),
            "prompts": read_prompt_files(recipe.prompts, folder),
            "ablation": axes,
        }
    )
    if not is_folder(recipe.environment):
        return recipe
    if Path(recipe.environment).is_absolute():
        raise InputError(
            f"{path}: environment: {recipe.environment!r} is an absolute path; name the folder relative to the "
            "recipe, or omit the key and pass --env FOLDER"
        )
    return recipe.model_copy(update={"environment": str(folder / recipe.environment)})


def _located_tasks(file: Path, folder: Path) -> Path:
    """A task file beside a recipe; the name of a release stays as it is."""
    return file if file.name == str(file) and not (folder / file).exists() else folder / file


def _located(axis: str, value: Json, folder: Path) -> Json:
    """The value of an axis: of prompts the text of the file, of other files the path below the folder."""
    if axis.startswith("prompts."):
        return _read_prompt_file(f"ablation: {axis}", value, folder)
    if axis not in {"regulation.files", "rules.file"}:
        return value
    if isinstance(value, list):
        return [_located(axis, part, folder) for part in value]
    return str(folder / value) if isinstance(value, str) else value


def read_prompt_files(prompts: Words, folder: Path) -> Words:
    """The text of each prompt file in place of its name. Raises InputError if one cannot be read."""
    named: dict[str, Json] = prompts.model_dump(exclude={"source"}, exclude_none=True)
    words = {role: _read_prompt_file(f"prompts.{role}", name, folder) for role, name in named.items()}
    return prompts.model_copy(update=words)


def _read_prompt_file(place: str, name: Json, folder: Path) -> str:
    if not isinstance(name, str):
        raise InputError(f"{place}: name a prompt file, {BUILT_IN_PROMPT!r} or {PUBLISHED!r}")
    if name in (BUILT_IN_PROMPT, PUBLISHED) or "\n" in name:
        return name
    try:
        return (folder / name).read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{place}: {folder / name} cannot be read as a prompt file: {error}") from error


def read_recipe(path: Path, kind: type[Checked]) -> Checked:
    """The recipe of a kind, without resolving its files. Raises InputError as `load_recipe` does."""
    raw = read_toml(path)
    return validate_options(kind, raw, str(path))


def with_values(recipe: Checked, values: Mapping[str, object], place: str) -> Checked:
    """The recipe with other values for some dotted keys (``attempts.shield``); None leaves a key unchanged. Keys
    that are not set stay so.

    Raises InputError naming the place and the key.
    """
    raw: dict[str, Any] = recipe.model_dump(exclude_unset=True)
    for key, value in values.items():
        if value is None:
            continue
        *tables, name = key.split(".")
        table, known = raw, recipe.model_dump()
        for part in tables:
            inner, known = table.setdefault(part, {}), known.get(part, {})
            if not isinstance(inner, dict) or not isinstance(known, dict):
                raise InputError(f"{place}: {key!r}: {part!r} is not a table of keys")
            table, known = cast("dict[str, Any]", inner), cast("dict[str, Any]", known)
        table[name] = value
    return validate_options(type(recipe), raw, place)


def parse_settings(settings: Sequence[str]) -> dict[str, object]:
    """Dotted keys of a recipe with their values from ``KEY=VALUE``: a value is TOML, and else a text.

    Raises InputError.
    """
    values: dict[str, object] = {}
    for setting in settings:
        key, sign, text = setting.partition("=")
        if not sign or not key.strip():
            raise InputError(f"--set {setting!r}: write KEY=VALUE, such as tasks.count=2")
        try:
            values[key.strip()] = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            values[key.strip()] = text.strip()
    return values


def validate_options(options: type[Checked], raw: Mapping[str, object], place: str) -> Checked:
    """The options from raw values. Raises InputError with place, key and the nearest known key."""
    try:
        return options.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{place}: {first_problem(error, options)}") from error


def check_parameter_models(*recipes: CallOptions) -> None:
    """Check that each table of ``[parameters.models]`` is of a model that one of the recipes names, such as a recipe
    as it was written and with the values of the command line. Raises InputError with the near names."""
    named = set[str]()
    for recipe in recipes:
        for text in _texts(recipe.model_dump(mode="json", exclude={"parameters", "prices", "prompts"})):
            with suppress(InputError):
                spec = ModelSpec.parse(text)
                named |= {text, f"{spec.provider}:{spec.name}"}
    for model in recipes[-1].parameters.models:
        if model not in named:
            raise InputError(f"parameters.models: no role has {model!r}{near_names(model, named)}")


def _texts(value: Json) -> Iterator[str]:
    """Every text in a value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from value
        for part in value.values():
            yield from _texts(part)
    elif isinstance(value, Sequence):
        for part in value:
            yield from _texts(part)


def first_problem(error: ValidationError, options: type[BaseModel] | None = None) -> str:
    """The message of the first error: key and reason; for an unknown key, the nearest known one."""
    first = error.errors()[0]
    if first["type"] == "extra_forbidden" and options is not None:
        *tables, name = (str(part) for part in first["loc"])
        return f"unknown key {'.'.join((*tables, name))!r}{_nearest_key(name, tables, options)}"
    return describe_validation_error(error)


def _nearest_key(key: str, tables: Sequence[str], recipe: type[BaseModel]) -> str:
    """The nearest key of the table, of any table if it stands in none, or else the keys of the table."""
    table, named = recipe, "a recipe"
    for name in tables:
        kind = table.model_fields[name].annotation if name in table.model_fields else None
        if not (isinstance(kind, type) and issubclass(kind, BaseModel)):
            return ""
        table, named = kind, f"[{'.'.join(tables)}]"
    known = table.model_fields if tables else _known_keys(recipe) - {key}  # which is a key of some table, but not here
    if nearest := difflib.get_close_matches(key, known, 1):
        return f"; did you mean {nearest[0]!r}?"
    return f"; {named} has the keys {', '.join(table.model_fields)}"


def _known_keys(options: type[BaseModel]) -> set[str]:
    """The keys of the options and of their parts."""
    parts = [field.annotation for field in options.model_fields.values()]
    below = [_known_keys(part) for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]
    return set(options.model_fields).union(*below)
