"""Runs a program of a model as real CPython in a sandbox, and answers its tool calls from outside."""

from lawtrace.environments.sandbox.bubblewrap import SANDBOX as SANDBOX
from lawtrace.environments.sandbox.bubblewrap import SandboxUnavailable as SandboxUnavailable
from lawtrace.environments.sandbox.pool import Diagnosis as Diagnosis
from lawtrace.environments.sandbox.pool import Sandbox as Sandbox
from lawtrace.environments.sandbox.pool import SandboxPool as SandboxPool
from lawtrace.environments.sandbox.pool import diagnose as diagnose
from lawtrace.environments.sandbox.program import CallHandler as CallHandler
from lawtrace.environments.sandbox.program import Clock as Clock
from lawtrace.environments.sandbox.program import Limits as Limits
from lawtrace.environments.sandbox.program import PauseClock as PauseClock
from lawtrace.environments.sandbox.program import Program as Program
from lawtrace.environments.sandbox.program import Raised as Raised
from lawtrace.environments.sandbox.program import Reply as Reply
from lawtrace.environments.sandbox.program import Returned as Returned
from lawtrace.environments.sandbox.program import Toolset as Toolset
from lawtrace.environments.sandbox.program import ToolSignature as ToolSignature
from lawtrace.environments.sandbox.program_run import SandboxLost as SandboxLost
