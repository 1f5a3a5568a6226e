"""The environment of an `environment.toml`: a declaration as data.

Each part becomes the part of `lawtrace.environments.spec` that Python declarations use, so simulator, solver, masking
and documentation do not know the difference. Nothing of the file is executed. docs/environments.md is the reference.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, NoReturn, TypeVar, cast

from lawtrace.environments import spec as s
from lawtrace.environments.spec import terms as t
from lawtrace.environments.spec.clock import DEFAULT_LENGTH, seconds_at
from lawtrace.environments.spec.effects import Effect, Result
from lawtrace.environments.spec.expressions import Argument, Constant, RowCondition, Undeclared, as_term
from lawtrace.environments.spec.types import MOMENT_FORMS, Calendar, WrongValue
from lawtrace.environments.spec.validation import DeclarationError, validate_tool
from lawtrace.environments.tool_schemas.outcomes import read_error_texts
from lawtrace.schemas.errors import InputError, near_names
from lawtrace.solver.declarations.samplers import (
    SAMPLERS,
    InitialRows,
    options_of,
    populate_with,
    read_field,
    read_sampler,
    read_value,
    row_condition,
)
from lawtrace.solver.declarations.toml_tables import TomlFile, TomlTable
from lawtrace.solver.declarations.value_terms import THIS_ROW, NamedRow, Names, SpanType, Typed

BASE_TYPES: Final[Mapping[str, s.ValueType]] = {
    "text": s.TEXT,
    "boolean": s.BOOLEAN,
    "integer": s.INTEGER,
    "money": s.MONEY,
    "date": s.DATE,
    "time": s.TIME,
    "moment": s.MOMENT,
}
_OUTER: Final = "outer"
_ITEM: Final = "item"
_SECONDS: Final = SpanType()
_Part = TypeVar("_Part")
_Read = TypeVar("_Read")
UNDECLARED: Final = "undeclared"
"""Why nothing is declared of what a tool does; and a value that is not declared."""
_DECLARED: Final = ("refuses", "fails", "effects", "results", "step", "outcome", "noun_phrase", "compliance")
_NOT_SIMULATED: Final = "NotSimulatedError"
_MOST_ERRORS: Final = 20


def read_world_file(path: Path, name: str) -> s.Environment | None:
    """The environment of the file, None if it declares no tables yet. ``name``: if the file says none.

    Raises InputError with file, line and, in expressions, column.
    """
    file = TomlFile(path)
    if not file.root.values.get("tables"):
        return None
    return _World(file.root, name).environment()


class _World:
    """What is read of one file. ``name``: of the environment, if the file says none."""

    def __init__(self, root: TomlTable, name: str) -> None:
        self._root = root
        self._name = root.get("name", str, name)
        self._error_texts = read_error_texts(root.raw("error_texts"), f"{root.file.path}")
        self._types: dict[str, s.ValueType] = {**BASE_TYPES}
        types = root.table("types")
        for name in types.values:
            self._types[name] = self._type(types, name)
        self._tables = {name: self._entity(name, table) for name, table in root.table("tables").entries()}
        self._names = self._with_rows(root, Names(self._tables))

    def environment(self) -> s.Environment:
        root, file, name = self._root, self._root.file, self._name
        wrong = list[str]()
        tools = _each(root.table("tools").entries(), lambda one: self._tool(*one), wrong)
        initial = _each(root.tables("initial"), self._initial, wrong)
        agenda = _each(root.tables("agenda"), self._happening, wrong)
        facts = _each(root.tables("facts"), self._fact, wrong)
        if wrong:
            more = [f"... and {len(wrong) - _MOST_ERRORS} more errors"] if len(wrong) > _MOST_ERRORS else []
            raise InputError("\n".join([*wrong[:_MOST_ERRORS], *more]))
        declined = root.table("declined_as")
        values: dict[str, Any] = {
            "title": root.get("title", str, name),
            "object_name": root.get("object_name", str, "".join(part.title() for part in name.split("_"))),
            "summary": root.get("summary", str),
            "version": root.get("version", str, "1"),
            "declines": root.raw("declines"),
            "declined_as": {tool: declined.get(tool, str) for tool in declined.values},
            "clock": self._clock(root.table("time")),
        }
        root.end()
        try:
            return s.Environment(
                name=name,
                entities=self._tables,
                tools={tool.name: tool for tool in tools},
                populate=populate_with(self._tables, initial),
                facts=tuple(facts),
                agenda=tuple(agenda),
                **values,
            )
        except DeclarationError as error:
            raise InputError(f"{file.path}, line {error.place[1]}: {error}") from error
        except InputError as error:
            raise InputError(f"{file.path}: {error}") from error

    # Types and tables

    def _type(self, table: TomlTable, key: str) -> s.ValueType:
        return self._type_of(table, key, table.raw(key))

    def _type_of(self, table: TomlTable, key: str, raw: Any) -> s.ValueType:  # noqa: ANN401 (a value of TOML)
        if isinstance(raw, str):
            if raw not in self._types:
                table.fail(f"{raw!r} is no type{near_names(raw, self._types)}", key, raw)
            return self._types[raw]
        if isinstance(raw, list) and raw:
            options = cast("list[object]", raw)
            if all(isinstance(one, str) for one in options):
                return s.Choice(tuple(map(str, options)))
        said = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
        if isinstance(expression := said.get("pattern"), str) and not said.keys() - {"pattern", "format"}:
            return _pattern(table, key, str(said.get("format", expression)), expression)
        if [*said] == ["moment"]:
            if (form := said["moment"]) not in MOMENT_FORMS:
                table.fail(
                    f"no form of a moment: {form!r:.60}; the forms are {', '.join(map(repr, MOMENT_FORMS))}", key
                )
            return Calendar(str(form))
        if [*said] == ["list"]:
            return s.ListOf(self._type_of(table, key, said["list"]))
        if [*said] == ["object"] and isinstance(said["object"], dict):
            split = {name: _without_mark(one) for name, one in cast("dict[str, Any]", said["object"]).items()}
            types = {name: self._type_of(table, key, one) for name, (one, _) in split.items()}
            return s.ObjectOf(types, tuple(name for name, (_, optional) in split.items() if optional))
        return table.fail(
            "a type is a name, a list of options, { pattern = ... }, { moment = ... }, { list = ... } or "
            f"{{ object = {{ ... }} }}, not {raw!r:.60}",
            key,
        )

    def _entity(self, name: str, table: TomlTable) -> s.Entity:
        declared, fields = table.table("fields"), dict[str, s.Field]()
        for field, raw in declared.values.items():
            if not field.isidentifier() or field.startswith("_"):
                declared.fail(f"{field!r} cannot be written in expressions; use letters, digits and _", field)
            said = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
            ordered = said.get("order_dependent") is True
            kind, optional = _without_mark(said.get("type") if ordered else raw)
            fields[field] = s.Field(self._type_of(declared, field, kind), optional, ordered)
        if not fields:
            table.fail("a table needs fields, the key first")
        key = table.get("key", str, next(iter(fields)))
        if key not in fields:
            table.fail(f"the key {key!r} is no field of the table{near_names(key, fields)}", "key")
        entity = s.Entity(name, table.get("singular", str, name.removesuffix("s")), key, fields, table.raw("prefix"))
        table.end()
        return entity

    def _entity_at(self, table: TomlTable, key: str) -> s.Entity:
        return table.one_of(key, self._tables)

    def _initial(self, table: TomlTable) -> InitialRows:
        entity = self._entity_at(table, "table")
        each = self._entity_at(table, "each") if table.has("each") else None
        match table.raw("number"):
            case None:
                number = (1, 1)
            case int(exact):
                number = (exact, exact)
            case [int(fewest), int(most)] if fewest <= most:
                number = (fewest, most)
            case _:
                table.fail("`number` is a whole number, or the fewest and the most", "number")
        values, samplers, names = table.table("values"), dict[str, s.Sampler](), self._names
        if each is not None and each.key in entity.fields:
            names = replace(names, arguments={each.key: each.fields[each.key].type})
        for field in values.values:
            if field not in entity.fields:
                _no_field(values, entity, field, field, field)
            kind = entity.fields[field].type
            samplers[field] = read_value(values, field, kind, names) or values.fail("no value", field)
            names = replace(names, arguments={**names.arguments, field: kind})
        given = {*samplers, *((each.key,) if each else ())}
        for field, declared in entity.fields.items():
            own = field == entity.key and entity.generates_keys
            if field not in given and not declared.optional and not own:
                kind = read_value(values, field, declared.type, names)
                samplers[field] = kind or values.fail(f"`{field}` needs a value or a sampler")
        by = table.get("sorted_by", str) if table.has("sorted_by") else None
        if by is not None and by not in entity.fields:
            _no_field(table, entity, by, "sorted_by")
        table.end()
        line = self._root.file.line(table.place)
        return InitialRows(entity, number, each, samplers, by, f"{self._root.file.path}, line {line}")

    def _fact(self, table: TomlTable) -> s.Fact:
        entity, column = read_field(table, "field", self._tables)
        kind = entity.fields[column].type
        try:
            values = tuple(kind.decode(one) for one in table.get("values", list, [*options_of(kind)]))
            fact = s.Fact(table.get("name", str), entity, column, values)
        except (WrongValue, InputError) as error:
            table.fail(str(error), "values")
        table.end()
        return fact

    def _clock(self, table: TomlTable) -> s.Clock:
        clock = s.Clock(length=self._seconds(table, "length", DEFAULT_LENGTH))
        if table.has("start"):
            name, _, column = (start := table.get("start", str)).partition(".")
            if name in self._tables and column in self._tables[name].fields:
                try:
                    clock = replace(clock, start=s.starts_at(self._tables[name], column))
                except InputError as error:
                    table.fail(str(error), "start")
            else:
                try:
                    first = seconds_at(s.MOMENT.decode(start))
                except WrongValue as error:
                    table.fail(f"the start is a field of a table, `office.today`, or a moment: {error}", "start")
                clock = s.Clock(lambda _: first, clock.length)
        table.end()
        return clock

    def _seconds(self, table: TomlTable, key: str, default: int) -> int:
        found = self._duration(table, key, default, self._names)
        return found if isinstance(found, int) else table.fail(f"`{key}` must be a fixed span, such as `8h`", key)

    def _duration(self, table: TomlTable, key: str, default: int, names: Names) -> int | s.Term:
        if not isinstance(table.raw(key), str):
            return table.get(key, int, default)
        term = _there(table, key, table.expression(key, lambda text: names.value(text, _SECONDS))).term
        return term.value if isinstance(term, Constant) else term

    # Tools

    def _tool(self, name: str, table: TomlTable) -> s.Tool:
        scope, refusals, declared = _Scope(self._names), list[s.Raises](), table.tables("refuses")
        malformed = s.INVALID_REQUEST if any(one.values.get("error") == s.INVALID_REQUEST for one in declared) else None
        for parameter, given in table.table("parameters").entries():
            scope = self._parameter(parameter, given, scope, refusals, malformed)
        names = self._with_rows(table, scope.named())
        for one in declared:
            when = one.expression("when", names.condition) if one.has("when") else None
            refusals.append(s.Raises(one.get("error", str), one.get("text", str), when))
            one.end()
        fails = list[s.Fails]()
        for one in table.tables("fails"):
            fails.append(s.Fails(one.get("text", str), one.expression("when", names.condition)))
            one.end()
        texts = [table.raw(key) for key in ("step", "outcome", "noun_phrase")]
        results, undeclared = table.table("results"), table.get(UNDECLARED, str) if table.has(UNDECLARED) else None
        if undeclared is not None:
            if said := [key for key in _DECLARED if table.has(key)]:
                table.fail(f"the tool is undeclared, and has `{said[0]}`; leave out one of the two", said[0])
            refusals = [s.Raises(_NOT_SIMULATED, f"It cannot be used here: {undeclared}", as_term(True))]
        tool = s.Tool(
            name=name,
            summary=table.get("summary", str),
            parameters=scope.parameters,
            raises=tuple(refusals),
            fails=tuple(fails),
            effects=tuple(self._effect(one, names, scope) for one in table.tables("effects")),
            results=tuple(self._result(results, one, names, scope) for one in results.values),
            emits=table.raw("emits"),
            compliance=table.get("compliance", bool, default=False),
            critical=table.get("critical", bool, default=False),
            duration=self._duration(table, "duration", 1, names),
            phrases=s.Phrases(*texts) if texts[0] is not None else None,
            leak_words=table.texts("leak_words"),
            hint=table.raw("hint"),
            error_texts=self._error_texts,
            undeclared=undeclared,
        )
        table.end()
        line = table.file.line(table.place)
        object.__setattr__(tool, "declared_at", (str(table.file.path), line))
        try:
            validate_tool(self._name, self._tables, tool)
        except DeclarationError as error:
            raise InputError(f"{table.file.path}, line {line}: {error}") from error
        return tool

    def _with_rows(self, table: TomlTable, names: Names) -> Names:
        """The names, with the rows that `rows` names, each the first one that meets a condition."""
        for name, given in table.table("rows").entries():
            entity = self._entity_at(given, "table")
            row = NamedRow(entity, where=row_condition(given, "where", entity, names))
            names = replace(names, rows={**names.rows, name: row})
            given.end()
        return names

    def _parameter(
        self, name: str, table: TomlTable, scope: "_Scope", refusals: list[s.Raises], malformed: str | None
    ) -> "_Scope":
        names, entity = scope.named(), None
        optional = table.get("optional", bool, default=False)
        text = table.get("text", str, f"The {name.replace('_', ' ')}.")
        if table.has("key") or table.has("keys"):
            entity = self._entity_at(table, "key" if table.has("key") else "keys")
            kind, source = entity.fields[entity.key].type, s.FromLookup(entity)
            missing = _is_missing(entity, Argument(name), several=table.has("keys"))
            kind = s.ListOf(kind) if table.has("keys") else kind
            missing = s.if_given(Argument(name), missing, default=False) if optional else missing
            refusals.append(s.Raises(s.NOT_FOUND, f"There is no {entity.singular} with that '{name}'.", missing))
        elif table.get("pending_events", bool, default=False):
            kind, source = s.TEXTS, s.FromTrace("pending_events", s.pending_events)
        else:
            sampler = read_sampler(_sampler_part(table), s.TEXT, names) if not table.has("type") else None
            if isinstance(sampler, s.FieldValue):
                kind = sampler.entity.fields[sampler.field].type
            else:
                kind = self._type(table, "type") if table.has("type") else s.TEXT
                sampler = sampler or _stated(table, kind, names)
            when = table.expression("when", names.condition) if table.has("when") else None
            if not isinstance(share := table.raw("share") or 1.0, int | float):
                table.fail("`share` is how often users state it, a number up to 1", "share")
            source = s.FromUser(sampler, float(share), when)
        default = None
        if table.has("default"):
            try:
                default, optional = kind.decode(table.raw("default")), True
            except WrongValue as error:
                table.fail(f"the default does not fit the type: {error}", "default")
        parameter = s.Parameter(name, kind, text, source, not optional, default, malformed)
        table.end(SAMPLERS)
        by = entity if entity is not None and not table.has("keys") else None
        return scope.joined(parameter, by, missing=optional and default is None)

    def _effect(self, table: TomlTable, names: Names, scope: "_Scope") -> Effect:
        kinds = [key for key in ("insert", "update", "delete") if table.has(key)]
        if len(kinds) != 1:
            table.fail("an effect is one of insert, update and delete, each with the name of a table")
        entity = self._entity_at(table, kinds[0])
        given = table.table("set")
        unknown = [name for name in given.values if name not in entity.fields]
        if unknown:
            _no_field(given, entity, unknown[0], unknown[0])
        if kinds[0] == "insert":
            effect = self._insert(table, given, entity, names)
        else:
            where = scope.row_condition(table, entity, names)
            effect = s.Update(entity, where, self._changes(given, entity, names))
            effect = s.Delete(entity, where) if kinds[0] == "delete" else effect
        table.end()
        return effect

    def _insert(self, table: TomlTable, given: TomlTable, entity: s.Entity, names: Names) -> Effect:
        def values(names: Names) -> dict[str, s.Term]:
            inside = self._with_rows(table, names)
            return {
                name: _set(given, name, declared, inside, as_term(None) if declared.optional else None)
                for name, declared in entity.fields.items()
                if given.has(name)
            }

        if not table.has("each"):
            return s.Insert(entity, values(names))
        items = table.expression("each", names.any_value)
        if not isinstance(items.type, s.ListOf):
            table.fail("`each` needs a list", "each")
        inner = items.type.items

        def of(item: s.Term) -> dict[str, s.Term]:
            return values(replace(names, items={**names.items, _ITEM: Typed(item, inner)}))

        of(t.item_variable()[1])
        return s.InsertEach(entity, items.term, of)

    def _changes(self, given: TomlTable, entity: s.Entity, names: Names) -> Mapping[str, RowCondition]:
        def change(name: str) -> RowCondition:
            def of(row: s.RowVariable) -> s.Term:
                return _set(given, name, entity.fields[name], names.with_row(row, entity), getattr(row, name))

            of(s.RowVariable(entity))
            return of

        return {name: change(name) for name in given.values}

    def _result(self, results: TomlTable, name: str, names: Names, scope: "_Scope") -> Result:
        text = f"The {name.replace('_', ' ')}."
        if isinstance(results.raw(name), str):
            found = results.expression(name, names.any_value)
            return s.ValueResult(name, text, _shown_type(results, name, found), found.or_else(as_term(None)))
        table = results.table(name)
        text = table.get("text", str, text)
        if table.has("success"):
            result: Result = replace(s.success_result(text), name=name)
        elif table.has("new"):
            result = s.KeyResult(name, text, self._entity_at(table, "new"))
        elif table.has("rows"):
            result = self._rows_result(name, text, table, names, scope)
        elif table.has("type"):
            kind = self._type(table, "type")
            declared = s.Field(kind, optional=True)
            result = s.ValueResult(name, text, kind, _set(table, "value", declared, names, as_term(None)))
        else:
            found = table.expression("value", names.any_value)
            result = s.ValueResult(name, text, _shown_type(table, "value", found), found.or_else(as_term(None)))
        table.end()
        return result

    def _rows_result(self, name: str, text: str, table: TomlTable, names: Names, scope: "_Scope") -> s.RowsResult:
        entity = self._entity_at(table, "rows")
        single = table.get("single", bool, default=False)

        def last(text: str) -> Typed:
            return names.value(text, s.INTEGER)

        parts = list[s.NestedRows]()
        for part, given in table.table("nested").entries():
            inner = self._entity_at(given, "rows")
            where = _nested_condition(given, entity, inner, names)
            parts.append(
                s.NestedRows(part, given.get("text", str, ""), inner, where, self._fields(given, inner, {entity.key}))
            )
            given.end()
        return s.RowsResult(
            name,
            text,
            entity,
            scope.row_condition(table, entity, names, every=not single),
            self._fields(table, entity, set()),
            tuple(parts),
            single,
            table.get("after", bool, default=False),
            table.get("reveals_key", bool, default=single or table.has("where")),
            _there(table, "last", table.expression("last", last)).term if table.has("last") else None,
        )

    def _fields(self, table: TomlTable, entity: s.Entity, without: set[str]) -> tuple[str, ...]:
        fields = table.texts("fields") or tuple(name for name in entity.fields if name not in without)
        for name in fields:
            if name not in entity.fields:
                _no_field(table, entity, name, "fields", name)
        return fields

    def _happening(self, table: TomlTable) -> s.Happening:
        entity = self._entity_at(table, "table")
        arguments = {name: one.type for name, one in entity.fields.items()}
        optional = frozenset(name for name, one in entity.fields.items() if one.optional)
        names = replace(self._names, arguments=arguments, optional=optional)
        effects = tuple(self._effect(one, names, _Scope(self._names)) for one in table.tables("effects"))
        happening = s.Happening(table.get("text", str), entity, table.get("at", str), effects)
        table.end()
        object.__setattr__(happening, "declared_at", (str(table.file.path), table.file.line(table.place)))
        return happening


def _each(parts: Iterable[_Part], read: Callable[[_Part], _Read], wrong: list[str]) -> list[_Read]:
    """What is read of each part; the errors go to ``wrong``."""
    found = list[_Read]()
    for part in parts:
        try:
            found.append(read(part))
        except InputError as error:
            wrong.append(str(error))
    return found


@dataclass(frozen=True, slots=True)
class _Scope:
    """The parameters of a tool so far. ``named_by``: the table of a row that a parameter names, with the parameter."""

    names: Names
    parameters: tuple[s.Parameter, ...] = ()
    named_by: tuple[tuple[s.Entity, str], ...] = ()

    def joined(self, parameter: s.Parameter, entity: s.Entity | None, *, missing: bool) -> "_Scope":
        optional = self.names.optional | {parameter.name} if missing else self.names.optional
        arguments = {**self.names.arguments, parameter.name: parameter.type}
        named = ((entity, parameter.name),) if entity is not None and not missing else ()
        names = replace(self.names, arguments=arguments, optional=optional)
        return _Scope(names, (*self.parameters, parameter), (*self.named_by, *named))

    def named(self) -> Names:
        """The names, with the rows that parameters name: by the singular of the table, if there is one such row."""
        tables = [entity.table for entity, _ in self.named_by]
        rows = {
            entity.singular: NamedRow(entity, where=_has_key(entity, Argument(name)))
            for entity, name in self.named_by
            if tables.count(entity.table) == 1
        }
        return replace(self.names, rows={**self.names.rows, **rows})

    def row_condition(self, table: TomlTable, entity: s.Entity, names: Names, *, every: bool = False) -> RowCondition:
        """The condition `where`; without it the row that a parameter names, or each row."""
        if table.has("where"):
            return row_condition(table, "where", entity, names)
        by = [name for one, name in self.named_by if one is entity]
        if every and not by:
            return lambda _: as_term(True)
        if len(by) != 1:
            table.fail(f"`where` is missing: a condition on the rows of {entity.table!r}, each named `{THIS_ROW}`")
        return _has_key(entity, Argument(by[0]))


def _no_field(table: TomlTable, entity: s.Entity, name: str, key: str, text: str = "") -> NoReturn:
    table.fail(f"{entity.table!r} has no field {name!r}{near_names(name, entity.fields)}", key, text)


def _without_mark(raw: Any) -> tuple[Any, bool]:  # noqa: ANN401 (values of TOML)
    """A type without its question mark, and whether it had one: the value may be missing."""
    if isinstance(raw, str) and raw.endswith("?"):
        return raw[:-1], True
    said = cast("dict[str, Any]", raw) if isinstance(raw, dict) else {}
    if said.get("optional") is True:
        rest = {name: value for name, value in said.items() if name != "optional"}
        return rest.get("type", rest), True
    return cast("Any", raw), False


def _pattern(table: TomlTable, key: str, form: str, expression: str) -> s.Pattern:
    try:
        re.compile(expression)
    except re.error as error:
        table.fail(f"not a regular expression: {error}", key)
    return s.Pattern(form, expression)


def _has_key(entity: s.Entity, key: s.Term) -> RowCondition:
    return lambda row: getattr(row, entity.key) == key


def _is_missing(entity: s.Entity, key: Argument, *, several: bool) -> s.Term:
    def absent(one: s.Term) -> s.Term:
        return ~s.exists(entity, _has_key(entity, one))

    return s.any_item(key, absent) if several else absent(key)


def _sampler_part(table: TomlTable) -> TomlTable:
    """The keys of a parameter that say how users come by the value."""
    kept = {key: table.raw(key) for key in (*SAMPLERS, "where", "in", "from", "of", "number") if table.has(key)}
    return TomlTable(table.file, table.place, kept)


def _stated(table: TomlTable, kind: s.ValueType, names: Names) -> s.Sampler:
    part = _sampler_part(table)
    if part.values:
        return read_sampler(part, kind, names)
    if (sampler := read_value(part, "-", kind, names)) is not None:
        return sampler
    table.end(SAMPLERS)
    return table.fail(f"say where a caller takes the value from: key, keys, or one of {', '.join(SAMPLERS)}")


def _value(table: TomlTable, key: str, kind: s.ValueType, names: Names) -> Typed:
    """The value at a key: an expression, or { when, then, else }."""
    if not isinstance(table.raw(key), dict):
        return table.expression(key, lambda text: names.value(text, kind))
    choice = table.table(key)
    when = choice.expression("when", names.condition)
    then = _value(choice, "then", kind, choice.expression("when", names.where))
    otherwise = _value(choice, "else", kind, names)
    choice.end()
    return Typed(s.choose(when, then.term, otherwise.term), kind, (*then.optional, *otherwise.optional))


def _there(table: TomlTable, key: str, found: Typed) -> Typed:
    """A value that is always there."""
    for part in found.optional:
        why = "give it a `default`" if part.is_argument else "mark what it is stored in with `?`"
        what = f"`{part.said}` may be missing, and {key!r} may not"
        table.fail(f"{what}: {why}, or choose, {{ when, then, else }}", key, part.said)
    return found


def _set(table: TomlTable, key: str, field: s.Field, names: Names, otherwise: s.Term | None) -> s.Term:
    """The value to store in a field; ``otherwise`` where an argument is not given, or the value is not declared."""
    if table.raw(key) == UNDECLARED and UNDECLARED not in names.arguments:
        if otherwise is None:
            table.fail(f"a new row needs its {key!r}; mark the field as one that may be missing, `?`", key)
        return Undeclared(otherwise)
    value = _value(table, key, field.type, names)
    if otherwise is None or (isinstance(value.term, Argument) and isinstance(otherwise, Constant)):
        return _there(table, key, value).term if otherwise is None else value.term
    if not field.optional:
        _there(table, key, replace(value, optional=tuple(part for part in value.optional if not part.is_argument)))
    return value.or_else(as_term(None), otherwise)


def _shown_type(table: TomlTable, key: str, found: Typed) -> s.ValueType:
    if isinstance(found.type, SpanType):
        table.fail("a span of time is no value of JSON; show a day or a moment", key)
    return found.type


def _nested_condition(
    table: TomlTable, outer: s.Entity, inner: s.Entity, names: Names
) -> Callable[[s.RowVariable, s.RowVariable], s.Term]:
    if not table.has("where"):
        if outer.key not in inner.fields:
            table.fail(f"`where` is missing: which rows, `{THIS_ROW}`, belong to the row around, `{_OUTER}`")
        return lambda around, row: getattr(row, outer.key) == getattr(around, outer.key)

    def where(around: s.RowVariable, row: s.RowVariable) -> s.Term:
        inside = names.with_row(around, outer, _OUTER).with_row(row, inner)
        return table.expression("where", inside.condition)

    where(s.RowVariable(outer), s.RowVariable(inner))
    return where
