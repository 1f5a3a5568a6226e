"""Runs a program of a model as real CPython in a sandbox, and answers its tool calls from outside."""

from lawtrace.environments.sandbox.bubblewrap import SANDBOX as SANDBOX
from lawtrace.environments.sandbox.bubblewrap import JailUnavailable as JailUnavailable
from lawtrace.environments.sandbox.jail import Diagnosis as Diagnosis
from lawtrace.environments.sandbox.jail import Jail as Jail
from lawtrace.environments.sandbox.jail import JailPool as JailPool
from lawtrace.environments.sandbox.jail import diagnose as diagnose
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
from lawtrace.environments.sandbox.program_run import JailLost as JailLost
