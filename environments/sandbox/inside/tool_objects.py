"""The objects that a program finds: the object with the tools, their results and their exceptions.

Made once in the fork server, for all programs with the same tools. Signatures and ``help()`` agree with the
declaration. Calls are not checked here, but by the host.
"""

import builtins
import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, cast

from .wire import require_json

Ask = Callable[[Mapping[str, object]], dict[str, Any]]
"""Sends a call to the host and waits for the answer."""


class ToolError(Exception):
    """Base class of all exceptions that tools raise."""


class ToolResult(dict[str, Any]):
    """Result of a tool: a dictionary whose fields can also be read as attributes."""

    __slots__ = ()

    def __getattr__(self, name: str) -> object:
        try:
            return self[name]
        except KeyError:
            fields = ", ".join(map(repr, self)) or "none"
            raise AttributeError(f"the result has no field {name!r}; it has {fields}", name=name, obj=self) from None

    @classmethod
    def of(cls, value: Any) -> Any:  # noqa: ANN401 - JSON in, JSON out
        """Convert each object in the value, at any depth, to a result."""
        match value:
            case dict():
                fields = cast("dict[str, Any]", value)
                return cls({name: cls.of(part) for name, part in fields.items()})
            case list():
                return [cls.of(part) for part in cast("list[Any]", value)]
            case _:
                return value


class Toolbox:
    """Base class of the object with the tools. The tools are attributes of a generated subclass."""

    __slots__ = ()

    def __getattr__(self, name: str) -> NoReturn:
        kind = type(self)
        tools = [tool for tool in vars(kind) if not tool.startswith("_")]
        nearest = difflib.get_close_matches(name, tools, n=1, cutoff=0.0)
        hint = f"; the nearest is {nearest[0]!r}" if nearest and not name.startswith("__") else ""
        raise AttributeError(f"{kind.__name__!r} has no tool {name!r}{hint}", name=name, obj=self)


class ToolObjects:
    """Objects shared by all programs with the same tools.

    Args:
        offer: the toolset that the host sends (`lawtrace.environments.sandbox.program.Toolset`), as JSON.
    """

    def __init__(self, offer: Mapping[str, Any]) -> None:
        self._exceptions = {name: type(name, (ToolError,), {"__module__": "__main__"}) for name in offer["exceptions"]}
        self._ask: Ask | None = None
        plain = offer["plain_results"]
        tools = {name: self._tool(name, face, plain=plain) for name, face in offer["tools"].items()}
        name = offer["object_name"]
        toolbox = type(name, (Toolbox,), {"__slots__": (), "__doc__": offer["about"], **tools})
        self._names = {"ToolError": ToolError, name: toolbox(), **self._exceptions}

    def answered_by(self, ask: Ask) -> dict[str, Any]:
        """Connect the tools to ``ask`` and return the initial names of a program."""
        self._ask = ask
        return dict(self._names)

    def _tool(self, name: str, face: Mapping[str, Any], *, plain: bool) -> object:
        """A function that maps positional arguments to names, as Python does. The host checks everything else."""
        parameters = tuple(face["parameters"])

        def tool(*positional: object, **arguments: object) -> object:
            if len(positional) > len(parameters):
                given = f"{len(parameters)} positional arguments but {len(positional)} were given"
                raise TypeError(f"{name}() takes {given}")
            named = dict(zip(parameters, positional, strict=False))
            for parameter in named.keys() & arguments.keys():
                raise TypeError(f"{name}() got multiple values for argument {parameter!r}")
            value = self._call(name, named | arguments)
            return value if plain else ToolResult.of(value)

        tool.__name__ = tool.__qualname__ = name
        tool.__module__ = "__main__"
        tool.__doc__ = face["about"]
        vars(tool)["__signature__"] = signature_of(parameters, face["required"])
        tool.__annotations__ = {}
        return staticmethod(tool)

    def _call(self, tool: str, arguments: dict[str, object]) -> object:
        require_json(arguments)
        assert self._ask is not None
        answer = self._ask({"tool": tool, "arguments": arguments})
        if "raised" not in answer:
            return answer["returned"]
        name, message = answer["raised"]
        raise (self._exceptions.get(name) or _exception(name))(message)


def _exception(name: str) -> type[Exception]:
    """The built-in exception of that name, or a new subclass of `ToolError`."""
    built_in = getattr(builtins, name, None)
    if isinstance(built_in, type) and issubclass(built_in, Exception):
        return built_in
    return type(name, (ToolError,), {"__module__": "__main__"})


def signature_of(parameters: Sequence[str], required: Sequence[str]) -> inspect.Signature:
    """The documented signature. Optional parameters default to ``None``."""
    last = max((place for place, name in enumerate(parameters) if name in required), default=-1)
    return inspect.Signature(
        [
            inspect.Parameter(
                name, inspect.Parameter.POSITIONAL_OR_KEYWORD, default=None if place > last else inspect.Parameter.empty
            )
            for place, name in enumerate(parameters)
        ]
    )
