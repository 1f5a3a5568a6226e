"""Cases to retrieved pieces: every question in every context, once for all depths."""

import os
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path

from agents.clients.embeddings import EndpointEncoder
from agents.clients.spec import ModelSpec
from environments.casebook.case import Case, context_name
from environments.casebook.retrieval.catalogue import make_ranker
from environments.casebook.retrieval.embedding import CachedEncoder, Encoder
from environments.casebook.retrieval.minilm import MiniLM, Pooling
from environments.casebook.retrieval.ranking import rank_case
from environments.errors import InputError
from runs.legal.recipe import LegalRecipe
from runs.legal.rows import RetrievedRow

__all__ = ["cache_folder", "encoders", "retrieve"]


def retrieve(
    cases: Sequence[Case],
    recipe: LegalRecipe,
    *,
    encoder: Callable[[Pooling], Encoder],
    on_case: Callable[[], None] = lambda: None,
) -> list[RetrievedRow]:
    """Rows by retriever, case, context and question. The query is the question without its options (M 5.1)."""
    rows: list[RetrievedRow] = []
    for name in recipe.retrievers:
        ranker = make_ranker(name, encoder)
        for case in cases:
            queries = [question.text for question in case.questions]
            for context in recipe.parsed_contexts():
                found = rank_case(case, context, queries, ranker, depth=recipe.depths[-1], share=recipe.share)
                rows += [
                    RetrievedRow(
                        case=case.id, question=question.id, context=context_name(context), retriever=name, hits=hits
                    )
                    for question, hits in zip(case.questions, found, strict=True)
                ]
            on_case()
    return rows


def encoders(recipe: LegalRecipe, folder: Path | None = None) -> Callable[[Pooling], Encoder]:
    """The encoder for a pooling, made when it is first asked for; vectors are kept by content in the folder."""

    @cache
    def encoder(pooling: Pooling) -> Encoder:
        if recipe.embedding == "minilm":
            return CachedEncoder(MiniLM(pooling), folder or cache_folder())
        if pooling == "cls":
            raise InputError("embedding: released_embedding takes the [CLS] vector, which only minilm shows")
        seconds = recipe.conversation.deadline_seconds
        endpoint = EndpointEncoder(ModelSpec.parse(recipe.embedding), deadline_seconds=seconds)
        return CachedEncoder(endpoint, folder or cache_folder())

    return encoder


def cache_folder() -> Path:
    """Where vectors are kept between runs: ``LAWTRACE_CACHE``, or the user's own cache folder."""
    named = os.environ.get("LAWTRACE_CACHE")
    if named:
        return Path(named)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "lawtrace"
