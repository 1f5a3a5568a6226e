"""Signatures: what the declaration of an environment says of the values that rules are about."""

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Final

from lawtrace.environments.spec import expressions as e
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import Result, RowsResult, ValueResult
from lawtrace.environments.spec.expressions import Term
from lawtrace.environments.spec.open_types import OrNull
from lawtrace.environments.spec.state import Field
from lawtrace.environments.spec.tools import Tool
from lawtrace.environments.spec.types import BOOLEAN, INTEGER, Calendar, ListOf, ObjectOf, Value, ValueType, WrongValue
from lawtrace.schemas.events import CALLS, SPEAKERS
from lawtrace.solver.logic.terms import Kind


@dataclass(frozen=True, slots=True)
class Declared:
    """What a declaration says of a value. What it leaves open is None.

    Attributes:
        kind: the kind.
        elements: of a list.
        fields: of an object; others do not exist unless `others` says what they are.
        date: whether a text can be a date.
        present: of `simulated_signature`: whether there is a value where there is one of what it is part of.
        type: of a scalar, if it is declared.
    """

    kind: Kind | None = None
    elements: "Declared | None" = None
    fields: "Mapping[str, Declared] | None" = None
    date: bool = True
    others: "Declared | None" = None
    present: bool = False
    type: ValueType | None = None


ANYTHING: Final = Declared()
NUMBER: Final = Declared("number")
TEXT: Final = Declared("string")
TIME: Final = Declared("time")
COUNT: Final = Declared("number", present=True, type=INTEGER)


@dataclass(frozen=True, slots=True)
class ToolSignature:
    """The arguments of a tool, and its result."""

    arguments: Mapping[str, Declared]
    result: Declared = ANYTHING


Signature = Mapping[str, ToolSignature]
"""The tools by name."""

MESSAGES: Final[Signature] = {
    speaker: ToolSignature({"text": TEXT, "words": Declared("list", TEXT), "says": Declared("object"), **more})
    for speaker, more in zip(SPEAKERS, ({}, {CALLS: Declared("list", TEXT)}), strict=True)
}
"""Messages of the user and the agent, which every rule may be about."""


@lru_cache(maxsize=64)
def environment_signature(environment: Environment) -> Signature:
    """What an environment declares, and messages."""
    tools = {
        name: ToolSignature(
            {parameter.name: _of_type(parameter.type) for parameter in tool.parameters},
            _of_result(tool, simulated=environment.simulated),
        )
        for name, tool in environment.tools.items()
    }
    return {**MESSAGES, **tools}


@lru_cache(maxsize=64)
def simulated_signature(environment: Environment) -> Signature:
    """What is certain of the values of each completed call in the simulator. Without a simulator nothing is."""
    return {
        name: ToolSignature(
            {one.name: replace(_of_type(one.type), present=one.required) for one in tool.parameters},
            Declared("object", fields={one.name: _of_completed(one) for one in tool.results}, present=True),
        )
        for name, tool in environment.tools.items()
        if environment.simulated
    }


def _of_completed(result: Result) -> Declared:
    if isinstance(result, ValueResult) and not _fits(result.term, result.type):
        return ANYTHING
    return replace(_of_type(result.type), present=not (isinstance(result, RowsResult) and result.single))


def _fits(term: Term, value_type: ValueType) -> bool:
    """Whether each value of a term is known to be of a type: what stands for missing rows need not be."""

    def fits(value: Value) -> bool:
        with suppress(WrongValue, ValueError, TypeError, OverflowError):
            return value is not None and value_type.decode(value_type.encode(value)) == value
        return False

    match term:
        case e.Constant(value=value):
            return fits(value)
        case e.Choose(then=one, otherwise=other) | e.IfGiven(body=one, default=other):
            return _fits(one, value_type) and _fits(other, value_type)
        case e.ValueOf(entity=entity, field=name, otherwise=otherwise):
            return entity.fields[name] == Field(value_type, order_dependent=entity.fields[name].order_dependent) and (
                fits(otherwise)
            )
        case e.Junction() | e.Negation() | e.Exists() | e.AnyItem() | e.IsEmpty() | e.Succeeded():
            return value_type == BOOLEAN
        case e.BinaryOperation(symbol=symbol):
            return value_type == BOOLEAN and symbol not in "+-*"
        case _:
            return False


def _of_result(tool: Tool, *, simulated: bool) -> Declared:
    if not simulated:
        return ANYTHING if tool.returns is None else _of_type(tool.returns)
    return Declared("object", fields={result.name: _of_type(result.type) for result in tool.results})


def _of_type(value_type: ValueType) -> Declared:
    match value_type:
        case OrNull(value=inner):
            return replace(_of_type(inner), present=False)
        case ListOf(items=items):
            return Declared("list", _of_type(items), present=True)
        case ObjectOf(fields=fields, optional=optional, others=others):
            known = {name: replace(_of_type(part), present=name not in optional) for name, part in fields.items()}
            rest = None if others is None else replace(_of_type(others), present=False)
            return Declared("object", fields=known, others=rest, present=True)
        case _:
            return replace(_of_scalar(value_type), present=True, type=value_type)


def _of_scalar(value_type: ValueType) -> Declared:
    schema = value_type.schema()
    match schema.get("type"):
        case "number" | "integer":
            return NUMBER
        case "string":
            return Declared("string", date=isinstance(value_type, Calendar) or not {"enum", "pattern"} & schema.keys())
        case "boolean":
            return Declared("boolean")
        case _:
            return ANYTHING
