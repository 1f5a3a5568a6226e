"""What models read about the tools is what they get."""

from typing import Any, cast

import pytest

from environments.banking import ENVIRONMENT
from environments.documentation import call_schemas, document, document_tool
from environments.events import Json
from tests.support.small_bank import FAILED, GOOD, MAIN, STATEMENT, do

FULL: dict[str, list[dict[str, Json]]] = {
    "GetAccountInformation": [{"account_type": "self-directed TFSA"}],
    "SearchTransactions": [{"account_number": MAIN, "keyword": "HARBOUR", "min_amount": 30, "max_amount": 30}],
    "GetAccountStatement": [{**STATEMENT, "download": True}],
}


@pytest.mark.parametrize("name", ENVIRONMENT.tools)
def test_results_have_the_documented_fields_and_no_others(name: str) -> None:
    documented = cast("dict[str, Any]", document_tool(ENVIRONMENT.tools[name]))
    types = {"boolean": bool, "string": str, "number": int | float, "array of objects": list}
    seen: set[str] = set()
    for arguments in [GOOD[name], *FAILED.get(name, []), *FULL.get(name, [])]:
        result = cast("dict[str, Any]", do(name, arguments)[0].result)
        assert list(result) == [returned["name"] for returned in documented["returns"]]
        for returned in documented["returns"]:
            value = result[returned["name"]]
            assert isinstance(value, types[returned["type"]])
            for row in cast("list[dict[str, Any]]", value) if "fields" in returned else []:
                assert set(row) <= set(returned["fields"])
                needed = {field for field, words in returned["fields"].items() if "may be absent" not in words}
                assert needed <= set(row)
                seen |= set(row)
                for field, shown in row.items():
                    assert isinstance(shown, types[returned["fields"][field].split(",")[0]])
    promised = {field for returned in documented["returns"] for field in returned.get("fields", {})}
    assert seen == promised, "every field that is documented is seen in some answer"


def test_the_documentation_names_all_that_a_program_can_meet() -> None:
    whole = cast("dict[str, Any]", document(ENVIRONMENT))
    assert [tool["name"] for tool in whole["tools"]] == list(ENVIRONMENT.tools)
    assert whole["object"] == "BankManager"
    for documented in whole["tools"]:
        tool = ENVIRONMENT.tools[documented["name"]]
        assert [parameter["name"] for parameter in documented["parameters"]] == list(ENVIRONMENT.signatures[tool.name])
        assert documented.get("event") == tool.emits
        assert len(documented.get("success_is_false_when", [])) == len(tool.fails)
        assert [raised["name"] for raised in documented["exceptions"]] == [raised.exception for raised in tool.raises]


def test_hints_are_off_unless_asked_for() -> None:
    for tool in ENVIRONMENT.tools.values():
        plain, hinted = (document_tool(tool, hints=hints)["summary"] for hints in (False, True))
        assert plain == tool.summary
        assert hinted == (f"{tool.summary} {tool.hint}" if tool.hint else tool.summary)
    described = call_schemas(ENVIRONMENT, hints=True)["RecordAuditEvent"]["description"]
    assert "at the end of a session" in cast("str", described)
    assert "at the end of a session" not in str(call_schemas(ENVIRONMENT))


@pytest.mark.parametrize("name", ENVIRONMENT.tools)
def test_the_schema_takes_what_the_tool_takes(name: str) -> None:
    schema = cast("dict[str, Any]", call_schemas(ENVIRONMENT)[name])
    assert set(schema["properties"]) == set(ENVIRONMENT.signatures[name])
    assert schema["required"] == [p.name for p in ENVIRONMENT.tools[name].parameters if p.required]
    assert schema["additionalProperties"] is False
    for left_out in GOOD[name]:
        arguments = {key: value for key, value in GOOD[name].items() if key != left_out}
        assert (do(name, arguments)[0].outcome == "rejected") is (left_out in schema["required"])
