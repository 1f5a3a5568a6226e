"""The role that writes test programs, the model-written baseline of the trace search (P Table 2)."""

import json
from collections.abc import Mapping, Sequence

from pydantic import BaseModel, Field

from lawtrace.agents.participants import Role
from lawtrace.environments.runtime.documentation import document
from lawtrace.environments.spec.declaration import Environment
from lawtrace.schemas.events import Json
from lawtrace.schemas.models import FrozenModel
from lawtrace.solver.rules import Rule


class ProgramBatch(FrozenModel):
    """The programs of one answer."""

    programs: tuple[str, ...] = Field(min_length=1)


class WriteMore(FrozenModel):
    """A request: the number of programs wanted (0 if there are enough), and the calls of the earlier ones."""

    wanted: int
    calls_so_far: tuple[str, ...] = ()

    def request(self) -> str:
        """The text of the request."""
        earlier = "\n".join(f"- {calls or 'no call'}" for calls in self.calls_so_far)
        before = f"The programs so far call, in this order:\n{earlier}\n" if earlier else ""
        return f"{before}Write {self.wanted} {'more ' if earlier else ''}programs, each different from all others."


def _read_request(content: BaseModel | str) -> str:
    return content.request() if isinstance(content, WriteMore) else str(content)


TRACE_WRITER = Role("trace_writer", ProgramBatch, message_filter=_read_request, stateful=False)
"""Writes diverse programs that keep the rules; the baseline of the trace search (P Table 2)."""


def trace_writer_inputs(
    environment: Environment, rules: Sequence[Rule], initial_state: Mapping[str, Json], length: int
) -> dict[str, object]:
    """The inputs of its prompt."""
    return {
        "object_name": environment.object_name,
        "documentation": json.dumps(document(environment), indent=1),
        "rules": json.dumps([{"formula": rule.formula, "because": rule.rationale} for rule in rules], indent=1),
        "initial_state": json.dumps(initial_state, indent=1),
        "length": length,
    }
