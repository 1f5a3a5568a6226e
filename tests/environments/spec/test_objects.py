"""Objects and lists of objects: validation, schema, documentation, terms, samplers, wording, wrong declarations."""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from lawtrace.environments.runtime.documentation import argument_schema, document_tool, result_schema
from lawtrace.environments.runtime.session import Session
from lawtrace.environments.spec import (
    DATE,
    Fails,
    Record,
    Several,
    Term,
    any_item,
    argument,
    count_of,
    success_result,
    total_of,
)
from lawtrace.environments.spec.samplers import EachField, FieldsOf, OneOf
from lawtrace.schemas.errors import InputError
from lawtrace.schemas.events import Json
from lawtrace.solver.declarations.loader import load_domain
from lawtrace.solver.masking.surface_forms import value_spans
from lawtrace.solver.masking.wording import format_value
from tests.support.trip_desk import TRIP_DESK

DESK = load_domain(str(TRIP_DESK)).environment
MAKE, REFUND = DESK.tools["MakeBooking"], DESK.tools["RefundBooking"]
STATE = DESK.populate(Random(1))
FLIGHT = next(STATE.rows("flights")).values
LEG_SAID: Json = {"flight_number": FLIGHT["flight_number"], "date": DATE.encode(FLIGHT["date"])}
GOOD: Mapping[str, Json] = {
    "holder": "Odd Vik",
    "flights": [LEG_SAID],
    "passengers": [{"full_name": "Ea Lind", "seats": 2, "contact": {"street": "Quay 1", "town": "Bergen"}}],
    "payments": [{"method": "card", "amount": 30.1}, {"method": "voucher", "amount": 30.2}],
}


def call(**changed: Json) -> str:
    return Session(DESK, STATE).call("MakeBooking", {**GOOD, **changed}).text


def test_a_call_with_objects_changes_the_state() -> None:
    session = Session(DESK, STATE)
    assert session.call("MakeBooking", GOOD).event.result == {"success": True, "booking_code": "NW0004", "paid": 60.3}
    row = [*session.state.rows("bookings")][-1]
    assert row.values["payments"][1] == Record({"method": "voucher", "amount": 3020})
    assert {name: DESK.entities["bookings"].encode_row(row)[name] for name in GOOD} == GOOD
    assert [ticket.values["full_name"] for ticket in session.state.rows("tickets")] == ["Ea Lind"]


@pytest.mark.parametrize(
    ("changed", "error"),
    [
        (
            {"flights": "TR-100"},
            "InvalidCallError: MakeBooking, argument 'flights': expected a list of objects, not a string",
        ),
        ({"flights": ["TR-100"]}, "argument 'flights[0]': expected an object, not a string"),
        (
            {"flights": [*GOOD["flights"], {"date": "2026-03-02"}]},
            "argument 'flights[1].flight_number': the field is missing",
        ),  # type: ignore[misc]
        (
            {"payments": [{"method": "card", "amount": 1, "note": "-"}]},
            "argument 'payments[0].note': there is no such field; the fields are ['method', 'amount']",
        ),
        (
            {"payments": [{"method": "card", "amount": "ten"}]},
            "argument 'payments[0].amount': expected a number, not a string",
        ),
        (
            {"flights": [{"flight_number": "TR-100", "date": "2 March"}]},
            "InvalidRequestException: argument 'flights[0].date': '2 March' is not in the format 'YYYY-MM-DD'",
        ),
        (
            {"passengers": [{"full_name": "Ea", "seats": 1, "contact": {"street": "Quay 1"}}]},
            "argument 'passengers[0].contact.town': the field is missing",
        ),
        # A wrong type of a later part counts before a wrong format of an earlier one.
        (
            {"payments": [{"method": "cash", "amount": 1}, {"method": "card", "amount": True}]},
            "'payments[1].amount': expected",
        ),
    ],
)
def test_errors_name_the_path(changed: dict[str, Json], error: str) -> None:
    assert error in call(**changed)


@pytest.mark.parametrize(
    "changed", [{}, {"flights": [{"flight_number": "TR-100"}]}, {"payments": [{"method": "cash", "amount": 1}]}]
)
def test_the_schema_accepts_what_the_tool_accepts(changed: dict[str, Json]) -> None:
    schema = argument_schema(DESK.tools["MakeBooking"])
    validator: Any = pytest.importorskip("jsonschema").Draft202012Validator
    validator.check_schema(schema)
    assert validator(schema).is_valid({**GOOD, **changed}) is not bool(changed)
    result = Session(DESK, STATE).call(
        "RefundBooking", {"booking_code": "KA1000", "payment": {"method": "card", "amount": 5}}
    )
    validator(result_schema(REFUND)).validate(result.event.result)


def test_the_documentation_names_the_fields() -> None:
    _, _, passengers, _ = document_tool(MAKE)["parameters"]  # type: ignore[misc]
    assert passengers == {
        "name": "passengers",
        "type": "array of objects",
        "fields": {
            "full_name": "string",
            "seats": "integer",
            "contact": {"type": "object, may be absent", "fields": {"street": "string", "town": "string"}},
        },
        "description": "The passengers.",
        "required": True,
    }
    (refund, _) = document_tool(REFUND)["returns"]  # type: ignore[misc]
    assert refund["fields"]["method"] == "string, one of: card, voucher, bank transfer"  # type: ignore[index]


def declared(**parts: Any) -> None:
    replace(DESK, tools={"MakeBooking": replace(MAKE, **parts)})


@pytest.mark.parametrize(
    ("term", "problem"),
    [
        (
            any_item(argument("flights"), lambda f: f["day"] > 1),
            "reads item.day; there is no such field, but ['flight_number'",
        ),
        (total_of(argument("payments"), lambda p: p["sum"]) > 1, "reads item.sum; there is no such field"),
        (argument("holder")["name"] == "Ea", "reads holder.name, but holder is not an object"),
        (count_of(argument("holder")) > 1, "reads the items of holder, which is not a list"),
        (
            any_item(argument("passengers"), lambda p: p["contact"]["zip"] == ""),
            "reads item.contact.zip; there is no such",
        ),
    ],
)
def test_fields_that_do_not_exist_are_reported(term: Term, problem: str) -> None:
    with pytest.raises(InputError, match="tool 'MakeBooking': ") as error:
        declared(fails=(Fails("-", term),), results=(success_result("-"), *MAKE.results[1:]))
    assert problem in str(error.value)


def test_samplers_draw_objects() -> None:
    flights = FieldsOf(DESK.entities["flights"], {"number": "flight_number"})
    assert {record["number"] for record in flights.candidates(STATE)} == {
        row.values["flight_number"] for row in STATE.rows("flights")
    }
    several = Several(EachField({"method": OneOf(("card", "voucher"))}), 2, 2)
    assert {frozenset(several.draw(Random(seed), STATE)) for seed in range(9)} == {
        frozenset({Record({"method": "card"}), Record({"method": "voucher"})})
    }
    assert Several(OneOf(("card",)), 2, 3).draw(Random(1), STATE) is None


@pytest.mark.parametrize("name", ["flights", "passengers", "payments"])
def test_wording_can_be_read_back(name: str) -> None:
    said = format_value(GOOD[name], MAKE.parameter(name).type)
    assert "{" not in said
    assert value_spans(said, GOOD[name], MAKE.parameter(name).type)
    assert not value_spans(said, [{"full_name": "Una Holt"}], MAKE.parameter(name).type)
