"""The documentation of tools for models."""

from typing import Any, cast

import pytest

from lawtrace.environments.runtime.documentation import (
    argument_schema,
    call_schemas,
    docstring,
    document,
    document_tool,
)
from tests.support.environment_fixtures import FIXTURES, TOOLS
from tests.support.incident_room import INCIDENT_ROOM, START


@pytest.mark.parametrize("world", FIXTURES)
def test_the_documentation_names_all_results_and_exceptions(world: str) -> None:
    environment = FIXTURES[world].environment
    whole = cast("dict[str, Any]", document(environment))
    assert [tool["name"] for tool in whole["tools"]] == list(environment.tools)
    assert whole["object"] == environment.object_name
    for documented in whole["tools"]:
        tool = environment.tools[documented["name"]]
        assert [parameter["name"] for parameter in documented["parameters"]] == list(environment.signatures[tool.name])
        assert documented.get("event") == tool.emits
        assert len(documented.get("success_is_false_when", [])) == len(tool.fails)
        assert [raised["name"] for raised in documented["exceptions"]] == [raised.exception for raised in tool.raises]


def test_durations_are_documented_where_they_are_not_a_second() -> None:
    documented = cast("dict[str, Any]", document(INCIDENT_ROOM))
    durations = {tool["name"]: tool.get("duration") for tool in documented["tools"]}
    assert durations == {
        "Open": "20 seconds",
        "Notify": None,
        "Archive": "5 seconds",
        "Wait": "minutes * 60 seconds",
        "List": None,
    }
    assert documented["clock"].endswith("A session ends 60 minutes after it starts.")
    started = cast("str", document(INCIDENT_ROOM, start=START)["clock"])
    assert started.endswith("This session starts at 2026-05-04 08:00:00 and ends 60 minutes later.")
    assert "minutes * 60 seconds" in docstring(INCIDENT_ROOM.tools["Wait"])
    assert "duration" not in docstring(INCIDENT_ROOM.tools["List"])


@pytest.mark.parametrize("world", FIXTURES)
def test_hints_are_off_unless_asked_for(world: str) -> None:
    environment = FIXTURES[world].environment
    for tool in environment.tools.values():
        plain, hinted = (document_tool(tool, hints=hints)["summary"] for hints in (False, True))
        assert plain == tool.summary
        assert hinted == (f"{tool.summary} {tool.hint}" if tool.hint else tool.summary)
    described = {one.name: one.description for one in call_schemas(environment, hints=True)}
    for hint, name in ((tool.hint, tool.name) for tool in environment.tools.values() if tool.hint):
        assert hint in described[name]
        assert hint not in str(call_schemas(environment))


@pytest.mark.parametrize(("world", "name"), TOOLS)
def test_the_schema_accepts_what_the_tool_accepts(world: str, name: str) -> None:
    small = FIXTURES[world]
    schema = cast("dict[str, Any]", argument_schema(small.environment.tools[name]))
    assert set(schema["properties"]) == set(small.environment.signatures[name])
    assert schema["required"] == [p.name for p in small.environment.tools[name].parameters if p.required]
    assert schema["additionalProperties"] is False
    for left_out in small.good[name]:
        arguments = {key: value for key, value in small.good[name].items() if key != left_out}
        assert (small.do(name, arguments)[0].outcome == "rejected") is (left_out in schema["required"])
