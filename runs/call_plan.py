"""The planned model calls of a recipe by role and model, and their maximum cost."""

import json
from collections.abc import Iterator
from math import ceil
from typing import Literal

from pydantic import BaseModel, ConfigDict

from lawtrace.agents.conversations.rule_extraction import BATCH_SIZE
from lawtrace.agents.conversations.trace_writing import MAX_UNUSABLE_ANSWERS, PROGRAMS_PER_REQUEST
from lawtrace.agents.model_spec import ModelSpec
from lawtrace.agents.models.budget import Price
from lawtrace.agents.roles import RoleName
from lawtrace.environments.runtime.documentation import document
from lawtrace.runs.recipe import CallOptions, Recipe
from lawtrace.runs.stages.resolve import load_recipe_environment
from lawtrace.runs.stages.rules_stage import EXTRACTION_ROLES
from lawtrace.runs.variants import variants_of

CHARACTERS_PER_TOKEN = 3
MAX_TRIES = 2
"""An unusable answer is requested once more."""


class PlannedCalls(BaseModel):
    """Calls of one model in one role: expected if every answer is accepted at once, and at most."""

    model_config = ConfigDict(frozen=True)

    role: str
    model: str
    expected: int
    most: int
    ceiling: float | None
    """The maximum cost of these calls; None without a price or without parameters.max_tokens."""


class CallPlan(BaseModel):
    """The calls of a whole run of any kind."""

    model_config = ConfigDict(frozen=True)

    calls: tuple[PlannedCalls, ...]
    budget: dict[str, float]
    """The limits of the recipe."""

    @property
    def expected(self) -> int:
        return sum(line.expected for line in self.calls)

    @property
    def most(self) -> int:
        return sum(line.most for line in self.calls)

    @property
    def ceiling(self) -> float | None:
        """The maximum cost of the run, by its budget or its calls; None if unknown."""
        known = [line.ceiling for line in self.calls if line.ceiling is not None]
        whole = sum(known) if len(known) == len(self.calls) else None
        limits = [limit for limit in (whole, self.budget.get("money")) if limit is not None]
        return min(limits, default=None)


class RunPlan(CallPlan):
    """The calls of a run over all its variants. Stages with the same inputs are counted once.

    A run may share more: variants whose earlier stages produce the same files share later stages too.
    """

    schema_version: Literal["lawtrace.plan/1"] = "lawtrace.plan/1"
    variants: int


RoleAndModel = tuple[str, str]
"""A role and its model."""


class CallTally:
    """Calls by role and model. Offline roles and built-in models make no calls; a replay costs nothing."""

    def __init__(self, recipe: CallOptions) -> None:
        self._budget = recipe.call_settings().budget
        self._lines: dict[RoleAndModel, PlannedCalls] = {}

    def add(self, seat: RoleAndModel, expected: int, most: int, *, prompts: int, answer: int | None) -> None:
        """Add calls. ``prompts``: total prompt tokens at the maximum number of calls; ``answer``: maximum tokens of one
        answer, None if unlimited."""
        role, model = seat
        spec = ModelSpec.parse(model)
        if spec.is_scripted or not most:
            return
        price = Price(0, 0) if spec.provider == "replay" else self._budget.prices.get(model)
        known = price is not None and (answer is not None or spec.provider == "replay")
        cost = price.of(prompts, most * (answer or 0)) if price and known else None
        line = self._lines.get(seat, PlannedCalls(role=role, model=model, expected=0, most=0, ceiling=0))
        self._lines[seat] = PlannedCalls(
            role=role,
            model=model,
            expected=line.expected + expected,
            most=line.most + most,
            ceiling=None if cost is None or line.ceiling is None else line.ceiling + cost,
        )

    @property
    def calls(self) -> tuple[PlannedCalls, ...]:
        return tuple(self._lines.values())

    @property
    def budget(self) -> dict[str, float]:
        return {**self._budget.limits}


