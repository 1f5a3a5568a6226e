"""Ablations: the combinations of a recipe's axes, each a recipe.

    [ablation]
    "models.instruction_generator" = ["openai:gpt-5-mini", "offline"]
    "attempts.shield" = ["off", "refuse"]

An axis is a key of the recipe with a list of values that replace the value in the recipe. A table within a table, such
as ``tasks.difficulty``, can be an axis, too: then the keys that a value leaves out have their defaults. The other
variants are compared with the variant that has the first value of every axis.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from pydantic import BaseModel

from lawtrace.prompts.loader import Prompts
from lawtrace.runs.recipe_file import with_values
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import StrictModel
from lawtrace.schemas.recipe import Recipe
from lawtrace.solver.declarations.loader import is_folder

MAX_VARIANTS = 256

NOT_AXES = frozenset(
    {
        "ablation",
        "name",
        "schema_version",
        "declaration",
        "sandbox",
        "budget",
        "prices",
        "conversation.concurrency",
        "conversation.deadline_seconds",
        "conversation.requests_per_minute",
    }
)
"""Keys that do not change what is measured; they cannot be axes."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One combination.

    Attributes:
        number: from 1, in the order of the axes' values; the last axis varies fastest.
        changes: axis -> value; empty for a recipe without an ablation.
        recipe: the recipe with these changes and without an ablation.
    """

    number: int
    changes: Mapping[str, Json]
    recipe: Recipe

    @property
    def name(self) -> str:
        """The name in tables and logs (``shield=refuse, critic=off``); empty for a recipe without an ablation."""
        names = short_axis_names(self.changes)
        return ", ".join(format_setting(names[axis], axis, value) for axis, value in self.changes.items())


class VariantRow(StrictModel):
    """A row of the variants file.

    Attributes:
        models: the models under test that the recipe names.
        ended: why the variant has no verdicts; None if it has.
        made_by: stage -> number of the variant it was computed for: this one or an earlier one.
        declaration: the digest of its environment; None if it was not recorded.
    """

    schema_version: Literal["lawtrace.variant/1"] = "lawtrace.variant/1"
    number: int
    name: str
    changes: dict[str, Json]
    models: tuple[str, ...]
    ended: str | None
    made_by: dict[str, int]
    declaration: str | None = None


def variants_of(recipe: Recipe) -> tuple[Variant, ...]:
    """All combinations; the recipe itself if it has no ablation.

    Raises InputError with the axis or combination for an unknown key, an invalid value or too many variants.
    """
    axes = recipe.ablation
    for axis, values in axes.items():
        _check_axis(recipe, axis, values)
    if (count := prod(len(values) for values in axes.values())) > MAX_VARIANTS:
        raise InputError(f"ablation: {count} variants are more than {MAX_VARIANTS}; take fewer axes or values")
    combinations = (dict(zip(axes, values, strict=True)) for values in product(*axes.values()))
    return tuple(
        Variant(number, changes, _with_changes(recipe, changes)) for number, changes in enumerate(combinations, 1)
    )


def short_axis_names(axes: Iterable[str]) -> dict[str, str]:
    """The last part of each axis, or the whole axis if the last part is not unique."""
    ends = Counter(axis.rsplit(".", 1)[-1] for axis in axes)
    return {axis: end if ends[end := axis.rsplit(".", 1)[-1]] == 1 else axis for axis in axes}


def format_axis_value(axis: str, value: Json) -> str:
    """The value of an axis for display: booleans as on or off, prompts by id, tables by their keys."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, dict):
        return ", ".join(f"{key}={format_axis_value(axis, part)}" for key, part in value.items()) or "defaults"
    if isinstance(value, list):
        return "+".join(format_axis_value(axis, item) for item in value)
    if axis.startswith("prompts.") and isinstance(value, str) and "\n" in value:
        role = axis.removeprefix("prompts.")
        return Prompts({role: value})[role].id
    return str(value)


def format_setting(name: str, axis: str, value: Json) -> str:
    """An axis with its value for display; the keys of a table stand for themselves."""
    shown = format_axis_value(axis, value)
    return shown if isinstance(value, dict) and value else f"{name}={shown}"


def _check_axis(recipe: Recipe, axis: str, values: tuple[Json, ...]) -> None:
    place = f"ablation: axis {axis!r}"
    parts = axis.split(".")
    if axis in NOT_AXES or parts[0] in NOT_AXES:
        raise InputError(f"{place}: it says how a run is carried out, not what it is; give it one value")
    node: object = recipe
    for part in parts:
        if not isinstance(node, BaseModel) or part not in type(node).model_fields:
            raise InputError(f"{place}: a recipe has no such key; write it as 'attempts.shield' or 'seed'")
        node = getattr(node, part)
    if isinstance(node, BaseModel) and len(parts) == 1:
        raise InputError(f"{place}: it is a whole table; name one key in it")
    if len(values) < 2 or any(value in values[:place] for place, value in enumerate(values)):
        raise InputError(f"{place}: give it two values or more, each once")
    if axis == "environment" and any(is_folder(str(value)) for value in values):
        raise InputError(f"{place}: only built-in environments; a folder's Python runs if you name it with --env alone")


def _with_changes(recipe: Recipe, changes: Mapping[str, Json]) -> Recipe:
    base = recipe.model_copy(update={"ablation": {}})
    if "environment" in changes:
        base = base.model_copy(update={"declaration": None})  # it is the digest of the original environment
    if "regulation.files" in changes:
        base = base.model_copy(update={"regulation": base.regulation.model_copy(update={"sha256": None})})
    shown = ", ".join(f"{axis} = {value!r}" for axis, value in changes.items())
    return with_values(base, changes, f"ablation: {shown}") if changes else base
