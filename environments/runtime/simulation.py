"""Semantics of calls, shared by simulator and solver.

:class:`CompiledTool` is a tool's declaration compiled against a logic: refusals as truth values, effects as a new
state, results. :func:`call` is the simulator on top of it: JSON in, an event and a new state out. The encoding in
``solver/`` uses the same compiled tool with a symbolic logic, so the two cannot differ.
"""

import difflib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, cast

from lawtrace.environments.spec import effects
from lawtrace.environments.spec import expressions as e
from lawtrace.environments.spec.agenda import Happening
from lawtrace.environments.spec.clock import OTHER_CALL_DURATION, seconds_at
from lawtrace.environments.spec.declaration import Environment
from lawtrace.environments.spec.expressions import Compiled, EvaluationScope, RowVariable, Term
from lawtrace.environments.spec.logic import PLAIN, Logic
from lawtrace.environments.spec.state import Entity, Row, State
from lawtrace.environments.spec.terms import fresh_key, item_variable
from lawtrace.environments.spec.tools import FromUser, Tool
from lawtrace.environments.spec.types import Record, Value, WrongFormat, WrongType
from lawtrace.schemas.events import CallOutcome, Event, Json

INVALID_CALL = "InvalidCallError"
"""The error of a malformed call: unknown tool, or missing, surplus or ill-typed argument."""


@dataclass(frozen=True, slots=True)
class CandidateRows:
    """A rows result in internal form: the rows that may be listed, with the truth value of that, and nested lists."""

    listed: tuple[tuple[Value, Row], ...]
    parts: "tuple[Mapping[str, CandidateRows], ...]"


_NO_PARTS: Final[Mapping[str, CandidateRows]] = {}


@dataclass(frozen=True, slots=True)
class Transition:
    """The new state of a call, and its results by name in internal form."""

    state: State
    results: Mapping[str, Value | CandidateRows]


