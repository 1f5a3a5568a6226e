"""Reading a recipe from its file: what is wrong with it is named with the key, and an unknown key with the nearest.

The words of the user's own prompt files are read with it, so that a run can be repeated without them.
"""

import difflib
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from lawtrace.environments import problems
from lawtrace.environments.catalogue import is_folder
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.environments.jail import UNPROTECTED
from lawtrace.runs.recipe import OURS, OwnPrompts, Recipe

Checked = TypeVar("Checked", bound=BaseModel)
Words = TypeVar("Words", bound=OwnPrompts)


def load_recipe(path: Path) -> Recipe:
    """Read a recipe. Raises InputError naming the file, the key, and for an unknown key the nearest one there is."""
    recipe = read_recipe(path, Recipe)
    if recipe.sandbox == UNPROTECTED:
        raise InputError(
            f"{path}: sandbox: a recipe cannot ask for {UNPROTECTED!r}; say --sandbox {UNPROTECTED} yourself"
        )
    recipe = _with_words(recipe, path.resolve().parent)
    if not is_folder(recipe.environment):
        return recipe
    if Path(recipe.environment).is_absolute():
        raise InputError(
            f"{path}: environment: {recipe.environment!r} is a place on one machine; name the folder relative to the "
            "recipe, or leave it out and say --env FOLDER"
        )
    return recipe.model_copy(update={"environment": str(path.resolve().parent / recipe.environment)})


def _with_words(recipe: Recipe, folder: Path) -> Recipe:
    """The recipe with the text of each prompt file in place of its name: it can be repeated without the file."""
    axes = {
        axis: tuple(_words(f"ablation: {axis}", name, folder) for name in values)
        if axis.startswith("prompts.")
        else values
        for axis, values in recipe.ablation.items()
    }
    return recipe.model_copy(update={"prompts": read_words(recipe.prompts, folder), "ablation": axes})


def read_words(prompts: Words, folder: Path) -> Words:
    """The text of each prompt file in place of its name. Raises InputError if one cannot be read."""
    words = {role: _words(f"prompts.{role}", name, folder) for role, name in prompts.model_dump().items()}
    return prompts.model_copy(update=words)


def _words(place: str, name: Json, folder: Path) -> str:
    if not isinstance(name, str):
        raise InputError(f"{place}: name a prompt file, or {OURS!r}")
    if name == OURS or "\n" in name:
        return name
    try:
        return (folder / name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{place}: {folder / name} cannot be read as a prompt file: {error}") from error


def read_recipe(path: Path, kind: type[Checked]) -> Checked:
    """The recipe of that kind in the file, as it stands there. Raises InputError as `load_recipe` does."""
    try:
        raw = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{path}: cannot be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path}: not a TOML file: {error}") from error
    return checked(kind, raw, str(path))


def checked(options: type[Checked], raw: Mapping[str, object], place: str) -> Checked:
    """The options that the values describe. Raises InputError naming place and key, with the nearest key there is."""
    try:
        return options.model_validate(raw)
    except ValidationError as error:
        raise InputError(f"{place}: {first_problem(error, options)}") from error


def first_problem(error: ValidationError, options: type[BaseModel] | None = None) -> str:
    """The first thing that is wrong, in words: the key and why; for an unknown key of the options, the nearest one."""
    first = error.errors()[0]
    if first["type"] == "extra_forbidden" and options is not None:
        key = ".".join(str(part) for part in first["loc"])
        return f"unknown key {key!r}{_nearest(str(first['loc'][-1]), options)}"
    return problems.first_problem(error)


def _nearest(key: str, recipe: type[BaseModel]) -> str:
    nearest = difflib.get_close_matches(key, _keys(recipe), 1)
    return f"; did you mean {nearest[0]!r}?" if nearest else f"; a recipe has the keys {', '.join(recipe.model_fields)}"


def _keys(options: type[BaseModel]) -> set[str]:
    """The keys of the options, and of the parts within them."""
    parts = [field.annotation for field in options.model_fields.values()]
    below = [_keys(part) for part in parts if isinstance(part, type) and issubclass(part, BaseModel)]
    return set(options.model_fields).union(*below)
