"""Snapshots of guards: everything that later decisions depend on, as JSON."""

import hashlib
import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import TypeAdapter, ValidationError

from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.choices import Fallback, GuardMode, OnArguable
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Actor
from lawtrace.solver.guard.traces import SessionState
from lawtrace.solver.rules import Rule

VERSION: Final = "lawtrace.guard/7"


@dataclass(frozen=True, slots=True)
class GuardOptions:
    """How a guard decides; see `lawtrace.solver.guard.guard.Guard`."""

    mode: GuardMode
    on_undecided: Fallback
    on_arguable: OnArguable
    on_unknown: Fallback
    steps: int
    advice: bool


@dataclass(frozen=True, slots=True)
class Snapshot:
    """A guard in a session.

    Attributes:
        rules: the digest of its rules and tools.
        asking: the same for each rule about which a person may be asked.
        across: the same for rules across sessions.
        heard: the ids of the messages that it was told.
        actor: who acts in the session.
    """

    version: Literal["lawtrace.guard/7"]
    rules: str
    options: GuardOptions
    session: SessionState
    asking: tuple[SessionState, ...] = ()
    across: tuple[SessionState, ...] = ()
    heard: tuple[str, ...] = ()
    actor: Actor | None = None


_SNAPSHOTS: Final = TypeAdapter(Snapshot)


def dump_snapshot(snapshot: Snapshot) -> bytes:
    """The snapshot of a guard as JSON."""
    return _SNAPSHOTS.dump_json(snapshot)


def read_snapshot(snapshot: bytes | str) -> Snapshot:
    """Read what `dump_snapshot` wrote. Raises InputError if it is damaged or of another version."""
    try:
        return _SNAPSHOTS.validate_json(snapshot)
    except ValidationError as error:
        raise InputError(f"not a snapshot of a guard of version {VERSION}") from error


def digest_of(rules: Iterable[Rule], tools: Mapping[str, ToolSchema]) -> str:
    """Of everything that decisions depend on besides the trace and the options."""
    known = [
        [rule.id, str(rule.parsed), rule.source, dict(rule.under), rule.across_sessions, rule.ask] for rule in rules
    ]
    schemas = [[tool.name, tool.parameters, tool.result] for tool in tools.values()]
    return hashlib.sha256(json.dumps([known, schemas], sort_keys=True).encode()).hexdigest()
