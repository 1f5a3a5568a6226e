"""Runs a model's program as real CPython behind walls, and lets the judge outside answer its tool calls."""

from environments.jail.bubblewrap import JailUnavailable
from environments.jail.jail import Diagnosis, Jail, diagnose
from environments.jail.program import (
    CallHandler,
    Execution,
    ExecutionStatus,
    Limits,
    Program,
    Raised,
    Reply,
    Returned,
)

__all__ = [
    "CallHandler",
    "Diagnosis",
    "Execution",
    "ExecutionStatus",
    "Jail",
    "JailUnavailable",
    "Limits",
    "Program",
    "Raised",
    "Reply",
    "Returned",
    "diagnose",
]
