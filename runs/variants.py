"""Ablations: what the combinations of a recipe's axes are, each a recipe of its own.

    [ablation]
    "models.instruction_generator" = ["openai:gpt-5-mini", "offline"]
    "attempts.shield" = ["off", "refuse"]

An axis is a key of the recipe and the values that it takes in turn; its values replace what the recipe says there. The
first value of every axis makes the variant that the others are compared with.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lawtrace.environments.domains.loader import is_folder
from lawtrace.environments.errors import InputError
from lawtrace.environments.events import Json
from lawtrace.prompts.loader import Prompts
from lawtrace.runs.recipe import BUILT_IN_PROMPT, Recipe
from lawtrace.runs.recipe_file import with_values

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
    }
)
"""What says how a run is carried out, rather than what it is."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One combination.

    Attributes:
        number: from 1, in the order of the axes' values, the last axis first.
        changes: axis -> the value it has here; nothing for a recipe without an ablation.
        recipe: what follows, without an ablation of its own.
    """

    number: int
    changes: Mapping[str, Json]
    recipe: Recipe

    @property
    def name(self) -> str:
        """As tables and records call it (``shield=refuse, critic=off``); empty for a recipe without an ablation."""
        names = short_axis_names(self.changes)
        return ", ".join(f"{names[axis]}={format_axis_value(axis, value)}" for axis, value in self.changes.items())


class VariantRow(BaseModel):
    """A line of the file of variants.

    Attributes:
        models: the models under test that the recipe names.
        ended: why the variant came to no verdicts; None if it did.
        made_by: stage -> number of the variant that it was computed for: its own, or an earlier one.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    schema_version: Literal["lawtrace.variant/1"] = "lawtrace.variant/1"
    number: int
    name: str
    changes: dict[str, Json]
    models: tuple[str, ...]
    ended: str | None
    made_by: dict[str, int]


def variants_of(recipe: Recipe) -> tuple[Variant, ...]:
    """Every combination; the recipe itself, if it has no ablation.

    Raises InputError naming the axis or the combination: no such key, a value that does not fit, too many variants.
    """
    axes = recipe.ablation
    for axis, values in axes.items():
        _check_axis(recipe, axis, values)
    if (count := prod(len(values) for values in axes.values())) > MAX_VARIANTS:
        raise InputError(f"ablation: {count} variants are more than {MAX_VARIANTS}; take fewer axes or values")
    return tuple(
        Variant(number, changes, _with_changes(recipe, changes))
        for number, changes in enumerate(_combinations(recipe), 1)
    )


def short_axis_names(axes: Iterable[str]) -> dict[str, str]:
    """Each axis by its last word, where no other ends in the same."""
    ends = Counter(axis.rsplit(".", 1)[-1] for axis in axes)
    return {axis: end if ends[end := axis.rsplit(".", 1)[-1]] == 1 else axis for axis in axes}


def format_axis_value(axis: str, value: Json) -> str:
    """The value of an axis in a word or two: a truth is on or off, a prompt goes by its id."""
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, list):
        return "+".join(format_axis_value(axis, item) for item in value)
    if axis.startswith("prompts.") and isinstance(value, str) and value != BUILT_IN_PROMPT:
        role = axis.removeprefix("prompts.")
        return Prompts({role: value})[role].id
    return str(value)


def _combinations(recipe: Recipe) -> Iterator[dict[str, Json]]:
    for values in product(*recipe.ablation.values()):
        yield dict(zip(recipe.ablation, values, strict=True))


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
    if isinstance(node, BaseModel):
        raise InputError(f"{place}: it is a whole table; name one key in it")
    if len(values) < 2 or any(value in values[:place] for place, value in enumerate(values)):
        raise InputError(f"{place}: give it two values or more, each once")
    if axis == "environment" and any(is_folder(str(value)) for value in values):
        raise InputError(f"{place}: only built-in environments; a folder's Python runs if you name it with --env alone")


def _with_changes(recipe: Recipe, changes: Mapping[str, Json]) -> Recipe:
    base = recipe.model_copy(update={"ablation": {}})
    if "environment" in changes:
        base = base.model_copy(update={"declaration": None})  # the digest is that of the recipe's own environment
    shown = ", ".join(f"{axis} = {value!r}" for axis, value in changes.items())
    return with_values(base, changes, f"ablation: {shown}") if changes else base
