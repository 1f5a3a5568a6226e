"""What a legal recipe would ask over the cases at hand, before anything is asked: calls by role and model, and cost."""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

from lawtrace.agents.legal import LegalRole
from lawtrace.agents.legal.decomposition import DecompositionLimits
from lawtrace.agents.legal.embedding_endpoint import DryRunEncoder
from lawtrace.agents.legal.meta_llm import question_json
from lawtrace.agents.legal.team_roles import AGENT_DESCRIPTIONS
from lawtrace.environments.legal.case import Case, Context, Question, parse_context
from lawtrace.environments.legal.party_names import choose_renaming, rename_chunk, rename_question
from lawtrace.environments.legal.retrieval.retrievers import EMBEDDING_RETRIEVERS
from lawtrace.runs.call_plan import CHARACTERS_PER_TOKEN, MAX_TRIES, CallPlan, CallTally
from lawtrace.runs.legal.balanced_questions import balance_cases, choose_restated
from lawtrace.runs.legal.legal_files import GridCell, Probe, RestatedRow
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_stages import grid_cells, retrieve

PROMPT_OVERHEAD_TOKENS = 500
"""Tokens of a prompt beside its words and pieces, on the safe side: opening, form asked for, why it came back."""

CHUNK_OVERHEAD_TOKENS = 40
"""The same for a piece or a part: its reference, the JSON around it."""


class LegalPlan(CallPlan):
    """The calls of a legal run.

    Attributes:
        cells: of the grid; each asks every question.
        expected_is: ``exact`` if every answer can be used, names an option, cites a piece that was shown, and every
            restatement is accepted; ``ceiling`` where questions are decomposed: how far they are split is the model's
            choice, and the number is what the limits leave it, each answer usable at once.
    """

    schema_version: Literal["lawtrace.legal_plan/1"] = "lawtrace.legal_plan/1"
    cells: int
    cases: int
    questions: int
    expected_is: Literal["exact", "ceiling"]


def plan_legal_calls(recipe: LegalRecipe, cases: Sequence[Case]) -> LegalPlan:
    """Count what is asked of endpoints and replays about these cases; offline roles cost nothing."""
    planning = _PlanBuilder(recipe)
    cells = grid_cells(recipe)
    asked = sum(len(case.questions) for case in cases)
    planning.add_answers(cases, asked)
    for cell in cells:
        for probe in recipe.probes:
            tried = _probed_cases(cases, probe, parse_context(cell.context), recipe.seed)
            planning.add_cell(cell, tried, sum(len(case.questions) for case in tried))
    if recipe.balanced:
        planning.add_balanced(cases)
    return LegalPlan(
        calls=planning.tally.calls,
        budget=planning.tally.budget,
        cells=len(cells),
        cases=len(cases),
        questions=asked,
        expected_is="exact" if recipe.pipeline == "once" else "ceiling",
    )


@dataclass(frozen=True, slots=True)
class _RoleLoad:
    """What one question asks of a role in one cell: how often at most, and the tokens of each prompt at most."""

    role: LegalRole
    model: str
    times: int
    prompt: int