def plan_of(recipe: Recipe) -> RunPlan:
    """Count the calls of endpoints and replays; offline roles and built-in models make none."""
    tally = CallTally(recipe)
    seen: set[str] = set()
    variants = variants_of(recipe)
    answer = recipe.parameters.max_tokens
    # Later prompts of a conversation contain the earlier answers.
    turns = recipe.attempts.tools.turns if recipe.attempts.mode == "tools" else recipe.conversation.rounds * MAX_TRIES
    prompt = max(_longest_prompt(variant.recipe) for variant in variants) + turns * (answer or 0)
    for variant in variants:
        for key, seat, usual, most in _planned_stages(variant.recipe):
            if key not in seen:
                tally.add(seat, usual, most, prompts=most * prompt, answer=answer)
        seen |= {key for key, *_ in _planned_stages(variant.recipe)}
    return RunPlan(variants=len(variants), calls=tally.calls, budget=tally.budget)


def _longest_prompt(recipe: Recipe) -> int:
    """Upper estimate of the tokens of a prompt: twice the documentation and the regulation, plus 2,000."""
    setting = load_recipe_environment(recipe)
    documentation = json.dumps(document(setting.environment, hints=True), indent=1)
    return (len(documentation) + len(setting.regulation.text(readings=True))) * 2 // CHARACTERS_PER_TOKEN + 2_000


def _planned_stages(recipe: Recipe) -> Iterator[tuple[str, RoleAndModel, int, int]]:
    """For each role at each stage: stage key, role and model, expected calls, maximum calls."""
    tasks, talk, models = recipe.tasks, recipe.conversation, recipe.models
    world = recipe.model_dump_json(include={"environment", "tools", "rules", "parameters"})
    specs = models.specs()
    drawing: list[RoleName] = [role for role in EXTRACTION_ROLES if talk.critic or role != "ltl_critic"]
    seats = [(role, str(specs[role]), getattr(recipe.prompts, role)) for role in drawing]
    rules = f"{world} {talk.rounds} {seats}"
    if recipe.rules.extract or recipe.rules.source == "extracted":
        pieces = ceil(len(load_recipe_environment(recipe).regulation.provisions) / BATCH_SIZE)
        for role, model, _ in seats:
            yield f"rules {rules}", (role, model), pieces, pieces * talk.rounds * MAX_TRIES
    # Curated rules do not depend on the extraction roles.
    basis = rules if recipe.rules.source == "extracted" else world
    made = f"{basis} {recipe.seed} {tasks.model_dump_json()}"
    if models.trace_writer is not None:
        key = f"baseline {made} {models.trace_writer} {recipe.prompts.trace_writer}"
        # Worst case: one program per usable answer, after the maximum number of unusable ones.
        most = tasks.count * (1 + MAX_UNUSABLE_ANSWERS) * MAX_TRIES
        yield key, ("trace_writer", models.trace_writer), ceil(tasks.count / PROGRAMS_PER_REQUEST), most
    writing = ["instruction_generator", "independent_reader", *(["masking_evaluator"] if talk.evaluator else [])]
    words = [(role, getattr(models, role), getattr(recipe.prompts, role)) for role in writing]
    built = f"{made} {talk.rounds} {words}"
    for role, model, _ in words:
        most = 2 * (tasks.count + tasks.spare) * talk.rounds * MAX_TRIES
        yield f"tasks {built}", (role, model), 2 * tasks.count, most
    attempts = recipe.attempts
    pairs = tasks.count * len(tasks.families) * len(attempts.styles) * attempts.trials
    turns = attempts.tools.turns if attempts.mode == "tools" else 1
    usual = min(turns, tasks.length + 1) if attempts.mode == "tools" else 1
    said = [recipe.prompts.executor_system, recipe.prompts.executor_tools_system, recipe.prompts.executor_user]
    for model in attempts.all_models:
        yield f"attempts {built} {attempts.model_dump_json()} {said}", ("executor", model), pairs * usual, pairs * turns
