"""Flags that override keys of the recipe, and the recipe with their values. Each flag is defined once, so it means the
same in every command."""

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

import typer

from lawtrace.runs.cli.options import BudgetOption, EnvironmentFolderOption, ForceOption, set_parameters
from lawtrace.runs.recipe_checks import prepare_recipe
from lawtrace.runs.recipe_file import check_parameter_models, load_recipe, parse_settings, with_values
from lawtrace.runs.report.command_result import CommandResult
from lawtrace.runs.stages.stage import StageInputs
from lawtrace.schemas.call_options import BudgetOptions, CallOptions
from lawtrace.schemas.choices import ActingMode, RegulationForm, ShieldMode, TaskMode
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.recipe import Recipe, RegulationOptions

Asked = TypeVar("Asked", bound=CallOptions)
Values = Mapping[str, object]
"""Dotted key of the recipe -> value."""


@dataclass(frozen=True, slots=True)
class RecipeFlags:
    """The recipe named on a command line, and the flags given.

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
    """The type of a flag, its option, and the recipe values that it sets."""

    kind: Any
    option: Any
    values: Callable[[Any], Values]


def _flag(
    sets: str | Callable[[Any], Values],
    kind: object,
    text: str,
    *names: str,
    **option: Any,  # noqa: ANN401 (what typer takes)
) -> _Flag:
    """A flag that sets a key to its value, or the values that a function makes of it."""
    values: Callable[[Any], Values] = (lambda value: {sets: value}) if isinstance(sets, str) else sets
    return _Flag(kind, typer.Option(None, *names, help=text, **option), values)


def _split_pairs(pairs: Sequence[str]) -> Values:
    split = [tuple(part.strip() for part in pair.split(",")) for pair in pairs]
    for pair, text in zip(split, pairs, strict=True):
        if len(pair) != 2 or not all(pair):
            raise InputError(f"--pair {text!r}: write two tools separated by a comma, such as First,Second")
    return {"tasks.constraints.pairs": tuple(split)}


SELECTION = ("task", "limit")
"""The flags of every command that takes tasks."""
TRACE_CONSTRAINTS = ("require", "forbid", "pair", "compliance", "distance")
DIFFICULTY = ("max_changes", "min_rules", "min_distance", "min_calls")
DOCKETS = ("matters", "slack")
MODEL_CALLS = ("temperature", "max_tokens", "concurrency")
"""The flags of every command that calls models, besides --budget."""
ATTEMPT_FLAGS = (
    *("model", "baselines", "mode", "shield", "trials", "regulation_file", "regulation", "regulation_words"),
    *("hints", "target_state", *MODEL_CALLS),
)
"""The flags of every command that runs models on tasks."""

FLAGS: Mapping[str, _Flag] = {
    "rules": _flag(
        lambda file: {"rules.file": file, "rules.source": "curated"}, Path, "Rule file instead of the curated set."
    ),
    "count": _flag("tasks.count", int, "Number to make; default: 40.", min=1),
    "tasks": _flag("tasks.file", Path, "Task file, release or run with the tasks; none are built.", metavar="<path>"),
    "task": _flag("tasks.ids", list[str], "Only this task, or contrast pair. Repeatable.", metavar="<id>"),
    "limit": _flag("tasks.limit", int, "Only this many tasks, from the first.", min=1),
    "length": _flag("tasks.length", int, "Calls in each trace; default: 8.", min=2),
    "trace_mode": _flag("tasks.trace_mode", TaskMode, "What the traces are for."),
    "require": _flag(
        "tasks.constraints.require", list[str], "Tool that each trace must call. Repeatable.", metavar="<tool>"
    ),
    "forbid": _flag(
        "tasks.constraints.forbid", list[str], "Tool that no trace may call. Repeatable.", metavar="<tool>"
    ),
    "pair": _flag(
        _split_pairs, list[str], "Require one of these adjacent pairs per trace. Repeatable.", metavar="<first,second>"
    ),
    "compliance": _flag(
        "tasks.constraints.compliance",
        tuple[float, float],
        "Share of compliance steps in a trace.",
        metavar="<least> <most>",
    ),
    "distance": _flag("tasks.constraints.distance", int, "Minimum positions where any two traces differ.", min=0),
    "matters": _flag(
        lambda number: {"tasks.docket.matters": number, "tasks.trace_mode": "dockets"},
        int,
        "Make dockets of this many matters.",
        min=3,
        max=20,
    ),
    "slack": _flag("tasks.docket.slack", float, "Spare time of dockets, as a share; default: 0.3.", min=0),
    "max_changes": _flag(
        "tasks.difficulty.changes", int, "Maximum changes that a request asks for; default: 2.", min=1
    ),
    "min_rules": _flag("tasks.difficulty.rules", int, "Minimum rules that apply to each side.", min=0),
    "min_distance": _flag("tasks.difficulty.distance", int, "Minimum calls between a trigger and its duty.", min=0),
    "min_calls": _flag("tasks.difficulty.calls", int, "Minimum calls of a reference that carries out.", min=0),
    "seed": _flag("seed", int, "Random seed; default: 1."),
    "model": _flag(
        lambda models: {"attempts.models": models, "attempts.baselines": False},
        list[str],
        "Model under test, such as openai:NAME or baseline:literal. Repeatable.",
        metavar="<model>",
    ),
    "baselines": _flag("attempts.baselines", bool, "Run the baseline policies as well."),
    "mode": _flag("attempts.mode", ActingMode, "Write a program, call tools, or talk with a user."),
    "shield": _flag("attempts.shield", ShieldMode, "Warn of, or refuse, calls that break a rule."),
    "trials": _flag("attempts.trials", int, "Attempts at each task and style.", min=1),
    "regulation_file": _flag(
        lambda files: {"regulation.files": files, "attempts.regulation": "text"},
        list[Path],
        "Document of the law to show, or a folder of them. Repeatable.",
        metavar="<path>",
    ),
    "regulation": _flag("attempts.regulation", RegulationForm, "What the prompt contains of the law."),
    "regulation_words": _flag("attempts.regulation_words", int, "Words of it: what applies, then others.", min=0),
    "hints": _flag("attempts.hints", bool, "Document when to call compliance tools."),
    "target_state": _flag("attempts.target_state", bool, "Give the target state in the goal prompt."),
    "temperature": _flag("parameters.temperature", float, "Sampling temperature; default: the endpoint's.", min=0),
    "max_tokens": _flag("parameters.max_tokens", int, "Maximum tokens of an answer.", min=1),
    "concurrency": _flag("conversation.concurrency", int, "Maximum requests at the same time; default: 8.", min=1),
}
"""Parameter -> its option, and the recipe values that it sets."""

_RECIPE = Annotated[Path | None, typer.Option("--recipe", help="Recipe (TOML); other options override its values.")]
_ENVIRONMENT = Annotated[
    str | None, typer.Option("--env", help="Override the recipe's environment: a built-in one or a folder.")
]


_SETTINGS = Annotated[
    list[str] | None, typer.Option("--set", metavar="<key=value>", help="Override any key of the recipe. Repeatable.")
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
        recipe, budget, settings, force: whether --recipe, --budget, --set and --force are among them.
        env: add --env: for the recipe's environment, or for the folder of the environment that a task file names.
    """
    options: dict[str, tuple[object, object]] = {
        **({"recipe": (_RECIPE, None)} if recipe else {}),
        **({"env": (_ENVIRONMENT if env == "override" else EnvironmentFolderOption, None)} if env else {}),
        **{name: (FLAGS[name].kind | None, FLAGS[name].option) for name in names},
        **({"settings": (_SETTINGS, None)} if settings else {}),
        **({"budget": (BudgetOption, None)} if budget else {}),
        **({"force": (ForceOption, False)} if force else {}),
    }

    def decorate(command: Callable[..., CommandResult]) -> Callable[..., CommandResult]:
        @wraps(command)
        def wrapped(**given: Any) -> CommandResult:  # noqa: ANN401 (what typer gives)
            taken = {name: given.pop(name) for name in options}
            values: dict[str, object] = {}
            for name in names:
                values |= FLAGS[name].values(taken[name]) if taken[name] is not None else {}
            flags = RecipeFlags(
                taken.get("recipe"),
                taken.get("env"),
                values,
                taken.get("settings") or [],
                taken.get("budget"),
                taken.get("force", False),
            )
            return command(flags, **given)

        _, *own = inspect.signature(command).parameters.values()
        added = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=kind)
            for name, (kind, default) in options.items()
        ]
        own = [parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY) for parameter in own]
        required = [parameter for parameter in own if parameter.default is parameter.empty]
        optional = [parameter for parameter in own if parameter.default is not parameter.empty]
        set_parameters(wrapped, [*required, *added, *optional])
        return wrapped

    return decorate


