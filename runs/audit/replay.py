"""Recorded calls, carried out in an environment from states that the record shows, and compared field by field.

A state is known as far as results before have shown it: rows with some of their fields, and lists that were complete.
Each table has one more row, *unseen*, which stands for all rows that were not shown. Tools are compiled against
`UNKNOWN_LOGIC`, so what depends on something that was not shown is unknown, and never called wrong.

After each call the record corrects the state, so a difference is counted once. A field that a call changed and a later
result shows counts as a change of the call that made it.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, cast

from lawtrace.environments.runtime.simulation import CandidateRows, compile_tool, decode_arguments
from lawtrace.environments.runtime.unknown_values import UNKNOWN, UNKNOWN_LOGIC, Unknown
from lawtrace.environments.spec import expressions as e
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.effects import (
    KeyResult,
    NestedRows,
    Result,
    RowsResult,
    ValueResult,
    is_success,
    recorded_rows,
)
from lawtrace.environments.spec.expressions import EvaluationScope, RowVariable, Term, Variable
from lawtrace.environments.spec.logic import PLAIN
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.tools import FromLookup, Tool
from lawtrace.environments.spec.types import ListOf, Record, Value, ValueType, WrongValue
from lawtrace.runs.audit.judging import event_of_turn
from lawtrace.runs.audit.transcripts import Transcript
from lawtrace.runs.report.text import cut
from lawtrace.schemas.events import Event, Json

Verdict = Literal["equal", "different", "unknown"]
KINDS: Final = ("outcomes", "results", "changes")
SHOWN_CHARACTERS: Final = 120


@dataclass(frozen=True, slots=True)
class Difference:
    """A field that the environment computes otherwise than it was recorded. ``tool``: to which it counts."""

    place: str
    tool: str
    kind: str
    field: str
    expected: Json
    recorded: Json


@dataclass(slots=True)
class Fidelity:
    """How recorded calls compare with those of the environment.

    Attributes:
        counts: by tool, kind and verdict.
        calls: the calls compared, by tool.
        undeclared: tools and fields that the record has and the environment does not, with how often.
    """

    counts: Counter[tuple[str, str, Verdict]] = field(default_factory=Counter[tuple[str, str, Verdict]])
    calls: Counter[str] = field(default_factory=Counter[str])
    undeclared: Counter[str] = field(default_factory=Counter[str])
    differences: list[Difference] = field(default_factory=list[Difference])
    transcripts: int = 0
    unread: int = 0

    def share(self, tool: str | None = None, kind: str | None = None) -> tuple[int, int]:
        """How many fields are equal, and how many are equal or different."""
        kept = {key: n for key, n in self.counts.items() if tool in (None, key[0]) and kind in (None, key[1])}
        equal = sum(number for (_, _, verdict), number in kept.items() if verdict == "equal")
        return equal, equal + sum(number for (_, _, verdict), number in kept.items() if verdict == "different")

    @property
    def unknown(self) -> int:
        """How many fields are unknown."""
        return sum(number for (_, _, verdict), number in self.counts.items() if verdict == "unknown")

    def first_differences(self, show: int) -> list[str]:
        """The first differences in words, one of each tool and field before others."""
        first = {(one.tool, one.kind, one.field): one for one in reversed(self.differences)}
        return [
            f"{one.place}: {one.tool}, {one.field} ({one.kind}): here {cut(repr(one.expected), SHOWN_CHARACTERS)}, "
            f"recorded {cut(repr(one.recorded), SHOWN_CHARACTERS)}"
            for one in [*reversed(first.values())][:show]
        ]


def replay(environment: Environment, transcripts: Iterable[Transcript]) -> Fidelity:
    """Carry out the recorded calls of each transcript, each from what it showed before."""
    fidelity = Fidelity()
    for transcript in transcripts:
        if transcript.trouble is not None:
            fidelity.unread += 1
            continue
        fidelity.transcripts += 1
        replayed = _Replay(environment, fidelity)
        for turn in transcript.turns:
            if turn.call is None:
                continue
            if turn.call.answer is None or turn.call.caller != "agent":
                replayed.forget(environment.entities)  # it may have changed anything
                continue
            event = event_of_turn(environment, turn, transcript.by, timed=True)
            place = f"{transcript.place}, message {turn.message.place or turn.number}"
            try:
                replayed.call(event, place)
            except Exception as error:  # noqa: BLE001 (terms of a user; it is reported as a difference)
                replayed.note_error(event, error)
    return fidelity


class _Replay:
    """One conversation: what is known of the state, and which call changed it."""

    def __init__(self, environment: Environment, fidelity: Fidelity) -> None:
        self._environment = environment
        self._fidelity = fidelity
        self._excluded: dict[tuple[str, str], set[Value]] = {}
        """By table and field: the values that no unseen row has."""
        self._whole: set[str] = set()
        """The tables all of whose rows were shown, in their order."""
        self._changed: dict[tuple[str, Value, str], str] = {}
        """By table, key and field: the tool that changed it."""
        self._state = State()
        self._place = ""
        self._scope = EvaluationScope(self._state, {})
        self._on_agenda = frozenset[str]().union(*(one.changed_tables for one in environment.agenda))
        self.forget(environment.entities)

    def call(self, event: Event, place: str) -> None:
        """Carry out one call and compare it."""
        tool = self._environment.tools.get(event.tool)
        self._place = place
        if tool is None:
            if event.outcome == "completed":
                self._fidelity.undeclared[f"tool {event.tool}"] += 1
                self.forget(self._environment.entities)  # it may have changed anything
            return
        if tool.undeclared is not None:
            self._fidelity.undeclared[f"tool {tool.name}: {tool.undeclared}"] += 1
            self.forget(self._environment.entities)
            return
        self._fidelity.calls[tool.name] += 1
        self.forget(self._on_agenda)  # something may have happened since the call before
        completed = event.outcome == "completed"
        try:
            arguments = decode_arguments(tool, event.arguments)
        except WrongValue as error:
            self._count(tool.name, "outcomes", not completed, "arguments", str(error), event.error or "completed")
            self.forget(self._environment.entities if completed else ())
            return
        compiled, now = compile_tool(tool, UNKNOWN_LOGIC), UNKNOWN if event.time is None else int(event.time)
        scope = EvaluationScope(self._state, arguments, now)
        refusals = ((one.description, met(scope)) for one, met in (*compiled.raises, *compiled.fails))
        met = [(text, truth) for text, truth in refusals if truth is not False]
        refused = UNKNOWN_LOGIC.any(truth for _, truth in met)
        same = refused if isinstance(refused, Unknown) else refused is not completed
        told = next((text for text, truth in met if truth is True), "completed")
        self._count(tool.name, "outcomes", same, "outcome", told, event.error or event.outcome)
        if not completed:
            return
        for parameter in tool.parameters:
            if isinstance(parameter.source, FromLookup):
                value = arguments[parameter.name]
                for key in value if isinstance(parameter.type, ListOf) else (value,):
                    if key is not None:
                        self._learn(parameter.source.entity, key, {})
        before = self._state
        self._scope = scope = replace(scope, state=before, succeeded=True)
        transition = compiled.transition(before, arguments, now, succeeded=True)
        self._state = transition.state
        self._note_changes(tool, before)
        recorded = self._by_result(tool, event.result)
        for result in tool.results:
            if result.name in recorded:
                self._compare(tool, result, transition.results[result.name], recorded[result.name], scope)
            elif not is_success(result):
                self._count(tool.name, "results", same=False, name=result.name, expected="there", recorded=None)
        self._renew_unseen(self._environment.entities.values())

    def note_error(self, event: Event, error: Exception) -> None:
        """Note that the call could not be carried out. Nothing is known after it."""
        told = f"{type(error).__name__}: {error}"
        self._count(event.tool, "outcomes", same=False, name="outcome", expected=told, recorded=event.outcome)
        self.forget(self._environment.entities)

    def _by_result(self, tool: Tool, result: Json) -> Mapping[str, Json]:
        """The recorded result by declared name."""
        if isinstance(result, dict) and any(one.name in result for one in tool.results):
            self._count_undeclared(tool.name, result.keys() - {one.name for one in tool.results})
            return result
        if all(map(is_success, tool.results)) and result is not None:
            self._count_undeclared(tool.name, ["the result"])
        return {}

    def _compare(
        self, tool: Tool, result: Result, expected: Value | CandidateRows, recorded: Json, scope: EvaluationScope
    ) -> None:
        match result:
            case ValueResult(name, _, kind, e.ValueOf(entity, variable, condition, field)):
                pins, _ = _pins(condition, scope, variable)
                by = self._changed.pop((entity.table, pins.get(entity.key), field), None)
                value = self._compare_field(
                    by or tool.name, "changes" if by else "results", name, kind, expected, recorded
                )
                if entity.key in pins:
                    self._learn(entity, pins[entity.key], {**pins, field: value})
            case ValueResult(name, _, kind):
                self._compare_field(tool.name, "results", name, kind, expected, recorded)
            case KeyResult(name, _, entity):
                is_new = isinstance(recorded, str | int) and self._row(entity, recorded) is None
                self._count(tool.name, "results", is_new, name, "a new key", recorded)
                if not is_new:
                    return
                rows = self._state.tables[entity.table]
                named = Row({**rows[-1].values, entity.key: recorded}, rows[-1].present)
                self._state = self._state.with_table(entity.table, (*rows[:-1], named))
                for field in entity.fields:
                    self._changed[entity.table, recorded, field] = tool.name
            case RowsResult():
                row, listed = RowVariable(result.entity), cast("CandidateRows", expected)
                pins, exact = _pins(where := result.where(row), scope, row)
                if result.last is not None and result.entity.table not in self._whole:  # their order is not known
                    rows = self._state.tables[result.entity.table]
                    listed = replace(listed, listed=tuple((UNKNOWN, one) for one in rows))
                self._compare_rows(tool, result, listed, recorded, pins, exact=exact)
                most = len(cast("str", recorded)) + 1 if result.last is None else result.last.compile(PLAIN)(scope)
                if isinstance(where, e.Constant) and isinstance(recorded, list) and len(recorded) < most:
                    self._note_whole(result.entity, recorded)

    def _compare_field(
        self, tool: str, kind: str, name: str, value_type: ValueType, expected: Value, recorded: Json
    ) -> Value:
        """Compare a field; returns what was recorded in internal form."""
        try:
            value = None if recorded is None else value_type.decode(recorded)
        except WrongValue as error:
            self._count(tool, kind, same=False, name=name, expected=f"{value_type.name}: {error}", recorded=recorded)
            return UNKNOWN
        shown = None if expected is None or not _is_known(expected) else value_type.encode(expected)
        self._count(tool, kind, UNKNOWN_LOGIC.equal(expected, value), name, shown, recorded)
        return value

    def _compare_rows(
        self,
        tool: Tool,
        listed: RowsResult | NestedRows,
        expected: CandidateRows,
        recorded: Json,
        pins: Mapping[str, Value],
        *,
        exact: bool,
    ) -> None:
        """Compare listed rows with those recorded, matched by key or else by order, and learn these."""
        entity, shown = listed.entity, recorded_rows(listed, recorded)
        if shown is None:
            self._count(tool.name, "results", same=False, name=listed.name, expected="rows", recorded=recorded)
            return
        before = self._scope.state.tables[entity.table]
        unseen = (before[0], self._state.tables[entity.table][0])
        known = [
            (truth, row) for truth, row in expected.listed if not any(_is_same(entity, row, one) for one in unseen)
        ]
        is_open = len(known) < len(expected.listed)
        keyed = entity.key in listed.fields or entity.key in pins
        left = {id(row): (truth, row) for truth, row in known}
        created = self._created(listed, known, shown) if keyed else {}
        for place, one in enumerate(shown):
            if keyed:
                key = pins[entity.key] if entity.key in pins else _decoded(entity, entity.key, one)
                row = self._row(entity, key) or created.get(place)
            elif is_open:
                key, row = Unknown(), next((row for _, row in left.values() if _fits(listed, row, one)), None)
            else:
                key, row = Unknown(), known[place][1] if place < len(known) else None
            # An earlier result of this call may have shown the row, or more of it.
            found = next(((truth, other) for truth, other in known if row and _is_same(entity, other, row)), None)
            shown_now = row is None or not any(_is_same(entity, old, row) for old in before)
            same = found[0] if found else UNKNOWN if is_open and shown_now else False
            self._count(tool.name, "results", same, f"{listed.name}, a row", None, cast("Json", dict(one)))
            left.pop(id(found[1]) if found else 0, None)
            old = row.values[entity.key] if row else key
            values = self._compare_row(tool, listed, old, row, one)
            if row is not None and (not keyed or place in created):
                self._forget(entity, row)
            self._learn(entity, key, {**pins, **values})
            self._compare_nested(tool, listed, key, one)
        for truth, row in left.values():
            missing = truth is True and (keyed or not is_open or not any(_fits(listed, row, one) for one in shown))
            if missing:
                text = cast("Json", str(_visible(entity, row)))
                self._count(
                    tool.name, "results", same=False, name=f"{listed.name}, a row", expected=text, recorded=None
                )
            if missing or not keyed:
                self._forget(entity, row)
        if exact and len(pins) == 1:
            for name, value in pins.items():
                self._excluded.setdefault((entity.table, name), set()).add(value)

    def _created(
        self, listed: RowsResult | NestedRows, known: Sequence[tuple[Value, Row]], shown: Sequence[Mapping[str, Json]]
    ) -> dict[int, Row]:
        """Rows that calls made and whose keys were not shown, by the place in a list where they are shown: the rows of
        new keys that they fit, else the last."""
        entity = listed.entity
        made = [(truth, row) for truth, row in known if isinstance(row.values[entity.key], Unknown)]
        new = [n for n, one in enumerate(shown) if self._row(entity, _decoded(entity, entity.key, one)) is None]
        found: dict[int, Row] = {}
        for _, row in made:
            if (place := next((n for n in new if n not in found and _fits(listed, row, shown[n])), None)) is not None:
                found[place] = row
        left = [row for truth, row in made if truth is True and not any(row is one for one in found.values())]
        return found | dict(zip([n for n in new if n not in found][-len(left) :], left, strict=False) if left else ())

    def _compare_row(
        self, tool: Tool, listed: RowsResult | NestedRows, key: Value, row: Row | None, shown: Mapping[str, Json]
    ) -> dict[str, Value]:
        values: dict[str, Value] = {}
        for name in listed.fields:
            if name != listed.entity.key:
                by = self._changed.pop((listed.entity.table, key, name), None)
                expected = UNKNOWN if row is None else row.values[name]
                kind, value_type = "changes" if by else "results", listed.entity.fields[name].type
                values[name] = self._compare_field(by or tool.name, kind, name, value_type, expected, shown.get(name))
        self._count_undeclared(tool.name, shown.keys() - {*listed.fields, *(part.name for part in listed.parts)})
        return values

    def _compare_nested(
        self, tool: Tool, listed: RowsResult | NestedRows, key: Value, shown: Mapping[str, Json]
    ) -> None:
        around = RowVariable(listed.entity)
        for part in listed.parts:
            row, inside = self._row(listed.entity, key), RowVariable(part.entity)
            where, scope = part.where(around, inside), replace(self._scope, state=self._state)
            pins, exact = _pins(where, scope, inside, (around, row))
            meets = e.Junction("and", (e.IsPresent(inside), where)).compile(UNKNOWN_LOGIC, around, inside)
            rows = ((meets(scope, row, one), one) for one in self._state.tables[part.entity.table])
            found = tuple((truth, one) for truth, one in rows if truth is not False)
            listing = CandidateRows(found, (dict[str, CandidateRows](),) * len(found))
            self._compare_rows(tool, part, listing, shown.get(part.name), pins, exact=exact)

    # What is known

    def forget(self, tables: Collection[str]) -> None:
        """Nothing is known of these tables any more."""
        self._state = State({name: rows for name, rows in self._state.tables.items() if name not in tables})
        self._excluded = {place: values for place, values in self._excluded.items() if place[0] not in tables}
        self._whole -= {*tables}
        self._changed = {place: tool for place, tool in self._changed.items() if place[0] not in tables}
        self._renew_unseen(self._environment.entities[table] for table in tables)

    def _renew_unseen(self, entities: Iterable[Entity]) -> None:
        """Each table begins with the row that stands for those that were not shown."""
        for entity in entities:
            rows = self._state.tables.get(entity.table, ())[1:]
            keys = [row.values[entity.key] for row in rows]
            known = {entity.key: {key for key in keys if not isinstance(key, Unknown)}}
            values = {
                name: Unknown(self._excluded.get((entity.table, name), set()) | known.get(name, set()))
                for name in entity.fields
            }
            unseen = Row(values, False if entity.table in self._whole else UNKNOWN)
            self._state = State({**self._state.tables, entity.table: (unseen, *rows)})

    def _row(self, entity: Entity, key: Value) -> Row | None:
        rows, wanted = self._state.tables[entity.table][1:], Row({entity.key: key})
        return next((row for row in rows if _is_same(entity, row, wanted)), None)

    def _learn(self, entity: Entity, key: Value, values: Mapping[str, Value]) -> None:
        """Note a row that is there, with some of its fields."""
        found, rows = self._row(entity, key), self._state.tables[entity.table]
        row = Row({**(found.values if found else dict.fromkeys(entity.fields, UNKNOWN)), **values, entity.key: key})
        kept = tuple(row if one is found else one for one in rows)
        self._state = self._state.with_table(entity.table, kept if found else (*rows, row))
        if not found:
            self._renew_unseen((entity,))

    def _note_whole(self, entity: Entity, shown: Sequence[Json]) -> None:
        """Note that the rows learned last are all that the table has."""
        rows = self._state.tables[entity.table][1:]
        keys = [_decoded(entity, entity.key, one) if isinstance(one, dict) else None for one in shown]
        if all(row.values[entity.key] in keys for row in rows):
            rows = tuple(sorted(rows, key=lambda row: keys.index(row.values[entity.key])))
            self._whole.add(entity.table)
            self._state = self._state.with_table(entity.table, (Row({}), *rows))
            self._renew_unseen((entity,))

    def _forget(self, entity: Entity, row: Row) -> None:
        rows = self._state.tables[entity.table]
        self._state = self._state.with_table(entity.table, tuple(one for one in rows if one is not row))

    def _note_changes(self, tool: Tool, before: State) -> None:
        """Note which fields a call changed, and give new rows keys that are not known."""
        for table in tool.written_tables:
            entity, old, rows = self._environment.entities[table], before.tables[table], list(self._state.tables[table])
            for place, row in enumerate(rows):
                was = old[place].values if place < len(old) else dict[str, Value]()
                if place >= len(old):
                    taken = (one.values[entity.key] for one in old)
                    key = Unknown(one for one in taken if not isinstance(one, Unknown))
                    rows[place] = row = Row({**row.values, entity.key: key}, row.present)
                for name, value in row.values.items():
                    if name not in was or (
                        value is not was[name] and UNKNOWN_LOGIC.equal(value, was[name]) is not True
                    ):
                        self._changed[table, row.values[entity.key], name] = tool.name
            there = (row for row in rows[1:] if row.present is not False)
            self._state = self._state.with_table(table, (rows[0], *there))

    def _count(self, tool: str, kind: str, same: Value, name: str, expected: Json, recorded: Json) -> None:
        verdict: Verdict = "unknown" if isinstance(same, Unknown) else "equal" if same else "different"
        self._fidelity.counts[tool, kind, verdict] += 1
        if verdict == "different":
            found = Difference(self._place, tool, kind, name, expected, recorded)
            self._fidelity.differences.append(found)

    def _count_undeclared(self, tool: str, names: Iterable[str]) -> None:
        for name in names:
            self._fidelity.undeclared[f"{tool}, {name}"] += 1


def _pins(
    condition: Term, scope: EvaluationScope, variable: Variable, around: tuple[Variable, Row | None] | None = None
) -> tuple[dict[str, Value], bool]:
    """The values that fields of a row have to have by a condition, and whether it says nothing else."""
    parts = condition.terms if isinstance(condition, e.Junction) and condition.word == "and" else (condition,)
    pins: dict[str, Value] = {}
    outside = () if around is None else (around,)
    for part in parts:
        sides = (part.left, part.right) if isinstance(part, e.BinaryOperation) and part.symbol == "=" else ()
        for own, other in (sides, sides[::-1]) if sides else ():
            reads = any(isinstance(one, e.BoundValue) and one.variable is variable for one in other.walk())
            if isinstance(own, e.BoundValue) and own.variable is variable and own.field and not reads:
                value = other.compile(UNKNOWN_LOGIC, *(one for one, _ in outside))(scope, *(row for _, row in outside))
                if not isinstance(value, Unknown):
                    pins[own.field] = value
    return pins, len(pins) == len(parts)


def _decoded(entity: Entity, name: str, shown: Mapping[str, Json]) -> Value:
    try:
        return entity.fields[name].type.decode(shown.get(name))
    except WrongValue:
        return Unknown()


def _fits(listed: RowsResult | NestedRows, row: Row, shown: Mapping[str, Json]) -> bool:
    """Whether a recorded row can be this one, which is known in part."""
    fields = (name for name in listed.fields if name in shown)
    return all(UNKNOWN_LOGIC.equal(row.values[one], _decoded(listed.entity, one, shown)) is not False for one in fields)


def _is_same(entity: Entity, one: Row, other: Row) -> bool:
    """Whether two rows have one key."""
    key, also = one.values[entity.key], other.values[entity.key]
    return key is also or key == also


def _visible(entity: Entity, row: Row) -> dict[str, Json]:
    known = {name: value for name, value in row.values.items() if not isinstance(value, Unknown)}
    return entity.encode_row(Row(known))


def _is_known(value: Value) -> bool:
    """Whether no part of a value is unknown."""
    parts: Iterable[Value] = ()
    if isinstance(value, Record | tuple):
        parts = value.values.values() if isinstance(value, Record) else cast("tuple[Value, ...]", value)
    return not isinstance(value, Unknown) and all(map(_is_known, parts))
