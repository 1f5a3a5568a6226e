"""Flags that override keys of the recipe. Each is defined once, so it means the same in every command."""

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, cast

import typer

from lawtrace.runs.cli.options import BudgetOption, EnvironmentFolderOption, ForceOption, set_parameters
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.schemas.choices import TASK_VARIANTS, ActingMode, RegulationForm, ShieldMode, TaskMode
from lawtrace.schemas.errors import InputError

Values = Mapping[str, object]
"""Dotted key of the recipe -> value."""


@dataclass(frozen=True, slots=True)
class RecipeFlags:
    """The recipe named on a command line, and the flags given (`lawtrace.runs.cli.recipe_overrides` applies them).

    Attributes:
        recipe: the recipe file; None for the default recipe.
        env: the environment, or the folder of one that is not built in; None without the flag.
        values: what the other flags override.
        settings: keys of the recipe with their values, as ``KEY=VALUE``; flags override them.
        force: whether an output file may be replaced.
    """

    recipe: Path | None
    env: str | None
    values: Values
    settings: list[str]
    budget: list[str] | None
    force: bool = False


@dataclass(frozen=True, slots=True)
class _Flag:
    option: object
    values: Callable[[Any], Values]


def _sets(key: str) -> Callable[[Any], Values]:
    return lambda value: {key: value}


def _sets_tuple(key: str) -> Callable[[Any], Values]:
    return lambda values: {key: tuple(values)} if values else {}


def _split_pairs(pairs: list[str]) -> Values:
    split = [tuple(part.strip() for part in pair.split(",")) for pair in pairs]
    for pair, text in zip(split, pairs, strict=True):
        if len(pair) != 2 or not all(pair):
            raise InputError(f"--pair {text!r}: write two tools separated by a comma, such as First,Second")
    return {"tasks.constraints.pairs": tuple(split)} if split else {}


TRACE_CONSTRAINTS = ("require", "forbid", "pair", "compliance", "distance")
DIFFICULTY = ("max_changes", "min_rules", "min_distance", "min_calls")
MODEL_CALLS = ("temperature", "max_tokens", "concurrency")
"""The flags of every command that calls models, besides --budget."""
ATTEMPT_FLAGS = (
    *("model", "baselines", "mode", "shield", "trials", "regulation_file", "regulation", "regulation_words"),
    *("hints", "target_state", *MODEL_CALLS),
)
"""The flags of every command that runs models on tasks."""

FLAGS: Mapping[str, _Flag] = {
    "rules": _Flag(
        Annotated[Path | None, typer.Option(help="Rule file instead of the curated set.")],
        lambda file: {"rules.file": file, "rules.source": "curated"},
    ),
    "count": _Flag(
        Annotated[int | None, typer.Option(min=1, help="Number to make; default: 40.")], _sets("tasks.count")
    ),
    "length": _Flag(
        Annotated[int | None, typer.Option(min=2, help="Calls in each trace; default: 8.")], _sets("tasks.length")
    ),
    "trace_mode": _Flag(
        Annotated[TaskMode | None, typer.Option(help="What the traces are for.")], _sets("tasks.trace_mode")
    ),
    "require": _Flag(
        Annotated[list[str] | None, typer.Option(metavar="<tool>", help="Tool that each trace must call. Repeatable.")],
        _sets_tuple("tasks.constraints.require"),
    ),
    "forbid": _Flag(
        Annotated[list[str] | None, typer.Option(metavar="<tool>", help="Tool that no trace may call. Repeatable.")],
        _sets_tuple("tasks.constraints.forbid"),
    ),
    "pair": _Flag(
        Annotated[
            list[str] | None,
            typer.Option(metavar="<first,second>", help="Require one of these adjacent pairs per trace. Repeatable."),
        ],
        _split_pairs,
    ),
    "compliance": _Flag(
        Annotated[
            tuple[float, float] | None,
            typer.Option(metavar="<least> <most>", help="Share of compliance steps in a trace."),
        ],
        _sets("tasks.constraints.compliance"),
    ),
    "distance": _Flag(
        Annotated[int | None, typer.Option(min=0, help="Minimum positions where any two traces differ.")],
        _sets("tasks.constraints.distance"),
    ),
    "max_changes": _Flag(
        Annotated[int | None, typer.Option(min=1, help="Maximum changes that a request asks for; default: 2.")],
        _sets("tasks.difficulty.changes"),
    ),
    "min_rules": _Flag(
        Annotated[int | None, typer.Option(min=0, help="Minimum rules that apply to each side.")],
        _sets("tasks.difficulty.rules"),
    ),
    "min_distance": _Flag(
        Annotated[int | None, typer.Option(min=0, help="Minimum calls between a trigger and its duty.")],
        _sets("tasks.difficulty.distance"),
    ),
    "min_calls": _Flag(
        Annotated[int | None, typer.Option(min=0, help="Minimum calls of a reference that carries out.")],
        _sets("tasks.difficulty.calls"),
    ),
    "variant": _Flag(
        Annotated[
            Literal["authorized", "denied", "both"] | None,
            typer.Option(help="Build authorized tasks, denied sessions, or both."),
        ],
        lambda variant: {"tasks.variants": TASK_VARIANTS if variant == "both" else (variant,)},
    ),
    "texts": _Flag(
        Annotated[Path | None, typer.Option(help="Instructions written by hand: a file, or a folder of them.")],
        _sets("tasks.texts"),
    ),
    "seed": _Flag(Annotated[int | None, typer.Option(help="Random seed; default: 1.")], _sets("seed")),
    "model": _Flag(
        Annotated[
            list[str] | None,
            typer.Option(
                metavar="<model>", help="Model under test, such as openai:NAME or baseline:literal. Repeatable."
            ),
        ],
        lambda models: {"attempts.models": tuple(models), "attempts.baselines": False} if models else {},
    ),
    "baselines": _Flag(
        Annotated[bool | None, typer.Option(help="Run the baseline policies as well.")], _sets("attempts.baselines")
    ),
    "writer": _Flag(
        Annotated[str | None, typer.Option("--model", help="Compare with programs by this model.")],
        _sets("models.trace_writer"),
    ),
    "mode": _Flag(
        Annotated[ActingMode | None, typer.Option(help="Write a program, call tools, or talk with a user.")],
        _sets("attempts.mode"),
    ),
    "shield": _Flag(
        Annotated[ShieldMode | None, typer.Option(help="Warn of, or refuse, calls that break a rule.")],
        _sets("attempts.shield"),
    ),
    "trials": _Flag(
        Annotated[int | None, typer.Option(min=1, help="Attempts at each task and style.")], _sets("attempts.trials")
    ),
    "regulation_file": _Flag(
        Annotated[
            list[Path] | None,
            typer.Option(metavar="<path>", help="Document of the law to show, or a folder of them. Repeatable."),
        ],
        lambda files: {"regulation.files": tuple(files), "attempts.regulation": "text"} if files else {},
    ),
    "regulation": _Flag(
        Annotated[RegulationForm | None, typer.Option(help="What the prompt contains of the law.")],
        _sets("attempts.regulation"),
    ),
    "regulation_words": _Flag(
        Annotated[int | None, typer.Option(min=0, help="Words of it: what applies, then others.")],
        _sets("attempts.regulation_words"),
    ),
    "hints": _Flag(
        Annotated[bool | None, typer.Option(help="Document when to call compliance tools.")], _sets("attempts.hints")
    ),
    "target_state": _Flag(
        Annotated[bool | None, typer.Option(help="Give the target state in the goal prompt.")],
        _sets("attempts.target_state"),
    ),
    "temperature": _Flag(
        Annotated[float | None, typer.Option(min=0, help="Sampling temperature; default: the endpoint's.")],
        _sets("parameters.temperature"),
    ),
    "max_tokens": _Flag(
        Annotated[int | None, typer.Option(min=1, help="Maximum tokens of an answer.")], _sets("parameters.max_tokens")
    ),
    "concurrency": _Flag(
        Annotated[int | None, typer.Option(min=1, help="Maximum requests at the same time; default: 8.")],
        _sets("conversation.concurrency"),
    ),
}
"""Parameter -> its option, and the recipe values that it sets."""

