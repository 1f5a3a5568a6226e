"""The toolset object of programs has the types and documentation of the environment's declaration."""

import json
from typing import Any

import pytest

from lawtrace.environments.runtime.documentation import result_schema
from lawtrace.environments.sandbox import Program, Sandbox
from lawtrace.environments.sandbox import Returned as Answered
from lawtrace.runs.stages.execution import program_toolset
from lawtrace.schemas.events import Json
from tests.support.environment_fixtures import FIXTURES, TOOLS

LOOK = """
import inspect, json
tools = {name: tool for name, tool in vars(type(OBJECT)).items() if not name.startswith("_")}
print(json.dumps({name: [str(inspect.signature(tool)), inspect.getdoc(tool)] for name, tool in tools.items()}))
"""


@pytest.mark.parametrize("world", FIXTURES)
def test_signatures_are_those_of_the_declaration(world: str) -> None:
    environment = FIXTURES[world].environment
    source = LOOK.replace("OBJECT", environment.object_name)
    with Sandbox() as sandbox:
        execution = sandbox.run(Program(source, program_toolset(environment)), lambda _tool, _arguments: Answered(None))
    assert execution.status == "finished", execution
    seen = json.loads(execution.output)
    assert list(seen) == list(environment.tools)
    for name, tool in environment.tools.items():
        signature, about = seen[name]
        given = [one.name if one.required else f"{one.name}=None" for one in tool.parameters]
        assert signature == f"({', '.join(given)})"
        assert all(text in about for text in (tool.summary, *(raised.description for raised in tool.raises)))


@pytest.mark.parametrize(("world", "name"), TOOLS)
def test_results_conform_to_their_schema(world: str, name: str) -> None:
    small = FIXTURES[world]
    for arguments in [small.good[name], *small.failed.get(name, []), *small.more.get(name, [])]:
        event, _ = small.do(name, arguments, small.completing_in(name))
        assert mismatches(event.result, result_schema(small.environment.tools[name])) == []


def mismatches(value: Json, schema: dict[str, Any]) -> list[str]:
    """Paths at which the value violates the schema; covers the JSON Schema keywords that results use."""
    kinds: list[str] = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    if value is None:
        return [] if "null" in kinds else [f"null is not {kinds}"]
    match value:
        case dict():
            wrong = [f"{key!r} is not declared" for key in value if key not in schema["properties"]]
            wrong += [f"{key!r} is missing" for key in schema["required"] if key not in value]
            parts = [(value[key], of) for key, of in schema["properties"].items() if key in value]
            return [*wrong, *(found for part, of in parts for found in mismatches(part, of))]
        case list():
            return [found for item in value for found in mismatches(item, schema["items"])]
        case bool():
            return [] if "boolean" in kinds else [f"{value} is not {kinds}"]
        case _:
            return [] if {"string", "number", "integer"} & set(kinds) else [f"{value} is not {kinds}"]