class _PlanBuilder:
    """A plan in the making."""

    def __init__(self, recipe: LegalRecipe) -> None:
        self.recipe = recipe
        self.tally = CallTally(recipe)
        self.answer = recipe.parameters.max_tokens
        self.vectors = DryRunEncoder()
        self.prompts = recipe.prompts.prompts()
        self.words: dict[LegalRole, int] = {}
        self.limits = DecompositionLimits(recipe.decomposition.depth, recipe.decomposition.calls)

    def add_answers(self, cases: Sequence[Case], asked: int, *, drawn: Sequence[Question] = ()) -> None:
        """Retrieval over the cases, and answers to ``asked`` of their questions in every cell. ``drawn``: questions
        whose words are not known yet, and which others may take the place of."""
        self.add_vectors(cases, drawn)
        for cell in grid_cells(self.recipe):
            self.add_cell(cell, cases, asked)

    def add_cell(self, cell: GridCell, cases: Sequence[Case], asked: int) -> None:
        """``asked`` of the questions of the cases; whichever they are, those with the longest prompts cost no less."""
        loads: list[tuple[_RoleLoad, ...]] = []
        for case in cases:
            shown = self.shown(case, cell)
            loads += [tuple(self.loads(cell, case, question, shown)) for question in case.questions]
        for of_role in zip(*loads, strict=True):
            load, longest = of_role[0], sorted((load.prompt for load in of_role), reverse=True)
            usual = asked * load.times
            prompts = MAX_TRIES * load.times * sum(longest[:asked])
            seat = load.role, load.model
            self.tally.add(seat, usual, MAX_TRIES * usual, prompts=prompts, answer=self.answer)
        if (
            self.recipe.pipeline == "decomposed"
            and cell.retriever in EMBEDDING_RETRIEVERS
            and self.recipe.embedding != "minilm"
        ):
            parts = asked * self.limits.most()["role_agent"]
            longest_part = (
                max(map(_question_tokens, (q for case in cases for q in case.questions)), default=0) + self.said
            )
            answer = None if self.answer is None else 0  # without a limit, nobody knows how long a part's words are
            seat = "embedder", self.recipe.embedding
            self.tally.add(seat, parts, parts, prompts=parts * longest_part, answer=answer)

    def loads(self, cell: GridCell, case: Case, question: Question, shown: int) -> Iterator[_RoleLoad]:
        meta, words = cell.model, _question_tokens(question)
        if self.recipe.pipeline == "once":
            yield _RoleLoad("meta_llm", meta, 1, self.prompt("meta_llm") + words + shown)
            return
        most, said = self.limits.most(), self.said
        case_words = _tokens(case.introduction) + words
        # The task to be split, judged or done is the question, or what the decomposer wrote.
        whole = self.prompt("decomposer") + case_words + words + said + _tokens(json.dumps(AGENT_DESCRIPTIONS))
        yield _RoleLoad("decomposer", meta, most["decomposer"], whole)
        judged = self.prompt("atomicity_judge") + words + said
        yield _RoleLoad("atomicity_judge", meta, most["atomicity_judge"], judged)
        part = self.prompt("role_agent") + words + said + shown
        yield _RoleLoad("role_agent", self.recipe.roles.role_agent, most["role_agent"], part)
        # All tasks that one split wrote are one answer, and so is what is found on each part.
        found = (most["decomposer"] + most["role_agent"]) * said + most["role_agent"] * CHUNK_OVERHEAD_TOKENS
        yield _RoleLoad("integrator", meta, 1, self.prompt("integrator") + case_words + words + found)

    @property
    def said(self) -> int:
        """Tokens of one answer at most; where nothing limits it there is no ceiling, and it does not matter."""
        return self.answer or 0

    def prompt(self, role: LegalRole) -> int:
        """The words of a prompt, and an unusable answer that is sent back with it."""
        if role not in self.words:
            self.words[role] = _tokens(self.prompts[role].body)
        return self.words[role] + PROMPT_OVERHEAD_TOKENS + self.said

    def shown(self, case: Case, cell: GridCell) -> int:
        """The longest pieces that one prompt can show: of all agents of the context, or of one for its part."""
        context = parse_context(cell.context)
        each: list[Context] = [(agent,) for agent in context]
        if self.recipe.pipeline == "decomposed":
            return max(_longest(case, store, cell.depth) for store in each)
        return sum(_longest(case, s, cell.depth) for s in ([context] if self.recipe.share == "total" else each))

    def add_vectors(self, cases: Sequence[Case], drawn: Sequence[Question]) -> None:
        """Retrieve with an encoder that counts. What it was asked for before is not asked for again."""
        by_meaning = tuple(name for name in self.recipe.retrievers if name in EMBEDDING_RETRIEVERS)
        if self.recipe.embedding == "minilm" or not by_meaning:
            return
        calls, texts = self.vectors.calls, len(self.vectors.texts)
        retrieve(cases, self.recipe.model_copy(update={"retrievers": by_meaning}), encoder=lambda pooling: self.vectors)
        calls = self.vectors.calls - calls
        words = sum(map(_tokens, [*self.vectors.texts][texts:])) + sum(map(_question_tokens, drawn))
        # In another draw every question that may be drawn can come in a call of its own.
        self.tally.add(
            ("embedder", self.recipe.embedding),
            calls,
            calls + len(drawn),
            prompts=words + CHUNK_OVERHEAD_TOKENS * len(drawn),
            answer=0,
        )

    def add_balanced(self, cases: Sequence[Case]) -> None:
        """Restate all yes/no questions, and ask what changes, as if every restatement were accepted."""
        offered = [(case, q) for case in cases for q in case.questions if q.kind == "yes_no"]
        turns = self.recipe.conversation.rounds * MAX_TRIES
        # It remembers what it proposed, and what code held against it.
        prompts = [
            self.prompt("restater") + _question_tokens(q) + turns * (self.said + PROMPT_OVERHEAD_TOKENS)
            for _, q in offered
        ]
        seat = "restater", self.recipe.roles.restater
        self.tally.add(seat, len(offered), turns * len(offered), prompts=turns * sum(prompts), answer=self.answer)
        questions = [question for _, question in offered]
        drawn = choose_restated(questions, {question.id for question in questions}, self.recipe.seed)
        rows = [
            RestatedRow(case=case.id, question=q.id, restated=f"Is it false: {q.text}", asked=q.id in drawn)
            for case, q in offered
        ]
        balanced = balance_cases(cases, rows, self.recipe.seed)
        plain = {question.id: question for case in cases for question in case.questions}
        changed = sum(plain[question.id] != question for case in balanced for question in case.questions)
        self.add_answers(balanced, changed, drawn=questions)


def _probed_cases(cases: Sequence[Case], probe: Probe, context: Context, seed: int) -> list[Case]:
    """The cases with the questions that the probe can try. A case's name may stand only in pieces that are not shown;
    then fewer are tried."""
    if probe == "without_cited":
        return [case for case in cases if case.pool(context)]
    tried: list[Case] = []
    for case in cases:
        renaming = choose_renaming(case, seed)
        if renaming is None:
            continue
        chunks = tuple(rename_chunk(chunk, renaming) for chunk in case.chunks)
        renamed = case.model_copy(update={"chunks": chunks})
        shown = renamed.pool(context) != case.pool(context)
        pairs = [(question, rename_question(question, renaming)) for question in case.questions]
        kept = tuple(after for before, after in pairs if shown or after != before)
        tried.append(renamed.model_copy(update={"questions": kept}))
    return tried


def _longest(case: Case, store: Context, depth: int) -> int:
    return sum(
        sorted((_tokens(chunk.text) + CHUNK_OVERHEAD_TOKENS for chunk in case.pool(store)), reverse=True)[:depth]
    )


def _question_tokens(question: Question) -> int:
    return _tokens(question_json(question))


def _tokens(text: str) -> int:
    """Tokens of a text within a prompt, on the safe side: of its bytes as JSON, since other scripts take more."""
    return ceil(len(json.dumps(text, ensure_ascii=False).encode()) / CHARACTERS_PER_TOKEN)
