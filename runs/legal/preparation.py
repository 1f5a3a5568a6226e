"""The stages that turn a decision into a case: mapping of parts, extraction of chunks."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from lawtrace.agents.legal.knowledge_extraction import extract_knowledge
from lawtrace.agents.legal.role_calls import RoleCalls
from lawtrace.agents.legal.section_mapper import SectionMapping, map_sections
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.documents.decision import Document
from lawtrace.environments.legal.case import PreparedCase, build_case
from lawtrace.runs.legal.legal_recipe import LegalRecipe
from lawtrace.runs.legal.legal_runner import open_legal_clients
from lawtrace.runs.runner import Runner
from lawtrace.runs.stages.stage import Made, Stage
from lawtrace.runs.store.event_log_file import EventLogFile
from lawtrace.runs.store.stage_store import Products, StageFile, StageStore
from lawtrace.schemas.errors import OperationalError
from lawtrace.schemas.log_entries import Context

PARTS = StageFile("parts.jsonl", SectionMapping)
EXTRACTED = StageFile("extracted.jsonl", PreparedCase)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparationContext:
    """The shared context of the stages. ``name``: the id of the case of the document."""

    recipe: LegalRecipe
    role_models: RoleModels
    event_log: EventLogFile
    document: Document | None
    name: str

    def calls(self, stage: str, role: str, task: str | None = None) -> RoleCalls:
        context = Context(stage=stage, role=role, task=task)
        return RoleCalls(self.role_models, context, self.event_log, self.recipe.conversation.rounds)

    def document_key(self) -> dict[str, object]:
        """The part of the stage key for the document and the limit of rounds."""
        return {"document": self.document, "name": self.name, "rounds": self.recipe.conversation.rounds}


async def _map(context: PreparationContext, _: Products) -> Made:
    assert context.document is not None
    mapping = await map_sections(context.document, context.calls("ingest", "section_mapper", context.name))
    error = None
    if mapping.failure is not None:
        error = OperationalError(
            f"{context.name}: the section mapper failed ({mapping.failure}); give a mapping with --parts"
        )
    return Made(complete=error is None, error=error).add(PARTS, [mapping])


async def _extract(context: PreparationContext, products: Products) -> Made:
    assert context.document is not None
    (mapping,) = products[PARTS]
    case = build_case(context.name, context.document, mapping.parts)
    extracted = await extract_knowledge(case, context.calls("reading", "application"))
    return Made(complete=not extracted.failures).add(EXTRACTED, [extracted])


PREPARATION_STAGES: tuple[Stage[PreparationContext, PreparationContext], ...] = (
    Stage(
        name="parts",
        produces=(PARTS,),
        depends=lambda context: {**context.document_key(), **context.recipe.roles_key("section_mapper")},
        run=_map,
    ),
    Stage(
        name="extraction",
        produces=(EXTRACTED,),
        needs=lambda _: (PARTS,),
        depends=lambda context: {**context.document_key(), **context.recipe.roles_key("application", "common_sense")},
        run=_extract,
    ),
)


@asynccontextmanager
async def open_preparation(
    recipe: LegalRecipe, event_log: EventLogFile, document: Document | None = None, name: str = ""
) -> AsyncGenerator[Runner[PreparationContext]]:
    """A runner of the stages, with the event log of the command. Finished stages are not repeated."""
    folder = event_log.path.parent
    async with open_legal_clients(recipe, event_log) as clients:
        context = PreparationContext(
            recipe=recipe, role_models=recipe.role_models(clients), event_log=event_log, document=document, name=name
        )
        store = StageStore(folder, event_log.entries(kind="stage"))
        yield Runner(PREPARATION_STAGES, context, folder=folder, store=store, event_log=event_log)
