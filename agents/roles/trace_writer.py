"""The trace writer: a model that writes diverse programs under the rules, a baseline for the search (P Table 2)."""

import json
from collections.abc import Mapping, Sequence

from autogen_core.models import ChatCompletionClient
from pydantic import BaseModel, ConfigDict, Field

from lawtrace.agents.participants import RoleAgent
from lawtrace.environments.events import Json
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
from lawtrace.prompts.loader import Prompt
from lawtrace.solver.rules import Rule


class ProgramBatch(BaseModel):
    """The programs of one answer."""

    model_config = ConfigDict(frozen=True)

    programs: tuple[str, ...] = Field(min_length=1)


class WriteMore(BaseModel):
    """How many programs are still wanted at a time, 0 if there are enough; and what the earlier ones call."""

    model_config = ConfigDict(frozen=True)

    wanted: int
    calls_so_far: tuple[str, ...] = ()

    def request(self) -> str:
        """As the writer reads it."""
        earlier = "\n".join(f"- {calls or 'no call'}" for calls in self.calls_so_far)
        before = f"The programs so far call, in this order:\n{earlier}\n" if earlier else ""
        return f"{before}Write {self.wanted} {'more ' if earlier else ''}programs, each different from all others."


def make_trace_writer(
    client: ChatCompletionClient,
    prompt: Prompt,
    environment: Environment,
    rules: Sequence[Rule],
    initial_state: Mapping[str, Json],
    length: int,
) -> RoleAgent[ProgramBatch]:
    system = prompt.fill(
        object_name=environment.object_name,
        documentation=json.dumps(document(environment), indent=1),
        rules=json.dumps([{"formula": rule.formula, "because": rule.rationale} for rule in rules], indent=1),
        initial_state=json.dumps(initial_state, indent=1),
        length=length,
    )
    return RoleAgent(
        "trace_writer",
        client=client,
        prompt=prompt,
        system=system,
        answer=ProgramBatch,
        attend=lambda content: content.request() if isinstance(content, WriteMore) else str(content),
        remembers=False,
    )
