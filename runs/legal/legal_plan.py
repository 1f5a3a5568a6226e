"""The model calls that a legal recipe needs for given cases, counted before any call: by role and model, with a
cost."""

import json
from collections.abc import Sequence
from heapq import nlargest
from math import ceil
from typing import Literal

import numpy as np

from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.decomposition import AGENT_ROLES
from lawtrace.agents.legal.meta_llm import question_json
from lawtrace.environments.legal.case import Case, parse_context
from lawtrace.environments.legal.retrieval.embedding import BatchEncoder, Vectors
from lawtrace.environments.legal.retrieval.retrievers import EMBEDDING_RETRIEVERS
from lawtrace.prompts.loader import prompts_of
from lawtrace.runs.call_plan import CHARACTERS_PER_TOKEN, CallPlan, CallTally
from lawtrace.runs.legal.legal_files import GridCell
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import grid_cells, retrieve
from lawtrace.runs.stages.stage import MAX_TRIES, RoleCalls
from lawtrace.schemas.model_spec import ModelSpec

PROMPT_OVERHEAD_TOKENS = 1000
"""An upper estimate of the tokens of a prompt beside question, chunks and earlier answers."""

CHUNK_OVERHEAD_TOKENS = 40
"""An upper estimate of the tokens around a chunk or a part: its reference and the JSON syntax."""


class LegalPlan(CallPlan):
    """The calls of a legal run.

    Attributes:
        cells: cells of the grid; each asks every question.

    Expected is a ceiling: a prompt that several cells share is sent once, and a team may stay below its limits. Agents
    with the same model share a line, since their calls together are limited.
    """

    schema_version: Literal["lawtrace.legal_plan/1"] = "lawtrace.legal_plan/1"
    cells: int
    cases: int
    questions: int


def plan_legal_calls(recipe: LegalRecipe, cases: Sequence[Case]) -> LegalPlan:
    """Count the calls of endpoints and replays. Offline roles cost nothing."""
    planner = _Planner(recipe, cases)
    cells = grid_cells(recipe)
    planner.add_embeddings()
    for cell in cells:
        planner.add_cell(cell)
    return LegalPlan(**planner.tally.plan, cells=len(cells), cases=len(cases), questions=planner.questions)


class _Planner:
    """Adds up the calls. Each prompt counts with the size of the longest one of its role and cell."""

    def __init__(self, recipe: LegalRecipe, cases: Sequence[Case]) -> None:
        self.recipe = recipe
        self.cases = cases
        self.tally = CallTally(recipe)
        self.questions = sum(len(case.questions) for case in cases)
        self.asked = recipe.trials * self.questions
        self.prompts = prompts_of(recipe.prompts)
        self.answer = recipe.parameters.max_tokens or 0
        self.question = max((_tokens(question_json(q)) for case in cases for q in case.questions), default=0)

    def add_cell(self, cell: GridCell) -> None:
        recipe, shown = self.recipe, self.shown(cell)
        if recipe.pipeline == "once":
            self.add("meta_llm", cell.model, self.asked, self.question + shown)
            return
        most = recipe.decomposition.most_calls()
        task = self.question + self.answer
        answers = most.decomposer + most.sufficiency_judge + most.agents
        results = answers * self.answer + most.agents * CHUNK_OVERHEAD_TOKENS
        self.add("decomposer", cell.model, most.decomposer * self.asked, self.question + task)
        self.add("atomicity_judge", cell.model, most.atomicity_judge * self.asked, task)
        self.add("sufficiency_judge", cell.model, most.sufficiency_judge * self.asked, self.question + results)
        self.add("integrator", cell.model, most.integrator * self.asked, self.question + results)
        models = recipe.role_specs()
        roles_of: dict[str, list[LegalRole]] = {}
        for agent in parse_context(cell.context):
            roles_of.setdefault(str(models[AGENT_ROLES[agent]]), []).append(AGENT_ROLES[agent])
        for model, roles in roles_of.items():
            self.add(roles[0], model, most.agents * self.asked, task + shown, *roles[1:])
        if cell.retriever in EMBEDDING_RETRIEVERS and recipe.embedding != "minilm":
            calls = most.agents * self.asked
            answer = None if recipe.parameters.max_tokens is None else 0
            self.tally.add(RoleCalls("embedder", recipe.embedding, calls, calls), prompts=calls * task, answer=answer)

    def add(self, role: LegalRole, model: str, calls: int, tokens: int, *others: LegalRole) -> None:
        """Add calls of a role, or of several together. A second try repeats the prompt with the unusable reply."""
        roles = (role, *others)
        body = max(_tokens(self.prompts[one].body) for one in roles)
        prompt = body + PROMPT_OVERHEAD_TOKENS + tokens + self.answer
        most, answer = MAX_TRIES * calls, self.recipe.parameters.of(ModelSpec.parse(model), role).max_tokens
        self.tally.add(RoleCalls(", ".join(roles), model, calls, most), prompts=most * prompt, answer=answer)

    def shown(self, cell: GridCell) -> int:
        """Tokens of the longest chunks that one prompt can show."""
        context = parse_context(cell.context)
        stores = 1 if self.recipe.share == "total" or self.recipe.pipeline == "decomposed" else len(context)
        sizes = (
            [_tokens(chunk.text) + CHUNK_OVERHEAD_TOKENS for chunk in case.chunks_of(context)] for case in self.cases
        )
        return stores * max(sum(nlargest(cell.depth, of)) for of in sizes)

    def add_embeddings(self) -> None:
        """Retrieve with an encoder that counts its calls."""
        retrievers = tuple(name for name in self.recipe.retrievers if name in EMBEDDING_RETRIEVERS)
        if self.recipe.embedding == "minilm" or not retrievers:
            return
        batches: list[Sequence[str]] = []

        def count(texts: Sequence[str]) -> Vectors:
            batches.append(texts)
            return np.ones((len(texts), 1), dtype=np.float32)

        encoder = BatchEncoder(count, "counting")
        retrieve(self.cases, self.recipe.model_copy(update={"retrievers": retrievers}), encoder=lambda pooling: encoder)
        calls = RoleCalls("embedder", self.recipe.embedding, len(batches), len(batches))
        self.tally.add(calls, prompts=sum(_tokens(text) for batch in batches for text in batch), answer=0)


def _tokens(text: str) -> int:
    """An upper estimate of the tokens of a text within a prompt, from its bytes as JSON."""
    return ceil(len(json.dumps(text, ensure_ascii=False).encode()) / CHARACTERS_PER_TOKEN)