class CompiledTool:
    """A tool's declaration compiled against a logic. Stateless and shared (:func:`compile_tool`)."""

    def __init__(self, tool: Tool, logic: Logic) -> None:
        self.tool = tool
        self._logic = logic
        self.raises = [(raised, raised.when.compile(logic)) for raised in tool.raises if raised.when is not None]
        self.fails = [(failure, failure.when.compile(logic)) for failure in tool.fails]
        self._duration = tool.duration if isinstance(tool.duration, int) else tool.duration.compile(logic)
        self.stated_when = {
            parameter.name: parameter.source.when.compile(logic)
            for parameter in tool.parameters
            if isinstance(parameter.source, FromUser) and parameter.source.when is not None
        }
        """The conditions under which the user states an argument, by its name."""
        self._effects = [self._compile_effect(effect) for effect in tool.effects]
        self._values: dict[str, Compiled] = {}
        self._rows: dict[str, _Listing] = {}
        for result in tool.results:
            match result:
                case effects.ValueResult():
                    self._values[result.name] = result.term.compile(logic)
                case effects.KeyResult():
                    self._values[result.name] = fresh_key(result.entity).compile(logic)
                case effects.RowsResult():
                    self._rows[result.name] = self._compile_rows(result)

    def _compile_rows(self, rows: effects.RowsResult | effects.NestedRows, *outside: RowVariable) -> "_Listing":
        variables, where = (*outside, RowVariable(rows.entity)), cast("Callable[..., Term]", rows.where)
        meets = _met_by(variables[-1], where(*variables)).compile(self._logic, *variables)
        limit = rows.last if isinstance(rows, effects.RowsResult) else None
        last = None if limit is None else limit.compile(self._logic)
        return _Listing(rows, meets, tuple(self._compile_rows(part, *variables) for part in rows.parts), last)

    def _compile_effect(self, effect: effects.Effect) -> "_Effect":
        if isinstance(effect, effects.Insert):
            values = {name: term.compile(self._logic) for name, term in effect.values.items()}
            return _Effect(effect.entity, values)
        if isinstance(effect, effects.InsertEach):
            variable, item = item_variable()
            values = {name: term.compile(self._logic, variable) for name, term in effect.values(item).items()}
            return _Effect(effect.entity, values, each=effect.items.compile(self._logic))
        row = RowVariable(effect.entity)
        hit = e.Junction("and", (e.SUCCEEDED, _met_by(row, effect.where(row)))).compile(self._logic, row)
        if isinstance(effect, effects.Delete):
            return _Effect(effect.entity, {}, hit, deletes=True)
        values = {name: effect.value(name, row).compile(self._logic, row) for name in effect.values}
        return _Effect(effect.entity, values, hit)

    def duration(self, arguments: Mapping[str, Value], now: Value) -> Value:
        """The seconds that a completed call takes."""
        if isinstance(self._duration, int):
            return self._duration
        seconds = self._duration(EvaluationScope(State(), arguments, now))
        return self._logic.choose(seconds < 0, 0, seconds)

    def transition(self, state: State, arguments: Mapping[str, Value], now: Value, *, succeeded: Value) -> Transition:
        """The outcome of a call that neither raises nor is rejected. ``succeeded`` guards every effect.

        Effects read the state before the call, and so do results unless declared otherwise.
        """
        scope = EvaluationScope(state, arguments, now, succeeded)
        after = state
        for effect in self._effects:
            rows = after.tables[effect.entity.table]
            changed = self._inserted(effect, scope, rows) if effect.hit is None else self._updated(effect, scope, rows)
            after = after.with_table(effect.entity.table, changed)
        results: dict[str, Value | CandidateRows] = {name: value(scope) for name, value in self._values.items()}
        for name, listing in self._rows.items():
            declared = listing.declared
            reported = after if isinstance(declared, effects.RowsResult) and declared.after else state
            results[name] = _listed(listing, EvaluationScope(reported, arguments, now, succeeded), logic=self._logic)
        return Transition(after, results)

    def _inserted(self, effect: "_Effect", scope: EvaluationScope, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        if effect.each is None:
            return (*rows, self._new_row(effect, scope, rows, scope.succeeded))
        for truth, each in self._logic.cases(effect.each(scope)):
            items = e.distinct(each or ())
            for place, item in enumerate(items):
                # Concrete texts and objects are distinct already; an expression may turn out equal to an earlier item.
                certain = str | Record
                earlier = [one for one in items[:place] if not (isinstance(item, certain) and isinstance(one, certain))]
                there = self._logic.negate(self._logic.any(self._logic.equal(item, other) for other in earlier))
                present = self._logic.all([scope.succeeded, truth, there])
                rows = (*rows, self._new_row(effect, scope, rows, present, item))
        return rows

    def _new_row(
        self, effect: "_Effect", scope: EvaluationScope, rows: tuple[Row, ...], present: Value, *item: Value
    ) -> Row:
        fields = {name: value(scope, *item) for name, value in effect.values.items()}
        row = {name: fields.get(name) for name in effect.entity.fields}
        row[effect.entity.key] = effect.entity.generated_key(rows)
        return Row(row, present)

    def _updated(self, effect: "_Effect", scope: EvaluationScope, rows: tuple[Row, ...]) -> tuple[Row, ...]:
        assert effect.hit is not None
        changed = list(rows)
        for index, row in enumerate(scope.state.tables[effect.entity.table]):
            hit = effect.hit(scope, row)
            if hit is False:
                continue
            fields = dict(changed[index].values)
            for name, value in effect.values.items():
                fields[name] = self._logic.choose(hit, value(scope, row), fields[name])
            stays = self._logic.negate(hit) if effect.deletes else True
            changed[index] = Row(fields, self._logic.all([changed[index].present, stays]))
        return tuple(changed)

    def rows_found(self, result: str, state: State, arguments: Mapping[str, Value], now: Value) -> list[Row]:
        """The rows that a result lists, in the plain logic, for the planner's search for unambiguous look-ups."""
        listing, scope = self._rows[result], EvaluationScope(state, arguments, now, succeeded=True)
        found = [row for row in state.tables[listing.declared.entity.table] if listing.meets(scope, row)]
        return found if listing.last is None else found[max(len(found) - listing.last(scope), 0) :]


def _listed(listing: "_Listing", scope: EvaluationScope, *outside: Row, logic: Logic) -> CandidateRows:
    """The rows that a result may list. Those that it certainly does not are left out."""
    rows, meets = scope.state.tables[listing.declared.entity.table], listing.meets
    listed = tuple([(here, row) for row in rows if (here := meets(scope, *outside, row)) is not False])
    if listing.last is not None:
        most, later, kept = listing.last(scope), cast("Value", 0), list[tuple[Value, Row]]()
        for here, row in reversed(listed):
            if (truth := logic.all([here, later < most])) is not False:
                kept.insert(0, (truth, row))
            later = later + logic.choose(here, 1, 0)
        listed = tuple(kept)
    if not listing.parts:
        return CandidateRows(listed, (_NO_PARTS,) * len(listed))
    inside = [{one.declared.name: _listed(one, scope, row, logic=logic) for one in listing.parts} for _, row in listed]
    return CandidateRows(listed, tuple(inside))


def _met_by(row: RowVariable, condition: Term) -> Term:
    """The row is there and meets the condition."""
    return e.Junction("and", (e.IsPresent(row), condition))


@dataclass(frozen=True, slots=True)
class _Effect:
    """A compiled effect: an insert of one row, or of one for each item of a list; or an update or deletion of the rows
    that it hits."""

    entity: Entity
    values: Mapping[str, Compiled]
    hit: Compiled | None = None
    each: Compiled | None = None
    deletes: bool = False


@dataclass(frozen=True, slots=True)
class _Listing:
    """A compiled rows result: which rows are listed, at most how many, and the same for each nested list."""

    declared: effects.RowsResult | effects.NestedRows
    meets: Compiled
    parts: "tuple[_Listing, ...]"
    last: Compiled | None


@lru_cache(maxsize=1024)
def compile_tool(tool: Tool, logic: Logic = PLAIN) -> CompiledTool:
    """The tool compiled against the logic, cached by identity."""
    return CompiledTool(tool, logic)


@dataclass(frozen=True, slots=True)
class _Due:
    """A row of a planned thing. ``number``: of its happening. ``place``: in the table. ``at``: its time, in seconds."""

    number: int
    place: int
    at: Value
    due: Value


class CompiledAgenda:
    """The agenda of an environment compiled against a logic. Stateless and shared (:func:`compile_agenda`)."""

    def __init__(self, agenda: Sequence[Happening], logic: Logic) -> None:
        self._agenda = [(happening, CompiledTool(happening.tool, logic)) for happening in agenda]
        self._logic = logic

    def state_at(self, state: State, now: Value, between: tuple[int, int] | None = None) -> State:
        """The state in which a call begins at a time, from the one after the call before it.

        Each row whose time has come takes effect, the earliest first; of the same time first those of the happening
        that is declared first, and its rows in the order of the table. What a row does depends on what those before it
        did: it does nothing if one of them deleted it.

        ``between``: times that ``now`` is not before and not after, where ``now`` is open.
        """
        waiting = [*self._waiting(state, now, between or (now, now))]
        for row, turn in self._in_order(waiting) if waiting else ():
            happening, compiled = self._agenda[row.number]
            table = happening.entity.table
            current = state.tables[table][row.place]
            happens = self._logic.all([current.present, row.due, turn])
            if happens is False:
                continue
            state = compiled.transition(state, current.values, row.at, succeeded=happens).state
            rows = state.tables[table]
            left = self._logic.all([rows[row.place].present, self._logic.negate(happens)])
            gone = Row(rows[row.place].values, left)
            state = state.with_table(table, (*rows[: row.place], gone, *rows[row.place + 1 :]))
        return state

    def _waiting(self, state: State, now: Value, between: tuple[Value, Value]) -> Iterator[_Due]:
        """The rows that may have to happen."""
        for number, (happening, _) in enumerate(self._agenda):
            for place, row in enumerate(state.tables.get(happening.entity.table, ())):
                if row.present is False:
                    continue
                at = seconds_at(row.values[happening.at])
                if (at <= between[1]) is not False:
                    yield _Due(number, place, at, (at <= between[0]) is True or at <= now)

    def _in_order(self, waiting: Sequence[_Due]) -> Iterator[tuple[_Due, Value]]:
        """The rows by their time, each with the truth value of its turn; where the order is open, at several places."""
        if all(isinstance(row.at, int) for row in waiting):
            yield from ((row, True) for row in sorted(waiting, key=lambda row: cast("int", row.at)))
            return
        before = [
            [
                other.at <= row.at if earlier < mine else other.at < row.at
                for earlier, other in enumerate(waiting)
                if earlier != mine
            ]
            for mine, row in enumerate(waiting)
        ]
        for place in range(len(waiting)):
            for row, truths in zip(waiting, before, strict=True):
                certain = sum(truth is True for truth in truths)
                opened = [truth for truth in truths if not isinstance(truth, bool)]
                if certain <= place <= certain + len(opened):
                    count: Value = certain
                    for truth in opened:
                        count = count + self._logic.choose(truth, 1, 0)
                    yield row, self._logic.equal(count, place)


@lru_cache(maxsize=256)
def compile_agenda(agenda: tuple[Happening, ...], logic: Logic = PLAIN) -> CompiledAgenda:
    """The agenda compiled against the logic, cached by identity."""
    return CompiledAgenda(agenda, logic)


def state_at(environment: Environment, state: State, now: int) -> State:
    """The state in which a call begins at a time: what is due by then has happened (`CompiledAgenda.state_at`)."""
    return compile_agenda(environment.agenda).state_at(state, now) if environment.agenda else state


def times_planned(environment: Environment, state: State) -> set[int]:
    """When something is to happen without a call, in seconds since 1970."""
    return {
        seconds_at(row.values[happening.at])
        for happening in environment.agenda
        for row in state.rows(happening.entity.table)
    }


def decode_arguments(tool: Tool, arguments: Mapping[str, Json]) -> dict[str, Value]:
    """Arguments in internal form, with defaults. Raises WrongType or WrongFormat naming the parameter."""
    names = [parameter.name for parameter in tool.parameters]
    for name in arguments:
        if name not in names:
            nearest = difflib.get_close_matches(name, names, 1)
            meant = f"; did you mean {nearest[0]!r}?" if nearest else f"; it takes {names}"
            raise WrongType(f"{tool.name} has no parameter {name!r}{meant}")
    decoded: dict[str, Value] = {}
    malformed: WrongFormat | None = None
    for parameter in tool.parameters:
        raw = arguments.get(parameter.name)
        if raw is None:
            if parameter.required:
                raise WrongType(f"{tool.name} needs the argument {parameter.name!r}")
            decoded[parameter.name] = parameter.default
            continue
        try:
            decoded[parameter.name] = parameter.type.decode(raw)
        except WrongType as error:
            raise WrongType(f"{tool.name}, argument {parameter.name + error.path!r}: {error.message}") from error
        except WrongFormat as error:
            place = repr(parameter.name + error.path)
            if parameter.malformed is None:
                raise WrongType(f"{tool.name}, argument {place}: {error.message}") from error
            # An ill-typed value rejects the call, a malformed one raises: check all types first.
            malformed = malformed or WrongFormat(f"{parameter.malformed}: argument {place}: {error.message}")
    if malformed:
        raise malformed
    return decoded


def simulate_call(
    environment: Environment, state: State, name: str, arguments: Mapping[str, Json], now: int
) -> tuple[Event, State]:
    """Execute one call that begins at ``now``, and return its event and the state after it. Never raises.

    Before it, what is due on the agenda happens. What comes due while a slow call goes on happens after it, before the
    next one.

    The next call begins `call_duration` seconds later at the earliest.
    """
    state = state_at(environment, state, now)
    tool = environment.tools.get(name)
    if tool is None:
        nearest = difflib.get_close_matches(name, environment.tools, 1)
        meant = f"; did you mean {nearest[0]}?" if nearest else ""
        error = f"{INVALID_CALL}: there is no tool {name[:80]!r}{meant}"
        return _refused(name, arguments, "rejected", error, now), state
    try:
        decoded = decode_arguments(tool, arguments)
    except WrongType as error:
        return _refused(name, arguments, "rejected", f"{INVALID_CALL}: {error}", now), state
    except WrongFormat as error:
        return _refused(name, arguments, "raised", str(error), now), state
    arguments = _as_taken(tool, arguments, decoded)
    compiled = compile_tool(tool)
    scope = EvaluationScope(state, decoded, now)
    for raised, condition in compiled.raises:
        if condition(scope):
            return _refused(name, arguments, "raised", f"{raised.exception}: {raised.description}", now), state
    failed = any(condition(scope) for _, condition in compiled.fails)
    transition = compiled.transition(state, decoded, now, succeeded=not failed)
    result = _encode_results(tool, transition.results, failed=failed)
    outcome = "failed" if failed else "completed"
    return Event(name, arguments, outcome, result, None, now), state if failed else transition.state


def call_duration(environment: Environment, event: Event) -> int:
    """The seconds that the call took. A call that does not complete takes one second."""
    if not event.completed:
        return OTHER_CALL_DURATION
    tool = environment.tools[event.tool]
    if isinstance(tool.duration, int):
        return tool.duration
    return compile_tool(tool).duration(decode_arguments(tool, event.arguments), event.time)


def _as_taken(tool: Tool, arguments: Mapping[str, Json], decoded: Mapping[str, Value]) -> dict[str, Json]:
    """The arguments as the tool understood them: 400.00000000000006, a sum of floats, is recorded as 400."""
    return {
        name: tool.parameter(name).type.encode(decoded[name]) if isinstance(raw, float | list | dict) else raw
        for name, raw in arguments.items()
    }


def _refused(name: str, arguments: Mapping[str, Json], outcome: CallOutcome, error: str, now: int) -> Event:
    return Event(name, dict(arguments), outcome, None, error, now)


def _encode_results(tool: Tool, results: Mapping[str, Value | CandidateRows], *, failed: bool) -> dict[str, Json]:
    """The documented result fields as JSON."""
    encoded: dict[str, Json] = {}
    for declared in tool.results:
        value = results[declared.name]
        match declared:
            case effects.RowsResult():
                rows = _encode_rows(declared, value)
                encoded[declared.name] = next(iter(rows), None) if declared.single else rows
            case effects.KeyResult():
                encoded[declared.name] = None if failed else declared.type.encode(value)
            case effects.ValueResult():
                encoded[declared.name] = None if value is None else declared.type.encode(value)
    return encoded


def _encode_rows(declared: effects.RowsResult | effects.NestedRows, rows: CandidateRows) -> list[Json]:
    encoded: list[Json] = []
    for (listed, row), inside in zip(rows.listed, rows.parts, strict=True):
        if listed:
            shown = declared.entity.encode_row(row, declared.fields)
            for part in declared.parts:
                shown[part.name] = _encode_rows(part, inside[part.name])
            encoded.append(shown)
    return encoded
