"""Type annotations of Python source as JSON Schema. Models (dataclasses, TypedDicts, pydantic models, named tuples,
enumerations) become objects and options, also from modules that the file imports if their source is found beside it.
Nothing is imported or run."""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

_MAPPINGS: Final = frozenset({"dict", "Dict", "Mapping", "MutableMapping", "defaultdict", "OrderedDict", "Counter"})
_LISTS: Final = frozenset(
    {"list", "List", "Sequence", "Iterable", "Collection", "set", "Set", "frozenset", "FrozenSet", "MutableSequence"}
)
_TUPLES: Final = frozenset({"tuple", "Tuple"})
_NAMED: Final[Mapping[str, Mapping[str, str]]] = MappingProxyType(
    {
        **{
            name: {"type": kind}
            for kind, names in (
                ("string", ("str", "bytes", "time", "UUID", "Path", "EmailStr", "HttpUrl", "AnyUrl")),
                ("number", ("float", "Decimal")),
                ("integer", ("int",)),
                ("boolean", ("bool",)),
                ("null", ("None", "NoneType")),
                ("array", (*_LISTS, *_TUPLES)),
                ("object", _MAPPINGS),
            )
            for name in names
        },
        **{name: {} for name in ("Any", "object", "complex", "timedelta")},
        "date": {"type": "string", "format": "date"},
        "datetime": {"type": "string", "format": "date-time"},
    }
)
"""The schemas of types with a name alone."""
_WRAPPERS: Final = frozenset(
    {"Annotated", "Required", "NotRequired", "ReadOnly", "Final", "Awaitable", "SkipJsonSchema"}
)
_MODELS: Final = frozenset({"BaseModel", "TypedDict", "NamedTuple", "SQLModel", "Struct", "RootModel"})
_MOST_MODULES: Final = 50


@dataclass
class Module:
    """A parsed source file."""

    path: Path
    tree: ast.Module
    loaded: "dict[Path, Module]"

    @cached_property
    def classes(self) -> dict[str, ast.ClassDef]:
        return {node.name: node for node in self.tree.body if isinstance(node, ast.ClassDef)}

    @cached_property
    def aliases(self) -> dict[str, ast.expr]:
        """Types that the file gives names."""
        found: dict[str, ast.expr] = {}
        for node in self.tree.body:
            if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
                found[node.targets[0].id] = node.value
            elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
                found[node.target.id] = node.value
            elif node.__class__.__name__ == "TypeAlias":  # from Python 3.12 on
                found[node.name.id] = node.value  # type: ignore[attr-defined]
        return found

    @cached_property
    def imports(self) -> dict[str, tuple[str, int, str]]:
        """By local name: module, level of a relative import, name there."""
        found: dict[str, tuple[str, int, str]] = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.ImportFrom):
                for name in node.names:
                    found[name.asname or name.name] = (node.module or "", node.level, name.name)
        return found

    def find(self, name: str, seen: frozenset[Path] = frozenset()) -> "tuple[Module, str] | None":
        """Where a class or an alias is defined: here, or in a file that is imported from."""
        if name in self.classes or name in self.aliases:
            return self, name
        if name not in self.imports or self.path in seen:
            return None
        module, level, original = self.imports[name]
        for path in self._files(module, level):
            if (there := self._module(path)) is not None:
                return there.find(original, seen | {self.path})
        return None

    def lineage(self, name: str) -> "Iterator[tuple[Module, ast.ClassDef]]":
        """The class and those that it inherits from, as far as their source is there."""
        pending: list[tuple[Module, str]] = [(self, name)]
        seen: set[tuple[Path, str]] = set()
        while pending:
            module, one = pending.pop(0)
            found = module.find(one)
            if found is None or found[1] not in found[0].classes or (found[0].path, found[1]) in seen:
                continue
            seen.add((found[0].path, found[1]))
            node = found[0].classes[found[1]]
            yield found[0], node
            pending += [(found[0], dotted_name(base).rpartition(".")[2]) for base in node.bases]

    def _files(self, module: str, level: int) -> Iterator[Path]:
        parts = module.split(".") if module else []
        folders = [self.path.parents[level - 1]] if 0 < level <= len(self.path.parents) else [*self.path.parents][:6]
        for folder in folders:
            package = Path(folder, *parts)
            for path in (package.with_suffix(".py"), package / "__init__.py") if parts else (package / "__init__.py",):
                if path.is_file():
                    yield path

    def _module(self, path: Path) -> "Module | None":
        """The module of a file; None if it cannot be read, or if there are too many."""
        path = path.resolve()
        if path not in self.loaded and len(self.loaded) < _MOST_MODULES:
            with suppress(OSError, UnicodeDecodeError, SyntaxError, ValueError, RecursionError):
                load_module(path, self.loaded)
        return self.loaded.get(path)


