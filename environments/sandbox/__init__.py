"""Runs a program of a model as real CPython in a sandbox, and answers its tool calls from outside."""

from lawtrace.environments.sandbox.backend import Backend, JailUnavailable
from lawtrace.environments.sandbox.bubblewrap import Bubblewrap
from lawtrace.environments.sandbox.jail import Diagnosis, Jail, JailPool, choose_backend, diagnose
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
    "Backend",
    "Bubblewrap",
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
    "choose_backend",
    "diagnose",
]
