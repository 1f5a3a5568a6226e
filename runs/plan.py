"""What a recipe would ask of models, before anything is asked: calls by role and model, and a ceiling."""

import json
from collections import Counter
from collections.abc import Iterator
from math import ceil
from typing import Literal

from pydantic import BaseModel, ConfigDict

from agents.clients.budget import Budget, Price
from agents.clients.spec import ModelSpec
from agents.conversations.drawing import PROVISIONS_AT_ONCE
from agents.conversations.writing import AT_A_TIME, UNUSABLE_IN_A_ROW
from agents.roles import RoleName
from environments.documentation import document
from runs.recipe import Recipe
from runs.settings import offered_setting
from runs.stages.extract import EXTRACTING
from runs.variants import variants_of

__all__ = ["Plan", "PlannedCalls", "plan_of"]

CHARACTERS_A_TOKEN = 3
TRIES = 2
"""An unusable answer is asked for once more."""


class PlannedCalls(BaseModel):
    """Calls of one model in one role: if every answer pleases at once, and at most."""

    model_config = ConfigDict(frozen=True)

    role: str
    model: str
    expected: int
    most: int
    ceiling: float | None
    """The most money that these calls can cost; None without a price, or without parameters.max_tokens."""


class Plan(BaseModel):
    """The calls of a whole run over all its variants; what variants share is counted once.

    ``shared``: what the variants' inputs show beforehand. Variants whose stages come to the same files share more.
    """

    model_config = ConfigDict(frozen=True)

    schema_version: Literal["lawtrace.plan/1"] = "lawtrace.plan/1"
    variants: int
    calls: tuple[PlannedCalls, ...]
    budget: dict[str, float]
    """The recipe's own limits."""

    @property
    def expected(self) -> int:
        return sum(line.expected for line in self.calls)

    @property
    def most(self) -> int:
        return sum(line.most for line in self.calls)

    @property
    def ceiling(self) -> float | None:
        """The most money that the run can cost: its budget, or what its calls come to at most; None: not known."""
        known = [line.ceiling for line in self.calls if line.ceiling is not None]
        whole = sum(known) if len(known) == len(self.calls) else None
        limits = [limit for limit in (whole, self.budget.get("money")) if limit is not None]
        return min(limits, default=None)


Seat = tuple[str, str]
"""A role and the model that plays it."""


def plan_of(recipe: Recipe) -> Plan:
    """Count what is asked of endpoints and replays; offline roles and built-in models under test cost nothing."""
    expected, most = Counter[Seat](), Counter[Seat]()
    seen: set[str] = set()
    variants = variants_of(recipe)
    for variant in variants:
        for key, seat, usual, ceiling in _stages(variant.recipe):
            if key not in seen and not ModelSpec.parse(seat[1]).built_in:
                expected[seat] += usual
                most[seat] += ceiling
        seen |= {key for key, *_ in _stages(variant.recipe)}
    prompt = max(_longest_prompt(variant.recipe) for variant in variants)
    calls = (
        PlannedCalls(
            role=role,
            model=model,
            expected=expected[role, model],
            most=most[role, model],
            ceiling=_ceiling(recipe, model, most[role, model], prompt),
        )
        for role, model in expected
    )
    budget = Budget(**recipe.budget.model_dump()).limits
    return Plan(variants=len(variants), calls=tuple(calls), budget={**budget})


def _ceiling(recipe: Recipe, model: str, calls: int, prompt: int) -> float | None:
    price, answer = recipe.prices.get(model), recipe.parameters.max_tokens
    if price is None or answer is None:
        return None
    # Whoever remembers, or acts in turns, sends its earlier answers along.
    turns = recipe.attempts.tools.turns if recipe.attempts.mode == "tools" else recipe.conversation.rounds * TRIES
    return calls * Price(price.input, price.output).of(prompt + turns * answer, answer)


def _longest_prompt(recipe: Recipe) -> int:
    """Tokens of the longest prompt there can be, on the safe side: documentation, regulation, and as much again."""
    setting = offered_setting(recipe)
    documentation = json.dumps(document(setting.environment, hints=True), indent=1)
    return (len(documentation) + len(setting.regulation.text(readings=True))) * 2 // CHARACTERS_A_TOKEN + 2_000


def _stages(recipe: Recipe) -> Iterator[tuple[str, Seat, int, int]]:
    """For each role at each stage: the stage's key, the seat, the calls expected, and the most there can be."""
    tasks, talk, models = recipe.tasks, recipe.conversation, recipe.models
    world = recipe.model_dump_json(include={"environment", "tools", "rules", "parameters"})
    specs = models.specs()
    drawing: list[RoleName] = [role for role in EXTRACTING if talk.critic or role != "ltl_critic"]
    seats = [(role, str(specs[role]), getattr(recipe.prompts, role)) for role in drawing]
    rules = f"{world} {talk.rounds} {seats}"
    if recipe.rules.extract or recipe.rules.source == "extracted":
        pieces = ceil(len(offered_setting(recipe).regulation.provisions) / PROVISIONS_AT_ONCE)
        for role, model, _ in seats:
            yield f"rules {rules}", (role, model), pieces, pieces * talk.rounds * TRIES
    # Curated rules are the same whoever extracts others.
    basis = rules if recipe.rules.source == "extracted" else world
    made = f"{basis} {recipe.seed} {tasks.model_dump_json()}"
    if models.trace_writer is not None:
        key = f"baseline {made} {models.trace_writer} {recipe.prompts.trace_writer}"
        # At worst each answer brings one program, and as many as are borne fail before it.
        most = tasks.count * (1 + UNUSABLE_IN_A_ROW) * TRIES
        yield key, ("trace_writer", models.trace_writer), ceil(tasks.count / AT_A_TIME), most
    writing = ["instruction_generator", "independent_reader", *(["masking_evaluator"] if talk.evaluator else [])]
    words = [(role, getattr(models, role), getattr(recipe.prompts, role)) for role in writing]
    built = f"{made} {talk.rounds} {words}"
    for role, model, _ in words:
        most = 2 * (tasks.count + tasks.spare) * talk.rounds * TRIES
        yield f"tasks {built}", (role, model), 2 * tasks.count, most
    attempts = recipe.attempts
    pairs = tasks.count * len(tasks.families) * len(attempts.styles) * attempts.trials
    turns = attempts.tools.turns if attempts.mode == "tools" else 1
    usual = min(turns, tasks.length + 1) if attempts.mode == "tools" else 1
    said = [recipe.prompts.executor_system, recipe.prompts.executor_tools_system, recipe.prompts.executor_user]
    for model in attempts.contenders:
        yield f"attempts {built} {attempts.model_dump_json()} {said}", ("executor", model), pairs * usual, pairs * turns