def load_module(path: Path, loaded: dict[Path, Module] | None = None) -> Module:
    """Parse a file. Raises OSError, UnicodeDecodeError, SyntaxError, ValueError or RecursionError."""
    path, loaded = path.resolve(), {} if loaded is None else loaded
    loaded[path] = module = Module(path, ast.parse(path.read_text(encoding="utf-8-sig"), str(path)), loaded)
    return module


def dotted_name(node: ast.expr) -> str:
    """A name with dots; empty for any other expression."""
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    if isinstance(node, ast.Constant) and node.value is None:
        return "None"
    return node.id if isinstance(node, ast.Name) else ""


@dataclass(slots=True)
class Annotations:
    """Annotations of one function as schemas.

    Attributes:
        definitions: the schemas of the models that they name.
        inside: the aliases that are being resolved.
        notes: the names that nothing is known of.
    """

    module: Module
    definitions: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    notes: list[str] = field(default_factory=list[str])
    inside: list[tuple[Module, str]] = field(default_factory=list[tuple[Module, str]])

    def schema(self, annotation: ast.expr | None, place: str) -> dict[str, Any]:
        """The schema of an annotation; empty if there is none. ``place``: of whom, for notes."""
        return {} if annotation is None else self._schema(self.module, annotation, place)

    def _schema(self, module: Module, node: ast.expr, place: str) -> dict[str, Any]:
        match node:
            case ast.Constant(value=str() as text):
                try:
                    return self._schema(module, ast.parse(text, mode="eval").body, place)
                except (SyntaxError, ValueError):
                    return self._unknown(text, place)
            case ast.BinOp(op=ast.BitOr()):
                return _any_of([self._schema(module, node.left, place), self._schema(module, node.right, place)])
            case ast.Subscript():
                return self._generic(module, node, place)
            case _:
                return self._name(module, dotted_name(node), place)

    def _generic(self, module: Module, node: ast.Subscript, place: str) -> dict[str, Any]:
        name = dotted_name(node.value).rpartition(".")[2]
        parts = node.slice.elts if isinstance(node.slice, ast.Tuple) else [node.slice]
        if name == "Literal":
            return {"enum": [_constant(part) for part in parts]}
        if name == "Optional":
            return _any_of([self._schema(module, parts[0], place), {"type": "null"}])
        if name == "Union":
            return _any_of([self._schema(module, part, place) for part in parts])
        if name in _WRAPPERS:
            said = next(filter(None, map(_description, parts[1:])), None) if name == "Annotated" else None
            return {**self._schema(module, parts[0], place), **({"description": said} if said else {})}
        if name in _LISTS or (name in _TUPLES and isinstance(parts[-1], ast.Constant) and parts[-1].value is Ellipsis):
            return {"type": "array", "items": self._schema(module, parts[0], place)}
        if name in _TUPLES:
            return {"type": "array", "prefixItems": [self._schema(module, part, place) for part in parts]}
        if name in _MAPPINGS:
            values = self._schema(module, parts[1], place) if len(parts) > 1 else {}
            return {"type": "object", "additionalProperties": values or True}
        return self._name(module, dotted_name(node.value), place)

    def _name(self, module: Module, dotted: str, place: str) -> dict[str, Any]:
        name = dotted.rpartition(".")[2]
        found = module.find(name) if name else None
        if found is None:
            return {**_NAMED[name]} if name in _NAMED else self._unknown(dotted or "this expression", place)
        there, original = found
        if original in there.classes:
            return self._model(there, original, place)
        if found in self.inside:
            return self._unknown(f"{name}, which refers to itself,", place)
        self.inside.append(found)
        try:
            return self._alias(there, there.aliases[original], name, place)
        finally:
            self.inside.pop()

    def _alias(self, there: Module, alias: ast.expr, name: str, place: str) -> dict[str, Any]:
        if isinstance(alias, ast.Call):  # NewType("X", T), TypedDict("X", {...}), Enum("X", ...)
            if not dotted_name(alias.func).endswith("NewType") or len(alias.args) < 2:
                return self._unknown(name, place)
            alias = alias.args[1]
        return self._schema(there, alias, place)

    def _model(self, module: Module, name: str, place: str) -> dict[str, Any]:
        """A reference to the schema of a class."""
        if name not in self.definitions:
            lineage = list(module.lineage(name))
            bases = {dotted_name(base).rpartition(".")[2] for _, node in lineage for base in node.bases}
            if bases & {"Enum", "StrEnum", "IntEnum", "Flag"}:
                values = [
                    one.value.value
                    for one in lineage[0][1].body
                    if isinstance(one, ast.Assign) and isinstance(one.value, ast.Constant)
                ]
                return {"enum": values} if values else self._unknown(name, place)
            marks = " ".join(ast.unparse(mark) for _, node in lineage for mark in node.decorator_list)
            if not re.search("dataclass|define|attrs", marks) and not bases & _MODELS:
                return self._unknown(name, place)
            self.definitions[name] = {}
            self.definitions[name] = self._object(lineage, place)
        return {"$ref": f"#/$defs/{name}"}

    def _object(self, lineage: Sequence[tuple[Module, ast.ClassDef]], place: str) -> dict[str, Any]:
        properties: dict[str, Any] = {}
        required: dict[str, None] = {}
        partial = any(word.arg == "total" and literal(word.value) is False for word in lineage[0][1].keywords)
        for module, node in reversed(lineage):
            for one in node.body:
                if not isinstance(one, ast.AnnAssign) or not isinstance(one.target, ast.Name):
                    continue
                written = ast.unparse(one.annotation)
                if one.target.id.startswith("_") or "ClassVar" in written:
                    continue
                schema = self._schema(module, one.annotation, place)
                said = _description(one.value)
                properties[one.target.id] = {**schema, **({"description": said} if said else {})}
                absent = partial or "NotRequired" in written or _has_default(one.value)
                if not absent or "Required[" in written.replace("NotRequired[", ""):
                    required[one.target.id] = None
        return {"type": "object", "properties": properties, "required": [*required]}

    def _unknown(self, name: str, place: str) -> dict[str, Any]:
        self.notes.append(f"{place}: the type {name} is not known here")
        return {}


