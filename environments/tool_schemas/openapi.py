"""OpenAPI documents, 3.0 and 3.1: each operation is a tool.

Its arguments are the parameters of path, query and headers by their names, and the fields of a body that is an object;
any other body is the argument ``body``. Its result is the content of the first response that says that it succeeded.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from lawtrace.environments.literals import fields_of, items_of
from lawtrace.environments.tool_schemas.json_types import find_reference, json_kinds
from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.errors import InputError

_METHODS: Final = ("get", "put", "post", "delete", "options", "head", "patch", "trace")
_NOT_ARGUMENTS: Final = frozenset({"accept", "content-type", "authorization"})
"""Headers that OpenAPI does not count as parameters."""
_SCHEMAS: Final = "#/components/schemas/"
_BODY: Final = "body"
_MOST_STEPS: Final = 50
"""How many references lead to one part."""


def is_openapi(value: Mapping[str, Any]) -> bool:
    """Whether a JSON object is an OpenAPI document, of any version."""
    return isinstance(value.get("paths"), dict) and ("openapi" in value or "swagger" in value)


def read_openapi(document: Mapping[str, Any], place: str) -> Iterator[ToolSchema]:
    """The operations of a document. Raises InputError for a version that is not read."""
    version = str(document.get("openapi") or f"Swagger {document.get('swagger')}")
    if not version.startswith(("3.0", "3.1")):
        raise InputError(f"{place}: OpenAPI 3.0 and 3.1 are read, not {version}; convert the document")
    reader = _Document(document)
    for path, written in fields_of(document.get("paths")).items():
        item = reader.resolved(written)
        for method in _METHODS:
            if isinstance(item.get(method), dict):
                yield reader.tool(method, path, item, f"{place}, {method.upper()} {path}")


class _Document:
    """A document in which references lead to parts of it."""

    def __init__(self, root: Mapping[str, Any]) -> None:
        self._root = root

    def resolved(self, part: object) -> Mapping[str, Any]:
        """What a part stands for, if it is a reference."""
        found = fields_of(part)
        for _ in range(_MOST_STEPS):
            if not isinstance(reference := found.get("$ref"), str):
                break
            found = {
                **fields_of(find_reference(self._root, reference)),
                **{key: one for key, one in found.items() if key != "$ref"},
            }
        return found

    def tool(self, method: str, path: str, item: Mapping[str, Any], place: str) -> ToolSchema:
        """The tool of an operation."""
        operation = fields_of(item[method])
        name = operation.get("operationId") or re.sub(r"\W+", "_", f"{method}{path}").strip("_")
        defs, notes, properties, required = dict[str, Any](), list[str](), dict[str, Any](), list[str]()
        for (_, argument), parameter in self._parameters(item, operation).items():
            if argument in properties:
                notes.append(f"{argument}: two parameters have this name")
                continue
            schema = parameter.get("schema", _json_content(parameter))
            said = {"description": parameter["description"]} if isinstance(parameter.get("description"), str) else {}
            properties[argument] = {**fields_of(self._schema(schema, defs)), **said}
            if parameter.get("required") is True:
                required.append(argument)
        body = self.resolved(operation.get("requestBody"))
        for argument, schema, is_needed in self._body(body):
            if argument in properties:
                notes.append(f"{argument}: a parameter and a field of the body have this name")
                continue
            properties[argument] = self._schema(schema, defs)
            if is_needed and body.get("required") is True:
                required.append(argument)
        parameters: dict[str, Any] = {"type": "object", "properties": properties, "required": required}
        description = str(operation.get("description") or operation.get("summary") or item.get("summary") or "")
        result = self._result(operation)
        annotations = {"readOnlyHint": True} if method in ("get", "head") else {}
        parameters |= {"$defs": defs} if defs else {}
        return ToolSchema(str(name), description, parameters, result, place, annotations, tuple(notes))

    def _parameters(
        self, item: Mapping[str, Any], operation: Mapping[str, Any]
    ) -> dict[tuple[str, str], Mapping[str, Any]]:
        """The parameters by place and name; those of the operation in place of those of its path."""
        written = [*items_of(item.get("parameters")), *items_of(operation.get("parameters"))]
        found = {
            (str(one.get("in")), str(one.get("name"))): one for one in map(self.resolved, written) if "name" in one
        }
        return {key: one for key, one in found.items() if key[0] != "header" or key[1].lower() not in _NOT_ARGUMENTS}

    def _body(self, body: Mapping[str, Any]) -> Iterator[tuple[str, object, bool]]:
        """The arguments that the body has: name, schema, and whether a body needs it."""
        schema = _json_content(body)
        if schema is None:
            return
        properties, required, is_object = self._fields(schema)
        if not is_object:
            yield _BODY, schema, True
        for name, part in properties.items():
            if self.resolved(part).get("readOnly") is not True:
                yield name, part, name in required

    def _fields(self, schema: object, depth: int = 0) -> tuple[dict[str, Any], set[str], bool]:
        """The fields of an object, the names of those it must have, and whether these are all that is said of it."""
        whole = self.resolved(schema)
        properties, required = {**fields_of(whole.get("properties"))}, set(map(str, items_of(whole.get("required"))))
        is_object = json_kinds(whole) in (["object"], []) and not whole.keys() & {"anyOf", "oneOf", "not"}
        for part in items_of(whole.get("allOf")) if depth < _MOST_STEPS else []:
            more, needed, is_part = self._fields(part, depth + 1)
            properties, required, is_object = {**more, **properties}, required | needed, is_object and is_part
        return properties, required, is_object and (bool(properties) or depth > 0)

    def _result(self, operation: Mapping[str, Any]) -> dict[str, Any] | None:
        """The schema of what it returns."""
        responses = fields_of(operation.get("responses"))
        succeeded = sorted(code for code in responses if re.fullmatch(r"2(\d\d|XX)", str(code).upper()))
        schemas = (_json_content(self.resolved(responses[code])) for code in succeeded)
        defs: dict[str, Any] = {}
        schema = fields_of(next((self._schema(one, defs) for one in schemas if one is not None), None))
        return schema | ({"$defs": defs} if defs else {}) if schema else None

    def _schema(self, written: object, defs: dict[str, Any]) -> Any:  # noqa: ANN401 (a schema, or a part of one)
        """A schema as JSON Schema has it, with what it refers to in ``defs``."""
        if items := items_of(written):
            return [self._schema(one, defs) for one in items]
        if not (fields := fields_of(written)):
            return written
        found = {key: self._schema(part, defs) for key, part in fields.items() if key not in ("example", "examples")}
        reference = fields.get("$ref")
        if isinstance(reference, str) and reference.startswith("#/"):
            name = re.sub(r"\W+", "_", reference.removeprefix(_SCHEMAS))
            if name not in defs:
                defs[name] = {}  # while it is read: it may refer to itself
                defs[name] = self._schema(find_reference(self._root, reference) or {}, defs)
            found["$ref"] = f"#/$defs/{name}"
        return _without_old_keywords(found)


def _json_content(part: Mapping[str, Any]) -> object:
    """The schema of the content of a body, a response or a parameter: of JSON, if it has that."""
    content = fields_of(part.get("content"))
    first = sorted(content, key=lambda kind: "json" not in kind)
    return fields_of(content[first[0]]).get("schema") if first else None


def _without_old_keywords(schema: dict[str, Any]) -> dict[str, Any]:
    """What version 3.0 says in its own way, as 3.1 and JSON Schema say it."""
    if schema.get("nullable") is True and isinstance(schema.get("type"), str):
        schema = {**schema, "type": [schema["type"], "null"]}
        if "enum" in schema:
            schema["enum"] = [*items_of(schema["enum"]), *([None] if None not in items_of(schema["enum"]) else [])]
    for strict, limit in (("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")):
        if schema.get(strict) is True:
            schema = {key: value for key, value in schema.items() if key != limit} | {strict: schema.get(limit)}
        elif schema.get(strict) is False:
            schema = {key: value for key, value in schema.items() if key != strict}
    return schema
