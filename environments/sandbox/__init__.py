"""Runs a program of a model as real CPython in a sandbox, and answers its tool calls from outside."""

from lawtrace.environments.sandbox.bubblewrap import SANDBOX, JailUnavailable
from lawtrace.environments.sandbox.jail import Diagnosis, Jail, JailPool, diagnose
from lawtrace.environments.sandbox.program import (
    CallHandler,
    Clock,
    Limits,
    PauseClock,
    Program,
    Raised,
    Reply,
    Returned,
    Toolset,
    ToolSignature,
)
from lawtrace.environments.sandbox.program_run import JailLost

__all__ = [
    "SANDBOX",
    "CallHandler",
    "Clock",
    "Diagnosis",
    "Jail",
    "JailLost",
    "JailPool",
    "JailUnavailable",
    "Limits",
    "PauseClock",
    "Program",
    "Raised",
    "Reply",
    "Returned",
    "ToolSignature",
    "Toolset",
    "diagnose",
]
