"""Runs a model's program as real CPython behind walls, and lets the judge outside answer its tool calls."""

from lawtrace.environments.jail.bubblewrap import Bubblewrap
from lawtrace.environments.jail.conversation import JailLost
from lawtrace.environments.jail.jail import Diagnosis, Jail, diagnose
from lawtrace.environments.jail.jails import Jails
from lawtrace.environments.jail.program import (
    CallHandler,
    Execution,
    ExecutionStatus,
    Limits,
    Program,
    Raised,
    Reply,
    Returned,
    ToolFace,
    Toolset,
)
from lawtrace.environments.jail.sandboxes import UNPROTECTED, choose_walls
from lawtrace.environments.jail.walls import JailUnavailable, Walls

__all__ = [
    "UNPROTECTED",
    "Bubblewrap",
    "CallHandler",
    "Diagnosis",
    "Execution",
    "ExecutionStatus",
    "Jail",
    "JailLost",
    "JailUnavailable",
    "Jails",
    "Limits",
    "Program",
    "Raised",
    "Reply",
    "Returned",
    "ToolFace",
    "Toolset",
    "Walls",
    "choose_walls",
    "diagnose",
]
