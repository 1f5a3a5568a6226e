"""Tools in Python source: the methods of a class, or functions. The source is parsed, never imported or run.

A method is a tool if it is public; if some have a decorator with ``tool`` in its name, only these are. A class that
describes one tool is this tool: with ``get_info`` that returns a literal (tau-bench), or with ``name`` and a method
that runs it (LangChain, CrewAI, smolagents). Lists of schemas in the source are read, too. Parameters that a framework
fills in (``self``, contexts, injected dependencies) are left out.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

from lawtrace.environments.tool_schemas.forms import read_forms
from lawtrace.environments.tool_schemas.python_types import Annotations, Module, dotted_name, literal, load_module
from lawtrace.environments.tool_schemas.schemas import NoToolsError, ToolSchema
from lawtrace.schemas.errors import InputError, input_errors

_INJECTED: Final = re.compile(r"(Context|ContextWrapper|Request|Response|RunnableConfig)$|CallbackManager|^Injected")
_RUN: Final = ("_run", "_arun", "forward", "run", "execute", "__call__")
"""The methods by which classes that are one tool run it."""
_FILLED_IN: Final = re.compile(r"^(Depends|Injected\w*|CurrentContext|Header|Security)$")
_Function = ast.FunctionDef | ast.AsyncFunctionDef


def read_python_tools(path: Path, name: str | None) -> list[ToolSchema]:
    """The tools of the class, or of the function, of that name; without a name, the functions of the file.

    Raises InputError if the file is not Python, or has no such class.
    """
    try:
        with input_errors(path):
            module = load_module(path)
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, SyntaxError) and error.lineno else ""
        raise InputError(f"{path}{line}: not Python: {error}") from error
    functions = [node for node in module.tree.body if isinstance(node, _Function)]
    if name is None:
        found = [tool for one in module.classes for tool in _described(module, one)]
        found += _literal_lists(module)
        marked = [one for one in _chosen(functions) if _is_marked(one)]
        found += [_of_function(module, one, None) for one in (marked if found else _chosen(functions))]
        if not found:
            classes = ", ".join(list(module.classes)[:10])
            remedy = f"functions; name a class, {path}:CLASS; it has {classes}" if classes else "functions or classes"
            error = NoToolsError(f"{path}: no {remedy}")
            error.is_empty = not classes
            raise error
        return found
    if name in module.classes:
        return _of_class(module, name, path)
    if one := next((function for function in functions if function.name == name), None):
        return [_of_function(module, one, None)]
    raise InputError(f"{path}: there is no class {name!r}; it has {', '.join(list(module.classes)[:10]) or 'none'}")


def _of_class(module: Module, name: str, path: Path) -> list[ToolSchema]:
    if described := _described(module, name):
        return described
    methods: dict[str, tuple[Module, _Function]] = {}
    for place, node in module.lineage(name):
        for one in node.body:
            if isinstance(one, _Function):
                methods.setdefault(one.name, (place, one))
    chosen = {id(one) for one in _chosen([one for _, one in methods.values()])}
    found = [_of_function(place, one, name) for place, one in methods.values() if id(one) in chosen]
    if not found:
        raise InputError(f"{path}: the class {name!r} has no public methods")
    return found


def _described(module: Module, name: str) -> list[ToolSchema]:
    """The tool that a class describes; none if it is a class of another kind."""
    node = module.classes[name]
    if told := _literal_info(module, node):
        return told
    assigned = {target: value for _, base in reversed([*module.lineage(name)]) for target, value in _assigned(base)}
    methods = {one.name: one for one in node.body if isinstance(one, _Function)}
    run = next((methods[one] for one in _RUN if one in methods), None)
    title = literal(assigned.get("name"))
    if run is None or not isinstance(title, str):
        return []
    found = _of_function(module, run, name)
    parameters: Mapping[str, Any] = found.parameters
    inputs, schema = literal(assigned.get("inputs")), assigned.get("args_schema")
    if isinstance(inputs, dict):
        parameters = {"type": "object", "properties": inputs}
    elif schema is not None:
        annotations = Annotations(module)
        parameters = {**annotations.schema(schema, "arguments"), "$defs": dict(annotations.definitions)}
    said = literal(assigned.get("description"))
    description = said if isinstance(said, str) else found.description
    notes = found.notes if parameters is found.parameters else ()
    return [replace(found, name=title, description=description, parameters=parameters, notes=notes)]


def _assigned(node: ast.ClassDef) -> Iterator[tuple[str, ast.expr]]:
    for one in node.body:
        if isinstance(one, ast.Assign) and isinstance(one.targets[0], ast.Name):
            yield one.targets[0].id, one.value
        elif isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name) and one.value is not None:
            yield one.target.id, one.value


def _literal_lists(module: Module) -> list[ToolSchema]:
    """The schemas that the source has as literals: ``TOOLS = [{"name": ...}]``."""
    return [
        tool
        for name, value in module.aliases.items()
        if isinstance(value, ast.List | ast.Dict)
        for tool in read_forms(literal(value), f"{module.path}, {name}")
    ]


def _literal_info(module: Module, node: ast.ClassDef) -> list[ToolSchema]:
    info = next((one for one in node.body if isinstance(one, _Function) and one.name == "get_info"), None)
    returned = next((one.value for one in ast.walk(info) if isinstance(one, ast.Return)), None) if info else None
    return list(read_forms(literal(returned), f"{module.path}, class {node.name}"))


def _chosen(functions: Sequence[_Function]) -> list[_Function]:
    """The functions that are tools."""
    public = [one for one in functions if not one.name.startswith("_") and not _is_accessor(one)]
    return [one for one in public if _is_marked(one)] or public


def _is_marked(function: _Function) -> bool:
    return any("tool" in _last(node).lower() for node in function.decorator_list)


def _is_accessor(function: _Function) -> bool:
    names = {_last(node) for node in function.decorator_list}
    return bool(names & {"property", "cached_property", "setter", "getter", "abstractmethod", "overload", "fixture"})


def _last(node: ast.expr) -> str:
    return dotted_name(node.func if isinstance(node, ast.Call) else node).rpartition(".")[2]


def _of_function(module: Module, function: _Function, owner: str | None) -> ToolSchema:
    import docstring_parser  # not at the top: a guard reads no source

    annotations, doc = Annotations(module), docstring_parser.parse(ast.get_docstring(function) or "")
    described = {one.arg_name: _one_line(one.description) for one in doc.params}
    properties: dict[str, Any] = {}
    required: list[str] = []
    notes: list[str] = []
    for argument, default in _arguments(function, owner):
        if _is_filled_in(argument.annotation, default):
            continue
        schema = annotations.schema(argument.annotation, argument.arg)
        said = schema.pop("description", None) or described.get(argument.arg)
        properties[argument.arg] = {**schema, **({"description": said} if said else {})}
        if default is None:
            required.append(argument.arg)
    more = function.args.kwarg is not None
    if more or function.args.vararg is not None:
        notes.append("arguments: others than these are accepted, too, and rules cannot read them")
    result = _result(annotations, function, _one_line(doc.returns.description if doc.returns else None))
    name, description = _named(function) or function.name, _one_line(doc.description)
    schema: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
    if annotations.definitions:
        schema["$defs"] = dict(annotations.definitions)
        if result is not None:
            result["$defs"] = dict(annotations.definitions)
    notes += annotations.notes
    where = f"{module.path}, line {function.lineno}"
    return ToolSchema(name, description, schema, result, where, notes=tuple(dict.fromkeys(notes)))


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


def _result(annotations: Annotations, function: _Function, said: str) -> dict[str, Any] | None:
    """The schema of what it returns; None for a text, in which many tools return JSON."""
    if function.returns is None:
        return None
    schema = annotations.schema(function.returns, "result")
    if schema.get("type") == "string" or not schema.keys() - {"description"}:
        return None
    return {**schema, **({"description": said} if said else {})}


def _arguments(function: _Function, owner: str | None) -> Iterator[tuple[ast.arg, ast.expr | None]]:
    """The arguments with their defaults, without the object or class that a method is bound to."""
    given = [*function.args.posonlyargs, *function.args.args]
    defaults: list[ast.expr | None] = [None] * (len(given) - len(function.args.defaults))
    pairs = [*zip(given, [*defaults, *function.args.defaults], strict=True)]
    is_static = any(_last(node) == "staticmethod" for node in function.decorator_list)
    yield from pairs[1:] if owner and not is_static else pairs
    yield from zip(function.args.kwonlyargs, function.args.kw_defaults, strict=True)


def _is_filled_in(annotation: ast.expr | None, default: ast.expr | None) -> bool:
    """Whether a framework gives the argument, and not the caller."""
    if isinstance(default, ast.Call) and _FILLED_IN.search(_last(default)):
        return True
    if isinstance(text := literal(annotation), str):
        try:
            annotation = ast.parse(text, mode="eval").body
        except (SyntaxError, ValueError):
            return False
    nodes = ast.walk(annotation) if annotation is not None else ()
    parts = [node for node in nodes if isinstance(node, ast.Name | ast.Attribute | ast.Call)]
    return any(_INJECTED.search(_last(one)) or _FILLED_IN.search(_last(one)) for one in parts)


def _named(function: _Function) -> str | None:
    """The name that a decorator gives: ``@tool("name")``, ``@server.tool(name="name")``."""
    for node in function.decorator_list:
        if not isinstance(node, ast.Call) or "tool" not in _last(node).lower():
            continue
        given = [word.value for word in node.keywords if word.arg in ("name", "name_override")] or node.args[:1]
        if given and isinstance(name := literal(given[0]), str):
            return name
    return None
