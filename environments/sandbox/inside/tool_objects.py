"""The objects that a program finds: the object with the tools, their results and their exceptions.

Made from JSON Schema once in the fork server, for all programs with the same tools. Signatures, type hints and
``help()`` agree with the declaration. Calls are not checked here, but by the host.
"""

import builtins
import difflib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, NotRequired, cast

from .wire import require_json

Ask = Callable[[Mapping[str, object]], dict[str, Any]]
"""Sends a call to the host and waits for the answer."""

PLAIN_TYPES: Mapping[str, type] = {"string": str, "number": float, "integer": int, "boolean": bool, "null": type(None)}


class ToolError(Exception):
    """Base class of all exceptions that tools raise."""


class ToolResult(dict[str, Any]):
    """Result of a tool: a dictionary whose fields can also be read as attributes."""

    __slots__ = ()
    _records = cast(
        "Mapping[str, type[ToolResult]]", {}
    )  # no annotation, since the annotations of a result are its fields

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
                return cls({name: cls._records.get(name, ToolResult).of(part) for name, part in fields.items()})
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
        returned = annotation(face["returns"], f"{name}Result")
        read = returned.of if isinstance(returned, type) and issubclass(returned, ToolResult) else ToolResult.of

        def tool(*positional: object, **arguments: object) -> object:
            if len(positional) > len(parameters):
                given = f"{len(parameters)} positional arguments but {len(positional)} were given"
                raise TypeError(f"{name}() takes {given}")
            named = dict(zip(parameters, positional, strict=False))
            for parameter in named.keys() & arguments.keys():
                raise TypeError(f"{name}() got multiple values for argument {parameter!r}")
            value = self._call(name, named | arguments)
            return value if plain else read(value)

        tool.__name__ = tool.__qualname__ = name
        tool.__module__ = "__main__"
        tool.__doc__ = face["about"]
        signature = signature_of(face["parameters"], face["required"], returned)
        vars(tool)["__signature__"] = signature
        tool.__annotations__ = {
            parameter.name: parameter.annotation
            for parameter in signature.parameters.values()
            if parameter.annotation is not inspect.Parameter.empty
        } | ({} if returned is Any else {"return": returned})
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


def signature_of(
    parameters: Mapping[str, Mapping[str, Any]],
    required: Sequence[str],
    returned: Any,  # noqa: ANN401 - a type hint
) -> inspect.Signature:
    """The documented signature. Optional parameters default to ``None``."""
    made: list[inspect.Parameter] = []
    last = max((place for place, name in enumerate(parameters) if name in required), default=-1)
    for place, (name, schema) in enumerate(parameters.items()):
        kind = annotation(schema, name)
        optional = name not in required
        made.append(
            inspect.Parameter(
                name,
                inspect.Parameter.POSITIONAL_OR_KEYWORD,
                default=None if optional and place > last else inspect.Parameter.empty,
                annotation=inspect.Parameter.empty if kind is Any else kind | None if optional else kind,
            )
        )
    return inspect.Signature(made, return_annotation=inspect.Signature.empty if returned is Any else returned)


def annotation(schema: Mapping[str, Any], name: str) -> Any:  # noqa: ANN401 - a type hint
    """The type hint of a JSON Schema. An object becomes a subclass of `ToolResult` with its fields."""
    kinds = schema.get("type", ())
    hint: Any = None
    for kind in (kinds,) if isinstance(kinds, str) else kinds:
        match kind:
            case "object":
                one: Any = record(schema, schema.get("title") or _class_name(name))
            case "array":
                one = list[annotation(schema.get("items", {}), name)]
            case _:
                one = PLAIN_TYPES[kind]
        hint = one if hint is None else hint | one
    return Any if hint is None else hint


def _class_name(name: str) -> str:
    """``home_address`` as the name of a class: ``HomeAddress``."""
    return "".join(word[:1].upper() + word[1:] for word in name.split("_"))


def record(schema: Mapping[str, Any], name: str) -> type[ToolResult]:
    """A subclass of `ToolResult` with the fields as annotations."""
    hints: dict[str, Any] = {}
    records: dict[str, type[ToolResult]] = {}
    for field, of in schema.get("properties", {}).items():
        hint = annotation(of, field)
        for part in _classes_in(hint):
            if issubclass(part, ToolResult):
                records[field] = part
        hints[field] = hint if field in schema.get("required", ()) else NotRequired[hint]
    about = {"__module__": "__main__", "__doc__": schema.get("description", ToolResult.__doc__)}
    return type(name, (ToolResult,), {"__slots__": (), "__annotations__": hints, "_records": records, **about})


def _classes_in(hint: Any) -> list[type]:  # noqa: ANN401 - a type hint
    """The classes in a hint: ``list[Payee] | None`` has ``Payee`` and ``NoneType``."""
    if isinstance(hint, type) and not hasattr(hint, "__args__"):
        return [hint]
    return [part for argument in getattr(hint, "__args__", ()) for part in _classes_in(argument)]
