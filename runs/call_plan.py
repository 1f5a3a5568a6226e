"""The planned model calls of a recipe by role and model, and their maximum cost."""

import json
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any, Literal

from lawtrace.environments.runtime.documentation import document
from lawtrace.runs.stages.pipeline import run_targets, task_stages
from lawtrace.runs.stages.resolve import ResolvedRecipe
from lawtrace.runs.stages.stage import MAX_TRIES, RoleCalls, StageInputs, planned_keys
from lawtrace.schemas.call_options import CallOptions, Price
from lawtrace.schemas.model_spec import ENDPOINTS, ModelSpec
from lawtrace.schemas.models import FrozenModel

CHARACTERS_PER_TOKEN = 3

USUAL_ANSWER_TOKENS = 600
USUAL_ANSWER_SECONDS = 10
"""What an answer is assumed to take where the expected cost and duration are estimated."""
USUAL_CHARACTERS_PER_TOKEN = 4


class PlannedCalls(FrozenModel):
    """Calls of one model in one role: expected if every answer is accepted at once, and at most."""

    role: str
    model: str
    expected: int
    most: int
    cost: float | None
    """The estimated cost of the expected calls; None without a price."""
    ceiling: float | None
    """The maximum cost of these calls; None without a price or without parameters.max_tokens."""


class CallPlan(FrozenModel):
    """The calls of a whole run of any kind."""

    calls: tuple[PlannedCalls, ...]
    budget: dict[str, float]
    """The limits of the recipe."""
    concurrency: int
    deadline_seconds: float
    requests_per_minute: float | None = None
    """To each endpoint; None: no limit."""

    @property
    def expected(self) -> int:
        return sum(line.expected for line in self.calls)

    @property
    def most(self) -> int:
        return sum(line.most for line in self.calls)

    @property
    def cost(self) -> float | None:
        """The estimated cost of the expected calls; None if a price is unknown."""
        return _total(line.cost for line in self.calls)

    @property
    def seconds(self) -> float:
        """The estimated duration of the expected calls."""
        return max(self.expected * USUAL_ANSWER_SECONDS / self.concurrency, self.least_seconds)

    @property
    def least_seconds(self) -> float:
        """The least duration of the expected calls: that of the busiest endpoint with so many requests a minute."""
        return self._rated_seconds(lambda line: line.expected)

    @property
    def most_seconds(self) -> float:
        """The duration if every call is made, waits for its turn, and takes as long as the deadline allows."""
        return self.most * self.deadline_seconds / self.concurrency + self._rated_seconds(lambda line: line.most)

    def _rated_seconds(self, calls: Callable[[PlannedCalls], int]) -> float:
        if self.requests_per_minute is None:
            return 0.0
        requests = Counter[str]()
        for line in self.calls:
            if ModelSpec.parse(line.model).provider in ENDPOINTS:
                requests[line.model] += calls(line)
        return max(requests.values(), default=0) * 60 / self.requests_per_minute

    @property
    def ceiling(self) -> float | None:
        """The maximum cost of the run, by its budget or its calls; None if unknown."""
        limits = (_total(line.ceiling for line in self.calls), self.budget.get("money"))
        return min((limit for limit in limits if limit is not None), default=None)


def _total(costs: Iterable[float | None]) -> float | None:
    """The sum; None if one is unknown."""
    known = [*costs]
    return None if None in known else sum(filter(None, known))


class RunPlan(CallPlan):
    """The calls of a run over all its variants, and how many traces are searched before the first call. Stages with
    the same inputs are counted once.

    A run may share more: variants whose earlier stages produce the same files share later stages too.
    """

    schema_version: Literal["lawtrace.plan/1"] = "lawtrace.plan/1"
    variants: int
    traces: int


class CallTally:
    """Calls by role and model. Offline roles and built-in models make no calls; a replay costs nothing."""

    def __init__(self, recipe: CallOptions) -> None:
        self._recipe = recipe
        self._lines: dict[tuple[str, str], PlannedCalls] = {}

    def add(self, calls: RoleCalls, *, prompts: int, answer: int | None, usual_prompt: int | None = None) -> None:
        """Add calls.

        Args:
            prompts: total prompt tokens at the maximum number of calls.
            answer: maximum tokens of one answer, None if unlimited.
            usual_prompt: estimated tokens of one prompt; None for the mean of ``prompts``.
        """
        spec, expected, most = ModelSpec.parse(calls.model), calls.expected, calls.most
        if spec.is_scripted or not most:
            return
        cost = ceiling = None
        price = Price(input=0, output=0) if spec.provider == "replay" else self._recipe.prices.get(calls.model)
        if price is not None:
            usual = prompts // most if usual_prompt is None else usual_prompt
            cost = price.of(expected * usual, expected * min(answer or USUAL_ANSWER_TOKENS, USUAL_ANSWER_TOKENS))
            ceiling = (
                price.of(prompts, most * (answer or 0)) if answer is not None or spec.provider == "replay" else None
            )
        none = PlannedCalls(role=calls.role, model=calls.model, expected=0, most=0, cost=0, ceiling=0)
        before = self._lines.get((calls.role, calls.model), none)
        self._lines[calls.role, calls.model] = PlannedCalls(
            role=calls.role,
            model=calls.model,
            expected=expected + before.expected,
            most=most + before.most,
            cost=_total((cost, before.cost)),
            ceiling=_total((ceiling, before.ceiling)),
        )

    @property
    def plan(self) -> dict[str, Any]:
        """The fields of a `CallPlan` of these calls."""
        return {
            "calls": tuple(self._lines.values()),
            "budget": {**self._recipe.budget.limits},
            **self._recipe.conversation.model_dump(include={"concurrency", "deadline_seconds", "requests_per_minute"}),
        }


def plan_of(resolved: ResolvedRecipe) -> RunPlan:
    """Count the calls of endpoints and replays; offline roles and built-in models make none."""
    recipe, tally = resolved.recipe, CallTally(resolved.recipe)
    variants = [inputs for _, inputs in resolved.variants]
    # Later prompts of a conversation contain the earlier answers.
    turns = recipe.attempts.tools.turns if recipe.attempts.mode != "program" else recipe.conversation.rounds * MAX_TRIES
    characters = max(map(_characters, variants))
    prompt = characters * 2 // CHARACTERS_PER_TOKEN + 2_000
    usual_prompt = characters // USUAL_CHARACTERS_PER_TOKEN + 500
    seen, traces = set[str](), 0
    for inputs in variants:
        stages = {stage.name: stage for stage in task_stages(inputs)}
        for name, key in planned_keys([*stages.values()], inputs, run_targets(inputs)).items():
            for calls in stages[name].calls(inputs) if key not in seen else ():
                answer = recipe.parameters.of(ModelSpec.parse(calls.model), calls.role).max_tokens
                prompts = calls.most * (prompt + turns * (answer or 0))
                tally.add(calls, prompts=prompts, answer=answer, usual_prompt=usual_prompt)
            if name == "traces" and key not in seen:
                traces += inputs.recipe.tasks.count + inputs.recipe.tasks.spare
            seen.add(key)
    return RunPlan(**tally.plan, variants=len(variants), traces=traces)


def _characters(inputs: StageInputs) -> int:
    """The length of the documentation and the regulation."""
    documentation = json.dumps(document(inputs.domain.environment, hints=True), indent=1)
    words = inputs.domain.regulation.text()
    if inputs.published is not None and inputs.recipe.attempts.regulation == "text":
        words = max(words, inputs.published.layout(), key=len)
    return len(documentation) + len(words)
