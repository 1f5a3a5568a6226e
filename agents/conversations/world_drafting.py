"""The conversation that writes an environment for given tools.

    world_writer  writes the declaration in parts, and classes the sentences of the policy
    world_check   code: loads it, compares it with the schemas, checks it, carries out recorded calls
    world_critic  objects to a draft that loads

The best draft is kept, not the last.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from lawtrace.agents.conversation import Utterance, run_conversation
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.participants import CodeCheck, Objections, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.agents.roles.world_roles import WORLD_CRITIC, WORLD_WRITER, ClassedSentence, DraftReport, WorldDraft
from lawtrace.schemas.log_entries import Context

MOST_PARTS = 12
"""In how many more answers than there are rounds a large declaration may be written."""


@dataclass(frozen=True, slots=True)
class DraftedWorld:
    """The result of the conversation.

    Attributes:
        best: the report of the best draft; None if there is none.
        sentences: the last class of each sentence of the policy, by its citation.
        objections: what the critic said last.
        drafts: how many there were.
        failure: why the conversation broke off, or None.
        unusable: whether there is no draft, as an answer did not parse.
    """

    best: DraftReport | None
    sentences: Mapping[str, ClassedSentence]
    objections: tuple[str, ...]
    drafts: int
    failure: str | None
    unusable: bool


async def draft_world(
    check: Callable[[str, WorldDraft], DraftReport],
    *,
    role_models: RoleModels,
    context: Context,
    event_log: EventLog,
    most_rounds: int,
    inputs: Mapping[str, str],
) -> DraftedWorld:
    """Run the conversation.

    Args:
        check: the report on a whole declaration and the last answer.
        most_rounds: drafts; answers that leave tools for later are no drafts.
        inputs: what both roles are shown.
    """
    parts = dict[str, str]()

    def checked(draft: WorldDraft) -> DraftReport:
        parts.update({part.name: part.toml for part in draft.parts})
        return check("".join(f"{toml.strip()}\n\n" for toml in parts.values() if toml.strip()), draft)

    def next_speaker(messages: Sequence[Utterance]) -> str | None:
        _, content = messages[-1]
        drafts = [one for _, one in messages if isinstance(one, WorldDraft)]
        left = sum(not one.later for one in drafts) < most_rounds
        match content:
            case WorldDraft(parts=()) if len(drafts) > 1 and not content.later:
                return None  # the writer stands by the draft
            case WorldDraft():
                return "world_check"
            case DraftReport() if content.errors or drafts[-1].later:
                return WORLD_WRITER.name if left else None
            case DraftReport():
                return WORLD_CRITIC.name if left else None
            case Objections():
                reports = [one for _, one in messages if isinstance(one, DraftReport)]
                return None if not content.objections and reports[-1].is_clean else WORLD_WRITER.name
            case _:
                return WORLD_WRITER.name

    messages = await run_conversation(
        [
            WORLD_WRITER.agent(role_models, context, **inputs),
            CodeCheck("world_check", WorldDraft, DraftReport, checked, slow=True),
            WORLD_CRITIC.agent(role_models, context, **inputs),
        ],
        opening="Write the declaration.",
        next_speaker=next_speaker,
        context=context,
        event_log=event_log,
        most_messages=3 * most_rounds + 2 * MOST_PARTS,
    )
    last = messages[-1][1]
    drafts = [content for _, content in messages if isinstance(content, WorldDraft)]
    reports = [content for _, content in messages if isinstance(content, DraftReport)]
    heard = [content.objections for _, content in messages if isinstance(content, Objections)]
    failure, unusable = (last.reason, last.answered) if isinstance(last, RoleFailure) else (None, False)
    return DraftedWorld(
        best=max(reversed(reports), key=lambda one: one.score, default=None),
        sentences={one.citation: one for draft in drafts for one in draft.sentences},
        objections=heard[-1] if heard else (),
        drafts=len(drafts),
        failure=failure,
        unusable=unusable and not drafts,
    )
