"""Calls of the roles of the legal benchmark: proposals that code checks, and single answers."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from pydantic import BaseModel

from lawtrace.agents.conversation import ProposalLoopResult, ask_role, run_proposal_loop
from lawtrace.agents.event_log import EventLog
from lawtrace.agents.participants import Role, RoleFailure
from lawtrace.agents.role_models import RoleModels
from lawtrace.environments.documents.decision import Paragraph
from lawtrace.schemas.log_entries import Context

Answer = TypeVar("Answer", bound=BaseModel)
Item = TypeVar("Item")


@dataclass(frozen=True, slots=True)
class ValidItems(Generic[Item]):
    """The items of a role's last answer that code accepts, the objections to the others, and why there is no answer."""

    kept: tuple[Item, ...] = ()
    refused: tuple[str, ...] = ()
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class RoleCalls:
    """Calls roles about one case or question and records their messages.

    Attributes:
        most_rounds: most proposals of a role.
    """

    role_models: RoleModels
    context: Context
    event_log: EventLog
    most_rounds: int = 1

    def batches(self, role: str, paragraphs: Sequence[Paragraph], size: int) -> list[Sequence[Paragraph]]:
        """The paragraphs for each conversation of a role that needs a model; none without one.

        One at a time if its prompt reads them as text, without their numbers: code then knows what an answer is about.
        """
        if self.role_models.name_of(role) == "offline":
            return []
        step = 1 if "text" in self.role_models.prompt(role).inputs else size
        return [paragraphs[start : start + step] for start in range(0, len(paragraphs), step)]

    def about(self, task: str) -> "RoleCalls":
        return replace(self, context=self.context.at(task=task))

    def at_unit(self, unit: str) -> "RoleCalls":
        return replace(self, context=self.context.at(unit=unit))

    async def propose(
        self,
        role: Role[Answer],
        object_to: Callable[[Answer], Sequence[str]],
        *,
        opening: str,
        unit: str | None = None,
        reviewer: Role[Any] | None = None,
        **inputs: object,
    ) -> ProposalLoopResult[Answer]:
        """The proposals of a role. ``unit``: the part of the case; ``inputs`` fill its prompt, and the reviewer's."""
        context = self.context.at(role=role.name, unit=unit, conversation_kind=role.name)
        return await run_proposal_loop(
            role.agent(self.role_models, context, **inputs),
            object_to,
            opening=opening,
            context=context,
            event_log=self.event_log,
            most_rounds=self.most_rounds,
            reviewer=reviewer and reviewer.agent(self.role_models, context, **inputs),
        )

    async def propose_items(
        self,
        role: Role[Answer],
        items_of: Callable[[Answer], Sequence[Item]],
        check: Callable[[Item], str | None],
        *,
        opening: str,
        unit: str,
        **inputs: object,
    ) -> ValidItems[Item]:
        """The valid items of the role's last proposal.

        ``check``: the objection to an item; None if it is valid.
        """

        def object_to(answer: Answer) -> list[str]:
            return [reason for item in items_of(answer) if (reason := check(item))]

        found = await self.propose(role, object_to, opening=opening, unit=unit, reviewer=None, **inputs)
        if not found.proposals:
            return ValidItems(failure=f"{role.name}, from {unit}: {found.failure}")
        checked = [(item, check(item)) for item in items_of(found.proposals[-1])]
        kept = tuple(item for item, reason in checked if reason is None)
        return ValidItems(kept, tuple(f"{role.name}: {reason}" for _, reason in checked if reason is not None))

    async def ask(self, role: Role[Answer], *, opening: str, **inputs: object) -> Answer | RoleFailure:
        """The answer of a single role. Raises errors that stop the run."""
        context = self.context.at(role=role.name, turn=0)
        agent = role.agent(self.role_models, context, **inputs)
        return await ask_role(agent, opening, context.at(turn=1), self.event_log)


def as_json(value: object) -> str:
    """A value as a JSON block of a prompt."""
    return json.dumps(value, indent=1, ensure_ascii=False)


def paragraphs_as_json(paragraphs: Sequence[Paragraph]) -> str:
    return as_json([{"paragraph": paragraph.ref, "text": paragraph.text} for paragraph in paragraphs])


def texts_of(paragraphs: Sequence[Paragraph]) -> Mapping[str, str]:
    """The texts by paragraph reference."""
    return {paragraph.ref: paragraph.text for paragraph in paragraphs}
