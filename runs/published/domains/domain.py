"""What is known of a published domain, and the repairs that several need."""

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from lawtrace.environments.events import Json

Raw = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class PublishedDomain:
    """One published domain.

    Attributes:
        environment: the environment it is here.
        object_name: the name under which recorded programs find the tools.
        rules_file: where its rules are published.
        state: a published state in our outside form, on that day (``YYYY-MM-DD``), with those variables.
        kept: the tables that say what a published state says.
        repair: makes a published reference program run.
        variables: its init block's variables, as our tools want them.
        notes: what an import changes or adds, in sentences.
    """

    environment: str
    object_name: str
    rules_file: str
    state: Callable[[Raw, str, Mapping[str, Json]], dict[str, Json]]
    kept: tuple[str, ...]
    repair: Callable[[str], str]
    variables: Callable[[dict[str, Json]], dict[str, Json]]
    notes: tuple[str, ...]


def quote_identifiers(program: str, identifiers: str) -> str:
    """The program with bare identifiers in argument position quoted."""
    return re.sub(rf"(=\s*|\[\s*|,\s*)({identifiers})(?=\s*[,)\]])", r"\1'\2'", program)


def read_fields(program: str, fields_of_tools: Mapping[str, str]) -> str:
    """The program with the field that a tool's document promises read wherever its whole result stands for that field.

    ``fields_of_tools``: tool -> field."""
    tree = ast.parse(program)
    fields: dict[str, str] = {}
    for node in ast.walk(tree):
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Attribute(attr=tool))):
                if tool in fields_of_tools:
                    fields[name] = fields_of_tools[tool]
            case _:
                pass
    return ast.unparse(_ReadFields(fields).visit(tree)) + "\n"


class _ReadFields(ast.NodeTransformer):
    def __init__(self, fields: Mapping[str, str]) -> None:
        self._fields = fields

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        return node if isinstance(node.value, ast.Name) else self.generic_visit(node)  # a field is read already

    def visit_Name(self, node: ast.Name) -> ast.expr:
        field = self._fields.get(node.id)
        if field is None or isinstance(node.ctx, ast.Store):
            return node
        return ast.Subscript(node, ast.Constant(field), ast.Load())
