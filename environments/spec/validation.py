"""Validation of declarations: unknown tables and arguments, missing fields, undocumented refusals."""

import keyword
import re
from collections.abc import Mapping

from lawtrace.environments.errors import InputError
from lawtrace.environments.spec.effects import (
    Delete,
    Insert,
    InsertEach,
    KeyResult,
    Result,
    RowsResult,
    Update,
    ValueResult,
)
from lawtrace.environments.spec.state import Entity
from lawtrace.environments.spec.terms import Argument, Term, arguments_of, item_variable, tables_of, unguarded_arguments
from lawtrace.environments.spec.tools import FromLookup, FromUser, Phrases, PhrasesByArgument, Tool
from lawtrace.environments.spec.types import BOOLEAN, ListOf, ValueType


def validate_tool(environment: str, entities: Mapping[str, Entity], tool: Tool) -> None:
    """Check a tool. Raises InputError naming the environment, the tool and the place."""
    place = f"environment {environment!r}, tool {tool.name!r}"
    _check_names(place, tool)
    names = {parameter.name for parameter in tool.parameters}
    for entity in _entities(tool):
        if entities.get(entity.table) is not entity:
            raise InputError(f"{place}: it speaks of {entity.table!r}, which is no table of the environment")
    for term in _terms(tool):
        if unheld := tables_of(term) - set(entities):
            raise InputError(f"{place}: a term looks at {sorted(unheld)[0]!r}, which is no table of the environment")
        unknown = arguments_of(term) - names
        if unknown:
            raise InputError(f"{place}: a term uses the argument {sorted(unknown)[0]!r}, which it does not declare")
    optional = {name for name in names if not tool.parameter(name).required and tool.parameter(name).default is None}
    if unguarded := optional & _computed_with(tool):
        name = sorted(unguarded)[0]
        raise InputError(f"{place}: {name!r} may be left out, and a term computes with it outside of an if_given on it")
    for effect in tool.effects:
        if isinstance(effect, Delete):
            continue
        values = _values(effect)
        unknown = set(values) - set(effect.entity.fields)
        if unknown:
            raise InputError(f"{place}: an effect sets {sorted(unknown)[0]!r}, no field of {effect.entity.singular}")
        if not isinstance(effect, Update) and not effect.entity.generates_keys:
            raise InputError(
                f"{place}: it inserts a {effect.entity.singular}, whose key has no prefix to generate from"
            )
        if effect.entity.key in values:
            raise InputError(f"{place}: an effect sets {effect.entity.key!r}, the key of {effect.entity.singular}")
        if unset := _unset_fields(effect):
            raise InputError(f"{place}: it inserts a {effect.entity.singular} without its field {unset[0]!r}")
    for result in tool.results:
        _check_result(place, tool, result)
    documented = {raised.exception for raised in tool.raises}
    for parameter in tool.parameters:
        if _can_be_malformed(parameter.type) and parameter.malformed not in {None, *documented}:
            raise InputError(
                f"{place}: {parameter.name!r} can be malformed, but {parameter.malformed} is not documented"
            )
    for number, parameter in enumerate(tool.parameters):
        before = {earlier.name for earlier in tool.parameters[:number]}
        if isinstance(parameter.source, FromUser) and (later := parameter.source.sampler.depends_on - before):
            raise InputError(
                f"{place}: {parameter.name!r} is drawn by {sorted(later)[0]!r}, which must come before it to be known"
            )
    if (tool.phrases is None) != tool.compliance:
        raise InputError(f"{place}: a business tool needs phrases, and a compliance tool has none")
    if unknown := _phrased(tool.phrases) - names:
        raise InputError(f"{place}: its phrases speak of {sorted(unknown)[0]!r}, which is no parameter")
    says_success = any(result.name == "success" and _is_boolean(result) for result in tool.results)
    if tool.fails and not says_success:
        raise InputError(f"{place}: it can fail, but documents no boolean result 'success' to say so")