def override(flags: RecipeFlags, recipe: Recipe) -> Recipe:
    """The recipe with the values of the flags. Raises InputError naming the key.

    A key that the recipe varies cannot be overridden: each variant has its own value.
    """
    settings = parse_settings(flags.settings)
    given = {*settings, *flags.values, *(["environment"] if flags.env else [])}
    if varied := sorted(given & recipe.ablation.keys()):
        raise InputError(f"command line: {varied[0]}: the recipe varies it in [ablation]; change the recipe")
    if "regulation.files" in flags.values:  # a digest in the recipe is that of other documents
        recipe = recipe.model_copy(update={"regulation": RegulationOptions()})
    return override_calls(flags, recipe)


def override_calls(flags: RecipeFlags, recipe: Asked) -> Asked:
    """A recipe of any kind with the values of the flags. Raises InputError naming the key."""
    recipe = with_values(recipe, parse_settings(flags.settings), "--set")
    return with_budget(with_values(recipe, flags.values, "command line"), flags.budget)


def stage_recipe(flags: RecipeFlags, env: str | None = None, *, simulated: bool = True) -> StageInputs:
    """The resolved recipe of a stage command, checked as `lawtrace run` does; ``env``: the environment without --env.

    ``simulated``: the stage simulates calls.

    Raises InputError.
    """
    written = load_recipe(flags.recipe) if flags.recipe else Recipe()
    recipe = override(flags, written.model_copy(update={"ablation": {}}))
    check_parameter_models(written, recipe)
    return prepare_recipe(recipe, flags.env or env, whole_run=False, simulated=simulated).inputs


def with_budget(recipe: Asked, budgets: Sequence[str] | None) -> Asked:
    """The recipe with these budgets instead of its own. Raises InputError."""
    asked: dict[str, object] = {}
    for budget in budgets or ():
        name, equals, amount = budget.partition("=")
        if not equals or name.strip() not in BudgetOptions.model_fields:
            raise InputError(
                f"--budget {budget!r}: write NAME=AMOUNT with NAME one of {', '.join(BudgetOptions.model_fields)}"
            )
        asked[f"budget.{name.strip()}"] = amount.strip()
    return with_values(recipe, asked, "--budget")
