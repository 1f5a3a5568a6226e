"""Programs from traces: a trace printed as readable Python.

Each call gets a line; an argument that comes from an earlier result is written as the path into it, so the program
reads like one that a careful person wrote, and works only if the results look as documented.
"""

from collections.abc import Sequence

from lawtrace.environments.declaration import Environment
from lawtrace.environments.events import FromResult, FromResults, Json, Origin
from lawtrace.solver.traces import PlannedCall


def print_program(environment: Environment, calls: Sequence[PlannedCall]) -> str:
    """The calls as a Python program that uses the environment's object. Ends with a newline."""
    used = frozenset[int]().union(*(call.sources for call in calls))
    lines = [_print_call(environment, number, call, named=number in used) for number, call in enumerate(calls)]
    return "\n".join(lines) + "\n"


def _print_call(environment: Environment, number: int, call: PlannedCall, *, named: bool) -> str:
    arguments = [f"{name}={_print_argument(value, call.origins[name])}" for name, value in call.event.arguments.items()]
    line = f"{environment.object_name}.{call.event.tool}({', '.join(arguments)})"
    return f"r{number + 1} = {line}" if named else line


def _print_argument(value: Json, origin: Origin) -> str:
    if isinstance(origin, FromResults):
        return f"[{', '.join(map(_print_path, origin.items))}]"
    return _print_path(origin) if isinstance(origin, FromResult) else repr(value)


def _print_path(origin: FromResult) -> str:
    return f"r{origin.step + 1}" + "".join(f"[{part!r}]" for part in origin.path)
