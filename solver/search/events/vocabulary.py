"""Representative events: for the rules of a component, all events that they tell apart.

The values of a field fall into classes. If rules compare it with literals only, one value is kept for each combination
of truths. If they compare it with variables or other fields, the values that matter are those of open duties, of the
calls in question, the literals, and some that occur nowhere else. An event takes one value for each field.

These events may not be all that matter to rules that compute with fields, compare them in order, read the clock, or
sum: then a search that finds nothing proves nothing.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import combinations, islice, product
from typing import Final

from lawtrace.environments.tool_schemas.schemas import ToolSchema
from lawtrace.schemas.events import CALLS, SPEAKERS, Actor, Event, Json, message_event
from lawtrace.schemas.violations import Scalar
from lawtrace.solver.logic.syntax import SAYS
from lawtrace.solver.logic.terms import ACTOR_FIELDS, RESULT, FieldPath, is_value
from lawtrace.solver.rules import Rule
from lawtrace.solver.search.events import values as v
from lawtrace.solver.search.events.field_uses import Field, FieldUses, Member

MAX_EVENTS: Final = 300
"""How many representative events one tool has at most."""
MAX_CACHED: Final = 4_096
"""For how many fields and values that matter the candidates are kept."""
_NAME: Final[v.Schema] = {"type": "string"}
MAX_VARIANTS: Final = 40
"""How many events of one tool are tried for one rule."""

Live = Mapping[Member, Sequence[Scalar]]
"""The values that matter now, of open duties and calls in question, for each group of fields and variables."""


@dataclass(frozen=True, slots=True)
class Representatives:
    """Events that stand for others.

    Attributes:
        exact: whether they are not only a part, since there are too many.
        cut: the fields of which not all lists were made.
        unsure: of results of a call, the ids of the rules to which these may not be all that matter.
    """

    events: Sequence[Event]
    exact: bool = True
    cut: frozenset[Field] = frozenset()
    unsure: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class AbstractEvent:
    """An event, and which value it has in each field that rules read; a message has none."""

    event: Event
    fields: Mapping[FieldPath, v.Candidate]


class Vocabulary:
    """The representative events of some rules, with values for their fields so that rules tell apart what they can.

    Attributes:
        inexact: the ids of the rules to which representative events may not be all that matter.
        computes: whether rules compute with fields, so that events differ by the time.
    """

    def __init__(
        self,
        rules: Sequence[Rule],
        tools: Mapping[str, ToolSchema],
        *,
        uses: FieldUses | None = None,
        actor: Actor | None = None,
    ) -> None:
        """`uses`: of the rules, if they are known. `actor`: who makes all calls; None for anyone."""
        self._schemas: Final = tools
        self._uses: Final = uses or FieldUses(rules)
        self._actor: Final = actor
        self.inexact: Final = self._uses.inexact
        self.computes: Final = any(field.computed for tool in self._uses.fields for field in self._uses.fields_of(tool))
        self._candidates: Final = lru_cache(MAX_CACHED, typed=True)(self._make_candidates)
        self._few: Final = lru_cache(MAX_CACHED, typed=True)(self._choose_few)

    def acting(self, actor: Actor) -> "Vocabulary":
        """The events of one actor, if rules tell actors apart."""
        return Vocabulary((), self._schemas, uses=self._uses, actor=actor) if self._uses.reads_actor else self

    # Values that matter

    def live(self, values: Iterable[tuple[str, str, Scalar]], events: Iterable[Event]) -> Live:
        """The values that matter for each group of fields and variables.

        Args:
            values: rule, variable and value of open duties and of violations.
            events: calls in question.
        """
        found: dict[Member, list[Scalar]] = {}
        for event in events:
            for field in self._uses.fields_of(event.tool):
                if field.tracked:
                    for value in v.values_at(event, field.path):
                        found.setdefault(self._uses.groups.of(field), []).append(value)
        for rule, variable, value in values:
            for name in self._uses.names.get((rule, variable), ()):
                found.setdefault(self._uses.groups.of(name), []).append(value)
        return {group: v.distinct(known) for group, known in found.items()}

    def variable_values(self, live: Live, rule: str) -> list[Scalar]:
        """The values of the variables of a rule that representative events may have."""
        names = [name for (one, _), several in self._uses.names.items() if one == rule for name in several]
        groups = dict.fromkeys(map(self._uses.groups.of, names))
        found = (self._group_values(group, live.get(group, ()), v.ANYTHING) for group in groups)
        return [one for values in found for one in values if is_value(one)]

    def _group_values(self, group: Member, live: Sequence[Scalar], schema: v.Schema) -> list[Json]:
        known: list[Json] = [*live]
        for fields in self._uses.fields.values():
            for field in fields.values():
                if field.tracked and self._uses.groups.of(field) == group:
                    known += [value for test in field.tests for value in v.constants(test)]
                    known += field.limits
        for number in range(1, self._uses.variables + 2):
            extra = v.fresh(schema, number, known)
            known += [] if isinstance(extra, v.Absent) else [extra]
        return known

    def _matter(self, field: Field, live: Live, now: int | None) -> tuple[Field, int | None, *tuple[Scalar, ...]]:
        """What the candidates for a field depend on: the time if rules compute with it, and the values that matter."""
        known = live.get(self._uses.groups.of(field), ()) if field.tracked else ()
        return field, now if field.computed else None, *known

    def _schema(self, tool: str) -> ToolSchema:
        return self._schemas.get(tool, ToolSchema(tool, "", {}, None, ""))

    def _make_candidates(self, field: Field, now: int | None, *live: Scalar) -> tuple[list[v.Candidate], bool]:
        """Candidates for a field, and whether all lists of the values that matter are among them."""
        schema = self._schema(field.tool)
        first, *rest = field.path.path
        if field.path.path in ACTOR_FIELDS:
            if self._actor is not None:
                known = getattr(self._actor, str(rest[0]))
                return [v.ABSENT if known is None else known], True
            declared, optional = _NAME, True
        elif first == RESULT:
            declared, optional = v.part_schema(schema.result or v.ANYTHING, rest), not schema.result
        else:
            argument, optional = schema.argument(str(first))
            if argument is None:
                return [v.ABSENT], True
            declared, optional = v.part_schema(argument, rest), optional or bool(rest)
        items = v.part_schema(declared, (0,)) if field.is_list else declared
        found: list[Json] = [value for test in field.tests for value in v.constants(test)]
        found += v.derived(field.computed, now) if field.computed else []
        if field.tracked:
            found += self._group_values(self._uses.groups.of(field), live, items)
            if field.unsure and first == RESULT:
                found += [near for value in found if is_value(value) for near in v.neighbours(value)]
        else:
            extra = v.fresh(items, 1, found)
            found += [] if isinstance(extra, v.Absent) or (field.is_list and isinstance(extra, str)) else [extra]
        found += v.between(items, found)
        found += v.choices(items) or []
        found = [value for value in v.distinct(found) if v.admits(items, value)]
        candidates: list[v.Candidate] = [*(v.lists_of(found) if field.is_list else found)]
        if optional or not candidates:
            candidates = [v.ABSENT, *candidates]
        if not field.tracked and not field.computed:
            candidates = _told_apart(candidates, field)
        return candidates, not field.is_list or len(found) <= v.MAX_LIST

    # Events

    def events(self, tools: Collection[str], live: Live, now: int | None) -> Representatives:
        """The representative events of some tools at a time."""
        found: list[Event] = []
        exact, cut = True, frozenset[Field]()
        for tool in (name for name in self._uses.fields if name in tools):
            if tool in SPEAKERS:
                found += self._messages(tool, live, now)
            elif (schema := self._schemas.get(tool)) is not None:
                made = self._calls(schema, live, now)
                exact = exact and made.exact
                cut |= made.cut
                found += made.events
        return Representatives(found, exact, cut)

    def call_results(
        self, tool: str, arguments: Mapping[str, Json], now: int, by: Actor | None = None
    ) -> Representatives:
        """The call with these arguments and each representative result."""
        event = Event(tool, arguments, time=now, by=by)
        read = [field for field in self._uses.fields_of(tool) if field.path.path[0] == RESULT]
        if not read:
            return Representatives([event])
        found = self._calls(self._schema(tool), self.live((), (event,)), now, event)
        unsure = (one.readers if one in found.cut or not found.exact else one.unsure for one in read)
        return replace(found, unsure=frozenset().union(*unsure))

    def result_readers(self, tool: str) -> set[str]:
        """The ids of the rules that read results of a tool."""
        fields = (field for field in self._uses.fields_of(tool) if field.path.path[0] == RESULT)
        return set[str]().union(*(field.readers for field in fields))

    def _calls(self, schema: ToolSchema, live: Live, now: int | None, given: Event | None = None) -> Representatives:
        """The representative calls of a tool. `given`: the call, if only the result is open."""
        tool = schema.name
        options: dict[FieldPath, list[v.Candidate]] = {}
        cut: set[Field] = set()
        for field in self._uses.fields_of(tool):
            if given is None or field.path.path[0] == RESULT:
                options[field.path], whole = self._candidates(*self._matter(field, live, now))
                if not whole:
                    cut.add(field)
        chosen = _combinations([*options.values()])
        events = [_event(tool, dict(zip(options, one, strict=True)), now, given) for one in islice(chosen, MAX_EVENTS)]
        if next(chosen, None) is not None:
            return Representatives(events, exact=False, cut=frozenset(cut))
        if tool in self._uses.attempted and given is None:
            events += [Event(one.tool, one.arguments, "raised", time=now, by=one.by) for one in events]
        return Representatives(events, cut=frozenset(cut))

    def variants(
        self,
        tool: str,
        rule: str,
        live: Live,
        now: int | None,
        given: AbstractEvent | None = None,
        *,
        others: bool = False,
    ) -> Iterator[AbstractEvent]:
        """Events of a tool that differ in the fields that a rule reads.

        Args:
            tool: its name.
            rule: its id.
            live: the values that matter; fields that may have one have no others.
            now: the time of the events.
            given: another event, which they equal in the other fields.
            others: whether fields may have other values, too.
        """
        if given is not None and not given.fields:
            return
        if tool in SPEAKERS:
            yield from (AbstractEvent(event, {}) for event in self._messages(tool, live, now))
        if self._schemas.get(tool) is None or tool not in self._uses.fields:
            return
        options: dict[FieldPath, Sequence[v.Candidate]] = {}
        for field in self._uses.fields_of(tool):
            is_read = rule in field.readers
            if given is not None and not is_read:
                options[field.path] = [given.fields[field.path]]
                continue
            few = self._few(others, *self._matter(field, live, now))
            near = [] if given is None else _nearby(given.fields[field.path], few)
            options[field.path] = [*near, *few] if is_read else few[:1]
        for values in islice(product(*options.values()), MAX_VARIANTS):
            chosen = dict(zip(options, values, strict=True))
            yield AbstractEvent(_event(tool, chosen, now), chosen)

    def _choose_few(self, others: bool, field: Field, now: int | None, *known: Scalar) -> list[v.Candidate]:
        """Candidates for a field; if values matter that it may have, only these. `others`: then the others, too."""
        found, _ = self._candidates(field, now, *known)
        if not field.tracked:
            return found
        if field.is_list:
            found = [one for one in found if not isinstance(one, list) or len(one) < 2 or len(one) == len(known)]

        def matters(one: v.Candidate) -> bool:
            return all(part in known for part in one) and one != [] if isinstance(one, list) else one in known

        first = [one for one in found if matters(one)]
        if first and not others:
            return [*first, *(one for one in found if isinstance(one, v.Absent) or one == [])]
        return [*first, *(one for one in found if not matters(one))]

    def _messages(self, speaker: str, live: Live, now: int | None) -> list[Event]:
        texts = sorted(self._uses.words.get(speaker, ()))
        for field in self._uses.fields_of(speaker):
            if field.tracked:
                texts += [str(value) for value in live.get(self._uses.groups.of(field), ())]
        texts = list(dict.fromkeys(texts))
        some = [combination for size in range(min(len(texts), 2) + 1) for combination in combinations(texts, size)]
        several = [*some, tuple(texts)][:MAX_EVENTS]
        found = [message_event(speaker, " ".join(parts), now, by=self._actor) for parts in several]
        if any(one.path.path == (CALLS,) for one in self._uses.fields_of(speaker)):
            called: list[list[Json]] = [[*texts], *([name] for name in texts), ["another"], ["another"] * 2]
            found += [replace(found[0], arguments={**found[0].arguments, CALLS: tools}) for tools in called]
        asked = [str(one.path.path[1]) for one in self._uses.fields_of(speaker) if one.path.path[0] == SAYS]
        return found + [
            replace(found[0], arguments={**found[0].arguments, SAYS: dict.fromkeys(said, True)})
            for said in dict.fromkeys([*((one,) for one in asked), tuple(asked)] if asked else ())
        ]


def _event(tool: str, fields: Mapping[FieldPath, v.Candidate], now: int | None, given: Event | None = None) -> Event:
    """A call with these values of its fields. `given`: the call, if only the result is open."""
    content: Json = dict(given.arguments if given else {})
    who: dict[str, str] = {}
    for path, value in fields.items():
        if path.path in ACTOR_FIELDS:
            who |= {} if isinstance(value, v.Absent) else {str(path.path[1]): str(value)}
        elif not isinstance(value, v.Absent):
            content = v.placed(content, path.path, value)
    arguments = dict(content) if isinstance(content, dict) else {}
    result = None if given and RESULT in given.arguments else arguments.pop(RESULT, None)
    by = Actor(**who) if who else given.by if given else None
    return Event(tool, arguments, result=result, time=now, by=by)


def _told_apart(candidates: Sequence[v.Candidate], field: Field) -> list[v.Candidate]:
    """One candidate for each combination of truths of the tests of a field."""
    found: dict[tuple[bool, ...], v.Candidate] = {}
    for value in candidates:
        event = _event(field.tool, {field.path: value}, None)
        found.setdefault(tuple(test.holds(event) for test in field.tests), value)
    return list(found.values())


def _nearby(given: v.Candidate, candidates: Sequence[v.Candidate]) -> list[v.Candidate]:
    """A list with one value more or less, of those in other lists."""
    if not isinstance(given, list):
        return []
    values = v.distinct(part for one in candidates if isinstance(one, list) for part in one)
    return [[one for one in given if one != value] if value in given else [*given, value] for value in values]


def _combinations(options: Sequence[Sequence[v.Candidate]]) -> Iterator[tuple[v.Candidate, ...]]:
    """All choices of one candidate for each field, those with many first candidates before the others."""
    for size in range(len(options) + 1):
        for chosen in combinations(range(len(options)), size):
            others = [each[1:] if number in chosen else each[:1] for number, each in enumerate(options)]
            yield from product(*others)
