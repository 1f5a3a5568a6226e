"""OpenAPI documents: operations are tools, with what they refer to."""

import json
from pathlib import Path
from typing import Any

import pytest

from lawtrace.environments.tool_schemas.arguments import ArgumentCheck
from lawtrace.environments.tool_schemas.reading import is_tool_source, read_tool_schemas
from lawtrace.environments.tool_schemas.schemas import ToolSchema, declare_tool
from lawtrace.schemas.errors import InputError

SHOP = """
openapi: 3.0.3
info: {title: Shop, version: "1"}
paths:
  /orders/{order_id}:
    parameters:
      - $ref: '#/components/parameters/Order'
    get:
      operationId: get_order
      summary: Show an order.
      parameters:
        - {name: X-Trace, in: header, schema: {type: string}}
        - {name: Authorization, in: header, required: true, schema: {type: string}}
      responses:
        200: {content: {application/json: {schema: {$ref: '#/components/schemas/Order'}}}}
    patch:
      requestBody: {$ref: '#/components/requestBodies/Change'}
      responses:
        "204": {description: done}
  /refunds:
    post:
      operationId: refund
      requestBody:
        required: true
        content:
          application/json:
            schema:
              allOf:
                - $ref: '#/components/schemas/Base'
                - type: object
                  required: [amount]
                  properties:
                    amount: {type: number, minimum: 0, exclusiveMinimum: true}
                    note: {type: string, nullable: true}
      responses:
        "201": {$ref: '#/components/responses/Done'}
  /bulk:
    post:
      operationId: bulk
      requestBody:
        required: true
        content: {application/json: {schema: {type: array, items: {$ref: '#/components/schemas/Base'}}}}
      responses: {}
components:
  parameters:
    Order: {name: order_id, in: path, required: true, description: The order., schema: {type: string}}
  requestBodies:
    Change:
      content:
        application/json: {schema: {type: object, properties: {status: {type: string, enum: [open, closed]}}}}
  responses:
    Done: {description: ok, content: {application/json: {schema: {type: object, properties: {id: {type: string}}}}}}
  schemas:
    Base:
      type: object
      required: [order_id, id]
      properties: {order_id: {type: string}, id: {type: string, readOnly: true}}
    Order:
      type: object
      properties: {id: {type: string}, parent: {$ref: '#/components/schemas/Order'}, day: {type: string, format: date}}
"""


def read(folder: Path, text: str, name: str = "api.yaml") -> dict[str, ToolSchema]:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    assert is_tool_source(str(path))
    return {tool.name: tool for tool in read_tool_schemas([str(path)])}


def arguments(tool: ToolSchema) -> list[tuple[str, str, bool]]:
    return [(one.name, one.type.name, one.required) for one in declare_tool(tool).tool.parameters]


def test_parameters_and_the_fields_of_the_body_are_arguments(tmp_path: Path) -> None:
    tools = read(tmp_path, SHOP)
    assert {name: arguments(tool) for name, tool in tools.items()} == {
        "get_order": [("order_id", "string", True), ("X-Trace", "string", False)],
        "patch_orders_order_id": [("order_id", "string", True), ("status", "string", False)],
        "refund": [("amount", "number", True), ("note", "string", False), ("order_id", "string", True)],
        "bulk": [("body", "array", True)],
    }
    order = declare_tool(tools["get_order"]).tool
    assert (order.summary, order.parameter("order_id").description) == ("Show an order.", "The order.")
    assert tools["get_order"].annotations == {"readOnlyHint": True}


def test_results_are_those_of_success_with_what_they_refer_to(tmp_path: Path) -> None:
    tools = read(tmp_path, SHOP)
    assert {name: tool.result is not None for name, tool in tools.items()} == {
        "get_order": True,
        "patch_orders_order_id": False,
        "refund": True,
        "bulk": False,
    }
    assert declare_tool(tools["get_order"]).left_open == ("get_order, result.parent: refers to itself, #/$defs/Order",)


@pytest.mark.parametrize(
    ("given", "wrong"),
    [
        ({"order_id": "7", "amount": 1, "note": None}, None),
        ({"order_id": "7", "amount": 0}, "argument 'amount': expected more than 0, not 0"),
        ({"order_id": "7"}, "argument 'amount': is missing"),
        ({"order_id": "7", "amount": 1, "id": "r"}, "argument 'id': there is no such argument"),
    ],
)
def test_version_3_0_says_null_and_limits_in_its_own_way(given: Any, wrong: str | None, tmp_path: Path) -> None:
    check = ArgumentCheck(read(tmp_path, SHOP)["refund"].parameters)
    assert check.completed(given) == given
    found = check.wrong(given)
    assert (found is None) == (wrong is None)
    assert found is None or found.startswith(str(wrong).split(":")[0])


def test_version_3_1_in_json(tmp_path: Path) -> None:
    body = {"content": {"application/json": {"schema": {"type": ["object"], "properties": {"n": {"const": 1}}}}}}
    paths = {"/a/{b}": {"put": {"requestBody": body, "parameters": [{"$ref": "#/components/parameters/p~1q"}]}}}
    parameters = {"p/q": {"name": "b", "in": "path", "required": True, "schema": {"type": "integer"}}}
    document = {"openapi": "3.1.0", "paths": paths, "components": {"parameters": parameters}}
    (tool,) = read(tmp_path, json.dumps(document), "api.json").values()
    assert (tool.name, arguments(tool)) == ("put_a_b", [("b", "integer", True), ("n", "integer", False)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"swagger": "2.0", "paths": {}}', "OpenAPI 3.0 and 3.1 are read, not Swagger 2.0"),
        ('{"openapi": "3.1.0", "paths": {}}', "no tool schemas"),
        ("a: &x [1]\nb: *x", "an alias"),
        ("a: [", "not YAML"),
    ],
)
def test_documents_that_are_not_read_are_said(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=said):
        read(tmp_path, text)


def test_references_in_a_circle_end(tmp_path: Path) -> None:
    document = {
        "openapi": "3.1.0",
        "paths": {"/a": {"post": {"requestBody": {"$ref": "#/components/requestBodies/A"}}}},
        "components": {"requestBodies": {"A": {"$ref": "#/components/requestBodies/A"}}},
    }
    (tool,) = read(tmp_path, json.dumps(document), "api.json").values()
    assert arguments(tool) == []


def test_a_folder_gives_the_tools_of_its_files(tmp_path: Path) -> None:
    files = {
        "shop/api.yaml": SHOP,
        "shop/pay.py": "def pay(amount: int) -> dict: ...",
        "shop/__init__.py": "",
        "shop/bank.py": "class Bank:\n    def charge(self) -> int: ...",
        "shop/settings.json": '{"currency": "EUR"}',
        "shop/tests/test_pay.py": "def test_pay(): ...",
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text, encoding="utf-8")
    shop = str(tmp_path / "shop")
    assert {tool.name for tool in read_tool_schemas([shop])} == {
        "get_order",
        "patch_orders_order_id",
        "refund",
        "bulk",
        "pay",
    }
    empty = f"{shop}/__init__.py"
    assert [tool.name for tool in read_tool_schemas([empty, f"{shop}/pay.py"])] == ["pay"]
    with pytest.raises(InputError, match="no functions or classes"):
        read_tool_schemas([empty])
    with pytest.raises(InputError, match="name a class"):
        read_tool_schemas([f"{shop}/bank.py", f"{shop}/pay.py"])
    with pytest.raises(InputError, match="no tools in its files of Python, JSON and YAML"):
        read_tool_schemas([f"{shop}/tests"])