_RECIPE = Annotated[Path | None, typer.Option("--recipe", help="Recipe (TOML); other options override its values.")]
_ENVIRONMENT = Annotated[
    str | None, typer.Option("--env", help="Override the recipe's environment: a built-in one or a folder.")
]


_SETTINGS = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="<key=value>", help="Override any key of the recipe. Repeatable."),
]


def recipe_flags(
    *names: str,
    recipe: bool = True,
    budget: bool = True,
    env: Literal["override", "folder"] | None = "override",
    settings: bool = True,
    force: bool = True,
) -> Callable[[Callable[..., CommandResult]], Callable[..., CommandResult]]:
    """Add flags to a command, which gets them as its first parameter, a `RecipeFlags`.

    Args:
        names: parameters in `FLAGS`.
        recipe: add --recipe.
        budget: add --budget.
        env: add --env: for the recipe's environment, or for the folder of the environment that a task file names.
        settings: add --set.
        force: add --force.
    """
    options: dict[str, object] = {
        **({"recipe": _RECIPE} if recipe else {}),
        **({"env": _ENVIRONMENT if env == "override" else EnvironmentFolderOption} if env else {}),
        **{name: FLAGS[name].option for name in names},
        **({"settings": _SETTINGS} if settings else {}),
        **({"budget": BudgetOption} if budget else {}),
        **({"force": ForceOption} if force else {}),
    }

    def decorate(command: Callable[..., CommandResult]) -> Callable[..., CommandResult]:
        @wraps(command)
        def wrapped(**given: object) -> CommandResult:
            values: dict[str, object] = {}
            for name in names:
                value = given.pop(name)
                values |= FLAGS[name].values(value) if value is not None else {}
            flags = RecipeFlags(
                cast("Path | None", given.pop("recipe")) if recipe else None,
                cast("str | None", given.pop("env")) if env else None,
                values,
                cast("list[str] | None", given.pop("settings")) or [] if settings else [],
                cast("list[str] | None", given.pop("budget")) if budget else None,
                bool(given.pop("force")) if force else False,
            )
            return command(flags, **given)

        _, *own = inspect.signature(command).parameters.values()
        added = [
            inspect.Parameter(
                name, inspect.Parameter.KEYWORD_ONLY, default=False if name == "force" else None, annotation=option
            )
            for name, option in options.items()
        ]
        own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        required = [parameter for parameter in own if parameter.default is inspect.Parameter.empty]
        optional = [parameter for parameter in own if parameter.default is not inspect.Parameter.empty]
        set_parameters(wrapped, [*required, *added, *optional])
        return wrapped

    return decorate