def _any_of(options: Sequence[dict[str, Any]]) -> dict[str, Any]:
    flat = [inner for one in options for inner in (one["anyOf"] if one.keys() == {"anyOf"} else [one])]
    return {} if {} in flat else {"anyOf": flat}


def literal(node: ast.expr | None) -> Any:  # noqa: ANN401
    """The value of a literal; None for any other expression."""
    try:
        return None if node is None else ast.literal_eval(node)
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        return None


def _constant(node: ast.expr) -> Any:  # noqa: ANN401
    """An option of a ``Literal``; of an enumeration the name of its member."""
    return dotted_name(node).rpartition(".")[2] if isinstance(node, ast.Attribute) else literal(node)


def _description(node: ast.expr | None) -> str | None:
    """A text beside an annotation: itself, or the ``description`` of a field."""
    words = node.keywords if isinstance(node, ast.Call) else []
    said = literal(next((word.value for word in words if word.arg == "description"), node))
    return said if isinstance(said, str) else None


def _has_default(value: ast.expr | None) -> bool:
    """Whether a field may be left out: it has a value that is not ``Field(...)`` with three dots or no default."""
    if not isinstance(value, ast.Call) or dotted_name(value.func).rpartition(".")[2] not in ("Field", "field"):
        return value is not None
    if value.args:
        return literal(value.args[0]) is not Ellipsis
    return any(word.arg in ("default", "default_factory", "factory") for word in value.keywords)