def _check_names(place: str, tool: Tool) -> None:
    """Programs call tools by keyword and read results as attributes, so every name must be a Python identifier."""
    for what, names in (
        ("its name", [tool.name]),
        ("its parameter", [parameter.name for parameter in tool.parameters]),
        ("its result", [result.name for result in tool.results]),
    ):
        for name in names:
            if not name.isidentifier() or keyword.iskeyword(name):
                raise InputError(f"{place}: {what} {name!r} cannot be written in a program; choose another name")
        if twice := sorted(name for name in names if names.count(name) > 1):
            raise InputError(f"{place}: {what} {twice[0]!r} is declared twice")


def _check_result(place: str, tool: Tool, result: Result) -> None:
    if isinstance(result, RowsResult):
        for listed in (result, *result.parts):
            if unknown := set(listed.fields) - set(listed.entity.fields):
                raise InputError(f"{place}: {listed.name!r} lists {sorted(unknown)[0]!r}, which its rows do not have")
        if twice := {part.name for part in result.parts} & set(result.fields):
            raise InputError(f"{place}: {result.name!r} has the field {sorted(twice)[0]!r} twice")
    if isinstance(result, KeyResult):
        inserting = [effect for effect in tool.effects if isinstance(effect, Insert | InsertEach)]
        inserts = [effect for effect in inserting if effect.entity is result.entity]
        if len(inserts) != 1 or isinstance(inserts[0], InsertEach):
            several = "one for each item of a list" if len(inserts) == 1 else str(len(inserts))
            raise InputError(
                f"{place}: {result.name!r} is the key of the {result.entity.singular} that it inserts, but it inserts "
                f"{several}; it must be one"
            )


def _terms(tool: Tool) -> list[Term]:
    terms = [raised.when for raised in tool.raises if raised.when is not None]
    terms += [failure.when for failure in tool.fails]
    for declared in (*tool.effects, *tool.results):
        terms += declared.terms()
    return terms


def _computed_with(tool: Tool) -> set[str]:
    """Arguments that terms need a value of. An effect may store a missing one in an optional field."""
    kept = {
        id(value)
        for effect in tool.effects
        if isinstance(effect, Insert)
        for name, value in effect.values.items()
        if name in effect.entity.fields and effect.entity.fields[name].optional and isinstance(value, Argument)
    }
    return set[str]().union(*(unguarded_arguments(term) for term in _terms(tool) if id(term) not in kept))


def _entities(tool: Tool) -> list[Entity]:
    """Entities named outside of terms."""
    sources = [parameter.source for parameter in tool.parameters]
    return [
        *(source.entity for source in sources if isinstance(source, FromLookup)),
        *(effect.entity for effect in tool.effects),
        *(result.entity for result in tool.results if not isinstance(result, ValueResult)),
        *(part.entity for result in tool.results if isinstance(result, RowsResult) for part in result.parts),
    ]


def _values(effect: Update | Insert | InsertEach) -> Mapping[str, object]:
    return effect.values(item_variable()[1]) if isinstance(effect, InsertEach) else effect.values


def _unset_fields(effect: Update | Insert | InsertEach) -> list[str]:
    """Required fields that an inserted row would lack."""
    if isinstance(effect, Update):
        return []
    needed = {name for name, declared in effect.entity.fields.items() if not declared.optional} - {effect.entity.key}
    return sorted(needed - set(_values(effect)))


def _phrased(phrases: Phrases | PhrasesByArgument | None) -> set[str]:
    """Parameters named in the phrases, as ``{name}`` or ``[name: words]``."""
    texts = phrases.texts if phrases else ()
    return {name for text in texts for name in re.findall(r"[{\[](\w+)[}:]", text)}


def _can_be_malformed(value_type: ValueType) -> bool:
    if isinstance(value_type, ListOf):
        return _can_be_malformed(value_type.items)
    schema = value_type.schema()
    return bool({"pattern", "enum", "format"} & set(schema)) or schema["type"] in {"number", "integer"}


def _is_boolean(result: Result) -> bool:
    return isinstance(result, ValueResult) and result.type is BOOLEAN
