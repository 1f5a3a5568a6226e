"""Cases to retrieved pieces: every question in every context, once for all depths."""

import asyncio
from collections.abc import Callable, Sequence
from functools import cache

from lawtrace.agents.clients.embeddings import EndpointEncoder
from lawtrace.agents.clients.spec import ModelSpec
from lawtrace.agents.clients.stack import ModelClients
from lawtrace.agents.ledger import Context
from lawtrace.environments.casebook.case import Case, context_name
from lawtrace.environments.casebook.retrieval.catalogue import make_ranker
from lawtrace.environments.casebook.retrieval.embedding import CachedEncoder, Encoder
from lawtrace.environments.casebook.retrieval.minilm import MiniLM, Pooling
from lawtrace.environments.casebook.retrieval.ranking import rank_case
from lawtrace.runs.cache_folder import cache_folder
from lawtrace.runs.legal.recipe import LegalRecipe
from lawtrace.runs.legal.rows import RetrievedRow


def retrieve(
    cases: Sequence[Case],
    recipe: LegalRecipe,
    *,
    encoder: Callable[[Pooling], Encoder],
    on_case: Callable[[], None] = lambda: None,
) -> list[RetrievedRow]:
    """Rows by retriever, case, context and question. The query is the question without its options (M 5.1).

    An encoder may wait for the event loop, so inside one this runs in a thread of its own.
    """
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


def encoders(recipe: LegalRecipe, clients: ModelClients) -> Callable[[Pooling], Encoder]:
    """The encoder for a pooling, made when it is first asked for. Call it inside the loop of the clients.

    Vectors of ours are kept by content from run to run; those of an endpoint stand in the record, like every answer.
    """
    loop = asyncio.get_running_loop()

    @cache
    def encoder(pooling: Pooling) -> Encoder:
        if recipe.embedding == "minilm":
            return CachedEncoder(MiniLM(pooling), cache_folder("vectors"))
        client = clients.embedder(ModelSpec.parse(recipe.embedding), Context(stage="retrieval", role="embedder"))
        return EndpointEncoder(client, recipe.embedding, loop)

    return encoder
