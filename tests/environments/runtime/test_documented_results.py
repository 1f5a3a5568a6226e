"""Documentation and behaviour agree on every field, exception and failure, in every environment."""

import json
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, cast

import pytest

from lawtrace.environments.runtime.documentation import document_tool
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec.state import decode_state
from lawtrace.solver.declarations.loader import PAPER_DOMAINS
from tests.support.environment_fixtures import FIXTURES, TOOLS
from tests.support.published import published_text

TYPES: dict[str, Any] = {
    "boolean": bool,
    "string": str,
    "number": int | float,
    "integer": int,
    "array of strings": list,
    "array of objects": list,
    "object": dict,
}
PUBLISHED = {"banking": "BankManager", "telehealth": "Teladoc", "smart_home": "AugustSmartLock"}
"""The environments whose tools were published, with the names that they have there."""


def test_every_built_in_environment_has_a_small_example() -> None:
    assert set(FIXTURES) >= set(PAPER_DOMAINS)


@pytest.mark.parametrize(("world", "name"), TOOLS)
def test_the_plain_call_completes(world: str, name: str) -> None:
    event, _ = FIXTURES[world].do(name, FIXTURES[world].good[name], FIXTURES[world].completing_in(name))
    assert (event.tool, event.outcome, event.error) == (name, "completed", None)
    assert event.arguments == FIXTURES[world].good[name]


@pytest.mark.parametrize(("world", "name"), [tool for tool in TOOLS if tool[0] in PUBLISHED])
def test_rules_are_not_preconditions(world: str, name: str) -> None:
    """Each tool works without an authorization check or audit entry, and in a session without authorization."""
    small = FIXTURES[world]
    tables = small.tables(small.completing_in(name))
    tables["session"]["current"]["authorized"] = False
    denied = decode_state(tables, small.environment.entities)
    assert small.do("CheckAuthorization", {}, denied)[0].result == {"authorized": False}
    assert small.do(name, small.good[name], denied)[0].completed


@pytest.mark.parametrize(("world", "name"), TOOLS)
def test_results_have_the_documented_fields_and_no_others(world: str, name: str) -> None:
    small = FIXTURES[world]
    documented = cast("dict[str, Any]", document_tool(small.environment.tools[name]))["returns"]
    seen = set[str]()
    for arguments in [small.good[name], *small.failed.get(name, []), *small.more.get(name, [])]:
        event, _ = small.do(name, arguments, small.completing_in(name))
        result = cast("dict[str, Any]", event.result)
        assert list(result) == [returned["name"] for returned in documented]
        for returned in documented:
            seen |= _checked(returned["name"], result[returned["name"]], returned, failed=event.outcome == "failed")
    promised = {path for returned in documented for path in _promised(returned["name"], returned)}
    assert seen == promised, "every field that is documented is seen in some answer"


def _checked(path: str, value: Any, documented: Mapping[str, Any], *, failed: bool = False) -> set[str]:
    """Check the value against its documentation. Returns the fields seen inside."""
    if value is None:
        assert failed
        assert "null if it did not succeed" in documented["type"]
        return set()
    assert isinstance(value, TYPES[documented["type"].split(",")[0]])
    fields: Mapping[str, Any] = documented.get("fields", {})
    seen: set[str] = {path} if not fields else set()
    for row in cast("list[dict[str, Any]]", value if isinstance(value, list) else [value]) if fields else []:
        described = {name: _described(kind) for name, kind in fields.items()}
        assert set(row) <= set(described)
        assert {name for name, kind in described.items() if "may be absent" not in kind["type"]} <= set(row)
        for name, shown in row.items():
            seen |= _checked(f"{path}.{name}", shown, described[name])
    return seen


def _promised(path: str, documented: Mapping[str, Any]) -> set[str]:
    fields: Mapping[str, Any] = documented.get("fields", {})
    inner = (_promised(f"{path}.{name}", _described(kind)) for name, kind in fields.items())
    return set[str]().union(*inner) if fields else {path}


def _described(kind: Any) -> dict[str, Any]:
    """A field in the long form; a field without nested fields is documented by its type alone."""
    return {"type": kind} if isinstance(kind, str) else kind


@pytest.mark.parametrize(("world", "name"), TOOLS)
def test_every_documented_exception_can_be_provoked_and_changes_nothing(world: str, name: str) -> None:
    small = FIXTURES[world]
    documented = small.environment.tools[name].raises
    assert len(small.raised[name]) == len(documented)
    for raised, provocations in zip(documented, small.raised[name], strict=True):
        assert provocations
        for arguments in provocations:
            event, after = small.do(name, arguments, small.refusing_in(name))
            assert (event.outcome, event.result) == ("raised", None), arguments
            assert event.error is not None
            assert event.error.startswith(f"{raised.exception}: ")
            malformed = ": argument " in event.error
            assert malformed or event.error == f"{raised.exception}: {raised.description}"
            assert malformed or raised.when is not None
            assert after is small.refusing_in(name)


@pytest.mark.parametrize(("world", "name"), TOOLS)
def test_every_documented_failure_can_be_provoked_and_changes_nothing(world: str, name: str) -> None:
    small = FIXTURES[world]
    documented = small.environment.tools[name].fails
    provocations = small.failed.get(name, [])
    assert len(provocations) == len(documented)
    for number, arguments in enumerate(provocations):
        event, after = small.do(name, arguments)
        assert (event.outcome, event.error) == ("failed", None)
        assert cast("dict[str, Any]", event.result)["success"] is False
        assert after is small.state
        # Each reason is necessary: without it the call completes.
        fails = tuple(failure for place, failure in enumerate(documented) if place != number)
        tool = replace(small.environment.tools[name], fails=fails)
        without = replace(small.environment, tools={name: tool}, declines=None)
        assert Session(without, small.state).call(name, arguments).event.completed, documented[number].description


@pytest.mark.shared
@pytest.mark.parametrize("world", PUBLISHED)
def test_the_tools_are_those_that_were_published(world: str) -> None:
    """Names, required parameters, results and exceptions; our documentation may be more precise."""
    published = json.loads(published_text(f"toolemu/{PUBLISHED[world]}.json"))["tools"]
    tools = FIXTURES[world].environment.tools
    assert {tool["name"] for tool in published} == set(tools)
    for tool in published:
        ours = tools[tool["name"]]
        assert [(p.name, p.required) for p in ours.parameters] == [
            (p["name"], p["required"]) for p in tool["parameters"]
        ]
        assert [result.name for result in ours.results] == [returned["name"] for returned in tool["returns"]], ours.name
        assert {raised.exception for raised in ours.raises} == {raised["name"] for raised in tool["exceptions"]}, (
            ours.name
        )
